"""Operands that nothing in a report allocates: which they are, and what they take of a bank."""

from tests.analyses.memory.small_tables import links, memory, numbers, operations, sharded, tensor, tensors
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.there_before import EarlierBuffer, ThereBefore
from ttnn_mcp.readers.memory.spaces import DRAM, HOST, L1, L1_SMALL, TRACE, key_of
from ttnn_mcp.readers.printed.memory_config import Placement

IN_DRAM = Placement("INTERLEAVED", "DRAM")
BANKS = {DRAM: 12, L1: 64}


def before(*rows, reads=((10, 1),), makes=(), banks=BANKS):
    report = memory(
        operations=operations("ttnn.a", "ttnn.b", ids=(10, 20)),
        tensors=tensors(*rows),
        inputs=links(*reads),
        outputs=links(*makes),
    )
    return ThereBefore(report, numbers(10, 20), 0, banks, 32)


def in_dram(at=1, **more):
    return tensor(at, address=64, buffer=DRAM, placement=IN_DRAM, **more)


def size_of(row, **more):
    return [one.bytes_per_bank for one in before(row, **more).at(0)]


def test_an_operand_is_told_where_it_is_read_first():
    found = before(in_dram(size=2048), reads=((20, 1), (10, 1)))
    assert found.at(0) == [EarlierBuffer(key_of(64, DRAM), DRAM, 2_048, 2_048)]
    assert found.at(1) == []


@for_all(
    ("row", "more"),
    [
        (in_dram(), {"makes": ((10, 1),), "reads": ((20, 1),)}),  # an operation made it
        (in_dram(), {"reads": ()}),
        (tensor(1, address=-1, buffer=DRAM), {}),
        (tensor(1, address=64, buffer=HOST), {}),
        (tensor(1, address=64, buffer=TRACE, placement=sharded()), {}),
        (in_dram(dtype=None), {}),
        (in_dram(shape=None), {}),
        (in_dram(size=-1), {}),
        (in_dram(), {"banks": {L1: 64}}),  # nobody knows over how many banks it lies
    ],
)
def test_others_are_not(row, more):
    assert size_of(row, **more) == []


def test_what_an_operation_writes_in_place_was_there_before():
    sizes = [size_of(in_dram(), makes=makes) for makes in ((), ((10, 1),), ((20, 1),))]
    assert sizes == [sizes[0]] * 3 != [[]] * 3


def test_tiles_go_to_the_banks_in_turn():
    assert size_of(in_dram(size=12 * 2_048)) == [2_048]
    assert size_of(in_dram(size=13 * 2_048)) == [4_096]
    assert size_of(in_dram(size=13 * 1_088, dtype="BFLOAT8_B")) == [2 * 1_088]


def test_rows_are_pages_and_pages_are_aligned():
    assert size_of(in_dram(size=24 * 20, shape=(24, 10), layout="ROW_MAJOR")) == [2 * 32]
    assert size_of(in_dram(size=24 * 64, shape=(24, 32), layout="ROW_MAJOR")) == [2 * 64]


def test_rows_in_l1_small_are_aligned_as_in_l1_and_a_placement_need_not_be_printed():
    for space in (L1, L1_SMALL):
        row = tensor(1, buffer=space, size=65 * 20, shape=(65, 10), layout="ROW_MAJOR", placement=None)
        assert size_of(row, banks={L1: 64, L1_SMALL: 64}) == [2 * 32]


def test_a_shard_takes_what_its_spec_says():
    assert size_of(tensor(1, size=64 * 2_048, placement=sharded((64, 32)))) == [4_096]

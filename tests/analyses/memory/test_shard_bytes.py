"""Bytes per bank of sharded tensors: tt_metal pads each shard to the alignment of a bank."""

import asyncio

from tests.analyses.memory.small_tables import IN_L1, asked, real, sharded, tensor, tensors
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.shard_bytes import ShardBytes
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.spaces import DRAM, L1, key_of
from ttnn_mcp.readers.printed.memory_config import Placement

KEY = key_of(4096, L1)
TILED = 4 * 2 * 2048  # 128 x 64 of BFLOAT16


def at(size, *rows, banks=64):
    return ShardBytes(tensors(*rows), banks).at(KEY, size)


def shard(shape=(128, 64), *, number=1, size=8 * TILED, **more):
    return tensor(number, size=size, **{"placement": sharded(shape), **more})


@for_all(
    ("row", "per_bank"),
    [
        (shard(), TILED),
        (shard((100, 50)), TILED),  # tiles are whole
        (shard(dtype="BFLOAT8_B"), 8 * 1088),
        (shard((10, 5), dtype="UINT16", layout="ROW_MAJOR"), 10 * 16),  # each row is a page
        (shard((10, 8), dtype="UINT16", layout="ROW_MAJOR"), 10 * 16),
        (shard((10, 9), dtype="UINT16", layout="ROW_MAJOR"), 10 * 32),
        (shard((3, 8), dtype="UINT16", layout="ROW_MAJOR"), 64),  # 48, and a bank gives multiples of 32
        (shard((33, 8), dtype="UINT16", layout="ROW_MAJOR"), 544),  # 528
    ],
)
def test_a_shard_takes_whole_tiles_or_pages(row, per_bank):
    assert at(8 * TILED, row) == (per_bank, True)


@for_all(
    "row",
    [
        shard(placement=None), shard(placement=IN_L1), shard((2, 128, 64)), shard((64,)), shard(dtype=None),
        shard(layout=None), shard(dtype="STRANGE"), shard(dtype="STRANGE", layout="ROW_MAJOR"), shard(address=8192),
        shard(placement=Placement("ND_SHARDED", "L1")),
    ],
)  # fmt: skip
def test_without_a_plain_shard_spec_it_is_a_lower_bound(row):
    assert at(64_001, row) == (1_001, False)


def test_the_lower_bound_needs_banks_and_a_size():
    assert at(64_000, banks=None) == (0, False)
    assert at(64_000, banks=0) == (0, False)
    assert at(-1) == at(-1, banks=1) == (0, False)
    assert at(0) == (0, False)


def test_the_tensor_of_that_size_is_meant():
    rows = (shard(size=100), shard((32, 32), number=2, size=200))
    assert at(100, *rows) == (TILED, True)
    assert at(200, *rows) == (2048, True)
    assert at(300, *rows) == (5, False)  # which of both?


def test_one_of_another_size_is_meant_too_if_all_take_the_same():
    assert at(300, shard(size=100)) == (TILED, True)
    assert at(300, shard(size=100), shard(number=2, size=200)) == (TILED, True)


def test_a_tensor_without_a_place_is_at_none():
    rows = tensors(shard(address=-1))
    assert ShardBytes(rows, 64).at(-1, 8 * TILED) == (TILED // 8, False)


@for_all("name", ["resnet50_stages", "views", "late_frees"])
def test_real_shards_take_what_the_snapshots_show(name):
    """Real: sharded L1 tensors at whose address the `buffers` table never shows another size."""
    folder = real(name)
    report = asyncio.run(read_memory_report(folder))
    known, tried = ShardBytes(report.tensors, 64), 0
    sizes = dict(
        asked(
            folder,
            "SELECT address, min(max_size_per_bank) FROM buffers WHERE buffer_type = 1 GROUP BY address"
            " HAVING min(max_size_per_bank) = max(max_size_per_bank)",
        )
    )
    single = asked(folder, "SELECT min(tensor_id), address FROM tensors GROUP BY address HAVING count(*) = 1")
    for number, address in single:
        row = report.tensors.row(number)
        per_bank, told = known.at(key_of(address or -1, L1), int(report.tensors.size_bytes[row]))
        if told and address in sizes:
            tried += 1
            assert -(-sizes[address] // 32) * 32 == per_bank
    assert tried or name != "resnet50_stages"
    assert known.at(key_of(4096, DRAM), 64)[1] is False

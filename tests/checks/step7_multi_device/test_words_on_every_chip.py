"""words-on-every-chip: a head whose columns are all words, on each chip of a mesh."""

import pytest

from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul

K, HEAD_NS = 3840, 5_200_000


def head(
    *, chips=4, columns=262_144, exchange="AllReduceDeviceOperation", made=False, kernel_ns=HEAD_NS, ring=None
):
    program = Program("blackhole", grid=(11, 10), devices=chips)
    x = program.tensor([1, 1, 32, K])
    attributes = {"ring_size": ring} if ring else {}
    put(program, DeviceOp(exchange, (x,), (program.tensor([1, 1, 32, K]),), 40_000, attributes=attributes))
    w = program.weight([1, 1, K, columns])
    if made:
        w = put(program, DeviceOp("TilizeDeviceOperation", (w,), (program.tensor([1, 1, K, columns]),), 40_000))
    put(program, matmul(x, w, program.tensor([1, 1, 32, columns]), kernel_ns))
    return program


@for_all(
    ("mesh", "mapper"),
    [({}, "ShardTensorToMesh(mesh_device, dim=-1)"), ({"chips": 8, "ring": 4}, "dims=(None, -1)")],
    ids=["all chips", "those that exchange"],
)
def test_each_chip_could_take_a_part(check, mesh, mapper):
    claim = check.assert_sound(head(**mesh))
    assert claim.at_most_ns.tolist() == [pytest.approx(HEAD_NS * 3 / 4)]
    assert "1 head scores all 262144 words on each of 4 chips" in claim.claim
    assert claim.assumption.startswith("65536 columns take 1/4 of the time")
    assert mapper in claim.fix


def test_one_percent_of_the_window_is_the_line(check):
    def program(share):
        made = head()
        pass_time(made, round(HEAD_NS * 0.75 / share) - HEAD_NS - 40_000)
        return made

    check.pair(program, silent=0.00995, fires=0.01005)


@for_all(
    ("how", "told"),
    [
        ({"columns": 131_072}, False),  # half of the largest vocabulary, on four
        ({"columns": 131_104}, True),
        ({"columns": 131_072, "chips": 8}, True),
        ({"columns": 131_072, "chips": 8, "ring": 2}, False),  # a half, in each of four groups of two chips
        ({"columns": 128_000, "chips": 8}, True),
        ({"columns": 127_968, "chips": 8}, False),  # may be a part
        ({"exchange": "UnaryDeviceOperation"}, False),  # users of its own on each chip
        ({"made": True}, False),
        ({"kernel_ns": 1_000_000}, False),  # 2 GB in 1 ms: the record of another call
    ],
)
def test_what_is_a_whole_head(check, how, told):
    assert check.ask(head(**how)).fires is told


def test_one_chip_has_all_words(check):
    assert check.ask(head(chips=1)).status == "not_applicable"


def test_without_operands_nothing_is_known(check):
    assert check.ask(head(), without="INPUT_[12]").status == "cannot_tell"

"""chain-of-small-ops: ops in a row that only move or change elements, as one kernel of the model's own."""

import pytest

from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp, Placement
from tests.profiles.ops import binary, matmul
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

FULL = [1, 1, 4096, 1024]  # 8.39 MB in BFLOAT16: 29.1 us at 288 GB/s
BYTES_NS = 4096 * 1024 * 2 / 288
TOOK = 100_000
DRAM, L1 = Placement("DRAM"), Placement("L1")
THREE = ("Unary", "Transpose", "Softmax")


def begun():
    """A matmul whose result nobody reads: equal ops alone would pass for iterations."""
    return multiplied(Program("wormhole_b0"))


def multiplied(program):
    x, y = program.tensor(FULL), program.tensor([1, 1, 4096, 512])
    put(program, matmul(x, program.weight([1, 1, 1024, 512]), y, 404_000))
    return program


def taken(program, x, name="Unary", *, shape=None, place=DRAM, ns=TOOK):
    """What an op of this name makes of a tensor."""
    y = program.tensor(shape or FULL, placement=place)
    put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), ns))
    return y


def chain(names=THREE, *, program=None, place=DRAM, apart=False, ns=TOOK):
    """A tensor that ops take from one another; or each takes one of its own."""
    program = program or begun()
    x = program.tensor(FULL, "FLOAT32" if apart else "BFLOAT16", placement=place)
    for name in names:
        y = taken(program, x, name, place=place, ns=ns)
        x = x if apart else y
    return program


def test_what_comes_in_and_goes_out_stays(check):
    outcome = check.ask(chain())
    assert outcome.at_most_ns == pytest.approx(3 * TOOK - 2 * BYTES_NS)
    start, end = (outcome.case.line(row) for row in (1, 3))
    assert outcome.claim.claim == (
        "3 ops in 1 chain only move and change elements (300 us, 42.3%): "
        f"heaviest 3 ops from line {start} to {end}, 300 us"
    )
    assert "one kernel of your own for these 3 ops" in outcome.claim.fix
    assert outcome.claim.is_trial


def test_in_l1_a_launch_stays(check):
    check.assert_sound(chain((*THREE, *THREE), place=L1))
    assert check.ask(chain(place=L1)).at_most_ns == pytest.approx(3 * TOOK - LAUNCH_FLOOR_NS)


def test_three_ops_are_a_chain_of_which_two_read_what_one_made(check):
    check.pair(lambda length: chain(THREE[:length]), silent=2, fires=3)
    assert check.ask(chain(apart=True)).status == "clean"
    program = begun()  # a call of the host ends one
    x = taken(program, taken(program, program.tensor(FULL)), "Copy")
    put(program, DeviceOp("(torch) sort", (x,), (x,), 1_000, op_type="python_fallback"))
    x = taken(program, x, "Transpose")
    assert check.ask(program).status == "clean"
    taken(program, taken(program, x, "Softmax"), "Copy")
    assert check.ask(program).claim.rows.tolist() == [3, 4, 5]
    program = begun()  # both operands of one op are read by one
    x = taken(program, program.tensor(FULL))
    put(program, binary("ADD", x, x, program.tensor(FULL), TOOK))
    assert check.ask(program).status == "clean"


def test_the_end_of_a_pass_ends_one(check):
    """Two ops behind the matmul, and two before that of the next pass."""
    program = Program("wormhole_b0")
    taken(program, taken(program, program.tensor(FULL)), "Copy")
    multiplied(program)
    taken(program, taken(program, program.tensor(FULL), "Softmax"), "Transpose")
    assert check.ask(program, chosen="all").status == "clean"
    outcome = check.ask(chain(), chosen="all")
    assert "in 2 chains" in outcome.claim.claim


def test_what_a_matmul_or_another_chain_made_comes_from_outside(check):
    program = begun()
    wide, narrow = [1, 1, 4096, 2048], [1, 1, 4096, 512]
    aside = taken(program, taken(program, program.device_ops[0].outputs[0], shape=wide), "Copy")
    multiplied(program)
    taken(program, taken(program, taken(program, aside, "Copy"), "Transpose"), "Softmax")
    outcome = check.ask(program)
    assert outcome.claim.rows.tolist() == [4, 5, 6]
    taken(program, program.device_ops[3].outputs[0], shape=narrow)
    assert check.ask(program).at_most_ns == pytest.approx(4 * TOOK - (1 + 1 + 1 / 2 + 1 / 2) * BYTES_NS)


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(lambda program: chain(program=program), 0.01, of="saving")
    assert check.ask(chain(ns=10_000)).at_most_ns == 0  # quicker than their bytes


@for_all(
    ("name", "ends"),
    [
        ("TopK", True),
        ("ArgMax", True),
        ("Halo", True),
        ("MeshPartition", True),
        ("ScaledDotProductAttention", True),
        ("PagedUpdateCache", True),
        ("AllGatherAsync", True),
        ("GenericOp", True),
        ("Embeddings", True),
        ("LayerNorm", False),
        ("Softmax", False),
        ("Reduce", False),
        ("Permute", False),
        ("Typecast", False),
        ("Copy", False),
    ],
)
def test_what_ends_a_chain(check, name, ends):
    assert check.ask(chain(("Unary", name, "Transpose"))).fires is not ends


def test_a_matmul_ends_one_and_begins_another(check):
    program = chain((*THREE, "Copy"), program=multiplied(chain()), ns=2 * TOOK)
    outcome = check.ask(program)
    assert outcome.claim.rows.tolist() == [1, 2, 3, 5, 6, 7, 8]
    start, end = (outcome.case.line(row) for row in (5, 8))
    assert "7 ops in 2 chains" in outcome.claim.claim
    assert f"heaviest 4 ops from line {start} to {end}, 800 us" in outcome.claim.claim
    assert "these 4 ops" in outcome.claim.fix


def test_a_tensor_from_outside_counts_once_and_of_a_slice_what_it_cuts_out(check):
    program = begun()
    x, quarter = program.tensor(FULL), [1, 1, 1024, 1024]
    parts = [taken(program, x, "Slice", shape=quarter) for _ in range(2)]
    total = program.tensor(quarter)
    put(program, binary("ADD", *parts, total, TOOK))
    taken(program, total, shape=quarter)
    assert check.ask(program).at_most_ns == pytest.approx(4 * TOOK - (2 / 4 + 1 / 4) * BYTES_NS)
    program, large = begun(), [1, 1, 65536, 1024]  # of what other ops touch in part, the part
    first = taken(program, program.tensor(large), "UntilizeWithUnpadding")
    second = taken(program, taken(program, first, "Copy"), "Transpose")
    assert check.ask(program).at_most_ns == pytest.approx(3 * TOOK - 2 * BYTES_NS)
    cache, out = (program.tensor(large, "FLOAT32") for _ in range(2))
    put(program, DeviceOp("SliceWriteDeviceOperation", (second, cache), (out,), TOOK))
    assert check.ask(program).at_most_ns == pytest.approx(4 * TOOK - 3 * BYTES_NS)
    again = begun()
    x, total = again.tensor(FULL), again.tensor(FULL)
    put(again, binary("ADD", taken(again, x), taken(again, x), total, TOOK))
    taken(again, total)
    assert check.ask(again).at_most_ns == pytest.approx(4 * TOOK - 2 * BYTES_NS)


def test_all_that_no_op_of_the_chain_reads_goes_out(check):
    program = begun()
    first = taken(program, program.tensor(FULL), shape=[1, 1, 4096, 2048])
    taken(program, taken(program, first, "Copy"), "Transpose")
    taken(program, first, shape=[1, 1, 2048, 1024])
    assert check.ask(program).at_most_ns == pytest.approx(4 * TOOK - (1 + 1 + 1 / 2) * BYTES_NS)
    program = begun()  # what is read later, too: a residual
    first = taken(program, program.tensor(FULL))
    taken(program, taken(program, first, "Copy", shape=[1, 1, 4096, 512]), "Transpose", shape=[1, 1, 512, 4096])
    before = check.ask(program).at_most_ns
    multiplied(program)
    put(program, matmul(first, program.weight([1, 1, 1024, 256]), program.tensor([1, 1, 4096, 256]), 404_000))
    assert check.ask(program).at_most_ns == pytest.approx(before - BYTES_NS)


def test_without_shapes_or_placements_it_cannot_tell(check):
    for lost in ("OUTPUT_", "MEMORY"):
        assert check.ask(chain(), without=lost).status == "cannot_tell"


def test_without_such_ops_it_is_not_applicable(check):
    assert check.ask(begun()).status == "not_applicable"

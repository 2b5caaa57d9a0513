"""shape-round-trip: a change of shape that the next op takes back."""

from __future__ import annotations

from tests.checks.rows import ONE_PASS, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program
from tests.profiles.model import DeviceOp

FLAT, IMAGE = [1, 1, 512, 64], [1, 16, 32, 64]
TURNED, BACK = [1, 64, 16, 32], [1, 16, 32, 64]


def pair(
    program,
    *,
    first="Reshape",
    second="Reshape",
    before=FLAT,
    middle=IMAGE,
    after=FLAT,
    between="",
    also_read=False,
    place=DRAM,
):
    """Two ops on one tensor, perhaps something between or beside them."""
    x = put(
        program, DeviceOp("MadeUp", (program.tensor([1, 1, 32, 32], "UINT16"),), (program.tensor(before),), 5_000)
    )
    y = put(program, DeviceOp(f"{first}DeviceOperation", (x,), (program.tensor(middle),), 20_000))
    if also_read:
        put(program, DeviceOp("MadeUp", (y,), (program.tensor([1, 1, 32, 64], "UINT16"),), 1_000))
    if between:
        y = put(program, DeviceOp(f"{between}DeviceOperation", (y,), (program.tensor([1, 32, 16, 64]),), 3_000))
    z = put(program, DeviceOp(f"{second}DeviceOperation", (y,), (program.tensor(after, placement=place),), 30_000))
    put(program, DeviceOp("MadeUp", (z,), (program.tensor([1, 1, 32, 32], "UINT16"),), 5_000))


def of(**how):
    program = Program("wormhole_b0")
    pair(program, **how)
    return program


def turned(**how):
    return of(**{"first": "Transpose", "second": "Permute", "before": BACK, "middle": TURNED, "after": BACK, **how})


@for_all("build", [of, turned])
def test_two_ops_that_change_nothing_together_are_named(check, build):
    claim = check.assert_sound(build())
    assert claim.claim.startswith("1 change of shape, undone by the next op (50 us, 77.5%): ")
    assert claim.rows.tolist() == [1, 2]
    assert claim.at_most_ns.tolist() == [20_000, 30_000]
    assert claim.at_least_ns is None
    assert claim.fix.startswith("drop the ops at lines ")


def test_a_memory_report_makes_it_sure(check):
    assert check.ask(of(), memory="3.3").claim.at_least_ns.tolist() == [20_000, 30_000]


def test_the_first_stays_where_somebody_else_reads_it(check):
    claim = check.ask(of(also_read=True)).claim
    assert claim.at_most_ns.tolist() == [0, 30_000]


@for_all(
    "how",
    [
        {"after": [1, 8, 64, 64]},
        {"place": L1},
        {"between": "Unary"},
        {"second": "Permute"},
        {"first": "Transpose"},
    ],
)
def test_other_pairs_stay(check, how):
    check.pair(lambda one: of(**one), silent=how, fires={})


def test_a_reshape_that_changes_nothing_is_no_trip(check):
    """Two tensors of one element, seen with one dim more: by their size the second could come from the first."""
    check.pair(lambda one: of(middle=one), silent=FLAT, fires=IMAGE)


def test_a_tensor_of_another_shape_between_is_another_one(check):
    program = of()
    program.device_ops[2].inputs = (program.tensor([1, 32, 16, 64]),)
    assert check.ask(program).status == "clean"


def test_permutes_of_equal_dims_stay(check):
    square = {"before": [1, 32, 32, 64], "middle": [1, 64, 32, 32], "after": [1, 32, 32, 64]}
    check.pair(lambda one: turned(**one), silent=square, fires={})
    ones = {"before": [1, 1, 32, 64], "middle": [1, 1, 64, 32], "after": [1, 1, 32, 64]}
    assert check.ask(turned(**ones)).fires


def test_several_are_several(check):
    program = of()
    pair(program, before=[1, 1, 1024, 64], middle=[1, 32, 32, 64], after=[1, 1, 1024, 64])
    assert check.ask(program, ONE_PASS, chosen="all").claim.claim.startswith("2 changes of shape, undone by")


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(pair, 0.005, of="time")


def test_a_run_without_changes_of_shape_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of())), "INPUT_n")
    assert_cannot_tell(check.ask(of(), generation="C3"), "padded shapes only")

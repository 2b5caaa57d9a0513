"""reshape-not-a-view: reshapes to another width, and the op that would spare the copy."""

import pytest

from tests.checks.programs import relu, reshape
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

TURN, RESHAPE = "TransposeDeviceOperation", "ReshapeViewDeviceOperation"
SPLIT = ((1, 1, 1024, 640), (1, 1024, 10, 64), (1, 10, 1024, 64))
JOIN = ((1, 10, 1024, 64), (1, 1024, 10, 64), (1, 1, 1024, 640))


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def heads(program):
    reshape(program, [1, 1, 19, 1280], [1, 19, 20, 64])


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(heads, 0.01, of="saving")


def test_the_claim_is_sound(check, program):
    heads(program)
    check.assert_sound(program)


@for_all("other", [lambda program: pass_time(program, 1000), lambda p: relu(p, p.tensor([1, 1, 32, 32]))])
def test_a_run_without_reshapes_is_not_applicable(check, program, other):
    other(program)
    assert check.ask(program).status == "not_applicable"


@for_all("lost", ["INPUT_", "OUTPUT_"])
def test_a_report_without_operands_is_no_evidence(check, program, lost):
    heads(program)
    assert check.ask(program, without=lost).status in ("not_applicable", "cannot_tell")


@for_all(("width", "tiny"), [(31, True), (32, False)])
def test_tiny_rows_are_another_checks_business(check, program, width, tiny):
    reshape(program, [1, 1, 64_000, width], [1, 1, 1000, 64 * width], layout="ROW_MAJOR", kernel_ns=10_000_000)
    assert check.ask(program).status == ("clean" if tiny else "found")


def test_other_ops_are_not_claimed_with_them(check, program):
    heads(program)
    relu(program, program.tensor([1, 1, 512, 256]))
    reshape(program, [1, 1, 25281, 256], [1, 159, 159, 256])  # rows-regrouped-by-copies
    assert check.ask(program).claim.rows.tolist() == [0]


@for_all(
    ("before", "after"),
    [([1, 1, 19, 1280], [1, 19, 20, 64]), ([1, 19, 20, 64], [1, 1, 19, 1280])],
    ids=["split", "join"],
)
def test_splitting_and_joining_heads_names_the_ops_made_for_it(check, program, before, after):
    reshape(program, before, after)
    claim = check.ask(program).claim
    assert "num_heads=20" in claim.fix
    assert "the last dim changes" in claim.claim


def test_keys_of_fewer_heads_are_told(check, program):
    """Real TTNN: left out, num_kv_heads is num_heads; 6144 columns of 32 and 8 heads of 128 become 32 heads of 64."""
    reshape(program, [1, 1, 32, 1024], [1, 32, 8, 128], kernel_ns=90_000)
    assert "(qkv, num_heads=8, num_kv_heads=<those of k and v>, transpose_key" in check.ask(program).claim.fix
    reshape(program, [1, 1, 32, 4096], [1, 32, 32, 128])
    reshape(program, [1, 1, 32, 4096], [1, 32, 64, 64])  # heads of another attention
    reshape(program, [1, 1, 32, 4096], [1, 1, 1024, 128])  # of no heads
    assert "(qkv, num_heads=32, num_kv_heads=8, transpose_key=False)" in check.assert_sound(program).fix


def test_a_width_that_is_no_product_of_heads_splits_none(check, program):
    reshape(program, [1, 1, 64, 1280], [1, 1, 128, 640])
    claim = check.ask(program).claim
    assert claim.fix.startswith("order the ops so that the last dim stays")
    assert "the last dim changes" in claim.claim


@for_all(("head", "splits"), [(32, True), (64, True), (2, False), (106, False), (96, True)])
def test_heads_are_split_where_each_is_of_whole_tiles(check, program, head, splits):
    reshape(program, [1, 1, 64, 12 * head], [1, 64, 12, head])
    assert ("split_query_key_value_and_split_heads" in check.ask(program).claim.fix) is splits


def test_a_front_end_gets_advice_on_its_model(check, program):
    heads(program)
    claim = check.ask(program, generation="tt-torch").claim
    assert "pad sequence and head dims" in claim.fix
    assert "ttnn." not in claim.fix
    assert any(one.column == "LOC" for one in claim.evidence)


def turned(program, *shapes, names=(RESHAPE, TURN), second_reader=False):
    """A chain of a reshape and a transpose, in either order."""
    tensors = [program.tensor(list(shape)) for shape in shapes]
    for name, source, result, ns in zip(names, tensors, tensors[1:], (60_000, 40_000), strict=False):
        put(program, DeviceOp(name, (source,), (result,), ns))
        if second_reader:
            put(program, DeviceOp("MadeUp", (result,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))


def test_the_transpose_behind_a_split_into_heads_goes_too(check, program):
    turned(program, *SPLIT)
    claim = check.assert_sound(program)
    assert claim.rows.tolist() == [0, 1]
    assert claim.at_most_ns.sum() == 100_000
    assert "1 transposes of heads beside them 40 us, 39.4%" in claim.claim
    assert "split_query_key_value_and_split_heads" in claim.fix


def test_the_transpose_in_front_of_a_join_goes_too(check, program):
    turned(program, *JOIN, names=(TURN, RESHAPE))
    assert sorted(check.ask(program).claim.rows) == [0, 1]


@for_all(
    ("shapes", "how"),
    [
        (SPLIT, {"second_reader": True}),
        (JOIN, {"second_reader": True, "names": (TURN, RESHAPE)}),
        (SPLIT, {"names": (RESHAPE, "UnaryDeviceOperation")}),
        (((1, 1, 1024, 640), (1, 1, 2048, 320), (1, 1, 320, 2048)), {}),
    ],
    ids=["another op reads the split", "another op reads what is joined", "no transpose", "no heads"],
)
def test_what_no_head_op_does_stays(check, program, shapes, how):
    turned(program, *shapes, **how)
    assert [len(claim.rows) for claim in check.ask(program).claims] == [1]

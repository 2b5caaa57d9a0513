"""decode-heads-as-prefill: head ops for prefill on one row per user, and the reshapes around them."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, timeless, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

RESHAPE = "ReshapeViewDeviceOperation"


def heads(
    program, *, users=16, rows=1, before=True, after=True, times=(32_178, 37_742, 12_275), name="NlpCreateHeads"
):
    """tt-xla's GLM log: 82.2 us; NlpCreateQKVHeadsDecode took 7.5."""
    x = program.tensor([1, 1, users * rows, 1792])
    if before:
        apart = program.tensor([1, users, rows, 1792])
        put(program, DeviceOp(RESHAPE, (x,), (apart,), times[0]))
        x = apart
    else:
        x = program.tensor([1, users, rows, 1792])
    made = program.tensor([users, 12, rows, 128])
    put(program, DeviceOp(f"{name}DeviceOperation", (x,), (made,), times[1]))
    if after:
        together = program.tensor([1, users, 12 * rows, 128])
        put(program, DeviceOp(RESHAPE, (made,), (together,), times[2]))


def of_heads(**how):
    program = Program("wormhole_b0")
    heads(program, **how)
    return program


def joined(*, rows=1, name="NLPConcatHeads", kernel_ns=20_000, users=16):
    program = Program("wormhole_b0")
    x, y = program.tensor([users, 12, rows, 128]), program.tensor([users, 1, rows, 1536])
    put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), kernel_ns))
    return program


def test_heads_fill_whole_tiles(check):
    """Real TTNN: "Physical shard shape (32, 80) must be tile {32, 32} sized"."""

    def of_width(width):
        made = of_heads(before=False, after=False)
        made.device_ops[0].outputs[0].shape = [16, 12, 1, width]
        return made

    check.pair(of_width, silent=80, fires=96)
    check.pair(lambda width: rewritten_shape(joined(), width), silent=80, fires=96)


def rewritten_shape(program, width):
    program.device_ops[0].inputs[0].shape = [16, 12, 1, width]
    return program


def test_what_is_made_into_heads_has_16_bits(check):
    """Real TTNN refuses eight of them: "Unsupported data format"."""
    narrow = of_heads()
    narrow.device_ops[1].inputs[0].dtype = "BFLOAT8_B"
    assert "on [1,1,B,H] in BFLOAT16; then" in check.ask(narrow).claim.fix
    assert "on [1,1,B,H]; then" in check.ask(of_heads()).claim.fix


def test_a_decode_step_has_an_op_of_its_own(check):
    outcome = check.ask(of_heads())
    claim, lines = outcome.claim, [outcome.case.line(row) for row in range(3)]
    assert claim.rows.tolist() == [0, 1, 2]
    assert outcome.at_most_ns == pytest.approx(82_195 - 5_000)
    assert claim.at_least_ns is not None
    assert claim.at_least_ns.tolist() == [claim.at_most_ns[0], 0, claim.at_most_ns[2]]  # the reshapes go altogether
    assert claim.at_least_ns.sum() <= 82_195 - 7_505 <= outcome.at_most_ns
    assert "nlp_create_qkv_heads_decode" in claim.fix
    assert claim.claim.startswith(
        "1 head op made for prefill works on one row per user, with their reshapes 82 us, 96.5%"
    )
    assert cells(outcome) == [(lines[at], "DEVICE KERNEL DURATION [ns]") for at in (1, 0, 2)]


@for_all("program", [of_heads, joined])
def test_texts_are_short_and_cells_its_own(check, program):
    check.assert_sound(program())


def test_two_rows_per_user_are_prefill(check):
    check.pair(lambda rows: of_heads(rows=rows), silent=2, fires=1)


def test_the_decode_form_holds_up_to_32_users(check):
    check.pair(lambda users: of_heads(users=users), silent=33, fires=32)
    check.pair(lambda users: joined(users=users), silent=33, fires=32)


@for_all("how", [{"before": False}, {"after": False}])
def test_only_reshapes_that_are_there_count(check, how):
    claim = check.ask(of_heads(**how)).claim
    assert len(claim.rows) == 2


def test_a_reshape_of_something_else_is_no_part_of_it(check):
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 64, 64])
    put(program, DeviceOp(RESHAPE, (x,), (program.tensor([1, 64, 1, 64]),), 30_000))
    heads(program, before=False, after=False)
    put(program, DeviceOp(RESHAPE, (x,), (program.tensor([1, 64, 1, 64]),), 30_000))
    outcome = check.ask(program)
    assert outcome.claim.rows.tolist() == [1]
    assert outcome.claim.at_least_ns is not None
    assert outcome.claim.at_least_ns.tolist() == [0]


@for_all("beside", ["before", "after"])
def test_an_op_that_computes_on_the_same_elements_stays(check, beside):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 16, 1792]), program.tensor([1, 16, 1, 1792])
    made, together = program.tensor([16, 12, 1, 128]), program.tensor([1, 16, 12, 128])
    if beside == "before":
        put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,), 30_000))
    put(program, DeviceOp("NlpCreateHeadsDeviceOperation", (y,), (made,), 37_742))
    if beside == "after":
        put(program, DeviceOp("UnaryDeviceOperation", (made,), (together,), 30_000))
    assert len(check.ask(program).claim.rows) == 1


def test_the_last_op_of_a_window_is_not_before_its_first(check):
    program = joined()
    x, y = program.tensor([16, 1, 1, 1536]), program.tensor([1, 1, 16, 1536])
    put(program, DeviceOp("MadeUpOfNoFamily", (program.tensor([1, 1, 32, 32]),), (x,), 1_000))
    put(program, DeviceOp(RESHAPE, (x,), (y,), 30_000))
    assert check.ask(program).claim.rows.tolist() == [0]


@for_all("name", ["NLPCreateQKVHeadsDecode", "NlpCreateHeadsDecode"])
def test_the_decode_forms_are_what_is_wanted(check, name):
    assert check.ask(of_heads(name=name)).status == "not_applicable"


def test_heads_are_joined_by_a_decode_form_too(check):
    outcome = check.pair(lambda rows: joined(rows=rows), silent=32, fires=1)
    assert "nlp_concat_heads_decode(x, num_heads=...)" in outcome.claim.fix
    assert outcome.at_most_ns == pytest.approx(15_000)


def test_five_microseconds_stay(check):
    check.pair(lambda ns: joined(kernel_ns=ns), silent=5_000, fires=5_100)


def test_half_a_percent_of_the_window_is_worth_telling(check):
    check.share_pair(heads, 0.005, of="saving")


def test_several_are_several(check):
    program = of_heads()
    heads(program, users=8)
    assert check.ask(program).claim.claim.startswith("2 head ops made for prefill work on one row per user")


def test_another_op_on_one_row_per_user_is_not_claimed_with_them(check):
    program = of_heads()
    x = program.tensor([1, 16, 1, 64])
    put(program, DeviceOp("MadeUpOfNoFamily", (x,), (x,), 90_000))
    assert check.ask(program).claim.rows.tolist() == [0, 1, 2]


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(of_heads())).status == "clean"


def test_a_run_without_head_ops_is_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no ops that make or join heads"


def test_without_operands_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of_heads())), "INPUT_n")


def permuted(apart=(16, 8, 1, 64), *, back=False, after=False, name="Permute", kernel_ns=20_000):
    """Heads of each user apart, and together as attention reads them; or back."""
    program = Program("wormhole_b0")
    users, heads_, rows, width = apart
    shapes = [[*apart], [rows, users, heads_, width]]
    x, y = (program.tensor(shape) for shape in (shapes[::-1] if back else shapes))
    put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), kernel_ns))
    if after:
        put(program, DeviceOp(RESHAPE, (y,), (program.tensor([users, heads_ * width]),), 10_000))
    return program


@for_all("name", ["Permute", "Transpose"])
def test_a_permute_that_makes_heads_for_attention_counts(check, name):
    claim = check.assert_sound(permuted(name=name))
    assert "nlp_create_qkv_heads_decode" in claim.fix
    assert claim.at_least_ns.tolist() == [0]


def test_a_permute_back_and_its_reshape_are_joined_heads(check):
    outcome = check.ask(permuted(back=True, after=True))
    assert "nlp_concat_heads_decode" in outcome.claim.fix
    assert outcome.claim.at_least_ns.tolist() == [0, 0]
    assert outcome.at_most_ns == pytest.approx(25_000)


@for_all("back", [True, False])
@for_all("shape", [(16, 8, 2, 64), (33, 8, 1, 64), (1, 8, 1, 64), (16, 1, 1, 64)])
def test_other_permutes_stay(check, shape, back):
    check.pair(lambda one: permuted(one, back=back), silent=shape, fires=(32, 2, 1, 64))


def test_the_decode_form_takes_so_many_heads_and_no_cameras_features(check):
    """Of [6,30125,1,256], BEVFormer's features, the second dim is no heads."""
    check.pair(lambda heads: permuted((6, heads, 1, 256)), silent=33, fires=32)


def test_a_permute_of_other_dims_stays(check):
    program = Program("wormhole_b0")
    for shape in ([1, 8, 16, 64], [2, 16, 8, 64], [1, 16, 8, 32], [1, 12, 8, 64], [1, 16, 9, 64]):
        put(program, DeviceOp("PermuteDeviceOperation", (program.tensor([16, 8, 1, 64]),), (program.tensor(shape),), 20_000))  # fmt: skip
    assert check.ask(program).status == "clean"


def test_heads_made_and_joined_are_two_claims(check):
    program = permuted()
    put(program, DeviceOp("PermuteDeviceOperation", (program.tensor([1, 16, 8, 64]),), (program.tensor([16, 8, 1, 64]),), 30_000))  # fmt: skip
    fixes = [claim.fix for claim in check.ask(program).claims]
    assert ["create" in fix for fix in fixes] == [True, False]


@for_all("back", [True, False])
def test_a_reshape_is_no_permute(check, back):
    program = permuted(name="Reshape", back=back)
    assert check.ask(program).status == "not_applicable"
    put(program, DeviceOp("PermuteDeviceOperation", (program.tensor([16, 4, 64]),), (program.tensor([4, 16, 64]),), 20_000))  # fmt: skip
    assert check.ask(program).status == "clean"

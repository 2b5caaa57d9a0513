"""attention-mask-read: a square mask that prefill attention reads from DRAM."""

from __future__ import annotations

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp


def masked(
    program, rows=512, *, keys=0, mask=(0, 0), name="ScaledDotProductAttention", has_mask=True, ns=400_000, texts=1
):
    """Encoder attention; keys and mask are as many as the rows where no number is given."""
    q, out = (program.tensor([texts, 16, rows, 64]) for _ in range(2))
    k, v = (program.tensor([texts, 16, keys or rows, 64]) for _ in range(2))
    bias = [program.tensor([texts, 1, mask[0] or rows, mask[1] or keys or rows], "BFLOAT8_B")] if has_mask else []
    op = DeviceOp(f"{name}DeviceOperation", (q, k, v, *bias), (out,), ns, fidelity="HiFi2")
    op.attributes = {"is_causal": False}
    put(program, op)


def of_masked(*args, **how):
    program = Program("wormhole_b0")
    masked(program, *args, **how)
    return program


def test_a_square_mask_is_named(check):
    claim = check.assert_sound(of_masked())
    assert claim.claim.startswith(
        "Attention reads a square mask (1x, 400 us, 100.0%): 512x512 BFLOAT8_B, 16x512x64"
    )
    assert claim.at_most_ns.tolist() == [200_000]
    assert "attn_mask=None, is_causal=True, ...), the rest as now" in claim.fix, "its scale too"
    assert [one.value for one in claim.evidence] == [400_000, "BFLOAT8_B", "DEV_0_DRAM_INTERLEAVED"]
    assert claim.is_trial
    of_a_batch = check.ask(of_masked(ns=900_000, texts=2)).claim.fix  # such masks hide where texts end
    assert "is_causal=False, ...), the rest as now, if no text of the batch is padded" in of_a_batch


def test_512_rows_are_the_line(check):
    check.pair(of_masked, silent=511, fires=512)


def test_without_a_mask_nothing_is_read(check):
    check.pair(lambda one: of_masked(has_mask=one), silent=False, fires=True)


def test_a_report_with_three_inputs_has_no_mask(check):
    assert check.ask(of_masked(), without="INPUT_3").status == "clean"


def test_cross_attention_is_no_causal_one(check):
    check.pair(lambda keys: of_masked(keys=keys), silent=1024, fires=512)


@for_all("mask", [(1, 512), (512, 1024)])
def test_masks_of_another_shape_stay(check, mask):
    check.pair(lambda one: of_masked(mask=one), silent=mask, fires=(512, 512))


def test_only_prefill_attention_makes_causal_masks(check):
    program = of_masked(name="JointAttention")
    assert check.ask(program).status == "not_applicable"
    masked(program, name="SDPA")
    assert check.ask(program).claim.rows.tolist() == [1]


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(masked, 0.01, of="saving")


def test_a_compilers_user_says_it_in_the_model(check):
    assert "torch.nn.functional" in check.ask(of_masked(1024), generation="tt-torch").claim.fix


def test_a_run_without_attention_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of_masked())), "INPUT_n")

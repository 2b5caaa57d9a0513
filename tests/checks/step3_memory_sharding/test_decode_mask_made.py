"""decode-mask-made: the ops that make a mask for the attention of a decode step."""

from __future__ import annotations

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

MASK = [16, 1, 8, 1024]


def run(program, name, inputs, shape, dtype="BFLOAT16"):
    return put(program, DeviceOp(f"{name}DeviceOperation", inputs, (program.tensor(shape, dtype),), 10_000))


def masked(
    program,
    *,
    kinds=("BinaryNg", "Ternary", "Repeat"),
    reader="SdpaDecode",
    also_read=False,
    keys=1024,
    made=True,
    first=True,
    wide=1024,
    dtype="BFLOAT16",
):
    """Positions compared, a choice of 0 or -inf, one mask per head."""
    x = program.tensor([1, 1, 1, 1024])
    if first:
        x = run(program, "Embeddings", (program.tensor([1, 1, 32, 32], "UINT16"),), [1, 1, 1, 1024])
    shapes = [[1, 1, 1, 1024 + 32 * place] for place in range(1, len(kinds))]
    for name, shape in zip(kinds, [*shapes, [*MASK[:3], wide]], strict=True):
        x = run(program, name, (x,), shape, dtype)
        if also_read:
            put(program, DeviceOp("MadeUp", (x,), (program.tensor([1, 1, 32, 64], "UINT16"),), 1_000))
    q, out = (program.tensor([1, 16, 8, 64]) for _ in range(2))
    k, v = (program.tensor([16, 8, keys, 64], "BFLOAT8_B") for _ in range(2))
    mask = x if made else program.tensor(MASK, "FLOAT32")
    put(program, DeviceOp(f"{reader}DeviceOperation", (q, k, v, mask), (out,), 40_000))


def of(**how):
    program = Program("wormhole_b0")
    masked(program, **how)
    return program


def test_the_ops_that_make_a_mask_are_named(check):
    claim = check.assert_sound(of())
    assert claim.claim.startswith("3 ops make masks for 1 decode attention op (30 us, 34.9%): ")
    assert claim.rows.tolist() == [1, 2, 3, 4]
    assert claim.at_most_ns.tolist() == [*[10_000] * 3, 35_000]  # attention itself keeps 5 us
    assert "cur_pos_tensor=positions" in claim.fix


@for_all("kind", ["BinaryNg", "Reshape", "Typecast", "Ternary", "Where"])
def test_simple_ops_make_masks(check, kind):
    claim = check.ask(of(kinds=(kind,))).claim
    assert claim.rows.tolist() == [1, 2]
    assert claim.claim.startswith("1 op makes masks for 1 decode")


def test_an_op_of_another_kind_ends_the_search(check):
    assert check.ask(of(kinds=("BinaryNg", "Softmax", "Repeat"))).claim.rows.tolist() == [3, 4]


@for_all("how", [{"also_read": True}, {"keys": 512}, {"made": False}, {"kinds": ("Softmax",)}, {"dtype": "INT32"}])
def test_other_masks_stay(check, how):
    check.pair(lambda one: of(**one), silent=how, fires={})


def test_a_mask_of_the_filled_part_of_the_cache_is_one_from_a_tile_on(check):
    check.pair(lambda wide: of(wide=wide, keys=6528), silent=31, fires=32)


def test_a_mask_of_two_attentions_is_one(check):
    program = of()
    mask = program.device_ops[3].outputs[0]
    k, v = (program.tensor([16, 8, 1024, 64], "BFLOAT8_B") for _ in range(2))
    put(program, DeviceOp("PagedScaledDotProductAttentionDecodeDeviceOperation", (program.tensor([1, 16, 8, 64]), k, v, mask), (program.tensor([1, 16, 8, 64]),), 40_000))  # fmt: skip
    claim = check.ask(program).claim
    assert claim.claim.startswith("3 ops make masks for 2 decode attention ops")
    assert claim.rows.tolist() == [1, 2, 3, 4, 5]


@for_all("how", [{"made": False}, {"kinds": ("BinaryNg",), "first": False}])
def test_what_no_op_made_ends_the_search(check, how):
    """Nobody's place is that of the last op, here one that could make masks."""
    program = of(**how)
    run(program, "Unary", (program.tensor([1, 1, 32, 32], "UINT16"),), [1, 1, 32, 96])
    claims = check.ask(program).claims
    assert [claim.rows.tolist() for claim in claims] == ([[0, 1]] if "first" in how else [])


def test_values_as_wide_as_there_are_keys_are_no_mask(check):
    program = Program("wormhole_b0")
    x = run(program, "Embeddings", (program.tensor([1, 1, 32, 32], "UINT16"),), [1, 1, 1, 64])
    values, q = run(program, "BinaryNg", (x,), [16, 8, 64, 64]), program.tensor([1, 16, 8, 64])
    keys = program.tensor([16, 8, 64, 64], "BFLOAT8_B")
    put(
        program, DeviceOp("SdpaDecodeDeviceOperation", (q, keys, values), (program.tensor([1, 16, 8, 64]),), 40_000)
    )
    assert check.ask(program).status == "clean"


def test_prefill_has_masks_of_its_own(check):
    assert check.ask(of(reader="ScaledDotProductAttention")).status == "not_applicable"


def test_a_report_with_three_inputs_has_no_mask(check):
    assert check.ask(of(), without="INPUT_3").status == "clean"


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(masked, 0.005, of="time")


def test_a_run_without_decode_attention_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of())), "INPUT_n")
    assert_cannot_tell(check.ask(of(), generation="C3"), "padded shapes only")

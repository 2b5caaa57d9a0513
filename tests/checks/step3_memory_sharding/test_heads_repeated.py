"""heads-repeated: keys whose heads are copied for an attention that groups queries itself."""

from __future__ import annotations

from tests.checks.rows import ONE_PASS, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

Q, KEPT = [1, 16, 128, 64], [1, 4, 128, 64]


def run(program, name, inputs, shape, ns=20_000):
    return put(program, DeviceOp(f"{name}DeviceOperation", inputs, (program.tensor(shape),), ns))


def attend(program, keys, name="ScaledDotProductAttention"):
    put(program, DeviceOp(f"{name}DeviceOperation", (program.tensor(Q), keys, keys), (program.tensor(Q),), 50_000))


def repeated(
    program, *, kind="RepeatInterleave", kept=KEPT, to=Q, between=(), reader="ScaledDotProductAttention", ns=20_000
):
    """Keys of four heads as sixteen; `between` repeat and attention."""
    keys = run(program, "MadeUp", (program.tensor([1, 1, 128, 256]),), kept)
    keys = run(program, kind, (keys,), to, ns)
    for name in between:
        keys = run(program, name, (keys,), to)
    attend(program, keys, reader)


def joined(program, *, of_heads=4, copies=4, name="Slice", clone=True, width=64, join="Concat", made=True):
    """The same by slices, clones and a concat."""
    keys = program.tensor([1, of_heads, 128, width])
    if made:
        keys = run(program, "MadeUp", (program.tensor([1, 1, 128, 256]),), keys.shape)
    parts = []
    for _ in range(of_heads):
        part = run(program, name, (keys,), [1, 1, 128, width])
        parts += [part] * copies
        if clone:
            parts[-1] = run(program, "Clone", (part,), [1, 1, 128, width])
    attend(program, run(program, join, parts[:8], [1, of_heads * copies, 128, 64]))


def of(build, **how):
    program = Program("wormhole_b0")
    build(program, **how)
    return program


@for_all(("kind", "heads"), [("Repeat", 1), ("RepeatInterleave", 4)])
def test_a_repeat_of_heads_is_named(check, kind, heads):
    claim = check.assert_sound(of(repeated, kind=kind, kept=[1, heads, 128, 64]))
    shape = f"{heads}x128x64" if heads > 1 else "128x64"
    assert claim.claim.startswith(
        f"1 op repeats heads for 1 attention op (20 us, 21.5%): {kind} {shape} -> 16x128x64"
    )
    assert claim.at_most_ns.tolist() == [20_000]
    assert claim.fix.startswith("ttnn.transformer.scaled_dot_product_attention(q, k, v, ...) at line ")


def test_heads_that_are_repeated_round_by_round_are_no_groups(check):
    """Of four heads `ttnn.repeat` writes 0 1 2 3 0 1 2 3, and attention takes 0 0 1 1 for the first queries."""
    check.pair(lambda kind: of(repeated, kind=kind), silent="Repeat", fires="RepeatInterleave")


def test_decode_has_a_call_of_its_own(check):
    claim = check.ask(of(repeated, reader="SdpaDecode")).claim
    assert claim.fix.startswith("ttnn.transformer.scaled_dot_product_attention_decode(q")


def test_a_reshape_and_a_cast_between_belong_to_it(check):
    assert check.ask(of(repeated, between=("Reshape", "Typecast"))).claim.rows.tolist() == [1, 2, 3]


@for_all(
    "how",
    [
        {"kept": [1, 16, 128, 64]},
        {"kept": [1, 4, 32, 64]},
        {"kept": [1, 4, 128, 16]},
        {"kept": [1, 4, 64, 128]},
        {"kept": [4, 1, 128, 64], "to": [16, 1, 128, 64]},
        {"kind": "Unary"},
        {"reader": "Unary"},
    ],
)
def test_other_repeats_stay(check, how):
    outcome = check.ask(of(repeated, **how))
    assert outcome.status in ("clean", "not_applicable")


def test_a_concat_of_slices_repeats_too(check):
    claim = check.assert_sound(of(joined))
    assert claim.rows.tolist() == [*range(1, 10)]
    assert check.ask(of(joined, clone=False)).claim.rows.tolist() == [*range(1, 6)]


@for_all("how", [{"copies": 1, "of_heads": 16}, {"name": "Copy"}, {"width": 32}, {"join": "Pad"}])
def test_a_concat_that_repeats_nothing_stays(check, how):
    check.pair(lambda one: of(joined, **one), silent=how, fires={})


def test_slices_at_the_start_of_a_window_are_all(check):
    program = of(joined, made=False)
    run(program, "Slice", (program.tensor([1, 1, 128, 64], "FLOAT32"),), [1, 1, 32, 64])
    assert check.ask(program).claim.rows.tolist() == [*range(9)]


def test_keys_and_values_both_count(check):
    program = Program("wormhole_b0")
    keys = [run(program, "RepeatInterleave", (run(program, "MadeUp", (program.tensor([1, 1, 128, 256]),), KEPT),), Q) for _ in range(2)]  # fmt: skip
    put(program, DeviceOp("ScaledDotProductAttentionDeviceOperation", (program.tensor([1, 16, 64, 64]), *keys), (program.tensor(Q),), 50_000))  # fmt: skip
    assert check.ask(program).claim.rows.tolist() == [1, 3]


def test_two_attention_ops_are_counted(check):
    program = of(repeated)
    repeated(program, ns=30_000)
    claim = check.ask(program, ONE_PASS, chosen="all").claim
    assert claim.claim.startswith("2 ops repeat heads for 2 attention ops (50 us, ")
    assert f"at line {claim.evidence[0].row + 1} on grouped heads" in claim.fix  # behind the heavier repeat


def test_attention_that_repeats_nothing_is_not_counted(check):
    program = of(repeated)
    other = [1, 16, 96, 64]
    q = program.tensor(other)
    put(program, DeviceOp("ScaledDotProductAttentionDeviceOperation", (q, q, q), (program.tensor(other),), 50_000))
    assert " for 1 attention op (" in check.ask(program).claim.claim


def test_keys_that_no_op_made_were_not_repeated(check):
    """Nobody's place is that of the last op, here a repeat of the right shapes."""
    program = Program("wormhole_b0")
    attend(program, run(program, "Reshape", (program.tensor([1, 1, 2048, 64]),), Q))
    run(program, "RepeatInterleave", (program.tensor([1, 4, 128, 64], "FLOAT32"),), Q)
    assert check.ask(program).status == "clean"


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(repeated, 0.005, of="time")


def test_a_run_without_attention_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of(repeated))), "INPUT_n")
    assert_cannot_tell(check.ask(of(repeated), generation="C3"), "padded shapes only")

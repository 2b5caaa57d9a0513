"""rope-between-transposes: what stands around a rotary embedding in decode mode."""

from __future__ import annotations

from tests.checks.asking import real_case
from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, timeless, without
from tests.for_all import for_all
from tests.profiles import DRAM, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.shared_reports import DEEPSEEK

BEFORE, TURNED = [1, 1, 32, 64], [1, 32, 1, 64]
SHARDS = height_sharded(32, 64, 32)


def step(program, name, x, shape, kernel_ns, *, place=DRAM, **how):
    return put(program, DeviceOp(f"{name}DeviceOperation", (x, *how.pop("others", ())), (program.tensor(shape, placement=place),), kernel_ns, **how))  # fmt: skip


def put_rope(
    program,
    *,
    decode=True,
    moves=True,
    turn="Transpose",
    last="Transpose",
    elsewhere="",
    name="RotaryEmbeddingLlama",
    turned=TURNED,
):
    """The five ops of tt-metal PR #39572; what `elsewhere` makes is read by another op too."""

    def then(name, x, shape, kernel_ns, **how):
        made = step(program, name, x, shape, kernel_ns, **how)
        if name == elsewhere:
            step(program, "Reduce", made, [1, 32, 1, 32], 1_000)
        return made

    x = then("Matmul", program.tensor([1, 1, 32, 128]), BEFORE if turn else TURNED, 10_000)
    if turn:
        x = then(turn, x, turned, 3_000)
    place = SHARDS if moves else DRAM
    if moves:
        x = then("InterleavedToSharded", x, turned, 2_000, place=SHARDS)
    tables = tuple(program.tensor(TURNED, placement=place) for _ in range(2))
    x = then(name, x, turned, 4_000, place=place, others=tables, attributes={"is_decode_mode": decode})
    if moves:
        x = then("ShardedToInterleaved", x, turned, 2_000)
    if last:
        step(program, last, x, BEFORE, 3_000)


def rope(**how):
    program = Program("wormhole_b0")
    put_rope(program, **how)
    return program


def test_transposes_and_moves_around_a_decode_embedding_are_told(check):
    """14 us became 3.9."""
    outcome = check.ask(rope())
    claim, case = outcome.claim, outcome.case
    assert claim.rows.tolist() == [1, 2, 3, 4, 5]
    assert 10_100 <= claim.at_most_ns.sum() < 14_000
    assert claim.at_most_ns[[0, 1, 3, 4]].tolist() == [3_000, 2_000, 2_000, 3_000]
    assert claim.claim.startswith(
        "1 rotary embedding in decode mode between two transposes (14 us, 44.4%): 32x1[32]x64"
    )
    assert f"lines {case.line(1)} to {case.line(5)}" in claim.claim
    assert f"is_decode_mode=False) on what line {case.line(1)} reads" in claim.fix
    assert (case.line(3), "ATTRIBUTES.is_decode_mode") in cells(outcome)


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(rope())


def test_transposes_alone_are_told_too(check):
    """As DeepSeek's model had it later: transpose, embedding, transpose."""
    assert check.ask(rope(moves=False)).claim.rows.tolist() == [1, 2, 3]


@for_all(
    "change",
    [{"decode": False}, {"turn": ""}, {"turn": "ReshapeView"}, {"last": ""}, {"last": "ReshapeView"}, {"name": "RotaryEmbeddingHf"},
     *({"elsewhere": op} for op in ("Transpose", "InterleavedToSharded", "RotaryEmbeddingLlama", "ShardedToInterleaved"))],
    ids=str,
)  # fmt: skip
def test_what_needs_its_layout_is_none(check, change):
    assert not check.ask(rope(**change)).fires


def test_a_tensor_that_others_read_before_the_first_transpose_stays_told(check):
    assert check.ask(rope(elsewhere="Matmul")).claim.rows.tolist() == [2, 3, 4, 5, 6]


def test_a_transpose_of_other_dims_is_none(check):
    assert check.ask(rope(turned=[1, 64, 1, 32])).status == "clean"


def test_an_embedding_of_the_models_input_is_none(check):
    program = Program("wormhole_b0")
    x = step(
        program, "RotaryEmbeddingLlama", program.tensor(TURNED), TURNED, 4_000, attributes={"is_decode_mode": True}
    )
    step(program, "Transpose", x, BEFORE, 3_000)
    assert check.ask(program).status == "clean"


def test_several_are_one_claim(check):
    program = rope()
    pass_time(program, 1_000)
    put_rope(program, moves=False)
    claim = check.ask(program).claim
    assert claim.claim.startswith("2 rotary embeddings in decode mode")
    assert len(claim.rows) == 8


def test_one_percent_is_worth_telling(check):
    check.share_pair(put_rope, 0.01, of="saving")


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(rope())).status == "clean"


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no rotary embeddings"


@for_all(("lost", "word"), [("INPUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_without_its_cells_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), rope())), word)


def test_real_embeddings_of_a_prefill_are_none(check):
    assert check.ask(real_case(DEEPSEEK)).status == "clean"

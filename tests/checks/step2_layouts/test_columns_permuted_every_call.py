"""columns-permuted-every-call: reshape, permute, reshape behind the matmul that wrote the columns."""

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

HEADS = [1, 16, 128, 128]


def op(program, name, x, shape, us):
    return put(program, DeviceOp(f"{name}DeviceOperation", (x,), (program.tensor(shape),), 1000 * us))


def put_chain(
    program, *, first="Matmul", between=("NlpCreateHeads",), split=(16, 128, 2, 64), turned=(16, 128, 64, 2),
    joined=HEADS, turn="Permute", also=-1, wide=2048, ends=("ReshapeView", "ReshapeView"), weights=True,
):  # fmt: skip
    x, w = program.tensor([1, 1, 128, 2048]), program.tensor([1, 1, 2048, wide])
    w = w if weights else op(program, "Unary", w, [1, 1, 2048, wide], 5)
    y = program.tensor([1, 1, 128, wide])
    if first:
        y = put(program, DeviceOp(f"{first}DeviceOperation", (x, w), (y,), 40_000))
    for name in between:
        y = op(program, name, y, HEADS, 15)
    for place, (name, shape, us) in enumerate(((ends[0], split, 120), (turn, turned, 260), (ends[1], joined, 150))):  # fmt: skip
        y = op(program, name, y, list(shape), us)
        if place == also:
            op(program, "Unary", y, [1, 1, 32, 96], 5)
    op(program, "RotaryEmbedding", y, list(joined), 9)


def chain(**how) -> Program:
    program = Program("wormhole_b0")
    put_chain(program, **how)
    return program


def test_halves_made_pairs_are_the_weights_business(check):
    outcome = check.ask(chain())
    claim, case = outcome.claim, outcome.case
    assert claim.rows.tolist() == [2, 3, 4]
    assert claim.at_most_ns.tolist() == [120_000, 260_000, 150_000]
    assert claim.claim.startswith("Columns of a matmul's output are reordered in every call (1x, 530 us")
    assert f"line {case.line(0)} once at load" in claim.fix
    assert "w.reshape(k, -1, 2, 64).transpose(2, 3).reshape(k, -1)" in claim.fix
    assert {row for row, _ in cells(outcome)} == {case.line(0), case.line(3)}


def test_texts_are_short(check):
    claim = check.assert_sound(chain(), above=3)
    assert len(claim.rows) == 3


def test_the_reshapes_are_not_told_twice(check):
    from tests.checks.asking import outcome_of

    assert outcome_of("reshape-not-a-view", check.case(chain())).status == "clean"
    assert outcome_of("reshape-not-a-view", check.case(chain(first="Embeddings"))).fires


@for_all(
    "between",
    [(), ("NlpCreateHeads", "Typecast", "Slice"), ("InterleavedToSharded", "ShardedToInterleaved", "Reshard", "Slice"),
     ("SplitQueryKeyValueAndSplitHeads",), ("NlpCreateHeadsDecode",), ("CreateQKVHeads",)],
    ids=str,
)  # fmt: skip
def test_heads_slices_and_moves_may_stand_between(check, between):
    wide = 2048 if between else 128 * 16
    how = {"between": between, "wide": wide}
    if not between:
        how.update(split=(128, 16, 2, 64), turned=(128, 16, 64, 2), joined=(1, 1, 128, 2048))
        assert check.ask(chain(**how)).status == "clean"  # the last dim is split in three
        return
    assert check.ask(chain(**how)).fires


@for_all(
    "how",
    [{"first": "Embeddings"}, {"between": ("NlpCreateHeads", "LayerNorm")}, {"between": ("Slice",) * 5},
     {"turned": (16, 128, 2, 64)}, {"turned": (16, 2, 128, 64)}, {"joined": (1, 16, 256, 64)}, {"turn": "Unary"},
     {"also": 0}, {"also": 1}, {"turned": (128, 16, 64, 2)}, {"ends": ("Fold", "ReshapeView")},
     {"ends": ("ReshapeView", "Fold")}, {"weights": False}, {"first": "Conv2d"}],
    ids=str,
)  # fmt: skip
def test_other_chains_are_none(check, how):
    assert not check.ask(chain(**how)).fires


@for_all("last", ["Matmul", "Slice"])
def test_columns_that_no_op_wrote_are_not_those_of_the_last_matmul(check, last):
    program = chain(first="")
    x, w, y = (program.tensor([1, 1, rows, columns]) for rows, columns in ((64, 512), (512, 768), (64, 768)))
    y = put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,), 40_000))
    if last == "Slice":
        op(program, "Slice", y, [1, 1, 64, 96], 9)
    assert check.ask(program).status == "clean"


def test_another_op_in_the_middle_is_no_permute(check):
    program = chain(turn="Fold")
    op(program, "Permute", program.tensor([1, 1, 64, 96]), [1, 1, 96, 64], 9)
    assert check.ask(program).status == "clean"


def test_padded_shapes_cannot_tell(check):
    assert_cannot_tell(check.ask(chain(), generation="C3"), "padded shapes only")


def test_who_reads_the_last_does_not_matter(check):
    assert check.ask(chain(also=2, turn="Transpose")).fires


def test_four_steps_back_are_the_most(check):
    check.pair(lambda steps: chain(between=("Slice",) * steps), silent=5, fires=4)


def test_two_chains_are_one_claim(check):
    program = chain()
    put_chain(program, split=(16, 128, 4, 32), turned=(16, 128, 32, 4), first="Linear")
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [2, 3, 4, 8, 9, 10]
    assert "(2x, 1.1 ms" in claim.claim


def test_one_percent_is_worth_telling(check):
    check.share_pair(put_chain, 0.01, of="saving")


def test_without_permutes_or_operands(check, tmp_path):
    assert check.ask(chain(turn="Unary")).why == "no permutes"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), chain())), "INPUT_n")

"""group-norm-converted: rows for a norm that takes tiles."""

from __future__ import annotations

from tests.checks.asking import real_case
from tests.checks.programs import relu, to_rows, to_tiles
from tests.checks.rows import ONE_PASS, pass_time, put
from tests.for_all import for_all
from tests.profiles import L1, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import interleaved_to_sharded
from tests.shared_reports import CLIP, OFT

ROWS, WIDE = 7680, 256
SHARDS = height_sharded(384, WIDE, 20)


def norm(program, x, kernel_ns=300_000, out=None, name="GroupNorm"):
    y = program.tensor(x.shape, x.dtype, out or x.layout, x.placement)
    return put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), kernel_ns, fidelity="HiFi4"))


def into_shards(program, x, where=SHARDS):
    y = program.tensor(x.shape, x.dtype, x.layout, where)
    return put(program, interleaved_to_sharded(x, y, 20_000))


def converted(
    program,
    *,
    moves=1,
    maps=1,
    name="GroupNorm",
    rows=ROWS,
    before=True,
    after=True,
    also_read=False,
    out=None,
    moves_after=0,
    between=None,
):
    shape = [1, 1, rows, WIDE]
    x = relu(program, program.tensor(shape, layout="TILE" if before else "ROW_MAJOR"))
    if before:
        x = to_rows(program, x, 40_000)
    rows_of_it = x
    for place in range(moves):
        x = into_shards(program, x, SHARDS if place % 2 == 0 else L1)
    if also_read:
        relu(program, rows_of_it)
    x = norm(program, x, name=name, out=out)
    for _ in range(maps):
        x = relu(program, x)
    for place in range(moves_after):
        x = into_shards(program, x, L1 if place % 2 == 0 else SHARDS)
    if between:
        y = program.tensor([1, 1, 2 * rows, WIDE], layout="ROW_MAJOR", placement=x.placement)
        x = put(program, DeviceOp(f"{between}DeviceOperation", (x,), (y,), 10_000))
    if after:
        x = to_tiles(program, x, 50_000)
    return relu(program, x)


def of_converted(**how):
    program = Program("wormhole_b0")
    converted(program, **how)
    return program


def test_both_conversions_can_go(check):
    claim = check.assert_sound(of_converted())
    assert claim.at_most_ns.tolist() == [40_000, 50_000]
    assert claim.at_least_ns is None
    assert claim.claim.startswith("1 Untilize and 1 Tilize ops serve GroupNorms alone (90 us")
    assert "output_layout=ttnn.TILE_LAYOUT" in claim.fix
    assert [one.value for one in claim.evidence] == [50_000, "ROW_MAJOR", "TILE"]


@for_all(
    ("side", "words", "at_most"),
    [("before", "0 Untilize and 1 Tilize", 50_000), ("after", "1 Untilize and 0 Tilize", 40_000)],
)
def test_either_side_alone_is_told(check, side, words, at_most):
    claim = check.ask(of_converted(**{side: False})).claim
    assert words in claim.claim
    assert claim.at_most_ns.tolist() == [at_most]


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(converted, 0.01, of="saving")


def test_four_moves_may_lie_between(check):
    check.pair(lambda moves: of_converted(moves=moves, after=False), silent=5, fires=4)


def test_four_element_wise_ops_may_lie_behind(check):
    check.pair(lambda maps: of_converted(maps=maps, before=False), silent=5, fires=4)


def test_element_wise_ops_may_lie_in_front_and_others_not(check):
    def program(name):
        made = Program("wormhole_b0")
        x = to_rows(made, relu(made, made.tensor([1, 1, ROWS, WIDE])), 40_000)
        y = made.tensor([1, 1, ROWS, WIDE], layout="ROW_MAJOR", placement=L1)
        relu(made, norm(made, put(made, DeviceOp(f"{name}DeviceOperation", (x,), (y,), 10_000))))
        return made

    check.pair(program, silent="Upsample", fires="Unary")


def test_moves_may_lie_behind_too(check):
    check.pair(lambda moves: of_converted(maps=0, moves_after=moves, before=False), silent=5, fires=4)


def test_what_another_op_made_of_it_is_not_the_norms(check):
    assert check.ask(of_converted(before=False, between="Upsample")).status == "clean"


def test_tensors_that_no_op_made_are_not_the_norms(check):
    """The last op of the window is a norm that writes rows."""
    program = Program("wormhole_b0")
    shape = [1, 1, 512, 64]
    to_tiles(program, program.tensor(shape, layout="ROW_MAJOR"), 900_000)
    to_tiles(program, relu(program, program.tensor([1, 1, 1024, 64], layout="ROW_MAJOR")), 900_000)
    norm(program, program.tensor([1, 1, ROWS, WIDE], layout="ROW_MAJOR"))
    assert check.ask(program, ONE_PASS).status == "clean"


def test_an_untilize_that_nobody_reads_is_the_models_result(check):
    program = of_converted(before=False, after=False)
    to_rows(program, relu(program, program.tensor([1, 1, 1024, 64])), 900_000)
    assert check.ask(program).status == "clean"


def test_a_norm_on_tiles_whose_height_is_padded_would_count_the_padding(check):
    check.pair(lambda rows: of_converted(rows=rows), silent=7690, fires=7680)


def test_rows_that_another_op_wants_stay(check):
    assert check.ask(of_converted(also_read=True, after=False)).status == "clean"


def test_what_the_norm_writes_as_tiles_is_not_tilized_for_it(check):
    assert check.ask(of_converted(before=False, out="TILE")).status == "clean"


def test_a_tilize_in_front_of_a_norm_may_be_the_quicker_way(check):
    program = Program("wormhole_b0")
    rows = relu(program, program.tensor([1, 1, ROWS, WIDE], layout="ROW_MAJOR"))
    relu(program, norm(program, to_tiles(program, rows)))
    assert check.ask(program).status == "clean"


def test_an_untilize_behind_a_norm_on_tiles_is_another_ops(check):
    program = Program("wormhole_b0")
    y = norm(program, relu(program, program.tensor([1, 1, ROWS, WIDE])))
    relu(program, to_rows(program, y))
    assert check.ask(program).status == "clean"


def test_conversions_of_other_tensors_are_left_alone(check):
    program = of_converted(before=False, after=False)
    to_tiles(program, relu(program, program.tensor([1, 1, 512, 64], layout="ROW_MAJOR")), 900_000)
    relu(program, to_rows(program, relu(program, program.tensor([1, 1, 1024, 64])), 900_000))
    assert check.ask(program).status == "clean"


def test_other_norms_are_not_asked(check):
    assert check.ask(of_converted(name="LayerNorm")).status == "not_applicable"


def test_a_run_of_other_ops_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_without_operands_it_cannot_tell(check):
    outcome = check.ask(of_converted(), without="PUT_")
    assert outcome.status == "cannot_tell"
    assert "INPUT_n" in outcome.why


def test_a_compiler_has_an_option_instead(check):
    assert "optimization_level" in check.ask(of_converted(), generation="tt-torch").claim.fix


def test_the_conversions_around_two_real_norms_are_too_small_to_tell(check):
    """Lines 189 to 194 and 207 to 212 of OFT: 99 of 999,210 us."""
    assert check.ask(real_case(OFT)).status == "clean"
    assert check.ask(real_case(CLIP)).status == "not_applicable"

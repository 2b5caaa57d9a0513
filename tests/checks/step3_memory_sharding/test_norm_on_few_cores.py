"""norm-on-few-cores: a norm deals out rows of tiles; over few rows most of the grid idles."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, norm, rewritten, timeless, without
from tests.for_all import for_all
from tests.profiles import Program, header_of, performance_rows, width_sharded, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import layer_norm
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS


def normed(*shape, **how):
    program = Program("wormhole_b0")
    norm(program, *shape, **how)
    return program


def group_norm(program, cores, *, kernel_ns=100_000, groups=16):
    x, y = program.tensor([1, 1, 4096, 256]), program.tensor([1, 1, 4096, 256])
    attributes = {"num_groups": groups, "program_config": "GroupNormMultiCoreProgramConfig(num_out_blocks=10)"}
    put(program, DeviceOp("GroupNormDeviceOperation", (x,), (y,), kernel_ns, cores=cores, attributes=attributes))


def of_grid_five_by_four(cores):
    program = Program("blackhole", grid=(5, 4))
    group_norm(program, cores)
    return program


def test_a_layer_norm_over_one_row_of_tiles_runs_on_one_core(check):
    program = normed(times=3)
    pass_time(program, 10_000)
    outcome = check.ask(program)
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [48_150] * 3  # ten times as fast at best
    assert claim.claim.startswith("3 norms on 1 of 64 cores (160 us, 91.7%): LayerNorm 19[32]x1280 *")
    assert claim.claim.endswith(f"at line {line}, 54 us")
    assert "x and y L1 WIDTH_SHARDED on 8x5 cores" in claim.fix
    assert "compute_with_storage_grid_size=(8, 5), subblock_w=1, block_h=1, block_w=1, inplace=False" in claim.fix
    assert "lists no LayerNorm" in claim.verify
    assert claim.assumption.startswith("up to 10x (measured); ")
    assert "into shards and back" in claim.caveat
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "CORE COUNT")]


def test_a_residual_lies_in_the_shards_too(check):
    """Real TTNN: "residual tensor b should be sharded if input a is sharded"."""
    program = normed()
    op = program.device_ops[0]
    op.inputs = (op.inputs[0], program.tensor(op.inputs[0].shape), *op.inputs[1:])
    assert check.assert_sound(program).fix.startswith("x, residual and y L1 WIDTH_SHARDED on 8x5 cores; program")


def test_a_weight_of_one_row_is_no_residual(check):
    program = normed()
    op = program.device_ops[0]
    for tensor in (op.inputs[0], op.outputs[0]):
        tensor.shape = [1, 1, 1, 1280]
    op.inputs = (op.inputs[0], program.weight([1, 1, 1, 1280]))
    assert check.ask(program).claim.fix.startswith("x and y L1 WIDTH_SHARDED on 8x5 cores; program")


def test_a_weight_of_part_of_a_tile_is_told_in_tiles(check):
    """Real TTNN wants [1, 1, C / 32, 32] in rows, which 1250 columns do not have."""
    program = normed()
    for tensor in (*program.device_ops[0].inputs, *program.device_ops[0].outputs):
        tensor.shape = [*tensor.shape[:-1], 1250]
    assert check.ask(program).claim.fix.endswith("inplace=False); gamma TILE [1,1,1,C]")
    assert check.ask(normed()).claim.fix.endswith("inplace=False); gamma ROW_MAJOR [1,1,C/32,32]")


def test_welford_stays(check):
    def fix(flag):
        program = normed()
        op = program.device_ops[0]
        op.attributes = {**op.attributes, "program_config": f"LayerNormDefaultProgramConfig(use_welford={flag})"}
        return check.ask(program).claim.fix

    assert "inplace=False, use_welford=True); gamma" in fix(1)
    assert "inplace=False); gamma" in fix(0)


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(normed())


def test_a_norm_on_half_of_the_grid_is_well_placed(check):
    check.pair(normed, silent=1024, fires=992)


def test_a_norm_that_fills_its_grid_by_rows_saves_what_more_cores_bring(check):
    """31 rows of 40 tiles on 31 cores: 64 cores are twice as fast, not ten times."""
    assert check.ask(normed(992)).at_most_ns == pytest.approx(53_500 * (1 - 31 / 64))


def test_a_narrow_norm_has_few_tiles_to_share_out(check):
    """One row of four tiles."""
    assert check.ask(normed(19, 128)).at_most_ns == pytest.approx(53_500 * 3 / 4)


def test_below_twelve_microseconds_a_layer_norm_stays_as_long_on_wormhole(check):
    """One over 1024 values took 17 us on one core and 2 on 32: ten times as fast is what is promised."""
    check.pair(lambda ns: normed(kernel_ns=ns), silent=11_999, fires=12_000)
    assert check.ask(normed(kernel_ns=17_000)).at_most_ns >= 15_000


def test_below_five_microseconds_a_norm_is_about_its_launch(check):
    def lasting(kernel_ns):
        program = Program("blackhole", grid=(11, 10))
        norm(program, kernel_ns=kernel_ns)
        return program

    check.pair(lasting, silent=4_999, fires=5_000)


def test_short_group_norms_are_told_on_wormhole_too(check):
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 256, 256]) for _ in range(2))
    put(program, DeviceOp("GroupNormDeviceOperation", (x,), (y,), 11_000, cores=1, attributes={"num_groups": 8}))
    assert check.ask(program).fires


def test_a_launch_stays_of_a_group_norm_too(check):
    program = Program("blackhole", grid=(11, 10))
    group_norm(program, 1, kernel_ns=10_000)
    (claim,) = check.ask(program).claims
    assert claim.at_most_ns.sum() == 10_000 - LAUNCH_FLOOR_NS
    assert claim.assumption.startswith("in step with the cores; ")
    assert claim.caveat is None  # no shards are advised


def test_a_norm_quicker_than_its_bytes_has_nothing_to_give(check):
    """4.2 MB pass a Blackhole's DRAM in 8.2 us: the time or the operands are those of another op."""

    def lasting(kernel_ns):
        program = Program("blackhole", grid=(11, 10))
        group_norm(program, 1, kernel_ns=kernel_ns)
        return program

    check.pair(lasting, silent=5_500, fires=10_000)


SHARDS = width_sharded(32, 64, (8, 5))


def between_moves(*, again=None, name="LayerNormDeviceOperation", gap_ns=1_500):
    program = Program("wormhole_b0")
    shape = [1, 1, 32, 2560]
    gamma = program.weight([1, 1, 1, 2560])
    flat = move(program, program.tensor(shape, placement=SHARDS), "ShardedToInterleaved", program.tensor(shape))
    if again == "input":
        move(program, flat, "Transpose", program.tensor([1, 1, 2560, 32]))
    op = DeviceOp(name, (flat, gamma), (program.tensor(shape),), 53_500, cores=1, gap_ns=gap_ns)
    normed = put(program, op)
    move(program, normed, "InterleavedToSharded", program.tensor(shape, placement=SHARDS))
    if again == "output":
        move(program, normed, "Transpose", program.tensor([1, 1, 2560, 32]))
    return program


def move(program, x, name, out):
    return put(program, DeviceOp(f"{name}DeviceOperation", (x,), (out,), 3_000))


def test_moves_between_shards_and_a_norm_go_away_with_it(check):
    claim = check.ask(between_moves()).claim
    assert claim.rows.tolist() == [0, 1, 2]
    assert claim.at_most_ns.tolist() == [3_000, 48_150, 3_000]
    assert claim.claim.startswith("1 norm on 1 of 64 cores (54 us, 85.6%)")
    assert claim.claim.endswith("; moves beside them: 2")


def test_norms_that_lose_their_moves_are_no_trial_however_late_the_host_is(check):
    assert check.ask(between_moves(gap_ns=20_000)).claim.expected is not None


@for_all("rows", [96, 160])
def test_a_move_that_goes_away_makes_no_promise_over_many_rows(check, rows):
    """Over more than 128 rows shards lost, and others were refused."""
    program = Program("wormhole_b0")
    shape = [1, 1, rows, 640]
    flat = move(program, program.tensor(shape, placement=SHARDS), "ShardedToInterleaved", program.tensor(shape))
    put(program, DeviceOp("LayerNormDeviceOperation", (flat,), (program.tensor(shape),), 53_500, cores=3))
    claim = check.ask(program).claim
    assert (claim.rows.tolist(), claim.expected is None) == ([0, 1], rows == 160)


@for_all(
    ("change", "counted"),
    [
        ({"again": "input"}, [2, 3]),
        ({"again": "output"}, [0, 1]),
        ({"name": "GroupNormDeviceOperation"}, [1]),
    ],
    ids=["its input is read again", "its output is read again", "a group norm"],
)
def test_a_move_that_others_need_stays(check, change, counted):
    assert check.ask(between_moves(**change)).claim.rows.tolist() == counted


def test_the_first_op_has_no_norm_before_it(check):
    """What no op made was not made by the window's last one, a norm."""
    program = Program("wormhole_b0")
    move(
        program,
        program.tensor([1, 1, 19, 640]),
        "InterleavedToSharded",
        program.tensor([1, 1, 19, 640], placement=SHARDS),
    )
    norm(program)
    assert check.ask(program).claim.rows.tolist() == [1]


def test_norms_are_told_from_one_percent_on(check):
    check.share_pair(norm, 0.01, of="time")


def test_a_group_norm_is_told_by_the_grid_it_was_given(check):
    outcome = check.pair(of_grid_five_by_four, silent=10, fires=9)
    assert outcome.at_most_ns == pytest.approx(100_000 * 11 / 20)
    assert "1 norm on 9 of 20 cores (100 us" in outcome.claim.claim
    assert check.ask(of_grid_five_by_four(1)).at_most_ns == 95_000  # by the grid: no ten times at best here


def test_a_group_norm_keeps_its_groups_in_the_fix(check):
    program = Program("wormhole_b0")
    group_norm(program, 8)
    fix = check.ask(program).claim.fix
    assert fix.startswith("ttnn.group_norm(x, num_groups=16, core_grid=ttnn.CoreGrid(y=8, x=8), num_out_blocks=1, ")
    assert len(fix) <= 260


def test_a_group_norm_that_is_not_told_enough_of_is_left_to_ttnn(check):
    without_groups, unknown_grid = Program("wormhole_b0"), Program("blackhole", grid=(5, 4))
    group_norm(without_groups, 8, groups=None)
    group_norm(unknown_grid, 8)
    for program in (without_groups, unknown_grid):
        fix = check.ask(program).claim.fix
        assert "TTNN 0.81.1 chooses both" in fix
        assert len(fix) <= 260


@for_all(
    ("rows", "width", "fix"),
    [
        (32, 4096, "WIDTH_SHARDED on 8x8 cores; program_config=ttnn.LayerNormShardedMultiCoreProgramConfig("),
        (32, 4096, "compute_with_storage_grid_size=(8, 8), subblock_w=1, block_h=1, block_w=2"),
        (256, 160, "BLOCK_SHARDED on 5x8 cores"),
        (256, 160, "(5, 8), subblock_w=1, block_h=1, block_w=1"),
        (320, 1280, "BLOCK_SHARDED on 8x5 cores"),
        (320, 1280, "(8, 5), subblock_w=1, block_h=2, block_w=5"),
    ],
)
def test_the_sharded_config_cuts_tiles_evenly(check, rows, width, fix):
    program = Program("wormhole_b0")
    group_norm(program, 4, kernel_ns=20_000)
    norm(program, rows, width, kernel_ns=200_000)
    assert fix in check.ask(program).claims[-1].fix


def test_rows_that_no_grid_divides_leave_the_last_shard_smaller(check):
    """31 rows of tiles: on 8x1 cores, evenly, TTNN 0.81.1 asks for 2.1 MB a core; on 8x8 it takes them."""
    fix = check.ask(normed(992)).claim.fix
    assert "BLOCK_SHARDED on 8x8 cores" in fix
    assert "(8, 8), subblock_w=1, block_h=4, block_w=5" in fix


@for_all(("width", "even"), [(2048, None), (2016, 7), (1184, 1), (1280, None)])
def test_a_width_that_its_shards_do_not_divide_is_wrong_in_older_builds(check, width, even):
    """Before tt-metal #48856 a norm of 63 tiles in shards of 8 was divided by 64: all values 0.8 % too large."""
    caveat = check.assert_sound(normed(992, width)).caveat
    assert ("#48856" in caveat) is (even is not None)
    assert even is None or f": there {even} columns of cores, which divide the width" in caveat


def test_shards_and_buffers_must_fit_l1(check):
    """TTNN 0.81.1 takes 4 x 22 tiles a core and refuses 4 x 23; 5 % are kept free."""
    assert "block_h=4, block_w=21" in check.ask(normed(992, 8 * 32 * 21, kernel_ns=100_000)).claim.fix
    assert check.ask(normed(992, 8 * 32 * 22, kernel_ns=100_000)).claim.fix.startswith(
        "no grid holds its shards and their"
    )


def test_heights_of_more_dimensions_count_together(check):
    program = Program("wormhole_b0")
    x, y, gamma = (
        program.tensor([4, 1, 32, 1280]),
        program.tensor([4, 1, 32, 1280]),
        program.weight([1, 1, 1, 1280]),
    )
    op = layer_norm(x, gamma, gamma, y, 50_000)
    op.cores = 4
    put(program, op)
    assert "BLOCK_SHARDED on 8x4 cores" in check.ask(program).claim.fix


@for_all(("width", "cores"), [(4096, "8x8"), (2560, "8x5")])
def test_a_grid_of_no_known_card_is_taken_for_the_smallest(check, width, cores):
    """128 tiles fill 8 x 8; 80 would fill a row or a column more of ten."""
    program = Program("wormhole_b0", grid=(7, 7))
    norm(program, 32, width)
    assert f"WIDTH_SHARDED on {cores} cores" in check.ask(program).claim.fix


def test_other_ops_on_few_cores_are_not_counted(check):
    program = normed()
    x, y = program.tensor([1, 1, 64, 1280]), program.tensor([1, 1, 64, 1280])
    put(program, DeviceOp("MadeUpOfNoFamily", (x,), (y,), 90_000, cores=1))
    assert check.ask(program).claim.rows.tolist() == [0]


def test_norms_on_different_numbers_of_cores_are_told_as_a_range(check):
    program = normed(32)
    norm(program, 96, kernel_ns=60_000)
    outcome = check.ask(program)
    assert "2 norms on 1 to 3 of 64 cores" in outcome.claim.claim
    assert f"at line {outcome.case.line(1)}, 60 us" in outcome.claim.claim


def test_a_compiler_has_an_option_instead(check):
    program = normed()
    norm(program, 2048)
    fix = check.ask(program, generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("shards norms")


def test_a_norm_that_cannot_gain_is_not_told(check):
    program = normed(32, 32, kernel_ns=200_000)
    norm(program, 32, 4096, kernel_ns=50_000)
    assert check.ask(program).claim.rows.tolist() == [1]


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(normed())).status == "clean"


def test_a_run_without_norms_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no norm ops")


@for_all(
    ("lost", "word"), [("PUT_", "INPUT_n"), ("CORE COUNT", "no CORE COUNT"), ("=CORE COUNT=", "no CORE COUNT")]
)
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), word)


def test_norms_of_an_unknown_chip_are_told_by_their_cores(check, tmp_path):
    claim = check.ask(rewritten(tmp_path, normed(), DEVICE_ARCH="quasar")).claim
    assert "on 1 of 64 cores" in claim.claim
    assert "on 8x5 cores" in claim.fix


def test_while_the_host_is_behind_two_more_ops_to_send_may_cost_what_shards_bring(check):
    """Norms of untraced passes lost 5 to 41 us each (Mistral Small 24B, ModernBERT)."""

    def expects(gap_ns, grouped_ns=0):
        program = Program("wormhole_b0")
        if grouped_ns:
            x, y = (program.tensor([1, 1, 1024, 2048]) for _ in range(2))
            put(program, DeviceOp("GroupNormDeviceOperation", (x,), (y,), grouped_ns, cores=4, gap_ns=gap_ns))
        for width in (2048, 2016):
            x, y = (program.tensor([1, 1, 32, width]) for _ in range(2))
            weight = program.weight([1, 1, 1, width])
            op = layer_norm(x, weight, weight, y, 90_000)
            op.cores, op.gap_ns = 1, gap_ns
            put(program, op)
        return check.ask(program).claim.expected is not None

    assert [expects(gap) for gap in (19_000, 21_000)] == [True, False]  # 90.5 and 89.6 % busy
    late = [expects(25_000, grouped_ns) for grouped_ns in (160_000, 200_000)]  # of 180 us, 88 % busy
    assert late == [False, True]


def test_over_more_than_128_rows_shards_are_a_trial_of_their_own(check):
    program = normed(128)
    norm(program, 160)
    short, tall = check.ask(program).claims
    assert (short.rows.tolist(), tall.rows.tolist()) == ([0], [1])
    assert (short.expected is None, tall.expected is None) == (False, True)


def test_norms_that_are_in_shards_already_are_a_trial(check):
    """What groups take is told by the grid, in shards or not."""
    program = normed(128)
    shape = [1, 1, 160, 1280]
    for name in ("LayerNorm", "GroupNorm"):
        x, y = (program.tensor(shape, placement=width_sharded(160, 160, 8)) for _ in range(2))
        put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), 53_500, cores=8))
    sure, sharded = check.ask(program).claims
    assert (sure.rows.tolist(), sharded.rows.tolist()) == ([0, 2], [1])
    assert (sure.expected is None, sharded.expected is None) == (False, True)
    assert sharded.at_most_ns.tolist() == [53_500 * (1 - 8 / 64)]
    assert sharded.caveat == "its neighbours' shards change with it; most tries brought nothing"


def test_groups_in_shards_are_told_by_their_grid(check):
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 160, 1280], placement=width_sharded(160, 160, 8)) for _ in range(2))
    put(program, DeviceOp("GroupNormDeviceOperation", (x,), (y,), 53_500, cores=8))
    claim = check.ask(program).claim
    assert claim.assumption.startswith("in step with the cores;")
    assert claim.caveat is None


def test_groups_of_many_rows_are_no_trial(check):
    program = Program("blackhole", grid=(11, 10))
    group_norm(program, 4)
    assert check.ask(program).claim.expected is not None


def test_groups_whose_input_is_not_printed_are_none(check, tmp_path):
    program = Program("blackhole", grid=(11, 10))
    group_norm(program, 4)
    rows = [
        {name: "" if name.startswith("INPUT_0") else cell for name, cell in row.items()}
        for row in performance_rows(program)
    ]
    told = check.ask(write_rows(tmp_path / "ops_perf_results_made.csv", rows, header_of(rows, "C7")))
    assert told.status == "clean"

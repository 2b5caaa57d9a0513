"""hot-operands-in-dram: activations between two ops that fit L1, in ops that wait for DRAM, outside prefill."""

from __future__ import annotations

import pytest

from tests.checks.asking import case_of_reports
from tests.checks.matmul_programs import linear
from tests.checks.rows import put
from tests.checks.step3_programs import USABLE, assert_cannot_tell, cells, no_such_ops, rewritten, timeless, without
from tests.for_all import for_all
from tests.profiles import (
    DRAM,
    L1,
    Placement,
    Program,
    header_of,
    height_sharded,
    performance_rows,
    write_rows,
    write_run,
)
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, unary
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

BIG = [1, 1, 8192, 512]  # 8.4 MB
DRAM_SHARDS = Placement("DRAM", "WIDTH_SHARDED")
FITS = 0.5 * 64 * int(0.95 * USABLE)  # bytes: half of 64 banks, of which 5 % are left to the models' error


def gelu(x, y, kernel_ns):
    return unary("GELU", x, y, kernel_ns)


def stream(
    program,
    *,
    shape=BIG,
    kernel_ns=110_000,
    source=DRAM,
    result=DRAM,
    conv=True,
    made=True,
    read=True,
    op=gelu,
    layout="TILE",
):
    """relu -> op -> tanh, and a conv beside them; the op reads 8.4 MB and writes 8.4 MB: 58 us at 288 GB/s."""
    x, y = (program.tensor(shape, layout=layout, placement=where) for where in (source, result))
    if made:
        put(program, unary("RELU", program.tensor(shape, layout=layout, placement=L1), x, 4_000))
    put(program, op(x, y, kernel_ns))
    if read:
        put(program, unary("TANH", y, program.tensor(shape, placement=L1), 4_000))
    if conv:
        small = program.tensor([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
        put(program, DeviceOp("Conv2dDeviceOperation", small[:1], small[1:], 4_000))


def streaming(**change):
    program = Program("wormhole_b0")
    stream(program, **change)
    return program


def test_an_elementwise_op_that_streams_what_fits_l1_is_told(check):
    outcome = check.ask(streaming())
    claim, line = outcome.claim, outcome.case.line(1)
    assert claim.at_most_ns.tolist() == [110_000 - LAUNCH_FLOOR_NS]  # the launch stays
    assert "1 streaming op passes activations" in claim.claim
    assert f"Unary 8192x512 -> 8192x512 at line {line}, 110 us for 17 MB" in claim.claim
    assert f"(128, 512), ttnn.ShardOrientation.ROW_MAJOR)) at line {line - 1} and here" in claim.fix
    assert "ttnn.TensorMemoryLayout.HEIGHT_SHARDED" in claim.fix
    assert "a matmul by a 1D config with compute_kernel_config" in (claim.caveat or "")
    assert "not L1_INTERLEAVED" in claim.caveat
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "INPUT_0_MEMORY")]


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(streaming())


@for_all("name", ["LayerNormDeviceOperation", "SoftmaxDeviceOperation"])
def test_norms_and_softmax_stream_as_well(check, name):
    assert check.ask(streaming(op=lambda x, y, ns: DeviceOp(name, (x,), (y,), ns))).fires


def test_a_norm_gets_blocks(check):
    """Real TTNN: "Height sharded inputs are not supported"."""

    def fix(name):
        return check.ask(streaming(op=lambda x, y, ns: DeviceOp(name, (x,), (y,), ns))).claim.fix

    blocks = "(1, 1, 8192, 512), core_grid=ttnn.CoreGrid(y=8, x=8), strategy=ttnn.ShardStrategy.BLOCK) at line "
    assert f"memory_config=ttnn.create_sharded_memory_config({blocks}" in fix("LayerNormDeviceOperation")
    assert "HEIGHT_SHARDED" in fix("SoftmaxDeviceOperation")


@for_all("high", ["8208", "8208[8200]"])
def test_a_norm_over_tiles_that_are_less_high_gets_blocks(check, tmp_path, high):
    """257 rows of tiles are a prime number: one row of cores."""
    program = streaming(op=lambda x, y, ns: DeviceOp("LayerNormDeviceOperation", (x,), (y,), ns))
    rows = performance_rows(program)
    sides = [name for name in rows[0] if "PUT_" in name and "_Y" in name]
    rows = [{**row, **{name: high for name in sides if row[name]}} for row in rows]
    told = check.ask(write_rows(tmp_path / "ops_perf_results_made.csv", rows, header_of(rows, "C7")))
    assert "(1, 1, 8208, 512), core_grid=ttnn.CoreGrid(y=1, x=8)" in told.claim.fix


def test_an_op_that_does_more_than_stream_is_left_alone(check):
    concat = check.ask(streaming(op=lambda x, y, ns: DeviceOp("ConcatDeviceOperation", (x,), (y,), ns)))
    assert concat.status == "clean"


@for_all(
    "change",
    [
        {"source": height_sharded(128, 512, (8, 8)), "result": height_sharded(128, 512, (8, 8))},
        {"source": L1},
        {"source": DRAM_SHARDS},
        {"result": L1},
        {"result": DRAM_SHARDS},
        {"made": False},
        {"read": False},
    ],
    ids=["in shards", "in L1", "DRAM shards", "to L1", "to DRAM shards", "the model's input", "the model's output"],
)
def test_operands_that_belong_where_they_are_stay_there(check, change):
    """29 us of traffic for one operand in DRAM explain a half of 60 us: only where they lie makes the difference."""
    assert check.ask(streaming(kernel_ns=60_000)).fires
    assert check.ask(streaming(kernel_ns=60_000, **change)).status == "clean"


def test_activations_of_prefill_belong_in_dram(check):
    """Without a conv, over 1024 rows; only ROW_MAJOR can have 1025. Beside matmuls 1024 are prefill too."""
    by_rows = {"kernel_ns": 20_000, "conv": False, "layout": "ROW_MAJOR"}
    check.pair(lambda rows: streaming(shape=[1, 1, rows, 512], **by_rows), silent=1025, fires=1024)
    check.pair(lambda rows: streaming(shape=[2, 4, rows, 512], kernel_ns=20_000, conv=False), silent=160, fires=128)
    assert check.ask(streaming(conv=True)).fires
    assert check.ask(streaming(conv=False)).status == "clean"

    def beside_a_matmul(rows):
        program = streaming(shape=[1, 1, rows, 512], **by_rows)
        linear(program, m=1024, kernel_ns=100_000)
        return program

    check.pair(beside_a_matmul, silent=1024, fires=1023)


def test_operands_that_take_more_than_half_of_l1_cannot_all_live_there(check):
    assert 2 * 20_672 * 512 * 2 < FITS < 2 * 20_704 * 512 * 2  # bytes read and written, at so many rows
    check.pair(lambda rows: streaming(shape=[1, 1, rows, 512], kernel_ns=300_000), silent=20_704, fires=20_672)


def test_all_operands_count_towards_half_of_l1(check):
    """10.6 MB each, of which one is a weight that L1 holds already."""

    def added(rows):
        program = Program("wormhole_b0")
        shape = [1, 1, rows, 512]
        stream(
            program,
            shape=shape,
            kernel_ns=200_000,
            op=lambda x, y, ns: binary("ADD", x, program.tensor(shape, placement=L1), y, ns),
        )
        return program

    assert 3 * 13_760 * 512 * 2 < FITS < 3 * 13_792 * 512 * 2
    check.pair(added, silent=13_792, fires=13_760)


def test_dram_must_explain_thirty_percent_of_the_time(check):
    check.pair(lambda ns: streaming(kernel_ns=ns), silent=194_181, fires=194_180)  # 16,777,216 B at 288 GB/s / 0.3


def test_below_five_microseconds_an_op_is_about_its_launch(check):
    check.pair(lambda ns: streaming(shape=[1, 1, 512, 512], kernel_ns=ns), silent=4_999, fires=5_000)


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(stream, 0.01, of="saving")


def test_what_no_op_made_stays_in_dram(check):
    program = Program("wormhole_b0")
    weight = program.weight(BIG, "BFLOAT8_B")
    stream(program, op=lambda x, y, ns: binary("ADD", x, weight, y, ns))
    assert check.ask(program).at_most_ns == pytest.approx(110_000 - 4096 * 1088 / 288)


def test_a_weight_in_l1_costs_no_dram(check):
    program = Program("wormhole_b0")
    weight = program.tensor(BIG, "BFLOAT8_B", placement=L1)
    stream(program, op=lambda x, y, ns: binary("ADD", x, weight, y, ns))
    assert check.ask(program).at_most_ns == 110_000 - LAUNCH_FLOOR_NS


def test_a_buffer_given_and_not_read_never_makes_a_negative_saving(check):
    """A preallocated output stands among the inputs: 25 MB are 87 us."""
    program = Program("wormhole_b0")
    given = program.tensor([1, 1, 3 * 8192, 512])
    stream(program)
    stream(program, kernel_ns=60_000, op=lambda x, y, ns: DeviceOp("UnaryDeviceOperation", (x, given), (y,), ns))
    assert check.ask(program).claim.at_most_ns.tolist() == [110_000 - LAUNCH_FLOOR_NS, 0]


@for_all(
    ("shape", "layout", "shard"),
    [
        ([1, 1, 8192, 512], "HEIGHT", "(64, device.compute_with_storage_grid_size(), True), (128, 512)"),
        ([1, 1, 512, 8192], "WIDTH", "(64, device.compute_with_storage_grid_size(), True), (512, 128)"),
        ([1, 2, 1024, 2048], "HEIGHT", "(64, device.compute_with_storage_grid_size(), True), (32, 2048)"),
    ],
)
def test_the_longer_side_is_cut_into_whole_tiles(check, shape, layout, shard):
    fix = check.ask(streaming(shape=shape)).claim.fix
    assert f"TensorMemoryLayout.{layout}_SHARDED" in fix
    assert shard in fix


def test_the_two_heaviest_ops_are_cited(check):
    program = Program("wormhole_b0")
    for rows in (4096, 8192, 6144):
        stream(program, shape=[1, 1, rows, 512], kernel_ns=10 * rows)
    outcome = check.ask(program)
    assert "3 streaming ops" in outcome.claim.claim
    ops = [outcome.case.line(int(row)) for row in outcome.claim.rows]
    assert {row for row, _ in cells(outcome)} == {ops[1], ops[2]}


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(streaming())).status == "clean"


def test_a_compiler_has_an_option_instead(check):
    fix = check.ask(streaming(), generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("keeps chains in shards")


def test_a_run_without_streaming_ops_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no element-wise, norm or softmax ops")


@for_all("lost", ["PUT_", "_MEMORY"])
def test_without_operands_or_placements_nothing_can_be_told(check, tmp_path, lost):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), "MEMORY columns")


def test_an_unknown_chip_cannot_be_judged(check, tmp_path):
    outcome = check.ask(rewritten(tmp_path, streaming(), DEVICE_ARCH="quasar"))
    assert_cannot_tell(outcome, "unknown architecture")


def test_an_unknown_chip_has_no_dram_bandwidth_even_where_a_memory_report_tells_its_l1(check, tmp_path):
    made = write_run(tmp_path / "run", streaming())
    csv = rewritten(tmp_path, streaming(), DEVICE_ARCH="quasar")
    assert_cannot_tell(check.ask(case_of_reports(csv, made.memory)), "DRAM bandwidth")


def test_a_grid_nobody_knows_cannot_be_filled(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("CORE COUNT",), streaming())), "CORE COUNT")

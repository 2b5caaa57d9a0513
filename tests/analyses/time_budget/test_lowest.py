"""The time below which no change can go: by hand on a made op, and below every other floor of real reports."""

from dataclasses import replace

import pytest

from tests.analyses.time_budget.test_least_times import facts
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.analyses.time_budget.least_times import lowest_ns


def lowest(seen):
    return lowest_ns(seen.ops, seen.least_times, seen.roofline, seen.chip)


@for_all("name", [CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER])
def test_nothing_is_lower_on_real_reports(tmp_path, name):
    seen = facts(tmp_path, shared(name))
    one_pass_ns = max(
        float(seen.least_times.weight_bytes.sum()) / seen.chip.dram_peak_gb_s,
        float(seen.least_times.arithmetic_ns.sum()),
    )
    assert 0 <= lowest(seen) <= min(float(seen.least_times.cheaper_ns.sum()), one_pass_ns)


@for_all(("dtype", "bits"), [("BFLOAT16", 4.5), ("BFLOAT8_B", 4.5), ("BFLOAT4_B", 4.5)])
def test_weights_are_read_once_as_four_bits_with_their_exponents(tmp_path, dtype, bits):
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 32, 4096]), program.weight([1, 1, 4096, 4096], dtype)
    program.op("MatmulDeviceOperation", [x, w], kernel_ns=500_000, shape=(1, 1, 32, 4096), fidelity="HiFi4")
    seen = facts(tmp_path, program)
    assert lowest(seen) == pytest.approx(4096 * 4096 * bits / 8 / seen.chip.dram_peak_gb_s)


def test_arithmetic_takes_one_pass_on_the_whole_grid(tmp_path):
    program = Program("wormhole_b0", grid=(8, 8))
    x, w = program.tensor([1, 1, 8192, 4096]), program.weight([1, 1, 4096, 512], "BFLOAT16")
    program.op("MatmulDeviceOperation", [x, w], kernel_ns=900_000, shape=(1, 1, 8192, 512), fidelity="HiFi4")
    seen = facts(tmp_path, program)
    cores = seen.chip.worker_cores
    assert lowest(seen) == pytest.approx(2 * 8192 * 4096 * 512 / (4096 * seen.chip.clock_ghz * cores))


def test_arithmetic_counts_for_nothing_where_the_grid_is_not_known(tmp_path):
    seen = facts(tmp_path, shared(DEEPSEEK))
    unknown = replace(seen.chip, worker_cores=None, dram_peak_gb_s=None)
    assert lowest_ns(seen.ops, seen.least_times, seen.roofline, unknown) == 0


def test_a_report_without_a_second_input_has_no_weights_to_read(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])], kernel_ns=2_000)
    rows = performance_rows(program, (Iteration(cold=True), Iteration()))
    columns = [column for column in header_of(rows, "C7") if not column.startswith(("INPUT_1", "INPUT_2"))]
    narrow = [
        {name: value for name, value in row.items() if not name.startswith(("INPUT_1", "INPUT_2"))} for row in rows
    ]
    seen = facts(tmp_path, write_rows(tmp_path / "ops_perf_results.csv", narrow, columns))
    assert len(seen.ops.inputs) == 1
    assert lowest(seen) == 0

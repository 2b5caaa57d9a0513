"""Cores that can compute: all of the grid, or those beside the banks of DRAM."""

from dataclasses import replace

import pytest

from tests.analyses.tables import performance_of
from tests.for_all import for_all
from tests.profiles import Placement, Program, width_sharded
from tests.profiles.ops import matmul
from ttnn_mcp.analyses.dataflow.likely_producers import flow_of
from ttnn_mcp.analyses.roofline.roofline import roofline_of
from ttnn_mcp.analyses.roofline.working_cores import dram_banks, working_cores
from ttnn_mcp.analyses.time_budget.least_times import least_times_of
from ttnn_mcp.run.chip import chip_of

DRAM_SHARDED = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=8;per_core_M=1;per_core_N=8{})"


def of_config(config, arch="wormhole_b0", kernel_ns=900_000):
    program = Program(arch)
    x = program.tensor([1, 1, 32, 4096], placement=width_sharded(32, 64, (8, 8)))
    w = program.tensor([1, 1, 4096, 4096], "BFLOAT8_B", placement=Placement("DRAM", "WIDTH_SHARDED"))
    y = program.tensor([1, 1, 32, 4096], placement=width_sharded(32, 64, (8, 8)))
    program.call("ttnn.linear", (x, w), (y,), (matmul(x, w, y, kernel_ns, program_config=config),))
    return program


@pytest.fixture
def cores(tmp_path):
    def of(config, arch="wormhole_b0", **chip):
        report = performance_of(tmp_path, of_config(config, arch))
        return float(working_cores(report.ops, replace(chip_of(report, None), **chip))[0])

    return of


@for_all(("arch", "banks"), [("wormhole_b0", 12), ("blackhole", 8)])
def test_one_core_per_bank_computes_on_dram_sharded_weights(cores, arch, banks):
    assert cores(DRAM_SHARDED.format(""), arch) == banks


def test_a_p100_has_seven_banks(cores):
    assert cores(DRAM_SHARDED.format(""), "blackhole", dram_peak_gb_s=448) == 7


def test_several_readers_per_bank_compute_beside_it(cores):
    assert cores(DRAM_SHARDED.format(";num_workers_per_dram_bank=3"), "blackhole") == 24


def test_any_other_config_has_the_grid(cores):
    assert cores("MatmulMultiCoreReuseMultiCast1DProgramConfig(in0_block_w=8;per_core_M=1;per_core_N=2)") == 64
    assert cores(None) == 64


def test_the_arithmetic_of_dram_sharded_matmuls_is_that_of_few_cores(tmp_path):
    """2 x 32 x 4096 x 4096 at HiFi2, 2048 per cycle and core, 12 cores at 1 GHz: 43.7 us; CORE COUNT says 64."""
    report = performance_of(tmp_path, of_config(DRAM_SHARDED.format("")))
    bounds = roofline_of(report.ops, chip_of(report, None))
    assert bounds.compute_ns[0] == pytest.approx(2**30 / 2048 / 12)
    assert bounds.compute_used_ns[0] == bounds.compute_ns[0]


def test_another_program_has_all_cores(tmp_path):
    report = performance_of(tmp_path, of_config(DRAM_SHARDED.format(""), "blackhole"))
    chip = chip_of(report, None)
    least = least_times_of(report.ops, chip, flow_of(report.ops), 1)
    assert least.as_it_is_ns[0] < roofline_of(report.ops, chip).compute_ns[0] == least.on_its_cores_ns[0]


def test_an_unknown_architecture_has_unknown_banks(tmp_path):
    report = performance_of(tmp_path, of_config(None))
    chip = chip_of(report, None)
    assert dram_banks(replace(chip, arch=None)) is None
    assert dram_banks(replace(chip, dram_peak_gb_s=None)) is None


def test_cores_of_an_unknown_chip_are_those_that_ops_used(cores):
    assert cores(DRAM_SHARDED.format(""), arch="wormhole_b0", dram_peak_gb_s=None) == 64

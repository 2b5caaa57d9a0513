"""The model of tt-perf-report on the demo; on real reports: tests/oracles/test_tt_perf_report.py."""

import pytest

from tests.shell.perf_report.demo_table import demo
from ttnn_mcp.shell.perf_report.lines import PerfLine, table_of


@pytest.fixture(scope="module")
def lines():
    return {line.id: line for line in table_of(demo(), signposts=False, merge=True)}


def test_a_matmul_has_its_sizes_and_rates(lines):
    matmul = lines[75]
    assert matmul.size == "1024 x 256 x 768"
    assert matmul.flops == pytest.approx(2 * 1024 * 256 * 768 / 68_300e3)
    assert matmul.flops_percent == pytest.approx(100 * matmul.flops / (4 * 148 / 72))  # 4 cores at HiFi2
    assert matmul.dram_percent == pytest.approx(100 * matmul.dram / 288)


def test_a_convolution_has_rates_of_arithmetic_only(lines):
    conv = lines[64]
    assert conv.size == "4096 x 1728 x 256 [ABH=2|1 SR]"
    assert conv.flops == pytest.approx(2 * 4096 * 1728 * 256 / 122_400e3)
    assert (conv.dram, conv.dram_percent, conv.bound) == (None, None, "")


def test_shares_are_of_times_and_gaps_and_add_up(lines):
    assert sum(line.share for line in lines.values()) == pytest.approx(100)
    assert lines[2].gap is None


def test_another_op_has_a_time_and_no_rates(lines):
    norm = lines[78]
    assert (norm.time, norm.cores, norm.flops, norm.size) == (34.1, 1, None, "")


def test_a_signpost_is_no_op():
    assert PerfLine(0, 2, "start (signpost)", None).is_signpost
    assert not PerfLine(0, 2, "start", None).is_signpost

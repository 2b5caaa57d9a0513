"""Devices of a mesh at different clocks: each one's cycles become time by its own clock, and the answers say so."""

import numpy as np
import pytest

from tests.analyses.tables import put
from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from tests.profiles.ops import unary
from tests.run.ops.test_op_table import table
from tests.shared_reports import DEEPSEEK, shared
from ttnn_mcp.analyses.devices.host_gaps import timelines_of
from ttnn_mcp.run.ops.device_clocks import at_odds, clock_of, clock_of_rows, clocks_apart, implied_clocks
from ttnn_mcp.run.window import scope_of

CYCLES = ("DEVICE FW START CYCLE", "DEVICE FW END CYCLE")
KERNELS_NS = ((10_000, 10_000, 10_000), (20_000, 20_000, 40_000))  # of each op on devices 0, 1 and 2


async def run_of(folder, share, *, slow=(2,), devices=3):
    """The run of a report whose slow devices count `share` of the cycles in the same nanoseconds."""
    program = Program("wormhole_b0", devices=devices)
    for number, kernel_ns in enumerate(KERNELS_NS, start=1):
        x, y = (program.tensor([1, 1, 1024, 32 * number]) for _ in range(2))
        put(program, unary("RELU", x, y, kernel_ns[:devices]))
        program.device_ops[-1].gap_ns = 2_000
    rows = performance_rows(program, [Iteration()])
    for row in rows:
        if row.get("DEVICE ID") and int(row["DEVICE ID"]) in slow:
            row.update({name: str(round(int(row[name]) * share)) for name in CYCLES})
    return await session(folder).run(str(write_rows(folder / "ops_perf_results.csv", rows, header_of(rows, "C7"))))


@for_all("share", [1, 0.8, 1.25])
async def test_every_device_has_a_timeline_of_its_own_by_its_own_clock(tmp_path, share):
    run = await run_of(tmp_path, share)
    lines = timelines_of(scope_of(run.performance_report, iteration="all").ops, run.chip)
    assert [line.device for line in lines] == [0, 1, 2]
    assert [line.kernel_ns for line in lines] == [30_000, 30_000, 50_000]  # none is taken for a raw timestamp
    assert [line.wall_ns for line in lines] == pytest.approx([32_000, 32_000, 52_000], abs=3)


@for_all(("share", "told"), [(0.989, True), (0.991, False), (1.009, False), (1.011, True)])
async def test_clocks_are_apart_from_a_hundredth_on(tmp_path, share, told):
    chip = (await run_of(tmp_path, share)).chip
    assert dict(chip.clocks_apart) == ({2: pytest.approx(share, abs=1e-4)} if told else {})
    assert chip.clock_ghz == pytest.approx(1, abs=1e-4)
    assert any("different clocks" in caveat for caveat in chip.caveats) is told


def test_without_cycles_no_clocks_are_compared():
    ops = table(device=np.array([0.0, 1.0]), fw_ns=np.array([5.0, 5.0]))
    assert clock_of(ops) is None
    assert clocks_apart(ops, None) == []


def clocked(*cycles, took=100_000.0):
    """Ops of one device that took so many cycles, and so long."""
    none = np.zeros(len(cycles))
    return table(device=none, fw_start_cycle=none, fw_end_cycle=np.array(cycles, dtype=float), fw_ns=none + took)


@for_all(("cycles", "known"), [(19_900, False), (20_100, True), (149_900, True), (150_100, False)])
def test_a_clock_is_one_that_a_chip_can_have(cycles, known):
    ops = clocked(cycles, cycles)
    assert (clock_of(ops) is not None) == known
    assert implied_clocks(ops).tolist() == [cycles / 1e5] * 2


@for_all(("cycles", "odd"), [(98_950, True), (98_970, False), (101_030, False), (101_050, True)])
def test_an_op_may_be_off_by_a_hundredth_and_40_cycles(cycles, odd):
    assert at_odds(clocked(100_000, cycles), 1.0).tolist() == [False, odd]


@for_all(("odd", "known"), [(10, True), (11, False)])
def test_a_tenth_of_the_rows_may_be_at_odds(odd, known):
    assert (clock_of(clocked(*[50_000] * odd, *[100_000] * (100 - odd))) is not None) == known


def test_without_a_clock_all_that_tells_one_is_at_odds():
    ops = clocked(100.0, np.nan)
    assert at_odds(ops, None).tolist() == [True, False]
    assert at_odds(ops, 1e-3).tolist() == [False, False]
    assert implied_clocks(ops).tolist() == [1e-3]


def test_a_device_that_tells_no_clock_counts_as_the_others():
    cycles, took = np.array([80.0, 80.0, 40.0, 80.0]), np.array([100.0, 100.0, 100.0, 0.0])
    ops = table(device=np.array([0.0, 0.0, 1.0, 2.0]), fw_start_cycle=np.zeros(4), fw_end_cycle=cycles, fw_ns=took)
    assert clocks_apart(ops, clock_of(ops)) == [(1, 0.4)]
    assert clock_of_rows(ops, 1.0, [(1, 0.5)]).tolist() == [1, 1, 0.5, 1]


async def test_the_answers_name_the_slow_device(tmp_path):
    await run_of(tmp_path, 0.8)
    at, path = session(tmp_path), str(tmp_path / "ops_perf_results.csv")
    told = "devices ran at different clocks (device 2 0.8, the others 1 GHz): a slower one makes all wait"
    assert told in (await ask(at, "device_balance", run=path))["caveat"]
    assert told in (await ask(at, "open_run", run=path))["caveats"]
    assert told in (await ask(at, "time_budget", run=path))["chip_caveats"]


async def test_of_many_slow_devices_some_are_named(tmp_path):
    program = Program("wormhole_b0", devices=16)
    put(program, unary("RELU", program.tensor([1, 1, 32, 32]), program.tensor([1, 1, 32, 32]), 10_000))
    rows = performance_rows(program, [Iteration()])
    for row in rows[:6]:
        row.update({name: str(round(int(row[name]) * 0.5)) for name in CYCLES})
    path = write_rows(tmp_path / "ops_perf_results.csv", rows, header_of(rows, "C7"))
    caveats = (await session(tmp_path).run(str(path))).chip.caveats
    assert any("device 3 0.5 and 2 more, the others 1 GHz" in caveat for caveat in caveats)


@for_all(("share", "fastest"), [(0.8, 1), (1.25, 1.25)])
async def test_bounds_of_all_devices_are_those_of_the_fastest(tmp_path, share, fastest):
    chip = (await run_of(tmp_path, share)).chip
    assert chip.at_fastest.clock_ghz == pytest.approx(fastest, abs=1e-4)
    assert [chip.on(device).clock_ghz for device in (0, 2)] == pytest.approx([1, share], abs=1e-4)


async def test_one_device_has_one_clock(tmp_path):
    chip = (await run_of(tmp_path, 0.8, slow=(0,), devices=1)).chip
    assert (chip.clocks_apart, chip.clock_ghz) == ((), pytest.approx(0.8, abs=1e-4))


async def test_the_eight_chips_of_a_real_mesh_run_at_one_clock(tmp_path):
    assert (await session(tmp_path).run(str(shared(DEEPSEEK)))).chip.clocks_apart == ()

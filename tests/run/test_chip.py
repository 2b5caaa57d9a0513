"""The chip: what the reports state, what a device log beside them adds, and what is inferred."""

import asyncio
import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import header_of, performance_rows, write_rows
from tests.profiles.device_log import write_device_log
from tests.programs import block
from ttnn_mcp.run.chip import Chip, chip_of, clocks_told

CYCLES = ("DEVICE FW START CYCLE", "DEVICE FW END CYCLE")


def chip(folder, *without: str, arch: str = "wormhole_b0", mhz: int = 1000, old: bool = False):
    rows = [{name: text for name, text in row.items() if name not in without} for row in performance_rows(block())]
    path = write_rows(
        folder / "ops_perf_results.csv", rows, [name for name in header_of(rows, "C7") if name not in without]
    )
    if mhz >= 0:
        write_device_log(folder, [], arch=arch, mhz=mhz, old=old)
    return asyncio.run(session(folder).run(str(path))).chip


@for_all("old", [False, True])
def test_line_1_of_the_device_log_tells_architecture_and_clock(tmp_path, old):
    told = chip(tmp_path, "DEVICE ARCH", *CYCLES, arch="blackhole", mhz=1350, old=old)
    assert (told.arch, told.clock_ghz) == ("blackhole", 1.35)
    assert told.caveats[0] == "no DEVICE ARCH: blackhole by profile_log_device.csv"


def test_without_a_log_neither_is_known(tmp_path):
    told = chip(tmp_path, "DEVICE ARCH", *CYCLES, mhz=-1)
    assert (told.arch, told.clock_ghz) == (None, None)


def test_the_clock_of_a_simulator_is_none(tmp_path):
    """A simulator writes 0 MHz."""
    told = chip(tmp_path, "DEVICE ARCH", *CYCLES, arch="blackhole", mhz=0)
    assert (told.arch, told.clock_ghz) == ("blackhole", 1.35)  # the architecture's


@for_all(("arch", "mhz"), [("blackhole", 1000), ("wormhole_b0", 500)])
def test_a_log_of_another_chip_is_not_used_and_said(tmp_path, arch, mhz):
    told = chip(tmp_path, arch=arch, mhz=mhz)
    assert (told.arch, told.clock_ghz) == ("wormhole_b0", pytest.approx(1))
    assert any(f"of another chip ({arch}, {mhz} MHz)" in caveat for caveat in told.caveats)


@for_all(("mhz", "used"), [(1029, True), (1031, False)])
def test_clocks_may_differ_by_what_still_names_one_architecture(tmp_path, mhz, used):
    told = chip(tmp_path, "DEVICE ARCH", mhz=mhz)
    assert any("another chip" in caveat for caveat in told.caveats) != used
    assert told.arch == "wormhole_b0"


def test_a_log_of_an_architecture_never_heard_of_is_ignored(tmp_path):
    told = chip(tmp_path, "DEVICE ARCH", *CYCLES, arch="quasar", mhz=1500)
    assert (told.arch, told.clock_ghz) == (None, None)


def test_a_log_that_agrees_adds_no_word(tmp_path):
    assert chip(tmp_path).caveats == ()
    write_device_log(tmp_path, [], arch="blackhole", mhz=1350)
    measured = performance(arch_stated="blackhole", clock_ghz=1.35, csv=SimpleNamespace(path=tmp_path / "x.csv"))
    assert not any("another chip" in caveat for caveat in chip_of(measured, None).caveats)


@for_all("mhz", [0, 1000])
def test_a_log_without_a_clock_is_not_compared(tmp_path, mhz):
    told = chip(tmp_path, "DEVICE ARCH", mhz=mhz)
    assert (told.arch, told.clock_ghz) == ("wormhole_b0", pytest.approx(1))
    assert told.caveats[0] == "no DEVICE ARCH: wormhole_b0 by profile_log_device.csv"


def test_without_a_log_the_clock_tells_the_architecture_and_this_is_said(tmp_path):
    assert "wormhole_b0 inferred from the 1 GHz clock" in chip(tmp_path, "DEVICE ARCH", mhz=-1).caveats[0]
    folder = tmp_path / "without"
    folder.mkdir()
    assert chip(folder, "DEVICE ARCH", *CYCLES, mhz=-1).caveats[0].endswith("architecture unknown, no rooflines")


def memory(*cores, arch="blackhole", boards=()):
    """What a memory report tells of a chip."""
    return SimpleNamespace(
        arch=arch, devices=[SimpleNamespace(compute_cores=count) for count in cores], boards=list(boards)
    )


def performance(**figures):
    """What a performance report tells of a chip."""
    unknown = dict.fromkeys(("arch_stated", "arch_inferred", "clock_ghz", "worker_cores_stated", "most_cores_used"))
    known = {
        "sub_device_cores": {},
        "clocks_apart": [],
        "csv": SimpleNamespace(path=Path("none", "x.csv")),
        **figures,
    }
    return SimpleNamespace(**{**unknown, **known})


def test_a_memory_report_alone_tells_architecture_grid_and_card():
    told = chip_of(None, memory(110, boards=["p100a"]))
    assert (told.arch, told.clock_ghz, told.cores, told.cores_floor) == ("blackhole", 1.35, 110, None)
    assert (told.dram_peak_gb_s, told.caveats) == (448, ())
    assert told.dram_achievable_gb_s < told.dram_peak_gb_s
    either = chip_of(None, memory(110))
    assert (either.dram_peak_gb_s, len(either.caveats)) == (512, 1)
    named = chip_of(None, memory(110, boards=["p150b"]))
    assert [one.known_dram_banks for one in (told, named, either)] == [7, 8, None]
    assert either.caveats[0].endswith("cannot be told apart")


def test_no_report_and_no_device_tell_nothing():
    nothing = (None, None, None, None, None, None, (), ())
    for none in (chip_of(None, None), chip_of(None, memory(arch=None))):
        assert (
            *(none.arch, none.clock_ghz, none.worker_cores, none.cores_floor, none.dram_peak_gb_s),
            *(none.dram_achievable_gb_s, none.caveats, none.clocks_apart),
        ) == nothing
        assert none.known_dram_banks is None
    foreign = chip_of(None, memory(120, arch="quasar"))
    assert foreign.dram_achievable_gb_s is foreign.known_dram_banks is None
    assert foreign.caveats == (
        "nothing is known here of architecture 'quasar': no rooflines, no advice on formats",
    )


def test_what_a_performance_report_states_goes_before_what_the_memory_report_says():
    told = chip_of(performance(arch_stated="wormhole_b0", worker_cores_stated=64), memory(110))
    assert (told.arch, told.worker_cores) == ("wormhole_b0", 64)
    assert chip_of(performance(arch_stated="blackhole"), memory(110)).worker_cores == 110


def test_cores_that_ops_used_are_a_floor_and_said():
    told = chip_of(performance(arch_stated="wormhole_b0", most_cores_used=56), None)
    assert (told.worker_cores, told.cores_floor, told.cores) == (None, 56, 56)
    assert told.caveats[0] == "no AVAILABLE WORKER CORE COUNT: at most 56 cores were used, the grid may be larger"
    stated = performance(arch_stated="wormhole_b0", most_cores_used=56, worker_cores_stated=64)
    assert not any("at most" in caveat for caveat in chip_of(stated, None).caveats)


@for_all(("cores", "summed"), [({"0": 8, "1": 56}, True), ({"0": 64}, False)])
def test_a_grid_summed_from_sub_devices_is_said(cores, summed):
    told = chip_of(performance(arch_stated="wormhole_b0", worker_cores_stated=64, sub_device_cores=cores), None)
    assert any("sum of the sub-devices that ran (8 + 56)" in caveat for caveat in told.caveats) == summed


@for_all(("others", "more"), [(4, ""), (5, " and 1 more")])
def test_four_devices_at_another_clock_are_named(others, more):
    apart = tuple((device, 0.5) for device in range(others))
    named = "device 0 0.5, device 1 0.5, device 2 0.5, device 3 0.5"
    assert f"({named}{more}, the others 1 GHz)" in clocks_told(1.0, apart)


def test_a_chip_without_a_clock_is_its_own_fastest():
    chip = Chip(None, None, None, None, None, None, ())
    assert chip.at_fastest is chip
    assert (chip.architecture, chip.cores) == (None, None)


def test_the_matrix_engine_is_known_of_chips_that_are_known():
    """8 x 16 by 16 x 16 per cycle, a multiplication and an addition each (tt-metal's tech_reports/matrix_engine)."""
    of = [Chip(arch, 1.2, None, None, None, None, ()) for arch in ("wormhole_b0", None, "quasar")]
    assert [chip.foreign for chip in of] == [False, False, True]
    assert [chip.flop_per_ns_per_core for chip in of] == pytest.approx([4915.2, 4915.2, math.nan], nan_ok=True)

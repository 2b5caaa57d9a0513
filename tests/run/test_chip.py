"""The chip: what the reports state, what a device log beside them adds, and what is inferred."""

import asyncio

import pytest

from tests.asking import session
from tests.profiles import header_of, performance_rows, write_rows
from tests.profiles.device_log import write_device_log
from tests.programs import block

CYCLES = ("DEVICE FW START CYCLE", "DEVICE FW END CYCLE")


def chip(folder, *without: str, arch: str = "wormhole_b0", mhz: int = 1000, old: bool = False):
    rows = [{name: text for name, text in row.items() if name not in without} for row in performance_rows(block())]
    path = write_rows(
        folder / "ops_perf_results.csv", rows, [name for name in header_of(rows, "C7") if name not in without]
    )
    if mhz >= 0:
        write_device_log(folder, [], arch=arch, mhz=mhz, old=old)
    return asyncio.run(session(folder).run(str(path))).chip


@pytest.mark.parametrize("old", [False, True])
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


@pytest.mark.parametrize(("arch", "mhz"), [("blackhole", 1000), ("wormhole_b0", 500)])
def test_a_log_of_another_chip_is_not_used_and_said(tmp_path, arch, mhz):
    told = chip(tmp_path, arch=arch, mhz=mhz)
    assert (told.arch, told.clock_ghz) == ("wormhole_b0", pytest.approx(1))
    assert any(f"of another chip ({arch}, {mhz} MHz)" in caveat for caveat in told.caveats)


@pytest.mark.parametrize(("mhz", "used"), [(1029, True), (1031, False)])
def test_clocks_may_differ_by_what_still_names_one_architecture(tmp_path, mhz, used):
    told = chip(tmp_path, "DEVICE ARCH", mhz=mhz)
    assert any("another chip" in caveat for caveat in told.caveats) != used
    assert told.arch == "wormhole_b0"


def test_a_log_of_an_architecture_never_heard_of_is_ignored(tmp_path):
    told = chip(tmp_path, "DEVICE ARCH", *CYCLES, arch="quasar", mhz=1500)
    assert (told.arch, told.clock_ghz) == (None, None)


def test_a_log_that_agrees_adds_no_word(tmp_path):
    assert chip(tmp_path).caveats == ()

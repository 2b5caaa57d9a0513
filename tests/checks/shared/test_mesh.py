"""Devices side by side: which can be compared, which rows belong together, and how many of them are named."""

from __future__ import annotations

import pytest

from tests.checks.asking import asker
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective

COMPARE = ("device-imbalance", "collective-share", "collective-bandwidth", "collective-topology")
FAST, SLOW = 100_000, 200_000


@pytest.fixture
def ask(tmp_path):
    return lambda check, about: asker(check, tmp_path).ask(about)


def uneven(*kernel_ns):
    program = Program("blackhole", devices=len(kernel_ns))
    x, y = program.tensor([1, 8, 1024, 64]), program.tensor([1, 8, 1024, 64])
    put(program, DeviceOp("MadeUpOfNoFamily", (x,), (y,), list(kernel_ns)))
    return program


@for_all("check", [*COMPARE, "duplicate-gather"])
def test_one_device_has_no_other(ask, check):
    outcome = ask(check, uneven(FAST))
    assert (outcome.status, outcome.why) == ("not_applicable", "one device")


def test_two_devices_are_enough(ask):
    assert ask("device-imbalance", uneven(FAST, SLOW)).fires


@for_all("check", COMPARE)
def test_devices_that_ran_different_ops_are_not_compared(ask, tmp_path, check):
    program = uneven(FAST, FAST, FAST, SLOW)
    pass_time(program, 50_000)
    rows = performance_rows(program, [Iteration()])[:-1]
    outcome = ask(check, write_rows(tmp_path / "ops_perf_results_1.csv", rows, header_of(rows, "C7")))
    assert outcome.status == "cannot_tell"
    assert outcome.why.startswith("devices ran different ops")


@for_all(
    ("slow", "named", "others"),
    [
        ((0, 1, 2, 3), "0-3", "4-7"),
        ((0, 1, 2, 6), "0-2, 6", "3-5, 7"),
        ((5,), "5", "0-4, 6-7"),
        ((1, 3, 5), "1, 3, 5", "0, 2, 4, 6-7"),
    ],
)
def test_devices_are_named_as_ranges(ask, slow, named, others):
    program = uneven(*(SLOW if device in slow else FAST for device in range(8)))
    text = ask("device-imbalance", program).claim.claim
    assert f"takes 0.20 ms on devices {named}, 0.10 ms on {others} (2.00x)" in text


def test_the_critical_devices_rows_are_those_of_the_same_launch(ask):
    """The third op is uneven, on every device the third of its rows."""
    program = Program("blackhole", devices=3)
    for width, times in ((32, FAST), (64, FAST), (96, [FAST, FAST, 3 * FAST]), (128, FAST)):
        x, y = program.tensor([1, 1, 32, width]), program.tensor([1, 1, 32, width])
        put(program, DeviceOp("MadeUpOfNoFamily", (x,), (y,), times))
    claim = ask("device-imbalance", program).claim
    assert claim.rows.tolist() == [2]
    assert claim.at_most_ns.tolist() == [pytest.approx(3 * FAST - 5 * FAST / 3)]


def test_the_fastest_device_does_not_wait(ask):
    """6.3 MB per device and way over two links: 100 us are 31 GB/s of the best 25 a link; 900 us are waiting."""

    def exchanged(fastest_ns):
        program = Program("blackhole", devices=4)
        x, y = program.tensor([1, 1, 1024, 1024]), program.tensor([1, 1, 1024, 4096])
        put(program, collective("AllGatherAsync", x, y, [2_000_000, 2_000_000, fastest_ns, 2_000_000], ring_size=4))
        return program

    assert ask("collective-bandwidth", exchanged(150_000)).status == "clean"
    assert ask("collective-bandwidth", exchanged(1_500_000)).fires

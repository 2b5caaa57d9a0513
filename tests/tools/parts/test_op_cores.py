"""op_detail with a device log beside the report: times of single cores. The logs are made; no real one was at hand."""

import csv

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Program, write_performance_report, write_rows
from tests.profiles.device_log import write_device_log, write_no_log, zone_lines
from tests.shared_reports import LINKED, shared
from ttnn_mcp.tools.parts import op_cores

CALL_COUNT = 1 << 10  # the first op of device 0
CORES = [(1 + place % 8, 1 + place // 8) for place in range(32)]


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


def report(folder, kernel_ns: int = 20_000, cores: int = 32):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024])], kernel_ns=kernel_ns, cores=cores)
    return write_performance_report(folder, program)


def zones(slow_ns: int = 10_000, offset: int = 0):
    """31 cores work for 10 us, the last one for `slow_ns`, its clock apart by `offset`."""
    work = [(core, "BRISC", "BRISC-KERNEL", 5_000_000, 5_010_000) for core in CORES[:-1]]
    start = 5_000_000 + offset
    return [*work, (CORES[-1], "BRISC", "BRISC-KERNEL", start, start + slow_ns)]


async def test_a_straggler_is_named_and_occupancy_times_balance_is_the_grid_s_efficiency(at, tmp_path):
    path = report(tmp_path)
    write_device_log(path.parent, zone_lines(zones(20_000), CALL_COUNT))
    cores = (await ask(at, "op_detail", run=str(path), op=2))["on_cores"]
    assert (cores["cores"], cores["idle"], cores["occupancy"]) == (32, 32, 0.5)
    assert cores["balance"] == pytest.approx((31 * 10 + 20) / 32 / 20, abs=1e-3)
    assert next(iter(cores["slowest"].items())) == ("8-4", 20)
    assert cores["kernel_us"] == cores["slowest_us"] == 20
    assert cores["chip"] == "wormhole_b0, 1000 MHz"
    assert "caveats" not in cores
    busy = (31 * 10 + 20) / (64 * 20)
    assert cores["occupancy"] * cores["balance"] == pytest.approx(busy, abs=1e-3)


async def test_even_cores_are_not_listed(at, tmp_path):
    path = report(tmp_path, kernel_ns=10_000)
    write_device_log(path.parent, zone_lines(zones(), CALL_COUNT))
    cores = (await ask(at, "op_detail", run=str(path), op=2))["on_cores"]
    assert cores["balance"] == 1
    assert "slowest" not in cores


async def test_a_reset_counter_is_seen_and_the_time_repaired(at, tmp_path):
    path = report(tmp_path, kernel_ns=4_000_000)
    write_device_log(path.parent, zone_lines(zones(offset=-4_000_000), CALL_COUNT))
    cores = (await ask(at, "op_detail", run=str(path), op=2))["on_cores"]
    assert cores["kernel_us"] == 10
    assert "1 cores have another clock" in cores["caveats"][0]
    assert "4000 us" in cores["caveats"][1]


async def test_a_log_that_disagrees_with_the_report_is_not_taken_silently(at, tmp_path):
    path = report(tmp_path, kernel_ns=10_000, cores=30)
    write_device_log(path.parent, zone_lines(zones(), CALL_COUNT), arch="blackhole")
    caveats = (await ask(at, "op_detail", run=str(path), op=2))["on_cores"]["caveats"]
    assert caveats == ["the report counts 30 cores", "the report is of wormhole_b0"]


async def test_a_large_log_is_read_only_when_asked_for(at, tmp_path, monkeypatch):
    path = report(tmp_path)
    log = write_device_log(path.parent, zone_lines(zones(), CALL_COUNT))
    monkeypatch.setattr(op_cores, "READ_UNASKED_BYTES", log.stat().st_size - 1)
    said = await ask(at, "op_detail", run=str(path), op=2)
    assert "on_cores" not in said
    assert "whole='cores'" in said["caveat"]
    assert (await ask(at, "op_detail", run=str(path), op=2, whole="cores"))["on_cores"]["cores"] == 32


async def test_why_no_cores_are_told_is_said_only_to_who_asked(at, tmp_path):
    path = report(tmp_path)
    log = path.parent / "profile_log_device.csv"
    log.unlink(missing_ok=True)
    assert "caveat" not in await ask(at, "op_detail", run=str(path), op=2)
    assert "beside the report" in (await ask(at, "op_detail", run=str(path), op=2, whole="cores"))["caveat"]
    write_device_log(path.parent, zone_lines(zones(), 7))
    assert "exactly one run" in (await ask(at, "op_detail", run=str(path), op=2, whole="cores"))["caveat"]
    log.write_text("no log")
    assert "no device log" in (await ask(at, "op_detail", run=str(path), op=2, whole="cores"))["caveat"]
    assert "caveat" not in await ask(at, "op_detail", run=str(path), op=2)


async def test_the_published_stub_of_a_log_adds_nothing(at):
    path = str(shared(LINKED))
    line = int((await at.run(path)).performance_report.ops.lines[0])
    said = await ask(at, "op_detail", run=path, op=line)
    assert "on_cores" not in said


@for_all(("slow_ns", "is_told"), [(10_400, False), (11_830, True)])
async def test_the_slowest_cores_are_listed_where_they_hold_up_the_others(at, tmp_path, slow_ns, is_told):
    """The mean core works 96 % and 85 % of the slowest one's time."""
    path = report(tmp_path)
    write_device_log(path.parent, zone_lines(zones(slow_ns), CALL_COUNT))
    cores = (await ask(at, "op_detail", run=str(path), op=2))["on_cores"]
    assert ("slowest" in cores) == is_told


@for_all(("kernel_ns", "is_told"), [(10_080, False), (10_120, True), (9_880, True)])
async def test_a_difference_of_a_percent_to_the_report_is_told(at, tmp_path, kernel_ns, is_told):
    path = report(tmp_path, kernel_ns)
    write_device_log(path.parent, zone_lines(zones(), CALL_COUNT))
    assert ("caveats" in (await ask(at, "op_detail", run=str(path), op=2))["on_cores"]) == is_told


def without(path, *lost):
    """The report, some columns of which are lost."""
    with path.open(newline="") as file:
        rows = [*csv.DictReader(file)]
    return write_rows(path, rows, [name for name in rows[0] if name not in lost])


async def test_without_its_count_no_op_can_be_looked_up(at, tmp_path):
    path = without(report(tmp_path), "GLOBAL CALL COUNT")
    write_device_log(path.parent, zone_lines(zones(), CALL_COUNT))
    said = await ask(at, "op_detail", run=str(path), op=2, whole="cores")
    assert "on_cores" not in said
    assert "no GLOBAL CALL COUNT: the op cannot be looked up" in said["caveat"]
    assert "caveat" not in await ask(at, "op_detail", run=str(path), op=2)


async def test_what_the_report_does_not_tell_is_not_held_against_the_log(at, tmp_path):
    """Neither the log's name of the chip nor the report's clock, which it lacks, says which chip it is."""
    lost = ("CORE COUNT", "DEVICE ARCH", "AVAILABLE WORKER CORE COUNT")
    clock = ("DEVICE FW START CYCLE", "DEVICE FW END CYCLE", "DEVICE FW DURATION [ns]")
    path = without(report(tmp_path, kernel_ns=10_000), *lost, *clock)
    write_device_log(path.parent, zone_lines(zones(), CALL_COUNT), arch="made_up")
    cores = (await ask(at, "op_detail", run=str(path), op=2))["on_cores"]
    assert (cores["cores"], cores["chip"]) == (32, "made_up, 1000 MHz")
    assert "caveats" not in cores


@for_all(("size", "is_read"), [(32 << 20, True), ((32 << 20) + 1, False)])
async def test_a_log_of_32_mib_is_read_unasked_and_a_larger_one_is_not(at, tmp_path, size, is_read):
    path = report(tmp_path)
    write_no_log(path.parent, size)
    said = await ask(at, "op_detail", run=str(path), op=2)
    assert ("whole='cores'" in said.get("caveat", "")) != is_read

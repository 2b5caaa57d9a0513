"""op_detail with a device log beside the report: times of single cores. The logs are made; no real one was at hand."""

import csv
import random

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report, write_rows
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


def made_program() -> Program:
    program = Program("wormhole_b0")
    for number in range(1, 5):
        x = program.tensor([1, 1, 512 * number, 512])
        program.op("UnaryDeviceOperation", [x], kernel_ns=10_000 * number, cores=16 * number)
    return program


async def logged(folder, state, program, spans) -> str:
    """A report and its log; `spans(chance, kernel_ns, cores)` are the starts and ends on the cores of an op."""
    path = write_performance_report(folder, program, (Iteration(cold=True), Iteration()))
    ops = (await session(state).run(str(path))).performance_report.ops
    lines = []
    for place, count in enumerate(ops.numbers("call_count").tolist()):
        kernel_ns, cores = int(ops.numbers("kernel_ns")[place]), int(ops.numbers("cores")[place])
        zoned = [
            ((1 + core % 8, 1 + core // 8), risc, f"{risc}-KERNEL", begin, end)
            for core, (begin, end) in enumerate(spans(place, kernel_ns, cores))
            for risc in ("BRISC", "NCRISC")
        ]
        lines += zone_lines(zoned, int(count))
    write_device_log(path.parent, lines)
    return str(path)


def random_spans(place, kernel_ns, cores):
    chance = random.Random(place)  # noqa: S311
    first = 1_000_000 * (place + 1)
    spans = [(first + chance.randint(0, 500), first + chance.randint(1_000, kernel_ns)) for _ in range(cores)]
    return [(first, spans[0][1]), (spans[1][0], first + kernel_ns), *spans[2:]]


async def test_log_and_report_agree_on_every_heavy_op_of_a_window(at, tmp_path):
    path = await logged(tmp_path / "r", tmp_path / "s", made_program(), random_spans)
    answer = await ask(at, "time_budget", run=path)
    rows = [dict(zip(answer["on_cores"]["columns"], row, strict=True)) for row in answer["on_cores"]["rows"]]
    assert [row["in_report_us"] for row in rows] == [40, 30, 20, 10]
    assert "on_cores_caveat" not in answer
    for place, row in zip((7, 6, 5, 4), rows, strict=True):
        kernel_ns, cores = int(row["in_report_us"] * 1e3), row["cores"]
        took = [end - begin for begin, end in random_spans(place, kernel_ns, cores)]
        assert row["kernel_us"] == row["in_report_us"]
        assert (row["cores"], row["idle"]) == (cores, 64 - cores)
        assert row["occupancy_share"] == cores / 64
        assert row["balance_share"] == pytest.approx(sum(took) / len(took) / max(took), abs=1e-4)
        assert row["slowest_us"] == pytest.approx(max(took) / 1e3, abs=0.01)
        slowest = took.index(max(took))
        assert row["slowest_core"] == f"{1 + slowest % 8}-{1 + slowest // 8}"


async def test_ops_that_seem_long_for_reset_counters_are_counted_in_the_window(at, tmp_path):
    """The heaviest op of the report took 3 us: one core's counter began again, and the report took its end for late."""

    def spans(place, kernel_ns, cores):
        first = 10_000_000 * (place + 1)
        work = [(first, first + (3_000 if kernel_ns == 40_000 else kernel_ns))] * cores
        return [(5, 2_005), *work[1:]] if kernel_ns == 40_000 else work

    path = await logged(tmp_path / "r", tmp_path / "s", made_program(), spans)
    answer = await ask(at, "time_budget", run=path)
    row = dict(zip(answer["on_cores"]["columns"], answer["on_cores"]["rows"][0], strict=True))
    assert (row["in_report_us"], row["kernel_us"], row["other_clock"]) == (40, 3, 1)
    assert answer["on_cores_caveat"].startswith("report and log disagree on 1 of 4 ops, by 37 us together")
    assert "on 1 of them the counters" in answer["on_cores_caveat"]


async def test_a_window_s_log_that_is_large_is_named_and_left(at, tmp_path, monkeypatch):
    path = report(tmp_path)
    write_device_log(path.parent, zone_lines(zones(), CALL_COUNT))
    monkeypatch.setattr(op_cores, "READ_UNASKED_BYTES", 10)
    answer = await ask(at, "time_budget", run=str(path))
    assert "on_cores" not in answer
    assert "op_detail(op, whole='cores')" in answer["on_cores_caveat"]


@for_all("content", ["", "no log", "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nno columns\n"])
async def test_a_broken_log_takes_nothing_from_the_time_budget(at, tmp_path, content):
    path = report(tmp_path)
    (path.parent / "profile_log_device.csv").write_text(content)
    answer = await ask(at, "time_budget", run=str(path))
    assert "on_cores" not in answer
    assert "on_cores_caveat" not in answer


async def test_of_a_window_the_five_heaviest_ops_are_told_core_by_core(at, tmp_path):
    program = Program("wormhole_b0")
    for number in range(1, 8):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 512 * number, 512])], kernel_ns=10_000 * number)
    path = await logged(
        tmp_path / "r", tmp_path / "s", program, lambda *at: [(1_000_000, 1_000_000 + at[1])] * at[2]
    )
    table = (await ask(at, "time_budget", run=path))["on_cores"]
    assert [row[table["columns"].index("in_report_us")] for row in table["rows"]] == [70, 60, 50, 40, 30]


@for_all(("kernel_ns", "is_told"), [(10_080, False), (10_120, True), (9_880, True)])
async def test_a_difference_of_a_percent_between_report_and_log_is_told(at, tmp_path, kernel_ns, is_told):
    path = report(tmp_path, kernel_ns)
    both = [line for count in (CALL_COUNT, 2 * CALL_COUNT) for line in zone_lines(zones(), count)]
    write_device_log(path.parent, both)
    answer = await ask(at, "time_budget", run=str(path))
    assert answer["on_cores"]["rows"]
    assert ("on_cores_caveat" in answer) == is_told


@for_all(("size", "is_read"), [(32 << 20, True), ((32 << 20) + 1, False)])
async def test_a_log_of_32_mib_beside_a_window_is_read_and_a_larger_one_is_named(at, tmp_path, size, is_read):
    path = report(tmp_path)
    write_no_log(path.parent, size)
    assert ("on_cores_caveat" in await ask(at, "time_budget", run=str(path))) != is_read


async def test_without_counts_or_a_log_a_window_has_no_cores(at, tmp_path):
    path = report(tmp_path / "bare")
    assert not {"on_cores", "on_cores_caveat"} & (await ask(at, "time_budget", run=str(path))).keys()
    write_device_log(without(path, "GLOBAL CALL COUNT").parent, zone_lines(zones(), CALL_COUNT))
    assert not {"on_cores", "on_cores_caveat"} & (await ask(at, "time_budget", run=str(path))).keys()


async def test_ops_that_the_log_does_not_hold_are_left_out(at, tmp_path):
    path = await logged(tmp_path / "r", tmp_path / "s", made_program(), random_spans)
    log = (tmp_path / "r").rglob("profile_log_device.csv").__next__()
    lines = log.read_text().splitlines(keepends=True)
    counts = sorted({line.split(",")[7] for line in lines[2:]}, key=int)
    log.write_text("".join(line for line in lines if line.split(",")[7:8] != [counts[-1]]))
    table = (await ask(at, "time_budget", run=path))["on_cores"]
    assert [row[table["columns"].index("in_report_us")] for row in table["rows"]] == [30, 20, 10]

"""time_budget with a device log beside the report: the heaviest ops core by core. The logs are made."""

import random

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report
from tests.profiles.device_log import write_device_log, write_no_log, zone_lines
from tests.tools.parts.test_op_cores import CALL_COUNT, report, without, zones
from ttnn_mcp.tools.parts import window_cores


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


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
    monkeypatch.setattr(window_cores, "READ_UNASKED_BYTES", 10)
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

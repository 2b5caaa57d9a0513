"""host_overhead: a verdict only where the gaps mean something."""

import pytest

from tests.asking import ask, session
from tests.checks.mesh_programs import mesh
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_performance_report, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective
from tests.shared_reports import shared
from ttnn_mcp.checks import expectation
from ttnn_mcp.checks.expectation import measured_cases
from ttnn_mcp.errors import QuestionRefused


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


def model(kernel_ns: int, gap_ns: int, ops: int = 20) -> Program:
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 32])
    for width in range(1, ops + 1):
        x = program.op(
            "UnaryDeviceOperation", [x], shape=[1, 1, 32, 32 * width], kernel_ns=kernel_ns, gap_ns=gap_ns
        )
    return program


COLD_THEN_WARM = (Iteration(cold=True), Iteration())


def report(folder, program, iterations=COLD_THEN_WARM) -> str:
    return str(write_performance_report(folder, program, iterations))


@for_all(
    ("gap_ns", "verdict"),
    [(1_000, "device_bound"), (1_160, "device_bound"), (1_180, "mixed"), (6_600, "mixed"), (7_200, "host_bound")],
)
async def test_the_verdict_follows_the_busy_share(at, tmp_path, gap_ns, verdict):
    # 20 kernels of 10 us with 19 gaps: busy = 200 / (200 + 19 gap)
    said = await ask(at, "host_overhead", run=report(tmp_path, model(10_000, gap_ns)))
    assert said["verdict"] == verdict
    assert said["busy_share"] == pytest.approx(200 / (200 + 19 * gap_ns / 1e3), abs=1e-4)
    assert said["gap_ms"] == pytest.approx(19 * gap_ns / 1e6, abs=1e-3)


async def test_a_trace_can_save_the_gaps_less_a_microsecond_each(at, tmp_path):
    said = await ask(at, "host_overhead", run=report(tmp_path, model(10_000, 11_000)))
    assert said["trace_saving_ms"] == {"at_most": pytest.approx((19 * 11 - 19) / 1e3, abs=1e-3)}
    assert said["static_shapes"] is True


async def test_a_wall_time_bounds_a_trace_by_what_it_has_beyond_the_kernels(at, tmp_path):
    run = report(tmp_path, model(10_000, 90_000))  # 200 us of kernels, 1.7 ms of gaps in the profile
    saving = (await ask(at, "host_overhead", run=run, wall_ms=0.4))["trace_saving_ms"]
    walls = measured_cases()["walls"]["trace"]
    most = 0.4 - 0.2 - 0.019
    assert saving["at_most"] == pytest.approx(most, abs=1e-3)
    assert saving["expected"] == pytest.approx(most * walls["median"], abs=1e-3)
    assert saving["interval"] == pytest.approx([most * walls["low"], most], abs=1e-3)
    assert saving["basis"] == f"{walls['cases']} measured cases of trace, by their walls"


async def test_what_the_host_does_around_a_pass_is_no_gap_of_it(at, tmp_path):
    run = report(tmp_path, model(10_000, 11_000))  # 209 us of gaps
    for wall_ms, most in ((0.4, 0.181), (0.408, 0.189), (0.41, 0.19), (9, 0.19)):
        saving = (await ask(at, "host_overhead", run=run, wall_ms=wall_ms))["trace_saving_ms"]
        assert saving["at_most"] == pytest.approx(most, abs=1e-3)
        assert ("expected" in saving) == (wall_ms < 0.409)


async def test_where_no_gaps_were_measured_a_wall_says_nothing_of_a_trace(at, tmp_path):
    rows = performance_rows(model(10_000, 1_000), COLD_THEN_WARM)
    for row in rows:
        row["OP TO OP LATENCY [ns]"] = ""
    run = str(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7")))
    said = await ask(at, "host_overhead", run=run, wall_ms=0.4)
    assert (said["verdict"], said["trace_saving_ms"]) == ("host_bound", None)


async def test_one_op_has_no_gap_to_save(at, tmp_path):
    said = await ask(at, "host_overhead", run=report(tmp_path, model(10_000, 1_000, ops=1)), wall_ms=0.4)
    assert said["trace_saving_ms"] == {"at_most": 0}


@for_all(("wall_ms", "most"), [(0.205, 0.0), (0.2221, 0.0031), (0.23, 0.011)])
async def test_a_wall_that_kernels_fill_lets_expect_nothing(at, tmp_path, wall_ms, most):
    # 200 us of kernels are 90 % of 222 us
    saving = (await ask(at, "host_overhead", run=report(tmp_path, model(10_000, 90_000)), wall_ms=wall_ms))[
        "trace_saving_ms"
    ]
    assert saving["at_most"] == pytest.approx(most, abs=1e-4)
    assert ("expected" in saving) == (wall_ms > 0.2222)


async def test_where_no_pairs_are_known_a_wall_only_bounds(at, tmp_path, monkeypatch):
    monkeypatch.setattr(expectation, "measured_cases", lambda: {"walls": {"trace": None}})
    saving = (await ask(at, "host_overhead", run=report(tmp_path, model(10_000, 90_000)), wall_ms=0.4))[
        "trace_saving_ms"
    ]
    assert saving == {"at_most": pytest.approx(0.181, abs=1e-3)}


async def test_a_cold_pass_gets_no_verdict_but_says_how_to_get_one(at, tmp_path):
    said = await ask(at, "host_overhead", run=report(tmp_path, model(10_000, 1_000), [Iteration(cold=True)]))
    assert (said["verdict"], said["trace_saving_ms"]) == ("unknown", None)
    assert "2 or more iterations" in said["why"]
    assert said["cold"]["ops"] == 19


async def test_a_sync_in_the_loop_is_no_host_bound_run(at, tmp_path):
    program = model(10_000, 1_000)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 64, 96])], kernel_ns=10_000, gap_ns=5_000_000)
    said = await ask(at, "host_overhead", run=report(tmp_path, program))
    assert said["verdict"] == "unknown"
    assert "sync" in said["why"]


async def test_a_sync_beside_long_kernels_does_not_matter(at, tmp_path):
    program = model(10_000_000, 1_000)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 64, 96])], kernel_ns=10_000, gap_ns=2_000_000)
    answer = await ask(at, "host_overhead", run=report(tmp_path, program))
    assert answer["verdict"] == "device_bound"
    assert answer["why"] == "kernels fill 99% of the window's wall time"


async def test_gaps_that_were_not_measured_get_no_verdict(at, tmp_path):
    rows = performance_rows(model(10_000, 1_000), COLD_THEN_WARM)
    for row in rows:
        row["OP TO OP LATENCY [ns]"] = ""
    path = write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))
    answer = await ask(at, "host_overhead", run=str(path))
    assert (answer["verdict"], answer["why"]) == ("unknown", "no gaps were measured (OP TO OP LATENCY is empty)")


async def test_gaps_of_the_first_pass_below_a_millisecond_are_no_compile(at, tmp_path):
    program = model(10_000, 1_000)
    for width, gap_ns in ((96, 800_000), (160, 1_200_000)):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 64, width])], gap_ns=gap_ns)
    answer = await ask(at, "host_overhead", run=report(tmp_path, program, [Iteration(), Iteration()]))
    assert answer["cold"] == {"ops": 1, "gap_ms": 1.2}
    program.devices = 2  # both wait for one host: its time counts once
    for iterations in ([Iteration(), Iteration()], [Iteration()]):
        several = await ask(at, "host_overhead", run=report(tmp_path / f"{len(iterations)}", program, iterations))
        assert several["cold"] == {"ops": 1, "gap_ms": 1.2}
    passes = [Iteration(capture=True), Iteration(trace=(3, 1)), Iteration(trace=(3, 2))]
    replayed = report(tmp_path / "replays", program, passes)
    warm = await ask(at, "host_overhead", run=replayed, iteration=1)
    assert (warm["window"]["warm"], warm["cold"]) == (True, {"ops": 0, "gap_ms": 0})


async def test_a_measured_wall_time_decides_even_a_cold_pass(at, tmp_path):
    run = report(tmp_path, model(10_000, 1_000), [Iteration(cold=True)])
    assert (await ask(at, "host_overhead", run=run, wall_ms=0.21))["verdict"] == "device_bound"
    said = await ask(at, "host_overhead", run=run, wall_ms=0.8)
    assert (said["verdict"], said["host_share"]) == ("host_bound", 0.75)
    with pytest.raises(QuestionRefused, match="other rows"):
        await ask(at, "host_overhead", run=run, wall_ms=0.1)


async def test_a_replayed_trace_is_not_advised_again(at, tmp_path):
    passes = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(3, 1)), Iteration(trace=(3, 2))]
    said = await ask(at, "host_overhead", run=report(tmp_path, model(10_000, 9_000), passes))
    assert said["traced"] is True
    assert said["trace_saving_ms"]["at_most"] == 0
    assert said["trace"] == "a trace was replayed (METAL TRACE ID)"
    run = report(tmp_path, model(10_000, 9_000), passes)
    assert (await ask(at, "host_overhead", run=run, wall_ms=0.8))["trace_saving_ms"] == {"at_most": 0}


async def test_ops_side_by_side_on_sub_devices_count_their_time_once(at, tmp_path):
    # every second op starts 8 us before the one ahead of it ends
    rows = performance_rows(model(10_000, 1_000), COLD_THEN_WARM)
    cycle, gap = 10**9, 0
    for number, row in enumerate(rows):
        gap = -8_000 if number % 2 else 5_000
        cycle += gap + 10_000
        row["OP TO OP LATENCY [ns]"] = str(gap)
        row["DEVICE FW START CYCLE"] = str(cycle - int(row["DEVICE FW DURATION [ns]"]))
        row["DEVICE FW END CYCLE"] = str(cycle)
        row["SUB DEVICE ID"] = str(number % 2)
    path = write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))
    said = await ask(at, "host_overhead", run=str(path))
    # 10 pairs of 12 us, 9 gaps of 5 us between them
    assert said["kernel_ms"] == pytest.approx(0.2)
    assert said["wall_ms"] == pytest.approx(0.165)
    assert said["busy_share"] == pytest.approx(120 / 165, abs=1e-4)
    assert said["verdict"] == "mixed"


async def test_a_device_that_lost_rows_says_nothing_of_shapes(at, tmp_path):
    program = Program("wormhole_b0", devices=3)
    x = program.tensor([1, 1, 32, 32])
    for width in range(1, 9):
        x = program.op("UnaryDeviceOperation", [x], shape=[1, 1, 32, 32 * width])
    rows = performance_rows(program, COLD_THEN_WARM)
    path = write_rows(tmp_path / "x.csv", rows[:7] + rows[8:], header_of(rows, "C7"))
    assert (await ask(at, "host_overhead", run=str(path)))["static_shapes"] is True


async def test_the_largest_gaps_are_named_with_the_op_after_them(at, tmp_path):
    program = model(10_000, 1_000)
    program.op("MatmulDeviceOperation", [program.tensor([1, 1, 64, 96])], kernel_ns=10_000, gap_ns=90_000)
    said = await ask(at, "host_overhead", run=report(tmp_path, program))
    assert said["largest_gaps"]["rows"][0][1:] == ["MatmulDeviceOperation", 90]
    assert [row[2] for row in said["largest_gaps"]["rows"]] == [90, 1, 1, 1, 1]


async def test_the_gap_before_the_window_is_not_among_them(at, tmp_path):
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 32])
    x = program.op("UnaryDeviceOperation", [x], shape=[1, 1, 32, 64], gap_ns=70_000)
    program.op("UnaryDeviceOperation", [x], gap_ns=2_000)
    said = await ask(at, "host_overhead", run=report(tmp_path, program))
    assert [row[2] for row in said["largest_gaps"]["rows"]] == [2]


async def test_what_the_report_cannot_show_of_a_trace_is_said(at, tmp_path):
    assert (
        "no row has a METAL TRACE ID"
        in (await ask(at, "host_overhead", run=report(tmp_path, model(10_000, 1))))["trace"]
    )
    rows = performance_rows(model(10_000, 1_000), COLD_THEN_WARM)
    for row in rows:
        row.pop("METAL TRACE ID", None)
    header = [name for name in header_of(rows, "C7") if "TRACE ID" not in name]
    path = write_rows(tmp_path / "x" / "y.csv", rows, header)
    assert "cannot tell" in (await ask(at, "host_overhead", run=str(path)))["trace"]


@for_all(("lost", "other_op", "device"), [((), "", 1), ((5, 9, 13), "", 0), ((5, 9, 13), "Typecast", 1)])
async def test_a_device_that_lost_rows_does_not_wait_for_the_host(at, tmp_path, lost, other_op, device):
    """Device 1 takes longer. Without some rows its gaps would be kernels; with an op of its own it works on its own."""
    program = model(10_000, 1_000)
    program.devices = 3
    for op in program.device_ops:
        op.kernel_ns = (10_000, 12_000, 10_000)
    rows = performance_rows(program, (Iteration(cold=True), *[Iteration()] * 2))
    here = [row for row in rows if str(row["DEVICE ID"]) == "1"]
    gone = [here[-20 + number] for number in lost]
    if other_op:
        for row in here[14::20]:
            row["OP CODE"] = f"{other_op}DeviceOperation"
    kept = [row for row in rows if not any(row is each for each in gone)]
    path = str(write_rows(tmp_path / "ops.csv", kept, header_of(rows, "C7")))
    said = await ask(at, "host_overhead", run=path)
    assert said["device"] == device


async def test_of_several_devices_that_which_works_longest_is_held_to_the_wall(at):
    """Kernels take 8.2 to 8.3 ms on four devices, 11.6 on the others; the longest pass is one of the first."""
    run = str(shared("perf/bh_8xp150_deepseek_v3_d_p.csv"))
    with pytest.raises(QuestionRefused, match="wall_ms 9 is below the 11"):
        await ask(at, "host_overhead", run=run, wall_ms=9)
    said = await ask(at, "host_overhead", run=run, wall_ms=33)
    assert 33 - said["kernel_ms"] < said["trace_saving_ms"]["at_most"] < 33 - 8  # exchanges wait in their kernels
    assert said["kernel_ms"] > 11


@for_all(
    ("exchange_us", "verdict"), [(0, "device_bound"), (90, "device_bound"), (110, "mixed"), (600, "mixed")], ids=str
)
async def test_a_wall_that_exchanges_help_to_fill_is_not_bound_by_the_device(at, tmp_path, exchange_us, verdict):
    """Of 1 ms the kernels fill 990 us; without the exchange, beyond its launch, 90 % are the line."""
    program = mesh()
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 64, 32])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,), 1_000 * (990 - exchange_us), gap_ns=90_000))
    if exchange_us:
        out = program.tensor([1, 1, 32, 256])
        gather = collective("AllGatherAsync", x, out, [1_000 * exchange_us] * 3 + [370], ring_size=4)
        gather.gap_ns = [90_000] * 3 + [92_000 + 1_000 * exchange_us]
        put(program, gather)
    said = await ask(at, "host_overhead", run=report(tmp_path, program), wall_ms=1)
    assert said["verdict"] == verdict
    assert ("without what exchanges may wait" in said["why"]) == (verdict == "mixed")
    least_us = exchange_us and exchange_us - 0.37  # the launch stays
    assert said["trace_saving_ms"]["at_most"] == pytest.approx(
        (least_us + (9 if exchange_us else 0)) / 1e3, abs=2e-3
    )


async def test_without_a_wall_kernels_that_wait_for_a_late_chip_fill_no_window(at, tmp_path):
    """Chip 3 works 120 us and waits 400 for the host; the others wait for it in the gather."""
    program = mesh()
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 256])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), 100_000))
    gather = collective("AllGatherAsync", x, y, [420_000] * 3 + [20_000], ring_size=4)
    gather.gap_ns = [1_000] * 3 + [401_000]
    put(program, gather)
    run = report(tmp_path, program)
    said = await ask(at, "host_overhead", run=run)
    assert (said["verdict"], said["device"]) == ("mixed", 0)
    assert said["why"].startswith(
        "kernels fill 100% of the window's wall time, 23% without what exchanges may wait for a chip that the host"
    )
    assert said["trace_saving_ms"]["at_most"] == pytest.approx(0.4)
    for wall_ms, reason in (
        (0.3, "exchanges wait for chips that the host feeds late: profile a traced pass"),
        (0.1, "it belongs to other rows"),
    ):
        with pytest.raises(QuestionRefused, match=f"wall_ms {wall_ms} is below the 0.520 ms of kernels.*{reason}"):
            await ask(at, "host_overhead", run=run, wall_ms=wall_ms)
    rows = performance_rows(program, COLD_THEN_WARM)
    for row in rows:
        if str(row["DEVICE ID"]) == "2" and row["OP CODE"].startswith("Unary"):
            row["OP CODE"] = "TypecastDeviceOperation"  # gaps between other ops bound nothing
    other = str(write_rows(tmp_path / "other.csv", rows, header_of(rows, "C7")))
    assert (await ask(at, "host_overhead", run=other))["verdict"] == "device_bound"


async def test_of_a_cold_pass_nothing_is_expected(at, tmp_path):
    cold = performance_rows(model(10_000, 90_000), (Iteration(cold=True),))
    said = await ask(
        at, "host_overhead", run=str(write_rows(tmp_path / "x.csv", cold, header_of(cold, "C7"))), wall_ms=0.4
    )
    assert said["trace_saving_ms"].keys() <= {"at_most"}

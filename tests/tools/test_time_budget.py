"""time_budget: bounds that hold, and a ledger that adds up."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_performance_report, write_rows
from tests.programs import block
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.analyses.window_facts import facts_of
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.tools import time_budget as module
from ttnn_mcp.tools.budget import fitted
from ttnn_mcp.tools.time_budget import lost_in_window
from ttnn_mcp.wire import bytes_of

WARM = (Iteration(cold=True), Iteration())


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


def report(folder, program, iterations=WARM) -> str:
    return str(write_performance_report(folder, program, iterations))


def ledger(answer) -> dict[str, float]:
    return {row[0]: row[1] for row in answer["ledger"]["rows"]}


def floors(answer) -> dict[str, float]:
    return {row[0]: row[1] for row in answer["floors"]["rows"]}


def multiplication(kernel_ns: int, *, fidelity: str = "HiFi2", cores: int = 64, gap_ns: int = 0) -> Program:
    """One matmul of 2048 x 2048 x 2048: 64 cores at 1 GHz compute it in 131 us with HiFi2, its bytes take 87 us."""
    program = Program("wormhole_b0")
    x, weights = program.tensor([1, 1, 2048, 2048]), program.weight([1, 1, 2048, 2048])
    program.op(
        "MatmulDeviceOperation",
        [x, weights],
        shape=[1, 1, 2048, 2048],
        kernel_ns=kernel_ns,
        gap_ns=gap_ns,
        fidelity=fidelity,
        cores=cores,
    )
    return program


HIFI2_US = 2 * 2048**3 * 2 / (4096 * 64) / 1e3


async def test_a_run_at_its_roofline_is_at_its_floor(at, tmp_path):
    answer = await ask(at, "time_budget", run=report(tmp_path, multiplication(150_000)))
    assert answer["verdict"] == "at_floor"
    assert floors(answer)["as_it_is"] == pytest.approx(HIFI2_US, abs=0.01)
    assert ledger(answer)["roofline"] == pytest.approx(HIFI2_US, abs=0.01)


async def test_the_ledger_adds_up_however_long_the_names_of_ops_are(at, tmp_path):
    rows = performance_rows(block(), WARM)
    for row in rows:
        row["OP CODE"] = row["OP CODE"].ljust(900, "x")
    path = write_rows(tmp_path / "ops_perf_results.csv", rows, header_of(rows, "C7"))
    answer = await ask(at, "time_budget", run=str(path))
    assert sum(len(heaviest) for *_, heaviest in answer["ledger"]["rows"]) < 2_000
    assert sum(ledger(answer).values()) == pytest.approx(answer["window_us"], abs=0.01)


@for_all(("kernel_ns", "verdict"), [(163_000, "at_floor"), (165_000, "above_floor")])
async def test_the_line_is_four_fifths_of_the_window(at, tmp_path, kernel_ns, verdict):
    assert (await ask(at, "time_budget", run=report(tmp_path, multiplication(kernel_ns))))["verdict"] == verdict


@for_all(("unknown_ns", "verdict"), [(7_400, "at_floor"), (7_500, "cannot_tell")])
async def test_at_the_floor_takes_bounds_of_95_percent_of_the_kernels(at, tmp_path, unknown_ns, verdict):
    """An op of a kind never seen takes 4.98 or 5.05 % of the kernel time; with all of it the window is at its floor."""
    program = multiplication(141_000)
    program.op("NeverSeenDeviceOperation", [program.tensor([1, 1, 32, 32])], kernel_ns=unknown_ns)
    path = report(tmp_path, program)
    answer = await ask(at, "time_budget", run=path)
    assert answer["verdict"] == verdict
    modelled = answer["floors"]["rows"][0][3]
    assert modelled == pytest.approx(141_000 / (141_000 + unknown_ns), abs=1e-4)


async def test_passes_that_the_operands_cannot_use_are_fidelity(at, tmp_path):
    answer = await ask(at, "time_budget", run=report(tmp_path, multiplication(300_000, fidelity="HiFi4")))
    assert ledger(answer)["roofline"] == pytest.approx(HIFI2_US, abs=0.01)
    assert ledger(answer)["fidelity"] == pytest.approx(HIFI2_US, abs=0.01)
    assert floors(answer)["as_it_is"] == pytest.approx(2 * HIFI2_US, abs=0.01)


async def test_cores_that_do_nothing_are_idle(at, tmp_path):
    answer = await ask(at, "time_budget", run=report(tmp_path, multiplication(300_000, cores=32)))
    assert ledger(answer)["idle_cores"] == pytest.approx(HIFI2_US, abs=0.01)


async def test_an_op_that_only_moves_counts_whole(at, tmp_path):
    program = multiplication(150_000)
    program.op("TransposeDeviceOperation", [program.tensor([1, 1, 64, 32])], shape=[1, 1, 32, 64], kernel_ns=40_000)
    answer = await ask(at, "time_budget", run=report(tmp_path, program))
    assert ledger(answer)["movement"] == 40
    assert "Transpose 40" in next(row for row in answer["ledger"]["rows"] if row[0] == "movement")[3]


async def test_padding_is_told_apart(at, tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 16_384, 1])], kernel_ns=50_000)
    answer = await ask(at, "time_budget", run=report(tmp_path, program))
    stored_us = 2 * 16_384 * 32 * 2 / 288 / 1e3
    assert ledger(answer)["roofline"] + ledger(answer)["padding"] == pytest.approx(stored_us, abs=0.02)
    assert ledger(answer)["padding"] == pytest.approx(stored_us * 31 / 32, abs=0.02)


@for_all(("measured", "excess_us"), [("50", 50 - 14.564), ("10", 0), ("", 0), ("105", 100 - 14.564), ("106", 0)])
async def test_bytes_that_were_moved_again_are_told_where_they_were_measured(at, tmp_path, measured, excess_us):
    """4 MiB at 288 GB/s take 14.56 us; DRAM was busy for a measured share of 100 us."""
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024])], kernel_ns=100_000)
    rows = [row | {"DRAM BW UTIL (%)": measured} for row in performance_rows(program, WARM)]
    header = [*dict.fromkeys([*header_of(rows, "C5"), "DRAM BW UTIL (%)"])]
    answer = await ask(at, "time_budget", run=str(write_rows(tmp_path / "x.csv", rows, header)))
    assert ledger(answer).get("excess_bytes", 0) == pytest.approx(excess_us, abs=0.01)
    assert ledger(answer)["roofline"] == floors(answer)["as_it_is"] == pytest.approx(14.564, abs=0.01)
    assert sum(ledger(answer).values()) == pytest.approx(100)


async def test_compiling_is_no_part_of_a_cold_window(at, tmp_path):
    program = multiplication(150_000, gap_ns=5_000)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])], kernel_ns=2_000, gap_ns=30_000)
    answer = await ask(at, "time_budget", run=report(tmp_path, program, [Iteration(cold=True)]))
    assert answer["window_us"] == answer["kernel_us"] == 152
    assert "gaps" not in ledger(answer)
    assert not answer["window"]["warm"]


async def test_gaps_of_a_warm_window_are_an_entry_and_the_rest_is_called_by_its_largest(at, tmp_path):
    program = multiplication(150_000)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])], kernel_ns=2_000, gap_ns=30_000)
    answer = await ask(at, "time_budget", run=report(tmp_path, program))
    assert ledger(answer)["gaps"] == 30
    assert "most of the rest is gaps (16%)" in answer["why"]


async def test_what_the_bounds_leave_out_counts_with_its_kernels_and_not_with_gaps(at, tmp_path):
    # 131 us of bounds and 75 us of kernels without one are under four fifths of 270 us, 131 and 90 us would not be
    program = multiplication(150_000)
    tensor = program.tensor([1, 1, 32, 32])
    program.op("NeverSeenDeviceOperation", [tensor], kernel_ns=75_000, gap_ns=45_000)
    answer = await ask(at, "time_budget", run=report(tmp_path, program))
    assert (answer["window_us"], answer["verdict"]) == (270, "above_floor")


async def test_bounds_of_ops_that_run_one_after_the_other_add_up(at, tmp_path):
    program = multiplication(150_000)
    y = program.tensor([1, 1, 2048, 2048])
    program.op(
        "MatmulDeviceOperation",
        [y, program.weight([1, 1, 2048, 1024])],
        shape=[1, 1, 2048, 1024],
        kernel_ns=80_000,
        fidelity="HiFi2",
    )
    answer = await ask(at, "time_budget", run=report(tmp_path, program))
    assert floors(answer)["as_it_is"] == pytest.approx(1.5 * HIFI2_US, abs=0.01)
    assert floors(answer)["cheaper_formats"] == pytest.approx(1.5 * HIFI2_US / 2, abs=0.01)


async def test_without_any_kernel_time_there_is_no_budget(at, tmp_path):
    with pytest.raises(QuestionRefused, match="All kernel times of this window are 0"):
        await ask(at, "time_budget", run=report(tmp_path, multiplication(0)))


@for_all(("time_ns", "kinds"), [(1_200, 3), (900, 1)])
def test_of_an_entry_below_a_hundredth_only_the_heaviest_kind_is_named(time_ns, kinds):
    entry = SimpleNamespace(name="gaps", time_ns=time_ns, heaviest=lambda _, most: [("Matmul", 100.0, 1)] * most)
    facts = SimpleNamespace(ops=None, timeline=SimpleNamespace(busy_ns=100_000))
    assert module._heaviest(facts, entry).count("Matmul") == kinds


@for_all(("why", "kept"), [("short", 50), ("long" * 2_000, 3)])
async def test_what_the_bounds_leave_out_is_cut_to_the_room_of_an_answer(at, tmp_path, why, kept):
    run = await at.run(report(tmp_path, multiplication(150_000)))
    whole = module.time_budget(facts_of(run, run.scope()), module.Arguments())
    reasons = {f"{number:03} {'r' * 90}": 1.0 for number in range(100)}
    answer = fitted(
        whole.model_copy(update={"why": why, "not_in_the_bounds": reasons}),
        module.TOOL.budget,
        module.Arguments(),
        "",
    )
    assert len(answer.not_in_the_bounds) == kept
    assert kept == 3 or 5_890 < bytes_of(answer.spoken()) <= 6_000


async def test_what_the_report_does_not_say_is_named_and_leaves_the_verdict_open(at, tmp_path):
    program = multiplication(150_000)
    cache = program.tensor([1, 8, 4096, 128], dtype="BFLOAT8_B")
    query = program.tensor([1, 1, 32, 128])
    program.op(
        "ScaledDotProductAttentionDecode",
        [query, cache, cache],
        shape=[1, 1, 32, 128],
        kernel_ns=10_000,
        fidelity="HiFi2",
    )
    answer = await ask(at, "time_budget", run=report(tmp_path, program))
    assert answer["verdict"] == "cannot_tell"
    assert "cache" in next(iter(answer["not_in_the_bounds"]))
    assert sum(answer["not_in_the_bounds"].values()) == pytest.approx(10, abs=0.01)


def idling(**risc_ns: int) -> Program:
    """A unary of 100 us whose bytes take 7.28 us; its cores start within 0.374 us."""
    program = Program("wormhole_b0")
    program.op(
        "UnaryDeviceOperation", [program.tensor([1, 1, 1024, 512])], kernel_ns=100_000, risc_ns=risc_ns, cores=64
    )
    return program


@for_all(
    ("risc_ns", "entries"),
    [
        # reading was alone for 100 - 30 - 0.374 us; 7.28 us of roofline and 0.374 us of skew may lie in these
        ({"NCRISC": 100_000, "BRISC": 30_000}, {"only_reading": 69.626 - 7.282 - 0.374}),
        ({"NCRISC": 20_000, "BRISC": 100_000}, {"only_writing": 79.626 - 7.282 - 0.374}),
        ({"NCRISC": 95_000, "BRISC": 100_000}, {}),  # 4.6 us at the end: less than the roofline
        (
            {"NCRISC": 20_000, "BRISC": 100_000, "TRISC0": 60_000},
            {"only_writing": 39.626 - 7.282 - 0.374, "after_reading": 40.0},
        ),
        ({"NCRISC": 20_000, "BRISC": 100_000, "TRISC2": 100_000}, {"after_reading": 79.626 - 7.282 - 0.374}),
        (
            {"NCRISC": 20_000, "BRISC": 10_000, "TRISC1": 100_000},
            {"only_computing": 79.626 - 7.282 - 0.374},
        ),
    ],
)
async def test_time_at_the_end_of_a_kernel_goes_to_the_part_that_ran_then(at, tmp_path, risc_ns, entries):
    parts = ledger(await ask(at, "time_budget", run=report(tmp_path, idling(**risc_ns))))
    within = {what: parts[what] for what in parts if what.startswith(("only_", "after_", "uneven_"))}
    assert within == pytest.approx(entries, abs=0.02)
    assert sum(parts.values()) == pytest.approx(100, abs=0.05)
    assert parts["roofline"] == pytest.approx(7.282, abs=0.01)


async def test_uneven_cores_are_told_where_the_report_has_times_per_core(at, tmp_path):
    made = write_performance_report(tmp_path, idling(NCRISC=100_000, BRISC=99_000), WARM, generation="C4")
    parts = ledger(await ask(at, "time_budget", run=str(made)))
    assert parts["uneven_cores"] == pytest.approx(5, abs=0.01)  # made with a mean of 95 % of the longest
    assert sum(parts.values()) == pytest.approx(100, abs=0.05)


@for_all("name", [CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER])
async def test_a_real_ledger_adds_up_and_no_floor_is_above_the_time(at, name):
    answer = await ask(at, "time_budget", run=str(shared(name)))
    parts = ledger(answer)
    assert sum(parts.values()) == pytest.approx(answer["window_us"], abs=0.005 * len(parts) + 0.01)
    assert all(time_us > 0 for time_us in parts.values())
    told = floors(answer)
    assert told["cheaper_formats"] <= told["as_it_is"] <= answer["kernel_us"]
    assert told["one_pass"] <= told["as_it_is"]


@for_all("name", [CLIP, DEEPLAB, OFT, SEGFORMER])
async def test_the_kernel_time_is_the_files_own(at, name):
    path = shared(name)
    answer = await ask(at, "time_budget", run=str(path), iteration="all")
    with path.open(newline="") as lines:
        kernels = [row["DEVICE KERNEL DURATION [ns]"] for row in csv.DictReader(lines)]
    assert answer["kernel_us"] == pytest.approx(sum(float(each) for each in kernels if each) / 1e3, rel=1e-6)


async def test_the_demo_run_is_answered(at):
    answer = await ask(at, "time_budget", run="demo")
    assert sum(ledger(answer).values()) == pytest.approx(answer["window_us"], abs=0.1)
    assert answer["verdict"] == "above_floor"


async def test_bounds_above_the_window_say_that_its_times_are_wrong(at, tmp_path, monkeypatch):
    run = report(tmp_path, multiplication(150_000), WARM)
    (what, ns, why), *others = module._floors(facts_of(await at.run(run), (await at.run(run)).scope()))
    monkeypatch.setattr(module, "_floors", lambda _: [(what, 150_000 * 1.06, why), *others])
    answer = await ask(at, "time_budget", run=run)
    assert "as_it_is" not in floors(answer)
    assert answer["verdict"] == "cannot_tell"
    assert answer["why"].startswith(module.TOO_SHORT)
    monkeypatch.setattr(module, "_floors", lambda _: [(what, 150_000 * 1.04, why), *others])
    again = session(tmp_path)
    answer = await ask(again, "time_budget", run=run)
    assert floors(answer)["as_it_is"] == answer["window_us"]
    assert ns > 0


async def test_a_use_beyond_the_peak_is_no_measurement(at, tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024])], kernel_ns=100_000)
    for measured, told in (("104", {"dram": 104.0}), ("1023", {})):
        rows = [row | {"DRAM BW UTIL (%)": measured} for row in performance_rows(program, WARM)]
        header = [*dict.fromkeys([*header_of(rows, "C5"), "DRAM BW UTIL (%)"])]
        run = str(write_rows(tmp_path / f"{measured}.csv", rows, header))
        inside = (await ask(at, "op_detail", run=run, op=2)).get("inside") or {}
        assert list((inside.get("measured_pct") or {}).values()) == list(told.values())


def without_times(folder, *lines, iterations=WARM, ns=""):
    """A report of a chain of ops of which some lines have no kernel time, or 0 ns."""
    program = Program("wormhole_b0")
    for name in ("Unary", "Softmax", "Tilize", "Reduce", "Permute", "LayerNorm"):
        program.op(f"{name}DeviceOperation", [program.tensor([1, 1, 2048, 2048])], kernel_ns=100_000)
    rows = performance_rows(program, iterations)
    for line in lines:
        rows[line - 2]["DEVICE KERNEL DURATION [ns]"] = ns
    return str(write_rows(folder / "ops_perf_results_1.csv", rows, header_of(rows, "C7")))


async def test_ops_of_the_window_without_a_time_are_told(at, tmp_path):
    once = [Iteration(cold=True)]
    answer = await ask(at, "time_budget", run=without_times(tmp_path, 2, 4, iterations=once))
    assert answer["why"].endswith(
        "; 2 ops among these rows have no kernel time (captured or dropped): their time is not counted"
    )


async def test_ops_of_the_window_that_took_no_time_are_told(at, tmp_path):
    once = [Iteration(cold=True)]
    answer = await ask(at, "time_budget", run=without_times(tmp_path, 5, iterations=once, ns="0"))
    assert answer["why"].endswith("; 1 took 0 ns (lost by the profiler): their time is not counted")


async def test_what_lacks_a_time_outside_the_window_is_not_told(at, tmp_path):
    path = without_times(tmp_path, iterations=[Iteration(cold=True), Iteration(), Iteration()])
    whole = await ask(at, "time_budget", run=path)
    assert "not counted" not in whole["why"]
    last = whole["window"]
    run = await at.run(path)
    facts = facts_of(run, run.scope("last", None, None))
    first, end = last["first_row"], last["last_row"]
    for line, told in ((first - 1, False), (first + 1, True), (end - 1, True), (end + 1, False)):
        untimed = SimpleNamespace(lines=np.array([line]), numbers=lambda _name: np.array([0.0]))
        other = SimpleNamespace(lines=np.array([line]), numbers=lambda _name: np.array([1.0]))
        for rows, says in ((untimed, told), (other, False)):
            here = SimpleNamespace(
                run=SimpleNamespace(performance_report=SimpleNamespace(untimed=rows)),
                ops=facts.ops,
                scope=facts.scope,
                kernel_ns=facts.kernel_ns,
            )
            assert bool(lost_in_window(here)) == says

"""Beside a doubt about a report no answer reaches a verdict: of the plan, of the host, of two runs, of the gate."""

import pytest

from tests.asking import ask, reader, session
from tests.doubtful_rows import LIES, PASSES
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_performance_report, write_rows
from tests.programs import block
from ttnn_mcp.shell import cli

pytestmark = pytest.mark.sampled(4)  # `make test` lets every fourth lie through every door
OF_WINDOWS = ("optimization_check", "time_budget", "host_overhead", "list_ops", "tensor_formats", "model_stages")


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return str(write_performance_report(tmp_path_factory.mktemp("honest"), block(), PASSES))


@pytest.fixture(scope="module", params=LIES)
def lie(request, tmp_path_factory):
    """One report for all tests of its lie, who open it once for all of them (`reader`)."""
    change, codes = LIES[request.param]
    rows = performance_rows(block(), PASSES)
    change(rows)
    return str(write_rows(tmp_path_factory.mktemp("lie") / "x.csv", rows, header_of(rows, "C7"))), codes


def named(window):
    return {doubt.split(":")[0] for doubt in window["doubts"]}


async def test_every_answer_about_the_window_carries_the_doubt(lie, tmp_path):
    path, codes = lie
    at = reader(tmp_path)
    card = await ask(at, "open_run", performance=path)
    assert codes <= named(card["window"])
    for tool in OF_WINDOWS:
        answer = await ask(at, tool, run=card["id"])
        assert codes <= named(answer["window"]), tool


async def test_no_step_is_clean_and_nothing_is_expected(lie, tmp_path):
    answer = await ask(reader(tmp_path), "optimization_check", run=lie[0])
    assert "clean" not in [step["status"] for step in answer["steps"]]
    for finding in answer["findings"]:
        assert "expected" not in finding["saving_us"]
        assert finding["caveat"].startswith("the report contradicts itself: ")


async def test_neither_the_host_nor_the_budget_is_judged(lie, tmp_path):
    at = reader(tmp_path)
    assert (await ask(at, "host_overhead", run=lie[0]))["verdict"] == "unknown"
    assert (await ask(at, "host_overhead", run=lie[0], wall_ms=1e6))["verdict"] == "unknown"
    assert (await ask(at, "time_budget", run=lie[0]))["verdict"] == "cannot_tell"


@for_all("order", [1, -1])
async def test_no_comparison_is_decided(lie, honest, tmp_path, order):
    baseline, candidate = (honest, lie[0])[::order]
    answer = await ask(reader(tmp_path), "compare_runs", baseline=baseline, candidate=candidate)
    assert answer["verdict"] in ("unproven", "not_comparable")
    assert answer["suspicious"]["rows"][0][0] == "doubtful_report"


def test_the_gate_cannot_judge(lie, honest, tmp_path):
    state = ["--state", str(tmp_path / "state")]
    assert cli.main(["gate", *state, "--baseline", honest, "--candidate", lie[0]]) == 2


async def test_an_op_beyond_the_peak_is_doubted_alone(tmp_path):
    """256 MiB from DRAM in 5 us; the other ops are judged as ever."""
    program = Program("wormhole_b0")
    large = program.tensor([1, 1, 8192, 16384])
    program.op("UnaryDeviceOperation", [large], kernel_ns=5_000)
    path = write_performance_report(tmp_path / "x", program, PASSES)
    at = session(tmp_path)
    (doubt,) = (await ask(at, "open_run", performance=str(path)))["window"]["doubts"]
    assert doubt.startswith("beyond_peak: more bytes or arithmetic than 105% of the chip's peak at 1 op (line ")
    assert (await ask(at, "time_budget", run=str(path)))["window"]["doubts"] == [doubt]
    compared = await ask(at, "compare_runs", baseline=str(path), candidate=str(path))
    assert "doubts" not in compared["window"]  # there, `below_floor` tells them where they changed


async def test_the_figures_of_an_op_are_doubted_and_none_is_predicted(lie, honest, tmp_path):
    at = reader(tmp_path)
    matmul = next(row[0] for row in (await ask(at, "list_ops", run=lie[0]))["ops"]["rows"] if "Matmul" in str(row))
    for asked in ({"value": "LoFi"}, {}):
        told = await ask(at, "check_setting", run=lie[0], op=matmul, setting="math_fidelity", **asked)
        assert told["caveat"].startswith("the report contradicts itself: ")
        assert "predicted" not in told
        assert "law" not in told
    assert (await ask(at, "op_detail", run=lie[0], op=matmul))["caveat"].startswith(
        "the report contradicts itself: "
    )
    assert "contradicts" not in str(await ask(at, "op_detail", run=honest, op=matmul))


@for_all(("unfit", "doubted"), [(1, False), (2, True)])
async def test_a_tenth_of_the_matmuls_may_have_operands_that_do_not_fit(tmp_path, unfit, doubted):
    """Of ten: columns of shapes, operands or names are exchanged where there are more."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 64, 128])
    for place in range(10):
        weight = program.weight([1, 1, 64 if place < unfit else 128, 128])
        program.op("MatmulDeviceOperation", [x, weight], shape=[1, 1, 64, 128])
    path = str(write_performance_report(tmp_path / "x", program, [Iteration()]))
    other = str(write_performance_report(tmp_path / "y", program, [Iteration(kernel_scale=1.5)]))
    at = session(tmp_path)
    doubts = (await ask(at, "open_run", performance=path))["window"].get("doubts", [])
    assert [doubt.split(":")[0] for doubt in doubts] == ["operands_at_odds"] * doubted
    compared = await ask(at, "compare_runs", baseline=path, candidate=other)
    assert compared["window"].get("doubts", []) == doubts
    assert (compared["verdict"] == "unproven") == doubted


async def test_an_honest_report_has_no_doubts(honest, tmp_path):
    at = reader(tmp_path)
    assert "doubts" not in (await ask(at, "open_run", performance=honest))["window"]
    assert "doubts" not in (await ask(at, "optimization_check", run=honest))["window"]

"""Which ops of a run are asked for, and what each is told: its own work's times and no other's."""

from dataclasses import replace

import numpy as np

from tests.archive.runs import archived, model, remembering, report_of
from tests.for_all import for_all
from ttnn_mcp.archive import memory_of_ops
from ttnn_mcp.archive.memory_of_ops import _heaviest, remembered
from ttnn_mcp.archive.store import Archive

HERE, FASTER = model(93), model(61, block=8)


def with_relu(kernel_ns):
    program = model(93)
    program.calls.pop()
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024])], kernel_ns=kernel_ns)
    return program


async def test_an_op_whose_counter_stood_still_has_no_precedent_and_takes_none_from_others(tmp_path, caplog):
    at = remembering(tmp_path)
    await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    run = await at.run(str(report_of(tmp_path / "here", with_relu(0))))
    ops = run.scope().ops
    relu = ops.lines[ops.numbers("kernel_ns") == 0]
    assert remembered(run, ops, ops.lines).keys() == {*ops.lines.tolist()} - {*relu.tolist()}
    assert remembered(run, ops, relu) == {}
    assert caplog.text == ""


@for_all("lacks", ["arch", "clock_ghz", "lines", "archive", "report"])
async def test_nothing_is_asked_that_has_no_answer(tmp_path, monkeypatch, caplog, lacks):
    at = remembering(tmp_path)
    await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    run = await at.run(str(report_of(tmp_path / "here", HERE)))
    ops, opened = run.scope().ops, []
    assert remembered(run, ops, ops.lines)
    monkeypatch.setattr(Archive, "connection", lambda _: opened.append("opened"))
    if lacks == "archive":
        monkeypatch.setattr(run, "kept", {})
    elif lacks == "report":  # it was there when the run was opened
        run.performance_report.csv.path.unlink()
    elif lacks != "lines":
        monkeypatch.setattr(run, "chip", replace(run.chip, **{lacks: None}))
    assert remembered(run, ops, ops.lines[:0] if lacks == "lines" else ops.lines) == {}
    assert (opened, caplog.text) == ([], "")


async def test_each_op_is_told_the_times_of_its_own_work(tmp_path):
    at = remembering(tmp_path)
    other = model(61, block=8)
    other.calls.pop()
    other.op("UnaryDeviceOperation", [other.tensor([1, 1, 32, 32])], kernel_ns=1_000)
    await archived(at, report_of(tmp_path / "a", other, day=1))
    run = await at.run(str(report_of(tmp_path / "here", HERE)))
    ops = run.scope().ops
    embedding, *matmuls, _relu = ops.lines.tolist()
    told = remembered(run, ops, ops.lines)
    assert {line: each.ours.median_us for line, each in told.items()} == {
        embedding: 5.0,
        **dict.fromkeys(matmuls, 93.0),
    }
    assert [told[line].precedents[0].earlier.timing.median_us for line in (embedding, matmuls[0])] == [5.0, 61.0]
    assert remembered(run, ops, np.array(matmuls[1:2])) == {matmuls[1]: told[matmuls[1]]}


async def test_an_op_whose_earlier_settings_cannot_be_told_from_its_own_is_told_nothing(tmp_path, monkeypatch):
    at = remembering(tmp_path)
    await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    run = await at.run(str(report_of(tmp_path / "here", HERE)))
    ops = run.scope().ops
    monkeypatch.setattr(memory_of_ops, "compared", lambda *_: [])
    assert remembered(run, ops, ops.lines) == {}


async def test_one_op_asks_for_its_own_work_alone(tmp_path, monkeypatch):
    at, asked = remembering(tmp_path), []
    await archived(at, report_of(tmp_path / "a", FASTER, day=1))
    run = await at.run(str(report_of(tmp_path / "here", HERE)))
    monkeypatch.setattr(memory_of_ops, "earlier_of", lambda _, signatures, __: asked.append({*signatures}) or {})
    ops = run.scope().ops
    remembered(run, ops, ops.lines[-1:])
    assert [len(signatures) for signatures in asked] == [1]


def test_of_very_many_kinds_of_work_the_two_hundred_heaviest_are_asked_for():
    work = np.arange(600) % 300
    time = np.where(work < 250, 1000.0 - work, 5000.0)  # the last fifty are heaviest, but nobody asks for them
    assert sorted(_heaviest(work, time, work < 250).tolist()) == list(range(200))

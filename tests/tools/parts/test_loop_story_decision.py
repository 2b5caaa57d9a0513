"""The loop's next move."""

from __future__ import annotations

from dataclasses import replace

from tests.asking import session
from tests.experiments.writer import experiment
from tests.for_all import for_all
from tests.pairs import Model, write
from tests.tools.parts.test_loop_story import finding
from ttnn_mcp.experiments.decision import Decision, RuledOut
from ttnn_mcp.experiments.store import Store
from ttnn_mcp.tools.parts.loop_story import _decided, next_move, seen_alone


async def test_the_latest_loop_goes_on_though_its_runs_are_gone(tmp_path):
    at = session(tmp_path)
    await Store(at.settings.state_folder).add(experiment("one"))
    answer = await next_move(at, None)
    assert (answer.baseline.run, answer.best.run) == ("aaaaaaaa", "bbbbbbbb")
    assert (answer.decided.decision, answer.decided.reason) == ("stop", "blocked")
    assert answer.next == ()


async def test_a_run_without_a_loop_begins_one(tmp_path):
    at = session(tmp_path)
    await Store(at.settings.state_folder).add(experiment("one"))
    path = str(write(tmp_path / "run", Model()))
    answer = await next_move(at, path)
    assert answer.baseline.run == answer.best.run == (await at.run(path)).id


@for_all(
    ("wall_ms", "part", "known"),
    [(5.0, False, True), (None, False, False), (5.0, True, False), (0.1, False, False)],
)
async def test_the_wall_on_record_goes_with_the_next_call(tmp_path, wall_ms, part, known):
    """Not that of a part between signposts, nor one below the kernels."""
    at = session(tmp_path)
    run = await at.run(str(write(tmp_path / "run", Model())))
    whole = await seen_alone(run)
    tried = experiment("one", verdict="revert", wall_before_ms=wall_ms, wall_after_ms=wall_ms)
    before = replace(whole, reading="of a part", kernel_ns=1_000) if part else whole
    await Store(at.settings.state_folder).add(replace(tried, baseline=before))
    call, _ = (await next_move(at, None)).next
    assert call.arguments == {"run": run.id} | ({"wall_ms": wall_ms} if known else {})


def test_ten_findings_that_are_ruled_out_are_listed():
    outs = tuple(RuledOut(f"check-{number}", 1, number, "no gain") for number in range(12))
    stopped = _decided(Decision(None, "all_tried", "words", ruled_out=outs))
    assert [row[0] for row in stopped.ruled_out.rows] == [f"check-{number}" for number in range(10)]
    assert (stopped.decision, stopped.finding) == ("stop", None)
    going = _decided(Decision(finding("check-0"), "promising", "words"))
    assert (going.decision, going.finding, going.ruled_out) == ("try", "check-0", None)

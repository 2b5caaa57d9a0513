"""The runs of a loop, as they are now."""

from __future__ import annotations

from tests.asking import session
from tests.experiments.writer import experiment
from tests.pairs import Model, write
from tests.profiles import write_run
from tests.programs import block
from ttnn_mcp.experiments import outlook
from ttnn_mcp.experiments.story import alone
from ttnn_mcp.tools.parts import loop_story
from ttnn_mcp.tools.parts.loop_story import best_run_now, outlook_now, seen_alone


async def test_a_story_looks_only_at_windows_that_are_cheap_to_check_unless_asked(tmp_path, monkeypatch):
    at = session(tmp_path)
    run = await at.run(str(write(tmp_path / "run", Model())))
    asked = []
    monkeypatch.setattr(
        loop_story, "outlook_of", lambda _run, wall_ms, *, most_ops: asked.append((wall_ms, most_ops))
    )
    await best_run_now(at, alone(await seen_alone(run)))
    await best_run_now(at, alone(await seen_alone(run)), 7)
    await outlook_now(run, 5.0)
    assert asked == [(None, outlook.CHEAP_OPS), (None, 7), (5.0, outlook.CHEAP_OPS)]


async def test_the_memory_report_of_a_run_is_replayed_for_its_checks(tmp_path):
    made = write_run(tmp_path / "home", block())
    run = await session(tmp_path).run(str(made.performance))
    assert (await outlook_now(run, None)).kernel_ns > 0


async def test_a_best_run_that_is_gone_or_another_by_now_is_said_to_be(tmp_path, monkeypatch):
    at = session(tmp_path)
    assert await best_run_now(at, None) == (None, None, None)
    missing = alone(experiment("one").baseline)
    assert (await best_run_now(at, missing)).gone.startswith("the best run cannot be opened: ")
    run = await at.run(
        str(write(tmp_path / "aaaaaaaa", Model()))
    )  # a folder that is called as the missing one's id
    monkeypatch.chdir(tmp_path)
    assert await best_run_now(at, missing) == (
        None,
        f"the best run's report was overwritten: its file now holds run {run.id}",
        None,
    )

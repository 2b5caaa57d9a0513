"""An answer about a large report is kept for the next start, and never stands for another question, report or code."""

import json
from types import SimpleNamespace

import pytest

from tests.archive.runs import Night, nights
from tests.asking import ask
from tests.profiles import Iteration, write_performance_report
from tests.programs import block
from ttnn_mcp.archive.rows import rows_of
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.errors import StoreUnusable
from ttnn_mcp.readers import fingerprint as fingerprints
from ttnn_mcp.readers.manifest import NAME as MANIFEST
from ttnn_mcp.readers.performance.device_log import NAME as DEVICE_LOG
from ttnn_mcp.run import kept_report
from ttnn_mcp.session.archiving import Archiving
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.session.settings import ARCHIVE_VARIABLE
from ttnn_mcp.tools import TOOLS, answering, kept_answers
from ttnn_mcp.tools.tool import OfRun


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Ask as after a restart; the answer, and whether it was computed."""
    monkeypatch.setattr(kept_report.performance_of, "__defaults__", (None, 0))
    monkeypatch.setattr(kept_answers, "STARTED_NS", 1 << 62)
    monkeypatch.setattr(kept_answers, "SETTLED_NS", -1)
    kept_answers._code.cache_clear()
    computed = []
    true_asked = answering._asked

    def noted(*asked):
        computed.append(asked)
        return true_asked(*asked)

    monkeypatch.setattr(answering, "_asked", noted)

    async def ask_anew(tool="optimization_check", cache_mb=100, **arguments):
        monkeypatch.setattr(fingerprints, "_known", {})
        computed.clear()
        session = Session(Settings(state=tmp_path / "state", cache_mb=cache_mb))
        return await ask(session, tool, **arguments), bool(computed)

    yield ask_anew
    kept_answers._code.cache_clear()


@pytest.fixture
def report(tmp_path):
    return write_performance_report(tmp_path / "report", block(), [Iteration(cold=True), Iteration(), Iteration()])


@pytest.mark.parametrize("tool", ["optimization_check", "list_ops", "host_overhead", "time_budget"])
async def test_the_same_question_after_a_restart_is_answered_alike_and_not_computed(asked, report, tool):
    first, was_computed = await asked(tool, run=str(report))
    assert was_computed
    again, was_computed = await asked(tool, run=str(report))
    assert not was_computed
    assert json.dumps(again) == json.dumps(first)


async def test_other_arguments_are_another_question(asked, report):
    await asked(run=str(report))
    assert (await asked(run=str(report), iteration="all"))[1]
    assert (await asked(run=str(report), steps=[1]))[1]
    assert not (await asked(run=str(report), steps=[1]))[1]


async def test_a_changed_report_is_answered_anew(asked, report):
    before, _ = await asked("list_ops", run=str(report))
    report.write_bytes(report.read_bytes().replace(b"MatmulDeviceOperation", b"MatmulDeviceOperatioN"))
    after, was_computed = await asked("list_ops", run=str(report))
    assert was_computed
    assert after != before


async def test_another_device_log_beside_the_report_is_seen(asked, report):
    log = report.parent / DEVICE_LOG
    for change in (lambda: log.write_bytes(log.read_bytes() + b"\n"), log.unlink):
        await asked(run=str(report))
        change()
        assert (await asked(run=str(report)))[1]
        assert not (await asked(run=str(report)))[1]


async def test_a_manifest_that_comes_later_is_seen(asked, report):
    await asked("open_run", run=str(report))
    manifest = report.parent / MANIFEST
    manifest.write_text('{"command": "pytest a.py"}')
    card, was_computed = await asked("open_run", run=str(report))
    assert was_computed
    assert card["capture"]["command"] == "pytest a.py"
    assert not (await asked("open_run", run=str(report)))[1]


async def test_an_earlier_run_in_the_archive_is_seen_and_the_run_itself_is_none(
    asked, report, tmp_path, monkeypatch
):
    monkeypatch.setenv(ARCHIVE_VARIABLE, "5")
    monkeypatch.setattr(Archiving, "begin", lambda _: None)
    session = Session(Settings(state=tmp_path / "state"))
    rows = rows_of(await session.run(str(report)))
    await asked(run=str(report))
    session.archive.add([rows])
    assert not (await asked(run=str(report)))[1]
    (night,) = nights(rows, [Night()])
    session.archive.add([night])
    assert (await asked(run=str(report)))[1]
    assert not (await asked(run=str(report)))[1]
    session.archive.forget([str(night.run["run_key"])])
    assert not (await asked(run=str(report)))[1]  # as before it came


async def test_beside_a_device_log_that_may_still_change_nothing_is_kept(asked, report, monkeypatch):
    monkeypatch.setattr(kept_answers, "SETTLED_NS", 1 << 62)
    assert (await asked(run=str(report)))[1]
    assert (await asked(run=str(report)))[1]


async def test_the_same_contents_at_another_place_are_another_run(asked, report, tmp_path):
    await asked(run=str(report))
    other = tmp_path / "other" / report.name
    other.parent.mkdir()
    other.write_bytes(report.read_bytes())
    assert (await asked(run=str(other)))[1]


class Unread:
    """An archive that cannot be read now."""

    def known(self):
        raise StoreUnusable("locked")


@pytest.mark.parametrize(
    ("change", "tool", "is_kept"),
    [
        ({}, "list_ops", True),
        ({"performance": None}, "list_ops", False),
        ({"contents": None}, "list_ops", False),
        ({"memory": "a report"}, "list_ops", False),
        ({"kept": {Archive: Unread()}}, "list_ops", False),
        ({}, "query_run", False),
    ],
)
def test_only_what_follows_from_a_large_report_alone_is_kept(monkeypatch, report, change, tool, is_kept):
    monkeypatch.setattr(kept_answers, "STARTED_NS", 1 << 62)
    monkeypatch.setattr(kept_answers, "SETTLED_NS", -1)
    kept_answers._code.cache_clear()
    large = SimpleNamespace(contents=change.get("contents", "digest"), csv=SimpleNamespace(path=report))
    known = {"performance": large, "memory": None, "id": "a", "name": "a", "notes": (), "kept": {}}
    run = SimpleNamespace(**known | change)
    assert (kept_answers.kept_name(run, answering.tool_named(tool, TOOLS), OfRun()) is not None) is is_kept
    kept_answers._code.cache_clear()


@pytest.mark.parametrize(("after_s", "settled"), [(39.9, False), (40.1, True)])
def test_a_file_beside_the_report_is_settled_after_forty_seconds(monkeypatch, report, after_s, settled):
    """A page that a program has mapped and not written back changes without another time."""
    status = report.stat()
    now = max(status.st_mtime_ns, status.st_ctime_ns) + round(after_s * 1e9)
    monkeypatch.setattr(kept_answers, "time", SimpleNamespace(time_ns=lambda: now))
    assert (kept_answers._stamp(report) is not None) is settled


async def test_other_code_answers_anew(asked, report, monkeypatch):
    await asked(run=str(report))
    kept_answers._code.cache_clear()
    monkeypatch.setattr(kept_answers, "__version__", "0.0.0")
    assert (await asked(run=str(report)))[1]
    assert not (await asked(run=str(report)))[1]


async def test_code_that_changed_while_it_ran_keeps_nothing(asked, report, monkeypatch):
    monkeypatch.setattr(kept_answers, "STARTED_NS", 0)
    assert (await asked(run=str(report)))[1]
    assert (await asked(run=str(report)))[1]


async def test_without_a_cache_nothing_is_kept(asked, report):
    assert (await asked(run=str(report), cache_mb=0))[1]
    assert (await asked(run=str(report), cache_mb=0))[1]


async def test_an_answer_in_which_a_check_failed_is_not_kept(asked, report, monkeypatch):
    monkeypatch.setattr(kept_answers, "FAILED", "kernel_ms")
    assert (await asked(run=str(report)))[1]
    assert (await asked(run=str(report)))[1]


@pytest.mark.parametrize("contents", [b"", b"{", b"[1]", b"\xff", b"[" * 20_000])
async def test_a_kept_answer_that_is_none_is_computed_anew(asked, report, tmp_path, contents):
    first, _ = await asked(run=str(report))
    kept = Session(Settings(state=tmp_path / "state")).kept
    (name,) = [file.stem for file in kept.folder.iterdir() if file.name.startswith("1-")]
    assert kept.write(name, [contents])
    again, was_computed = await asked(run=str(report))
    assert was_computed
    assert again == first

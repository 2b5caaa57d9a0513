"""What a caller may write for a run, who has which name, and that nothing answers in the place of another."""

import shutil

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid, ReportMissing, RunUnknown
from ttnn_mcp.session.registry import ID, KnownRun, Registry


@for_all(
    ("name", "why"),
    [
        ("demo", "bundled"),
        ("0a1b2c3d", "a run's id"),
        ("x" * 81, "at most 80 are allowed"),
        ("x" * 60_000, "at most 80 are allowed"),
        (" ", "blank"),
        ("a\u202eb", "cannot be seen"),
        ("a\x00b", "cannot be seen"),
    ],
)
async def test_a_name_that_could_be_taken_for_something_else_is_refused_before_it_is_remembered(
    tmp_path, report, name, why
):
    at = session(tmp_path)
    with pytest.raises(ArgumentsInvalid, match=why):
        await at.open(str(report("a")), None, name)
    assert await at.registry.all() == []
    assert (await ask(session(tmp_path), "list_runs"))["total"] == 0


async def test_demo_is_always_the_bundled_run(tmp_path, report):
    at = session(tmp_path)
    bundled = await at.run("demo")
    await at.run(str(report("demo")))  # its folder is called so
    assert (await at.run("demo")).performance.csv.path == bundled.performance.csv.path
    assert (await session(tmp_path).run("demo")).id == "demo"


async def test_an_id_is_never_hidden_by_a_name_another_program_stored(tmp_path, report):
    first = await session(tmp_path).run(str(report("a")))
    other = report("b", drop=1)
    await session(tmp_path).registry.remember(
        KnownRun("ffffffff", first.id, other, None, None, None, named_by_hand=True)
    )
    assert (await session(tmp_path).run(first.id)).performance.csv.path == first.performance.csv.path


async def test_two_runs_of_one_name_are_an_error_that_lists_their_ids(tmp_path, report):
    paths = report("one/perf", below="a"), report("two/perf", drop=1, below="a")
    at = session(tmp_path)
    runs = [await at.run(str(path)) for path in paths]
    assert runs[0].name == runs[1].name == "perf"
    for asked in (at, session(tmp_path)):  # the same from the registry alone
        with pytest.raises(RunUnknown, match="2 runs are called 'perf'") as refusal:
            await asked.run("perf")
        assert all(run.id in str(refusal.value) for run in runs)
        assert (await asked.run(runs[1].id)).performance.csv.path == paths[1]


async def test_names_come_from_the_folders_and_from_the_file_where_a_folder_holds_several(tmp_path, report):
    at = session(tmp_path)
    assert (await at.run(str(report("resnet/2026_01_02")))).name == "resnet/2026_01_02"
    assert (await at.run("resnet/2026_01_02")).name == "resnet/2026_01_02"
    first = report("both", name="ops_perf_results_a.csv")
    second = report("both", drop=1, name="ops_perf_results_b.csv")
    names = [(await session(tmp_path).run(str(path))).name for path in (first, second)]
    assert names == ["both/ops_perf_results_a", "both/ops_perf_results_b"]


async def test_a_name_a_person_gave_is_moved_only_when_asked_for(tmp_path, report):
    first, second = report("a"), report("b", drop=1)
    at = session(tmp_path)
    old = await at.open(str(first), None, "candidate")
    for asked in (at, session(tmp_path)):
        with pytest.raises(ArgumentsInvalid, match=f"The name 'candidate' is run {old.id}'s.*move_name=true"):
            await asked.open(str(second), None, "candidate")
        assert (await asked.run("candidate")).id == old.id
    assert (await at.open(str(first), None, "candidate", move_name=True)).renamed == ""
    new = await at.open(str(second), None, "candidate", move_name=True)
    assert new.renamed == f"the name 'candidate' was run {old.id}'s until now"
    assert (await at.run("candidate")).renamed == ""
    for asked in (at, session(tmp_path)):
        assert (await asked.run("candidate")).id == new.id
        assert (await asked.run(old.id)).performance.csv.path == first
    assert (await at.run(old.id)).name == old.id
    assert (await at.run(str(second))).name == "candidate"  # it keeps the name it was given


async def test_a_run_loses_the_name_that_the_gate_knows_only_when_asked_for(tmp_path, report):
    first = report("a")
    at = session(tmp_path)
    run = await at.open(str(first), None, "main")
    for asked in (at, session(tmp_path)):
        with pytest.raises(
            ArgumentsInvalid, match=r"The run is called 'main'.*move_name=true.*baseline other PATH"
        ):
            await asked.open(str(first), None, "other")
        assert (await asked.open(str(first), None, "main")).renamed == ""
    assert (await at.open(str(first), None, "other", move_name=True)).renamed == (
        "the run was called 'main' until now, and none is any more"
    )
    second = await at.open(str(report("b", drop=1)), None, "main")
    moved = await at.open(str(first), None, "main", move_name=True)
    assert moved.renamed == (
        f"the name 'main' was run {second.id}'s until now; the run was called 'other' until now, and none is any more"
    )
    assert (await session(tmp_path).run("main")).id == run.id


async def test_a_name_whose_report_is_gone_is_no_folder_of_that_name(tmp_path, report, monkeypatch):
    named, other = report("a"), report("main", drop=1)
    at = session(tmp_path)
    old = await at.open(str(named), None, "main")
    named.unlink()
    monkeypatch.chdir(tmp_path)  # where `main` is a path, too
    for asked in (at, session(tmp_path)):
        with pytest.raises(RunUnknown, match=f"Run {old.id}, called 'main', is gone: .*move_name=true"):
            await asked.run("main")
    moved = await at.open(str(other), None, "main", move_name=True)
    assert (await session(tmp_path).run("main")).id == moved.id


async def test_a_name_given_to_a_run_that_is_open_already_is_remembered(tmp_path, report):
    path = report("a")
    at = session(tmp_path)
    run = await at.run(str(path))
    assert (await at.open(str(path), None, "base")) is run
    assert (await session(tmp_path).run("base")).id == run.id


async def test_the_old_id_of_an_overwritten_report_is_an_error_that_tells_the_new_one(tmp_path, report):
    path = report("a")
    at = session(tmp_path)
    old = (await at.open(str(path), None, "base")).id
    report("a", drop=1)
    for asked in (at, session(tmp_path)):
        with pytest.raises(RunUnknown, match=f"Run {old} no longer exists: its report was overwritten") as refusal:
            await asked.run(old)
        new = (await session(tmp_path / "other").run(str(path))).id
        assert f"now holds run {new}. Give that id" in str(refusal.value)
    by_path = await at.run(str(path))
    assert by_path.id == new
    assert by_path.notes == (f"the report was overwritten: before, its file held run {old}",)
    assert (await at.run("base")).id == new  # a name stands for what lies there


async def test_a_name_stays_with_the_contents_that_got_it(tmp_path, report):
    """Who asks by the name of a report that was overwritten does not move it: the gate still sees another run."""
    path = report("a")
    at = session(tmp_path)
    old = (await at.open(str(path), None, "base")).id
    report("a", drop=1)
    for asked in (session(tmp_path), at):
        told = await asked.run("base")
        assert told.notes == (f"the report was overwritten: before, its file held run {old}",)
    new = told.id
    assert [run.shown_id for run in await at.registry.all() if run.named_by_hand] == [old]
    with pytest.raises(ArgumentsInvalid, match=f"is run {old}'s"):
        await at.open(str(path), None, "base")
    assert (await at.open(str(path), None, "base", move_name=True)).id == new
    assert [run.shown_id for run in await at.registry.all() if run.named_by_hand] == [new]


async def test_an_old_id_is_answered_from_a_copy_of_the_old_report(tmp_path, report):
    path = report("a")
    old = (await session(tmp_path).run(str(path))).id
    copy = tmp_path / "kept" / "copy"
    copy.mkdir(parents=True)
    shutil.copy(path, copy)
    report("a", drop=1)
    assert (await session(tmp_path, tmp_path / "kept").run(old)).performance.csv.path.parent == copy


async def test_what_was_noticed_when_a_report_was_found_reaches_the_run(tmp_path, report):
    report("both", name="ops_perf_results_a.csv")
    folder = report("both", drop=1, name="ops_perf_results_b.csv").parent
    at = session(tmp_path, folder)
    for asked in (str(folder), None):
        run = await at.run(asked)
        assert len(run.notes) == 1
        assert "holds 2 CSVs; the newest is read, not ops_perf_results_" in run.notes[0]
    assert (await at.run(run.id)).notes == run.notes
    assert run.notes[0] in (await ask(at, "open_run", run=run.id))["caveats"]


async def test_a_root_that_is_too_large_is_told_where_nothing_was_found(tmp_path, monkeypatch):
    monkeypatch.setattr("ttnn_mcp.readers.discover._FOLDERS", 3)
    for name in "abcde":
        (tmp_path / "root" / name).mkdir(parents=True)
    with pytest.raises(RunUnknown, match="root has more than 3 folders"):
        await session(tmp_path, tmp_path / "root").run(None)


@for_all(
    "odd", ["x" * 300, "x" * 5000, "~nosuchuser/x", "a\0b", "/a\0b", "\ud800", "/\ud800", "/proc/1/root", " ", ""]
)
async def test_an_argument_that_can_be_no_run_is_one_of_our_sentences(tmp_path, odd):
    at = session(tmp_path)
    with pytest.raises((RunUnknown, ReportMissing)) as refusal:
        await at.run(odd)
    assert len(str(refusal.value)) < 500
    for paths in ((odd, None), (None, odd)):
        with pytest.raises((RunUnknown, ReportMissing)):
            await at.open(*paths)


async def test_rows_that_another_program_spoiled_do_not_break_the_list(tmp_path, report):
    at = session(tmp_path)
    run = await at.run(str(report("a")))
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(tmp_path / "state" / "runs.sqlite")) as database:
        bad = [
            ("11111111", "n" * 60_000, "/x.csv", None, None),
            ("no id", "name", "/x.csv", None, None),
            ("22222222", b"name", "/x.csv", None, None),
            ("33333333", "name", "/x\0y", None, None),
            ("44444444", "name", "/" + "x" * 9000, None, None),
            ("55555555", "name", None, None, None),
            ("66666666", "name", "/x.csv", None, "rank"),
            ("77777777", "name", b"", None, None),
        ]
        database.executemany(
            "INSERT INTO runs (id, name, performance, memory, rank, opened, given) VALUES (?,?,?,?,?,9e9,0)", bad
        )
        database.commit()
    listed = await ask(session(tmp_path), "list_runs")
    assert {row[0] for row in listed["runs"]["rows"]} == {run.id, "11111111"}
    assert max(len(row[1]) for row in listed["runs"]["rows"]) <= 80


async def test_a_folder_whose_name_is_no_text_is_listed_and_found_again(tmp_path, report):
    path = report("a")
    odd = path.parent.with_name("b\udcff")
    path.parent.rename(odd)
    run = await session(tmp_path, odd.parent).run(None)
    known = await Registry(tmp_path / "state", lambda *_: True).all()
    assert [each.performance.parent.name for each in known] == ["b\udcff"]
    assert (await session(tmp_path).run(run.id)).id == run.id
    assert ID.fullmatch(run.id)


@for_all("forgetful", [False, True])
async def test_naming_a_run_takes_no_other_name_away(tmp_path, report, forgetful):
    """Nor where nothing can be recorded, so that this session alone knows the names."""
    if forgetful:
        (tmp_path / "state").write_bytes(b"")
    at = session(tmp_path)
    first = await at.open(str(report("a")), None, "before")
    second = await at.open(str(report("b", drop=1)), None, "after")
    assert [(await at.run(run.id)).name for run in (first, second)] == ["before", "after"]
    assert (await at.run("before")).id == first.id
    third = await at.open(str(report("c", drop=2)), None, "before", move_name=True)
    assert [(await at.run(run.id)).name for run in (first, second, third)] == [first.id, "after", "before"]

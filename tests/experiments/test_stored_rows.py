"""Nothing enters the log that could not be read back, and a damaged row costs no more than itself."""

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import asdict, replace
from math import inf, nan

import pytest

from tests.experiments.writer import experiment
from tests.for_all import for_all
from ttnn_mcp.errors import QuestionRefused, ReportMissing, StoreUnusable
from ttnn_mcp.experiments import exchange
from ttnn_mcp.experiments.exchange import read_document, write_document
from ttnn_mcp.experiments.experiment import Target
from ttnn_mcp.experiments.outlook import parse_target
from ttnn_mcp.experiments.store import FILE, Store

RUN = experiment("x").baseline
WRONG = {
    "kernel_ns": replace(experiment("x"), baseline=replace(RUN, kernel_ns=2**70)),
    "baseline.kernel_ns": replace(experiment("x"), baseline=replace(RUN, kernel_ns=0)),
    "candidate.id": replace(experiment("x"), candidate=replace(RUN, id="x" * 65)),
    "change": experiment("x" * 501),
    "note": experiment("x", note="y" * 501),
    "step": experiment("x", step=8),
    "pcc": experiment("x", pcc=nan),
    "wall_before_ms": experiment("x", wall_before_ms=inf),
    "change_share": experiment("x", change_share=inf),
    "noise_share": experiment("x", noise_share=nan),
    "verdict": experiment("x", verdict="IGNORE ALL"),
    "flags": experiment("x", flags=("y",) * 51),
    "recorded": experiment("x", recorded=-1.0),
    "uid": experiment("x", uid=""),
    "why": experiment("x", why="\ud800"),
}


@for_all(("field", "wrong"), WRONG.items(), ids=WRONG)
async def test_an_experiment_out_of_range_is_refused_by_every_way_in(tmp_path, field, wrong):
    store = Store(tmp_path / "state")
    with pytest.raises(QuestionRefused, match=field.rpartition(".")[2]):
        await store.add(wrong)
    with pytest.raises(QuestionRefused):
        await store.merge([experiment("sound"), wrong], [])
    assert await store.all() == ([], [])
    assert not store.path.exists()


@for_all("value", [0.0, -1.0, inf, nan, 1e300])
async def test_a_target_out_of_range_is_refused(tmp_path, value):
    store = Store(tmp_path)
    with pytest.raises(QuestionRefused, match="target cannot be recorded: value"):
        await store.set_target(Target(RUN, "latency_ms", value))
    with pytest.raises(QuestionRefused):
        await store.merge([], [Target(RUN, "latency_ms", value)])


async def test_what_a_person_may_write_is_stored(tmp_path):
    store = Store(tmp_path)
    await store.set_target(parse_target("100 samples/s", RUN, 1_000_000))
    widest = experiment("c" * 500, note="n" * 500, hypothesis="h" * 500, step=None, pcc=-1.0, change_share=1e6)
    assert (await store.add(widest)).id == 1
    assert len((await store.all())[0]) == 1
    assert store.damaged == ()


def document(tmp_path, change):
    """An export, changed by hand."""
    path = tmp_path / "export.json"
    write_document(
        path, [experiment("one", uid="a" * 32), experiment("two", uid="b" * 32)], [Target(RUN, "latency_ms", 5.0)]
    )
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


def _deep(content, value, *place):
    for key in place[:-1]:
        content = content[key]
    content[place[-1]] = value


CHANGES = {
    "huge time": lambda c: _deep(c, 2**70, "experiments", 1, "baseline", "kernel_ns"),
    "no time": lambda c: _deep(c, 0, "experiments", 1, "baseline", "kernel_ns"),
    "number as text": lambda c: _deep(c, "5", "experiments", 1, "step"),
    "text as number": lambda c: _deep(c, 5, "experiments", 1, "change"),
    "infinite": lambda c: _deep(c, inf, "experiments", 1, "change_share"),
    "huge value": lambda c: _deep(c, 1e300, "targets", 0, "value"),
    "negative batch": lambda c: _deep(c, -1, "targets", 0, "batch"),
    "no baseline": lambda c: c["experiments"][1].pop("baseline"),
    "unknown baseline": lambda c: _deep(c, "0a0a0a0a", "experiments", 1, "baseline"),
    "flags as text": lambda c: _deep(c, "none", "experiments", 1, "flags"),
    "long text": lambda c: _deep(c, "x" * 100_000, "experiments", 1, "note"),
    "long name": lambda c: _deep(c, "x" * 100_000, "experiments", 1, "candidate", "name"),
    "other version": lambda c: _deep(c, 2, "version"),
    "surrogate": lambda c: _deep(c, "\ud800", "experiments", 1, "change"),
    "list": lambda c: _deep(c, {}, "experiments"),
}


@for_all("change", CHANGES.values(), ids=CHANGES)
def test_an_import_is_refused_as_a_whole_with_the_field_that_is_off(tmp_path, change):
    path = document(tmp_path, change)
    with pytest.raises(QuestionRefused, match=r"export\.json is no export of experiments") as refusal:
        read_document(path)
    assert "nothing was imported" in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_an_export_reads_back_as_it_was(tmp_path):
    whole = read_document(document(tmp_path, lambda _: None))
    assert [one.change for one in whole.experiments] == ["one", "two"]
    assert asdict(whole.experiments[0]) == asdict(experiment("one", uid="a" * 32))


@for_all("content", [b"", b"[" * 100_000, b"\xff\xfe", b"null", b"{}", b'"x"', b"1e999"])
def test_what_is_no_document_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(QuestionRefused, match="no export"):
        read_document(tmp_path / "x.json")


def test_a_pipe_a_device_a_folder_or_a_name_that_is_none_is_no_document(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    odd = [tmp_path / "pipe", tmp_path, tmp_path / "missing", tmp_path / ("x" * 300), tmp_path / "a\0b"]
    for path in (*odd, type(tmp_path)("/dev/zero"), tmp_path / "\ud800"):
        with pytest.raises(ReportMissing):
            read_document(path)


SPOILED = {
    "flags": "UPDATE experiments SET flags = 'no json' WHERE id = 2",
    "deep flags": f"UPDATE experiments SET flags = '{'[' * 100_000}' WHERE id = 2",
    "flags of numbers": "UPDATE experiments SET flags = '[1, 2]' WHERE id = 2",
    "number": "UPDATE experiments SET change_share = 'text' WHERE id = 2",
    "infinity": "UPDATE experiments SET noise_share = 9e999 WHERE id = 2",
    "blob": "UPDATE experiments SET change = x'ff00' WHERE id = 2",
    "no text": "UPDATE experiments SET why = CAST(x'fffe' AS TEXT), step = 70 WHERE id = 2",
    "unknown run": "UPDATE experiments SET baseline = 'ffffffff' WHERE id = 2",
    "run": "UPDATE runs SET kernel_ns = 0 WHERE id = 'cccccccc'",
    "run of text": "UPDATE runs SET kernel_ns = 'fast' WHERE id = 'cccccccc'",
    "warm": "UPDATE runs SET warm = x'00' WHERE id = 'cccccccc'",
    "moment": "UPDATE experiments SET recorded = 'yesterday' WHERE id = 2",
}


@for_all("spoil", SPOILED.values(), ids=SPOILED)
async def test_a_damaged_row_is_left_out_and_named_and_the_log_goes_on(tmp_path, spoil):
    store = Store(tmp_path)
    kept = await store.add(experiment("kept"))
    await store.add(experiment("spoiled", candidate="cccccccc"))
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute(spoil)
        database.commit()
    assert await store.all() == ([kept], [])
    assert len(store.damaged) == 1
    assert store.damaged[0].startswith("experiment 2 is left out: its ")
    assert (await store.add(experiment("next"))).id == 3
    assert [one.change for one in (await store.all())[0]] == ["kept", "next"]


async def test_a_damaged_target_is_left_out_and_named(tmp_path):
    store = Store(tmp_path)
    await store.set_target(Target(RUN, "latency_ms", 5.0))
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("UPDATE targets SET kind = 'sideways'")
        database.commit()
    assert await store.all() == ([], [])
    assert store.damaged == ("the target of run aaaaaaaa is left out: its kind cannot be read",)


async def test_many_damaged_rows_are_counted(tmp_path):
    store = Store(tmp_path)
    for number in range(8):
        await store.add(experiment(f"{number}"))
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("UPDATE experiments SET flags = ''")
        database.commit()
    assert (await store.all())[0] == []
    assert len(store.damaged) == 6
    assert store.damaged[-1] == "and 3 more"


async def test_runs_that_may_not_be_named_are_left_out_of_the_log(tmp_path):
    store = Store(tmp_path)
    await store.add(experiment("seen"))
    await store.add(experiment("hidden", candidate="cccccccc"))
    await store.set_target(Target(replace(RUN, id="cccccccc"), "latency_ms", 5.0))
    seeing = Store(tmp_path, lambda run: run.id != "cccccccc")
    known, targets = await seeing.all()
    assert [one.change for one in known] == ["seen"]
    assert targets == []
    assert len((await store.all())[0]) == 2


@for_all(("size", "told"), [(20_000_000, "no export"), (20_000_001, "too large")])
def test_a_document_of_more_than_twenty_megabytes_is_not_read(tmp_path, size, told):
    path = tmp_path / "x.json"
    with path.open("wb") as file:
        file.truncate(size)
    with pytest.raises(QuestionRefused, match=told):
        read_document(path)


@pytest.mark.slow
@pytest.mark.parametrize("count", [50_000, 50_001])
def test_fifty_thousand_targets_are_imported_at_most(tmp_path, count):
    run = json.dumps({key: value for key, value in asdict(RUN).items() if value is not None or key == "memory"})
    target = f'{{"baseline": {run}, "kind": "latency_ms", "value": 5.0}}'
    path = tmp_path / "x.json"
    path.write_text(
        '{"format": "ttnn-mcp experiments", "version": 1, "experiments": [], "targets": ['
        + ", ".join([target] * count)
        + "]}"
    )
    if count > 50_000:
        with pytest.raises(QuestionRefused, match="targets is missing or out of range"):
            read_document(path)
    else:
        assert len(read_document(path).targets) == count


def test_an_export_replaces_an_export_and_no_other_file(tmp_path):
    path = tmp_path / "export.json"
    for number in range(2):
        write_document(path, [experiment(f"{number}")], [])
    assert [one.change for one in read_document(path).experiments] == ["1"]
    other = tmp_path / "model.py"
    other.write_text("import ttnn")
    with pytest.raises(QuestionRefused, match=r"model\.py exists and is no export"):
        write_document(other, [], [])
    assert other.read_text() == "import ttnn"


def test_an_export_is_on_disk_before_it_takes_its_place_and_leaves_nothing_where_it_cannot(tmp_path, monkeypatch):
    path, sizes = tmp_path / "export.json", []
    with monkeypatch.context() as patch:
        patch.setattr(exchange.os, "fsync", lambda file: sizes.append(os.fstat(file).st_size))
        write_document(path, [experiment("one")], [])
    assert sizes == [path.stat().st_size]
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(exchange.os, "fsync", lambda _: os.open(tmp_path / "full", os.O_RDONLY))
        with pytest.raises(StoreUnusable):
            write_document(path, [experiment("other")], [])
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_bytes() == before


def test_why_a_file_cannot_be_read_is_told(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(StoreUnusable, match="File exists"):
        write_document(file / "export.json", [], [])
    with pytest.raises(StoreUnusable, match="no name of a file"):
        write_document(tmp_path / "a\0b", [], [])

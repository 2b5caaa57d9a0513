"""Names of runs: what may be one, where one comes from, and which run it stands for."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid, RunUnknown
from ttnn_mcp.session import known_runs
from ttnn_mcp.session.known_runs import check_name, given, only_one, run_name
from ttnn_mcp.session.registry import KnownRun


def test_eighty_characters_are_the_longest_name():
    check_name("x" * 80)
    with pytest.raises(ArgumentsInvalid, match="at most 80 are allowed"):
        check_name("x" * 81)


@for_all(("name", "why"), [("demo", "bundled"), ("0a1b2c3d", "a run's id")])
def test_a_name_is_no_other_runs(name, why):
    check_name(f"{name}-")
    with pytest.raises(ArgumentsInvalid, match=why):
        check_name(name)


@for_all("name", ["", "  ", "two\nlines", "a\u202eb"])
def test_a_name_can_be_seen(name):
    check_name("two words")
    with pytest.raises(ArgumentsInvalid, match="blank"):
        check_name(name)


def found(folder, kind="performance"):
    return SimpleNamespace(kind=kind, name="model", folder=folder, path=folder / "ops.csv")


@for_all(
    ("files", "kind", "name"),
    [
        (["ops.csv"], "performance", "model"),
        (["ops.csv", "readme.md"], "performance", "model"),
        (["ops.csv", "more.csv"], "performance", "model/ops"),
        (["ops.csv", "more.csv"], "memory", "model"),
    ],
)
def test_a_folder_of_several_tables_needs_the_name_of_the_file(tmp_path, files, kind, name):
    for file in files:
        (tmp_path / file).touch()
    assert run_name([found(tmp_path, kind)]) == name


@for_all(("between", "name"), [(998, "model/ops"), (999, "model")])
def test_a_thousand_files_of_a_folder_are_looked_at(monkeypatch, tmp_path, between, name):
    names = ["ops.csv", *["x"] * between, "more.csv"]
    listing = [SimpleNamespace(name=name) for name in names]
    monkeypatch.setattr(known_runs.os, "scandir", lambda _: nullcontext(iter(listing)))
    assert run_name([found(tmp_path)]) == name


def run(run_id, performance=None, memory=None):
    paths = (Path("/r") / name if name else None for name in (performance, memory))
    return KnownRun(run_id, "model", *paths, None, None)


def test_a_pair_is_the_run_of_its_performance_report():
    pair = run("a", "1.csv", "db")
    assert only_one("model", []) is None
    assert only_one("model", [run("b", "1.csv"), pair]) is pair
    assert only_one("model", [pair, pair]) is pair


@for_all(
    "others", [[run("b", "2.csv")], [run("b", "1.csv", "other")], [run("b", None, "db")]], ids=["csv", "pair", "db"]
)
def test_other_reports_are_other_runs(others):
    with pytest.raises(RunUnknown, match=r"2 runs are called 'model': a at /r, b at /r. Give an id"):
        only_one("model", [run("a", "1.csv", "db"), *others])


@for_all(("count", "more"), [(5, ""), (6, " and 1 more")])
def test_five_runs_of_one_name_are_listed(count, more):
    runs = [run(f"r{number}", f"{number}.csv") for number in range(count)]
    with pytest.raises(RunUnknown, match=f"r3 at /r, r4 at /r{more}. Give an id"):
        only_one("model", runs)


def test_a_given_name_stands_for_the_run_that_has_it_and_is_there(tmp_path):
    (tmp_path / "ops.csv").touch()
    there = KnownRun("a", "fast", tmp_path / "ops.csv", None, None, None, named_by_hand=True)
    others = [replace(there, name="slow"), replace(there, named_by_hand=False)]
    gone = replace(there, performance=tmp_path / "gone.csv")
    assert given("fast", [*others, gone, there]) is there
    assert given("fast", [*others, gone]) is gone
    assert given("fast", others) is None

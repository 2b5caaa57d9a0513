"""The fuzz itself: the same seed makes the same cases, sources are answered unmutated, and failures come out small."""

import random
import sqlite3
from contextlib import closing
from types import SimpleNamespace

import pytest

from fuzz import csv_mutations, database_mutations, doors, graph_mutations, questions
from fuzz.cases import Case
from fuzz.failures import keep_case, read_case
from fuzz.parts import PARTS, SHARES, arguments, files, http_paths, imports, statements
from fuzz.shrinking import Shrinker
from fuzz.sources import sources
from fuzz.verdict import Flaw

SEED = 20261121


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return sources(tmp_path_factory.mktemp("sources"), shared=False)


def numbers(number):
    return random.Random(f"{SEED}:{number}")  # noqa: S311


def test_the_same_seed_makes_the_same_cases_and_another_number_makes_others(made, tmp_path):
    sitting = SimpleNamespace(folder=tmp_path, random=numbers)
    first, again = ([files.case_of(sitting, number, made) for number in range(25)] for _ in range(2))
    assert [case.calls for case in first] == [case.calls for case in again]
    assert [case.files for case in first] == [case.files for case in again]
    assert len({repr(case) for case in first}) == len(first)
    assert {tool for case in first for tool, _ in case.calls} >= {
        "open_run",
        "optimization_check",
        "memory_summary",
        "compare_runs",
    }


def test_all_tools_that_read_a_run_are_asked_about_every_csv():
    asked = {tool for tool, _ in questions.of_performance(numbers(1), lines=[2])}
    reading = {tool for tool, (arguments, _) in doors.tools().items() if "run" in arguments["properties"]}
    assert reading - asked == {"memory_summary", "history"}  # these read a database, or the archive


def test_there_is_a_source_of_every_generation(made):
    csvs, databases, pairs = made
    for generation in ("C1", "C4", "C7", "tt-torch"):
        assert any(source.name.startswith(generation) for source in csvs)
    for generation in ("G1", "G5a", "2.1", "3.3"):
        assert any(source.name.startswith(generation) for source in databases)
    assert pairs


def test_every_mutation_of_a_csv_changes_it_and_none_fails(made):
    table = next(source.table for source in made[0] if source.name.startswith("C7"))
    met = set()
    for number in range(600):
        content, written = csv_mutations.mutate(numbers(number), table)
        assert isinstance(content, bytes)
        met |= set(written)
    names = {mutation.__name__.strip("_") for mutation in (*csv_mutations._WEIGHTED, *csv_mutations._OF_BYTES)}
    assert met == names
    assert table.write() == next(source.table for source in made[0] if source.name.startswith("C7")).write()


def test_most_mutants_of_a_database_are_databases_still(made, tmp_path):
    source = next(source for source in made[1] if source.name == "3.3-block")
    readable = 0
    for number in range(60):
        place = tmp_path / str(number)
        place.mkdir()
        source.write(place)
        database_mutations.mutate(numbers(number), place / "db.sqlite")
        with closing(sqlite3.connect(place / "db.sqlite")) as connection:
            try:
                readable += connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
            except sqlite3.Error:
                continue
    assert readable > 45


def test_a_graph_that_is_none_can_be_mutated_too():
    for number in range(200):
        assert isinstance(graph_mutations.mutate(numbers(number), "[1, {}, null]"), str)
        assert isinstance(graph_mutations.mutate(numbers(number), "{"), str)


def test_arguments_fit_their_schema_but_for_the_junk():
    from jsonschema import Draft202012Validator

    schemas = doors.tools()
    fit = sum(
        Draft202012Validator(schemas[tool][0]).is_valid(given)
        for tool, given in (arguments.call_of(numbers(number), schemas, ["a"]) for number in range(400))
    )
    assert 180 < fit < 380


def test_statements_and_documents_are_the_same_again():
    assert [statements.statement(numbers(n)) for n in range(50)] == [
        statements.statement(numbers(n)) for n in range(50)
    ]
    document = {"format": "ttnn-mcp experiments", "experiments": [{"id": 1, "change": "x"}], "targets": []}
    texts = [imports.damaged_document(numbers(n), document) for n in range(50)]
    assert texts == [imports.damaged_document(numbers(n), document) for n in range(50)]
    assert len(set(texts)) > 30
    assert document["experiments"] == [{"id": 1, "change": "x"}]


def test_a_mark_from_outside_is_seen_unless_the_question_held_it():
    word = http_paths.MARK
    answer = '{"result": {"content": [{"type": "text", "text": "There is no %s."}], "isError": true}}'
    told = http_paths.told("open_run", {"run": "x"}, 200, answer % f"{word}run")
    assert [flaw.kind for flaw in told] == ["told from outside"]
    assert http_paths.told("open_run", {"run": f"/{word}run"}, 200, answer % f"{word}run") == []
    assert http_paths.told("open_run", {"run": f"/{word}run"}, 200, answer % f"{word}opUnaryDeviceOperation")


class FailsOn:
    """A room in which a case fails where a predicate holds."""

    def __init__(self, predicate):
        self.predicate = predicate

    def signatures(self, case):
        return {("unforeseen", "here")} if self.predicate(case) else set()


def test_a_csv_shrinks_to_the_one_cell_that_matters(made):
    table = next(source.table for source in made[0] if source.name.startswith("C7")).copy()
    table.rows[4][7] = "boom"
    case = Case({"ops.csv": table.write(), "other": b"x"}, (("list_ops", {}), ("open_run", {})))
    room = FailsOn(lambda case: b"boom" in case.files.get("ops.csv", b"") and ("open_run", {}) in case.calls)
    shrunk = Shrinker(room, ("unforeseen", "here")).shrunk(case)
    assert shrunk.calls == (("open_run", {}),)
    assert list(shrunk.files) == ["ops.csv"]
    assert shrunk.files["ops.csv"].decode().split() == [*table.names[7].split(), "boom"]


def test_a_database_shrinks_to_the_one_row_that_matters(made, tmp_path):
    source = next(source for source in made[1] if source.name == "3.3-block")
    source.write(tmp_path)

    def operations(content):
        (tmp_path / "again").write_bytes(content)
        with closing(sqlite3.connect(tmp_path / "again")) as connection:
            return connection.execute("SELECT operation_id, name FROM operations").fetchall()

    def fails(case):
        try:
            return any(row[0] == 3 for row in operations(case.files["db.sqlite"]))
        except sqlite3.Error:
            return False

    case = Case({"db.sqlite": (tmp_path / "db.sqlite").read_bytes()}, (("open_run", {}),))
    shrunk = Shrinker(FailsOn(fails), ("unforeseen", "here")).shrunk(case)
    assert operations(shrunk.files["db.sqlite"]) == [(3, None)]
    assert len(shrunk.files["db.sqlite"]) < len(case.files["db.sqlite"]) / 3


def test_what_does_not_fail_again_is_not_shrunk():
    assert Shrinker(FailsOn(lambda case: False), ("unforeseen", "here")).shrunk(Case({}, ())) is None


def test_a_kept_case_is_read_as_it_was_written(tmp_path):
    case = Case({"a.csv": b"\xff,\n"}, (("open_run", {"run": "{folder}"}),), searched=False, base={"b.csv": b"1"})
    assert keep_case(case, tmp_path).startswith("python -m fuzz --again ")
    assert read_case(tmp_path) == case


def test_a_failure_is_counted_once_per_kind_and_place(tmp_path):
    from fuzz.failures import Failures

    lines = []
    failures = Failures(tmp_path, lines.append)
    for tool in ("list_ops", "op_detail"):
        failures.add("files", tool, Flaw("unforeseen", "a.py:f"), keep=lambda place: f"see {place.name}")
    assert [one.seen for one in failures.by_signature.values()] == [2]
    assert len(list(tmp_path.iterdir())) == len(lines) == 1
    assert "2 x unforeseen: a.py:f (list_ops, op_detail)" in failures.summary()[0]


def test_every_part_has_its_share_of_the_time():
    assert set(PARTS) == set(SHARES)
    assert sum(SHARES.values()) == pytest.approx(1)

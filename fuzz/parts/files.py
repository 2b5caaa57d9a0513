"""Mutated reports of every kind, through all tools."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3

from fuzz import csv_mutations, database_mutations, questions
from fuzz.cases import Case
from fuzz.sources import sources

PERFORMANCE, MEMORY, PAIR = "performance", "memory", "pair"
KINDS = (PERFORMANCE,) * 6 + (MEMORY,) * 4 + (PAIR,) * 2


def run(sitting):
    """Cases until the time is up."""
    made = sources(sitting.folder / "sources", shared=sitting.shared)
    for number in sitting.numbers():
        sitting.judge(case_of(sitting, number, made), number)


def case_of(sitting, number, made):
    """One mutated report and its questions; a CSV is also compared with itself unmutated, or with another."""
    csvs, databases, pairs = made
    rng = sitting.random(number)
    kind = rng.choice(KINDS)
    place = sitting.folder / "making"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    if kind == PERFORMANCE:
        source = rng.choice(csvs)
        content, _written = csv_mutations.mutate(rng, source.table)
        lines = _lines(source.table)
        calls = questions.of_performance(rng, lines=lines, based=True)
        other = source if rng.random() < 0.7 else rng.choice(csvs)
        return Case(
            {_name(rng, source.csv_name): content}, tuple(calls), base={other.csv_name: other.table.write()}
        )
    source = rng.choice(databases if kind == MEMORY else pairs)
    source.write(place)
    if kind == MEMORY or rng.random() < 0.6:
        with contextlib.suppress(sqlite3.Error):
            database_mutations.mutate(rng, place / database_mutations.DATABASE)
    if kind == PAIR and rng.random() < 0.7:
        content, _written = csv_mutations.mutate(rng, source.table)
        (place / source.csv_name).write_bytes(content)
    files = {path.name: path.read_bytes() for path in place.iterdir()}
    operations = _operations(source.folder / database_mutations.DATABASE)
    if kind == MEMORY:
        return Case(files, tuple(questions.of_memory(rng, operations=operations)))
    return Case(files, tuple(questions.of_pair(rng, lines=_lines(source.table), operations=operations)))


def _name(rng, name):
    """Now and then a file's name is odd, too."""
    if rng.random() < 0.97:
        return name
    return rng.choice(("ops_perf_results_\u202ex.csv", "ops_perf_results \x1b[31m.csv", "ops_perf_results_é.csv",
                       "ops_perf_results_\udcff.csv", "ops_perf_results_\n.csv", f"ops_perf_results_{'x' * 200}.csv"))  # fmt: skip


def _lines(table):
    """Lines of the file that hold device ops, as op_detail and check_setting name them."""
    if "OP TYPE" not in table.names:
        return list(range(2, len(table.rows) + 2))
    at = table.names.index("OP TYPE")
    found = [number for number, row in enumerate(table.rows, 2) if at < len(row) and row[at] == "tt_dnn_device"]
    return found or [2]


def _operations(path):
    with (
        contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection,
        contextlib.suppress(sqlite3.Error),
    ):
        return [row for (row,) in connection.execute("SELECT operation_id FROM operations ORDER BY 1")]
    return [1]

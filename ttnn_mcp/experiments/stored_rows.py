"""Experiments to rows of the store, and rows to experiments; damaged rows are left out and named.

Both ways they are checked: types, ranges and lengths.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pydantic import TypeAdapter, ValidationError

from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.experiments.experiment import Experiment, Target

if TYPE_CHECKING:
    import sqlite3

    import aiosqlite

    from ttnn_mcp.experiments.experiment import RunSeen

TABLES = (
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, performance TEXT, memory TEXT, kernel_ns INTEGER NOT NULL,
        warm INTEGER NOT NULL, rank INTEGER, reading TEXT, program TEXT
    )""",
    """CREATE TABLE experiments (
        id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE, recorded REAL NOT NULL,
        change TEXT NOT NULL, step INTEGER, hypothesis TEXT, note TEXT,
        baseline TEXT NOT NULL REFERENCES runs (id), candidate TEXT NOT NULL REFERENCES runs (id),
        pcc REAL, wall_before_ms REAL, wall_after_ms REAL, measured TEXT NOT NULL, judged_by TEXT NOT NULL,
        change_share REAL NOT NULL, noise_share REAL NOT NULL, verdict TEXT NOT NULL, why TEXT NOT NULL,
        flags TEXT NOT NULL, finding TEXT, at_most_us REAL, layer_pccs TEXT NOT NULL, drifts_at INTEGER
    )""",
    """CREATE TABLE targets (
        baseline TEXT PRIMARY KEY REFERENCES runs (id), kind TEXT NOT NULL, value REAL NOT NULL,
        batch INTEGER NOT NULL, recorded REAL NOT NULL, rounds INTEGER, hours REAL
    )""",
)
VERSION = 5  # PRAGMA user_version of these tables; those before them were never released
Fields: TypeAlias = "dict[str, Any]"
NAMED = 5  # damaged rows that are named; more are counted
COLUMNS = (
    *("uid", "recorded", "change", "step", "hypothesis", "note", "baseline", "candidate", "pcc", "wall_before_ms"),
    *("wall_after_ms", "measured", "judged_by", "change_share", "noise_share", "verdict", "why", "flags"),
    *("finding", "at_most_us", "layer_pccs", "drifts_at"),
)
COLUMNS_READ = (*COLUMNS, "id")
RUN_COLUMNS = ("id", "name", "performance", "memory", "kernel_ns", "warm", "rank", "reading", "program")
TARGET_COLUMNS = ("baseline", "kind", "value", "batch", "recorded", "rounds", "hours")


class Log(NamedTuple):
    """The contents of a store; `damaged` has a sentence on each row that could not be read."""

    experiments: list[Experiment]
    targets: list[Target]
    damaged: tuple[str, ...]


def read_rows(rows: Iterable[sqlite3.Row], target_rows: Iterable[sqlite3.Row], runs: Iterable[sqlite3.Row]) -> Log:
    """The experiments and targets of these rows: `COLUMNS_READ`, `TARGET_COLUMNS`, `RUN_COLUMNS`."""
    run_fields = {row[0]: _run(row) for row in runs}
    damaged: list[str] = []
    experiments: list[Experiment] = []
    targets: list[Target] = []
    for row in rows:
        experiment = _experiment(row, run_fields)
        if isinstance(experiment, str):
            damaged.append(f"experiment {shown(row[-1])} is left out: {experiment}")
        else:
            experiments.append(experiment)
    for row in target_rows:
        target = _target(row, run_fields)
        if isinstance(target, str):
            damaged.append(f"the target of run {shown(row[0])} is left out: {target}")
        else:
            targets.append(target)
    more = [f"and {len(damaged) - NAMED} more"] if len(damaged) > NAMED else []
    return Log(experiments, targets, (*damaged[:NAMED], *more))


def _run(row: sqlite3.Row) -> Fields:
    fields: Fields = dict(zip(RUN_COLUMNS, row, strict=True))
    warm = bool(fields["warm"]) if isinstance(fields["warm"], int) else fields["warm"]
    return {**fields, "name": shown(fields["name"]), "warm": warm}


def _target(row: sqlite3.Row, runs: Mapping[object, Fields]) -> Target | str:
    fields: Fields = dict(zip(TARGET_COLUMNS, row, strict=True))
    return _built(Target, {**fields, "baseline": runs.get(fields["baseline"])})


def _experiment(row: sqlite3.Row, runs: Mapping[object, Fields]) -> Experiment | str:
    fields: Fields = dict(zip(COLUMNS_READ, row, strict=True))
    name, texts = "flags", {"flags": fields["flags"], "layer_pccs": fields["layer_pccs"]}
    try:
        for name, text in texts.items():
            fields[name] = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return f"its {name} cannot be read"
    runs_of = {side: runs.get(fields[side]) for side in ("baseline", "candidate")}
    return _built(Experiment, {**fields, **runs_of})


async def insert_experiment(connection: aiosqlite.Connection, experiment: Experiment) -> int:
    """Insert one experiment and its runs; returns its number."""
    runs = {"baseline": experiment.baseline, "candidate": experiment.candidate}
    for run in runs.values():
        await _insert_run(connection, run)
    fields: Fields = {
        **asdict(experiment),
        **{side: run.id for side, run in runs.items()},
        "flags": json.dumps(experiment.flags),
        "layer_pccs": json.dumps(experiment.layer_pccs),
    }
    cursor = await connection.execute(_inserted("experiments", COLUMNS), [fields[name] for name in COLUMNS])
    return cursor.lastrowid or 0


async def _insert_run(connection: aiosqlite.Connection, run: RunSeen) -> None:
    """Insert a run; a run that is there already gets its new name and paths."""
    fields = asdict(run)
    await connection.execute(
        f"{_inserted('runs', RUN_COLUMNS)} ON CONFLICT (id) DO UPDATE SET"
        " name = excluded.name, performance = excluded.performance, memory = excluded.memory,"
        " reading = coalesce(excluded.reading, reading), program = coalesce(excluded.program, program)",
        [fields[name] for name in RUN_COLUMNS],
    )


async def insert_target(connection: aiosqlite.Connection, target: Target) -> None:
    """Insert a target; it replaces an older one of the same baseline, whose window is that of the new one.

    Not where experiments have the run: its time is theirs.
    """
    await _insert_run(connection, target.baseline)
    await connection.execute(
        "UPDATE runs SET kernel_ns = :kernel_ns, warm = :warm, reading = :reading, program = :program WHERE id = :id"
        " AND NOT EXISTS (SELECT 1 FROM experiments WHERE :id IN (baseline, candidate))",
        {name: getattr(target.baseline, name) for name in ("kernel_ns", "warm", "reading", "program", "id")},
    )
    fields: Fields = {**asdict(target), "baseline": target.baseline.id}
    await connection.execute(
        f"{_inserted('targets', TARGET_COLUMNS)} ON CONFLICT (baseline) DO UPDATE SET kind = excluded.kind,"
        " value = excluded.value, batch = excluded.batch, recorded = excluded.recorded, rounds = excluded.rounds,"
        " hours = excluded.hours WHERE excluded.recorded >= targets.recorded",
        [fields[name] for name in TARGET_COLUMNS],
    )


def _inserted(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def check_sound(record: Experiment | Target) -> None:
    """Refuse a record that could not be read again.

    Raises:
        QuestionRefused: a value is out of range; names the field.
    """
    try:
        _adapter(type(record)).validate_python(asdict(record))
    except (ValidationError, ValueError) as failure:
        kind = "experiment" if isinstance(record, Experiment) else "target"
        raise QuestionRefused(
            f"This {kind} cannot be recorded: {_field_of(failure)} is missing or out of range. Look at the runs with "
            "open_run: a window without measured time cannot be compared."
        ) from None


def _built(kind: type[Any], fields: Mapping[str, Any]) -> Any:
    """The record of these fields, or a sentence on the field that is wrong."""
    try:
        return _adapter(kind).validate_python(dict(fields))
    except (ValidationError, ValueError) as failure:
        return f"its {_field_of(failure)} cannot be read"


def _field_of(failure: Exception) -> str:
    if isinstance(failure, ValidationError):
        place = failure.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
        return shown(".".join(map(str, place))) or "content"
    return "text"  # a lone surrogate

"""The runs that a history is made of: those of one model, architecture, clock and number of devices, and what they ran.

Two runs are as alike as the share of ops that both have, counted by signature (the same work, as often). A model
that is tuned changes step by step, so a run also belongs to a model through other runs. Where half of the ops changed
at once, or every shape did, ops cannot tell; then the name that a person gave decides, or nothing does.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp.analyses.comparison.clocks import SAME_CLOCK
from ttnn_mcp.arrays import Floats, Integers

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyConnection

    from ttnn_mcp.archive.rows import RunRows

SAME = 0.7  # of the ops of both: above it, two runs are of the same model
UNSURE = 0.3  # below it, they are of different ones
SAME_KINDS = 0.9  # of the ops by their names alone: the same model with other shapes or formats, or another like it
RUNS_AT_MOST = 500  # the newest: what a person calls a history
_RUNS = """
SELECT run_key, label, name, recorded_at, arch, clock_mhz, devices, build, commit, kernel_us, window_us, warm,
    doubts FROM runs
"""
_ALIKE = f"""{_RUNS} WHERE run_key <> ? AND arch = ? AND abs(clock_mhz / ? - 1) <= ? AND devices = ? AND kernel_us > 0
ORDER BY recorded_at DESC, run_key LIMIT {RUNS_AT_MOST}"""
_ELSEWHERE = """
SELECT count(DISTINCT run_key) FROM runs JOIN ops o USING (run_key)
WHERE o.signature = ? AND o.in_window AND run_key <> ? AND (abs(clock_mhz / ? - 1) > ? OR devices <> ?)
"""
_WORK = """
SELECT c.place AS run, o.signature, o.op_code, o.settings_hash, count(*) AS ops, sum(o.kernel_us) AS kernel_us,
    min(o.line) AS line
FROM ops o JOIN (SELECT unnest(?::VARCHAR[]) AS run_key, unnest(range(?)) AS place) c USING (run_key)
WHERE o.in_window GROUP BY ALL
"""


class PastRun(NamedTuple):
    """A run in the archive; the attributes are columns of its table `runs`."""

    run_key: str
    label: str | None
    name: str
    recorded_at: int
    arch: str | None
    clock_mhz: float | None
    devices: int
    build: str | None
    commit: str | None
    kernel_us: float
    window_us: float | None
    warm: bool | None
    doubts: str | None = None

    @property
    def called(self) -> str:
        """What a person called it, else its file's name."""
        return self.label or self.name

    @property
    def version(self) -> str | None:
        """The build or commit that was measured."""
        return self.build or self.commit


def past_run(run: Mapping[str, object]) -> PastRun:
    """A row of the table `runs` that is not in the archive yet."""
    return PastRun(**{name: run[name] for name in PastRun._fields})  # type: ignore[arg-type]


def run_named(cursor: DuckDBPyConnection, name: str) -> PastRun | None:
    """The newest run with this key, label or file name."""
    query = f"{_RUNS} WHERE run_key = $1 OR label = $1 OR name = $1 ORDER BY recorded_at DESC, run_key LIMIT 1"
    row = cursor.execute(query, [name]).fetchone()
    return PastRun(*row) if row else None


def runs_alike(cursor: DuckDBPyConnection, subject: PastRun) -> list[PastRun]:
    """The subject and the newest runs with its architecture, clock and number of devices, oldest first."""
    parameters = [subject.run_key, subject.arch, subject.clock_mhz, SAME_CLOCK, subject.devices]
    others = [PastRun(*row) for row in cursor.execute(_ALIKE, parameters).fetchall()]
    return sorted([subject, *others], key=lambda run: (run.recorded_at, run.run_key))


def work_of(cursor: DuckDBPyConnection, runs: list[PastRun], fresh: RunRows | None) -> pd.DataFrame:
    """What each run did in its window: ops, kernel time and first line by signature and settings.

    Args:
        cursor: of the archive.
        runs: `run` in the answer is the place in this list.
        fresh: the rows of one of them that the archive does not hold yet.
    """
    import pandas as pd  # noqa: PLC0415 - DuckDB hands it out

    keys = [run.run_key for run in runs]
    work = cursor.execute(_WORK, [keys, len(keys)]).df()
    if fresh is None:
        return work
    place = keys.index(str(fresh.run["run_key"]))
    ops = fresh.ops[fresh.ops["in_window"].to_numpy()]
    by = ["signature", "op_code", "settings_hash"]
    grouped = ops.groupby(by, observed=True, sort=False)
    ours = grouped.agg(ops=("line", "size"), kernel_us=("kernel_us", "sum"), line=("line", "min")).reset_index()
    ours["op_code"] = ours["op_code"].astype(object)  # the oldest pandas warns of a category beside texts
    return pd.concat([work[work["run"] != place], ours.assign(run=place)], ignore_index=True)


def runs_elsewhere(cursor: DuckDBPyConnection, subject: PastRun, signature: int) -> int:
    """How many runs did this work at another clock or on another number of devices."""
    parameters = [signature, subject.run_key, subject.clock_mhz, SAME_CLOCK, subject.devices]
    row = cursor.execute(_ELSEWHERE, parameters).fetchone()
    return int(row[0]) if row else 0


def counts_by(work: pd.DataFrame, column: str) -> WorkCounts:
    """How often each run does each work, by signature or by name."""
    import pandas as pd  # noqa: PLC0415 - loaded by now

    number, _ = pd.factorize(work[column])
    table = pd.DataFrame({"run": work["run"], "work": number, "ops": work["ops"]})
    summed = table.groupby(["run", "work"], sort=False)["ops"].sum().reset_index()
    return WorkCounts(
        summed["run"].to_numpy(np.int64), summed["work"].to_numpy(np.int64), summed["ops"].to_numpy(np.float64)
    )


class WorkCounts(NamedTuple):
    """How often each run does each kind of work; all arrays have one entry per pair of them.

    Attributes:
        run: place of the run.
        work: its work: a signature, or an op's name, as a number from 0.
        ops: how often.
    """

    run: Integers
    work: Integers
    ops: Floats


class Kin(NamedTuple):
    """What the runs are to one of them, all by place.

    Attributes:
        same: of the same model, itself included.
        through: those among them that are alike only to others of them.
        unsure: those that may be.
    """

    same: tuple[int, ...]
    through: tuple[int, ...]
    unsure: tuple[int, ...]


def kin_of(subject: int, signatures: WorkCounts, names: WorkCounts, labels: Sequence[str | None]) -> Kin:
    """What each run is to the one at `subject`; `labels` are the names that people gave."""
    runs = len(labels)
    to_subject = alike(subject, signatures, runs)
    named = np.array([label is not None and label == labels[subject] for label in labels])
    same = {subject}
    waiting = [subject]
    while waiting:
        shares = alike(waiting.pop(), signatures, runs)
        near = (shares >= SAME) | (named & (shares >= UNSURE))
        new = {int(place) for place in np.flatnonzero(near)} - same
        same.update(new)
        waiting += sorted(new)
    maybe = (to_subject >= UNSURE) | (alike(subject, names, runs) >= SAME_KINDS)
    unsure = {int(place) for place in np.flatnonzero(maybe)} - same
    through = {place for place in same if to_subject[place] < SAME and not named[place]} - {subject}
    return Kin(tuple(sorted(same)), tuple(sorted(through)), tuple(sorted(unsure)))


def alike(subject: int, counts: WorkCounts, runs: int) -> Floats:
    """Per run, the share of ops that it and the one at `subject` have in common, 0 to 1."""
    ours = np.zeros(int(counts.work.max(initial=-1)) + 1)
    mine = counts.run == subject
    np.add.at(ours, counts.work[mine], counts.ops[mine])
    shared = np.bincount(counts.run, weights=np.minimum(counts.ops, ours[counts.work]), minlength=runs)
    total = np.bincount(counts.run, weights=counts.ops, minlength=runs)
    either = total + total[subject] - shared
    return np.divide(shared, either, out=np.zeros(runs), where=either > 0)

"""What the archive knows of an op: how long the same work took in earlier runs, with these settings and with others.

The same work is the same signature: op, operands and architecture. Only runs of the same clock and the same number of
devices count, and never the run that asks. Ops with the same settings are one entry, whatever run they are of, so a
lucky run does not make its settings look good. Two entries differ only beyond the noise of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp.analyses.comparison.clocks import SAME_CLOCK
from ttnn_mcp.analyses.comparison.noise import DEFAULT_SHARE
from ttnn_mcp.archive.settings_apart import Apart, Setup, apart, written
from ttnn_mcp.archive.turns import CERTAIN, TELLING
from ttnn_mcp.arrays import Floats
from ttnn_mcp.errors import shown
from ttnn_mcp.quoting import figure

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# the rows of the work are read once, and their settings looked up for the row with the median alone: of ten million
# ops, 200 kinds of work take 0.5 s this way, and 1 s where each kind's rows are sorted as a list
SEEN = """
WITH alike AS (
    SELECT run_key FROM runs WHERE run_key <> $4 AND arch = $5 AND abs(clock_mhz / $6 - 1) <= $7 AND devices = $8
        AND doubts IS NULL
), seen AS MATERIALIZED (
    SELECT signature, settings_hash, settings, fidelity, kernel_us, run_key, line
    FROM ops SEMI JOIN alike USING (run_key)
    WHERE signature IN (SELECT unnest($1::BIGINT[])) AND signature BETWEEN $2 AND $3 AND in_window AND kernel_us > 0
), timings AS (
    SELECT signature, settings_hash, count(*) AS ops, count(DISTINCT run_key) AS runs,
        quantile_disc(kernel_us, 0.5) AS median_us, coalesce(stddev_samp(kernel_us) / avg(kernel_us), 0) AS spread
    FROM seen GROUP BY ALL
)
SELECT signature, settings_hash, any_value(settings), any_value(fidelity), ops, runs, median_us,
    min({'run': run_key, 'line': line}) AS cited, spread
FROM timings JOIN seen USING (signature, settings_hash) WHERE kernel_us = median_us
GROUP BY signature, settings_hash, ops, runs, median_us, spread
"""
NAMES = "SELECT run_key, coalesce(label, name) FROM runs WHERE run_key IN (SELECT unnest(?::VARCHAR[]))"


class Timing(NamedTuple):
    """How long some ops with the same work and settings took.

    Attributes:
        ops: how many they are.
        median_us: their median, the lower of two.
        noise_share: what two of them differ by in 19 of 20 cases, as a share; 0 for a single one.
    """

    ops: int
    median_us: float
    noise_share: float


class Alike(NamedTuple):
    """What a run must share with the one that asks, and whom it must not be."""

    run_key: str
    arch: str
    clock_mhz: float
    devices: int


class Earlier(NamedTuple):
    """Ops of earlier runs with the same work and settings.

    Attributes:
        setup: their settings.
        settings_hash: the same for the same settings.
        timing: how long they took.
        runs: how many runs they are of.
        run: a run with the median, by its label or file name.
        line: the line of the median in that run's report.
        cell: the column and value to cite where a replay measured it; None for the kernel time of that line.
    """

    setup: Setup
    settings_hash: int
    timing: Timing
    runs: int
    run: str
    line: int
    cell: tuple[str, float] | None = None


class Precedent(NamedTuple):
    """One entry, compared with the ops of the run that asks.

    Attributes:
        earlier: the entry.
        differences: the settings in which it differs from ours; none if it has ours.
        noise_share: the difference in time that proves nothing.
        change: its time over ours, less 1: -0.3 is 30 % faster.
    """

    earlier: Earlier
    differences: tuple[Apart, ...]
    noise_share: float
    change: float

    @property
    def verdict(self) -> str:
        """Faster or slower than ours, or alike within the noise."""
        if self.change > self.noise_share:
            return "slower"
        return "faster" if self.change < -self.noise_share else "alike"

    @property
    def spoken(self) -> str:
        """`61.0 us with in0_block_w=8 (ops_perf_results.csv, line 812)`, for a sentence."""
        how = written(self.differences) or "the same settings"
        return (
            f"{figure(self.earlier.timing.median_us, '.1f')} us with {how} "
            f"({self.earlier.run}, line {self.earlier.line})"
        )

    @property
    def surely_us(self) -> float:
        """The time that its settings take at most, by the noise."""
        return self.earlier.timing.median_us * (1 + self.noise_share)


def earlier_of(cursor: DuckDBPyConnection, signatures: Sequence[int], alike: Alike) -> dict[int, list[Earlier]]:
    """The entries of each signature in runs of the same architecture, clock and number of devices, none in doubt."""
    wanted = sorted({*signatures})
    parameters = [
        wanted,
        wanted[0],
        wanted[-1],
        alike.run_key,
        alike.arch,
        alike.clock_mhz,
        SAME_CLOCK,
        alike.devices,
    ]
    rows = cursor.execute(SEEN, parameters).fetchall()
    names = dict(cursor.execute(NAMES, [sorted({row[7]["run"] for row in rows})]).fetchall())
    entries: dict[int, list[Earlier]] = {}
    for signature, settings_hash, settings, fidelity, count, runs, median_us, cited, spread in rows:
        timing = Timing(count, median_us, CERTAIN * spread)
        run = shown(names.get(cited["run"], ""))
        setup = Setup(settings, fidelity)
        entries.setdefault(signature, []).append(Earlier(setup, settings_hash, timing, runs, run, cited["line"]))
    return entries


def timing_of(kernel_us: Floats) -> Timing:
    """The timing of these ops of one run, all of which took some time."""
    spread = float(kernel_us.std(ddof=1) / kernel_us.mean()) if len(kernel_us) > 1 else 0.0
    middle = float(np.sort(kernel_us)[(len(kernel_us) - 1) // 2])
    return Timing(len(kernel_us), middle, CERTAIN * spread)


def compared(ours: Timing, setup: Setup, settings_hash: int, entries: Sequence[Earlier]) -> list[Precedent]:
    """The entries beside our ops, the fastest first.

    Those whose settings cannot be told from ours are left out, and those of which so much noise tells nothing.
    """
    precedents: list[Precedent] = []
    for entry in entries:
        differences = () if entry.settings_hash == settings_hash else apart(setup, entry.setup)
        if not differences and entry.settings_hash != settings_hash:
            continue
        noise = max(DEFAULT_SHARE, ours.noise_share, entry.timing.noise_share)
        precedent = Precedent(entry, differences, noise, entry.timing.median_us / ours.median_us - 1)
        if noise <= TELLING or precedent.verdict != "alike":
            precedents.append(precedent)
    return sorted(precedents, key=lambda each: each.earlier.timing.median_us)


def telling(precedents: Sequence[Precedent], most: int) -> list[Precedent]:
    """The entries worth a citation: what was faster first, but never without what was slower."""
    faster, slower, alike = (
        [each for each in precedents if each.verdict == verdict] for verdict in ("faster", "slower", "alike")
    )
    first = faster[: most - 1] if slower else faster
    return [*first, *slower, *alike][:most]

"""The fastest that the same work ran in other runs: same signature, architecture and clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ttnn_mcp.analyses.comparison.clocks import SAME_CLOCK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from duckdb import DuckDBPyConnection

_BEST = """
WITH alike AS (
    SELECT run_key, name, recorded_at FROM runs
    WHERE arch = ? AND clock_mhz BETWEEN ? AND ? AND run_key <> ?
), seen AS (
    SELECT o.signature, o.run_key, o.settings_hash, count(*) AS rows_seen,
        quantile_disc(o.kernel_us, 0.5) AS median_us, min(o.kernel_us) AS least_us, max(o.kernel_us) AS most_us
    FROM ops o SEMI JOIN alike USING (run_key)
    WHERE o.in_window AND o.signature IN (SELECT unnest(?::BIGINT[]))
        AND o.signature BETWEEN ? AND ?
    GROUP BY ALL
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY signature ORDER BY median_us, run_key, settings_hash) AS place,
        count(DISTINCT run_key) OVER (PARTITION BY signature) AS runs_seen
    FROM seen
), best AS (SELECT * FROM ranked WHERE place = 1), cited AS (
    SELECT o.signature, min(o.line) AS line, arg_min(o.device, o.line) AS device, any_value(o.op_code) AS op_code,
        any_value(o.operands) AS operands, any_value(o.settings) AS settings, any_value(o.fidelity) AS fidelity,
        arg_min(o.cores, o.line) AS cores
    FROM ops o JOIN best b
        ON o.signature = b.signature AND o.run_key = b.run_key AND o.settings_hash = b.settings_hash
        AND o.kernel_us = b.median_us
    WHERE o.in_window AND o.signature IN (SELECT unnest(?::BIGINT[])) AND o.signature BETWEEN ? AND ?
    GROUP BY o.signature
)
SELECT b.signature, b.run_key, a.name, a.recorded_at, c.line, c.device, c.op_code, c.operands, c.settings, c.fidelity,
    c.cores, b.median_us, b.least_us, b.most_us, b.rows_seen, b.runs_seen
FROM best b JOIN alike a USING (run_key) JOIN cited c USING (signature)
"""


class BestSeen(NamedTuple):
    """The fastest run of some work: the row that stands for it, and how far its like rows spread.

    Attributes:
        signature: the work.
        run_key: the run that was fastest, by the median of its rows with one setting.
        name: file name of its report.
        recorded_at: seconds since 1970.
        line: line in that report of a row with exactly the median time.
        device: its device.
        op_code: canonical name.
        operands: shapes, types, layouts and placements.
        settings: what may be tuned, as JSON; None without.
        fidelity: math fidelity.
        cores: cores that ran it.
        median_us: kernel time of that row.
        least_us: the least of the run's rows with this setting.
        most_us: the most.
        rows_seen: how many rows these are.
        runs_seen: in how many runs the work was seen.
    """

    signature: int
    run_key: str
    name: str
    recorded_at: int
    line: int
    device: int
    op_code: str
    operands: str
    settings: str | None
    fidelity: str | None
    cores: int | None
    median_us: float
    least_us: float
    most_us: float
    rows_seen: int
    runs_seen: int


def best_seen(
    connection: DuckDBPyConnection,
    signatures: Iterable[int],
    *,
    arch: str,
    clock_mhz: float,
    without: str = "",
) -> dict[int, BestSeen]:
    """The fastest time of each signature among runs of one architecture and clock.

    Args:
        connection: of an archive.
        signatures: the work asked for.
        arch: the architecture of the run that asks.
        clock_mhz: its clock.
        without: the key of a run that does not count, mostly the one that asks.
    """
    asked = sorted({int(signature) for signature in signatures})
    if not asked:
        return {}
    bounds = [asked, asked[0], asked[-1]]
    clocks = [clock_mhz * (1 - SAME_CLOCK), clock_mhz * (1 + SAME_CLOCK)]
    rows = connection.execute(_BEST, [arch, *clocks, without, *bounds, *bounds]).fetchall()
    return {int(row[0]): BestSeen(*row) for row in rows}

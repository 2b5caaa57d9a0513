"""The two tables of an archive: what is kept of a run and of each of its ops. Shapes and settings, nothing else.

No path, no source line and no name of a user is stored. A column is never removed and never changes its meaning; a new
one is added at the end, and is NULL in what was written before.
"""

from __future__ import annotations

from typing import NamedTuple

FORMAT = 1  # of the files in an archive; another number is not read


class Column(NamedTuple):
    """A column: its name, its type in SQL, and its meaning with the unit."""

    name: str
    type: str
    meaning: str


RUNS: tuple[Column, ...] = (
    Column("run_key", "VARCHAR", "32 hex digits from the contents of the performance report"),
    Column("name", "VARCHAR", "file name of the report, without folders"),
    Column("label", "VARCHAR", "what a person called it (a model, a nightly job); NULL without"),
    Column("recorded_at", "BIGINT", "seconds since 1970: when the report was written"),
    Column("arch", "VARCHAR", "architecture, as `hardware.ARCHITECTURES` names it; NULL if unknown"),
    Column("clock_mhz", "DOUBLE", "device clock in MHz; NULL if unknown"),
    Column("devices", "INTEGER", "number of devices with timed ops"),
    Column("build", "VARCHAR", "version of TTNN, as the memory report or a person says; NULL if unknown"),
    Column("commit", "VARCHAR", "commit that was measured, likewise"),
    Column("csv_generation", "VARCHAR", "C1 (2024) to C7 (2026): age of the profiler, by its columns"),
    Column(
        "window_us", "DOUBLE", "measured window on the device with the most kernel time: first start to last end"
    ),
    Column("kernel_us", "DOUBLE", "kernel time of that device in the window"),
    Column("ops", "BIGINT", "rows of the run in the table `ops`"),
    Column("window_ops", "BIGINT", "those in the measured window"),
    Column("warm", "BOOLEAN", "whether all programs of the window were compiled before it"),
    Column("traced", "BOOLEAN", "whether any op is a trace replay"),
    Column("reading", "VARCHAR", "version of the code that read the report"),
)

OPS: tuple[Column, ...] = (
    Column("run_key", "VARCHAR", "the run"),
    Column("line", "BIGINT", "line of the op in its report; the header is line 1"),
    Column("device", "INTEGER", "id of the device"),
    Column("op_code", "VARCHAR", "canonical name of the op"),
    Column("signature", "BIGINT", "hash of op, work, operands and architecture: equal means the same work"),
    Column("operands", "VARCHAR", "shapes, data types, layouts and placements, for people"),
    Column("settings", "VARCHAR", "JSON object: attributes that can be tuned, as printed; NULL without"),
    Column("settings_hash", "BIGINT", "hash of `settings` and fidelity"),
    Column("fidelity", "VARCHAR", "math fidelity; NULL for data movement"),
    Column("cores", "INTEGER", "cores that ran it; NULL if unknown"),
    Column("kernel_us", "DOUBLE", "kernel duration in microseconds"),
    Column("in_window", "BOOLEAN", "whether the op is in the measured window"),
)


def names(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The names of the columns, in order."""
    return tuple(column.name for column in columns)


def casts(columns: tuple[Column, ...]) -> str:
    """The select list that gives each column its type."""
    return ", ".join(f'"{column.name}"::{column.type} AS "{column.name}"' for column in columns)

"""The two tables of an archive: what is kept of a run and of each of its ops. Shapes and settings, nothing else.

No path, no source line and no name of a user is stored. A column is never removed and never changes its meaning; a new
one is added at the end, and is NULL in what was written before.
"""

from __future__ import annotations

from typing import NamedTuple

FORMAT = 1  # of the files in an archive; another number is not read


class ArchiveColumn(NamedTuple):
    """A column: its name, its type in SQL, and its meaning with the unit."""

    name: str
    type: str
    meaning: str


RUNS: tuple[ArchiveColumn, ...] = (
    ArchiveColumn("run_key", "VARCHAR", "32 hex digits from the contents of the performance report"),
    ArchiveColumn("name", "VARCHAR", "file name of the report, without folders"),
    ArchiveColumn("label", "VARCHAR", "what a person called it (a model, a nightly job); NULL without"),
    ArchiveColumn("recorded_at", "BIGINT", "seconds since 1970: when the report was written"),
    ArchiveColumn("arch", "VARCHAR", "architecture, as `hardware.ARCHITECTURES` names it; NULL if unknown"),
    ArchiveColumn("clock_mhz", "DOUBLE", "device clock in MHz; NULL if unknown"),
    ArchiveColumn("devices", "INTEGER", "number of devices with timed ops"),
    ArchiveColumn("build", "VARCHAR", "version of TTNN, as the memory report or a person says; NULL if unknown"),
    ArchiveColumn("commit", "VARCHAR", "commit that was measured; NULL if unknown"),
    ArchiveColumn("csv_generation", "VARCHAR", "C1 (2024) to C7 (2026): age of the profiler, by its columns"),
    ArchiveColumn(
        "window_us", "DOUBLE", "measured window on the device with the most kernel time: first start to last end"
    ),
    ArchiveColumn("kernel_us", "DOUBLE", "kernel time of that device in the window"),
    ArchiveColumn("ops", "BIGINT", "rows of the run in the table `ops`"),
    ArchiveColumn("window_ops", "BIGINT", "those in the measured window"),
    ArchiveColumn("warm", "BOOLEAN", "whether all programs of the window were compiled before it"),
    ArchiveColumn("traced", "BOOLEAN", "whether any op is a trace replay"),
    ArchiveColumn("reading", "VARCHAR", "version of the code that read the report"),
    ArchiveColumn("doubts", "VARCHAR", "codes of what speaks against its times, with commas; NULL without"),
)

OPS: tuple[ArchiveColumn, ...] = (
    ArchiveColumn("run_key", "VARCHAR", "the run"),
    ArchiveColumn("line", "BIGINT", "line of the op in its report; the header is line 1"),
    ArchiveColumn("device", "INTEGER", "id of the device"),
    ArchiveColumn("op_code", "VARCHAR", "canonical name of the op"),
    ArchiveColumn("signature", "BIGINT", "hash of op, work, operands and architecture: equal means the same work"),
    ArchiveColumn("operands", "VARCHAR", "shapes, data types, layouts and placements, for people"),
    ArchiveColumn("settings", "VARCHAR", "JSON object: attributes that can be tuned, as printed; NULL without"),
    ArchiveColumn("settings_hash", "BIGINT", "hash of `settings` and fidelity"),
    ArchiveColumn("fidelity", "VARCHAR", "math fidelity; NULL for data movement"),
    ArchiveColumn("cores", "INTEGER", "cores that ran it; NULL if unknown"),
    ArchiveColumn("kernel_us", "DOUBLE", "kernel duration in microseconds"),
    ArchiveColumn("in_window", "BOOLEAN", "whether the op is in the measured window"),
)


def names(columns: tuple[ArchiveColumn, ...]) -> tuple[str, ...]:
    """The names of the columns, in order."""
    return tuple(column.name for column in columns)


def casts(columns: tuple[ArchiveColumn, ...]) -> str:
    """The select list that gives each column its type."""
    return ", ".join(f'"{column.name}"::{column.type} AS "{column.name}"' for column in columns)

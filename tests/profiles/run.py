"""Both reports of one run, in the folders tt-metal writes them to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .memory_database import write_memory_report
from .memory_rows import STYLE as DATABASE_STYLE
from .memory_rows import DatabaseStyle
from .performance_cells import STYLE as CSV_STYLE
from .performance_cells import CsvStyle
from .performance_csv import COLD_THEN_WARM, TIMESTAMP, write_performance_report

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .program import Program
    from .timeline import Iteration


@dataclass(frozen=True)
class Run:
    """`root` is what TT_METAL_HOME would name."""

    root: Path
    performance: Path  # the CSV
    memory: Path  # the db.sqlite


def write_run(
    root: Path,
    program: Program,
    iterations: Iterable[Iteration] = COLD_THEN_WARM,
    *,
    csv_generation: str = "C7",
    schema_generation: str = "3.3",
    csv_style: CsvStyle = CSV_STYLE,
    database_style: DatabaseStyle = DATABASE_STYLE,
    timestamp: str = TIMESTAMP,
    name: str = "made_jan01_0000",
) -> Run:
    """`root/generated/profiler/reports/<timestamp>/...csv` and `root/generated/ttnn/reports/<name>/db.sqlite`."""
    csv = write_performance_report(
        root / "generated" / "profiler" / "reports",
        program,
        iterations,
        generation=csv_generation,
        style=csv_style,
        timestamp=timestamp,
    )
    folder = root / "generated" / "ttnn" / "reports" / name
    db = write_memory_report(folder, program, schema_generation, database_style, name=name)
    return Run(root, csv, db)

"""Writes memory reports: `db.sqlite` in any schema generation, with config.json and cluster_descriptor.yaml."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from .memory_rows import STYLE, DatabaseStyle, ReportRows
from .schema import since, statements, tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from .memory_rows import Cell
    from .program import Program


def _metadata(generation: str, style: DatabaseStyle, rank: int, ranks: int) -> Iterator[tuple[str, str]]:
    if since(generation, "2"):
        yield "schema_version", generation
    yield "timestamp_ns", str(style.timestamp_ns)
    yield "total_duration_ns", "81234567"
    if since(generation, "3.0"):
        yield from (("rank", str(rank)), ("world_size", str(ranks)))
    if since(generation, "3.2"):
        yield from (("git_sha", "0" * 40), ("git_url", "https://github.com/tenstorrent/tt-metal.git"))


def write_database(
    path: Path,
    program: Program,
    generation: str = "3.3",
    style: DatabaseStyle = STYLE,
    *,
    other_ranks: Sequence[Program] = (),
) -> Path:
    """`other_ranks` run beside the first; their ids start at 1 again (generations from 3.0)."""
    if other_ranks and not since(generation, "3.0"):
        raise ValueError("ranks came with generation 3.0")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    created = statements(
        generation,
        tensor_sizes=style.tensor_sizes,
        text_buffer_types=style.text_buffer_types,
        unranked=style.unranked,
    )
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size = {style.page_bytes}")
        for pragma in (
            "synchronous = OFF",
            "journal_mode = OFF",
            "temp_store = MEMORY",
            "locking_mode = EXCLUSIVE",
        ):
            connection.execute(f"PRAGMA {pragma}")  # tests write thousands, and none outlives them
        connection.execute("BEGIN")
        for statement in created:
            connection.execute(statement)
        found = tables(generation, style.unranked)
        for rank, each in enumerate((program, *other_ranks)):
            for name, rows in ReportRows(each, generation, style).collect().items():
                ranked = "rank int" in found[name]
                insert_rows(connection, name, [(*row, rank) for row in rows] if ranked else rows)
        if "report_metadata" in found:
            last = len(other_ranks)
            insert_rows(connection, "report_metadata", list(_metadata(generation, style, last, last + 1)))
        if "source_files" in found:
            text = "\n".join(program.source) + "\n"
            insert_rows(connection, "source_files", [(1, program.source_path, text)])
        connection.commit()
        connection.execute("VACUUM")
    return path


def insert_rows(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[Cell, ...]]) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def write_memory_report(
    folder: Path,
    program: Program,
    generation: str = "3.3",
    style: DatabaseStyle = STYLE,
    *,
    name: str = "made",
    other_ranks: Sequence[Program] = (),
) -> Path:
    """`folder/db.sqlite` and its siblings; returns the database's path."""
    path = write_database(folder / "db.sqlite", program, generation, style, other_ranks=other_ranks)
    (folder / "config.json").write_text(json.dumps(_config(name, style), indent=4) + "\n", encoding="utf-8")
    (folder / "cluster_descriptor.yaml").write_text(_cluster(program), encoding="utf-8")
    return path


def _config(name: str, style: DatabaseStyle) -> dict[str, str | bool | float]:
    return {
        "cache_path": "/home/user/.cache/ttnn",
        "comparison_mode_pcc": 0.9998999834060669,
        "comparison_mode_should_raise_exception": False,
        "enable_comparison_mode": False,
        "enable_detailed_buffer_report": bool(style.detailed),
        "enable_detailed_tensor_report": False,
        "enable_fast_runtime_mode": False,
        "enable_graph_report": False,
        "enable_logging": True,
        "enable_model_cache": False,
        "model_cache_path": "/home/user/.cache/ttnn/models",
        "report_name": name,
        "report_path": f"generated/ttnn/reports/{name}",
        "root_report_path": "generated/ttnn/reports",
        "throw_exception_on_fallback": False,
        "tmp_dir": "generated/tmp",
    }


def _cluster(program: Program) -> str:
    devices: Iterable[int] = range(program.devices)

    def lines(text: str) -> list[str]:
        return [text.format(n=n, arch=program.device.arch, board=program.device.board) for n in devices]

    return "\n".join(
        [
            "arch:", *lines("  {n}: {arch}"),
            "chips:", *lines("  {n}:\n    - {n}\n    - 0\n    - 0\n    - 0"),
            "ethernet_connections:", "  []",
            "chips_with_mmio:", *lines("  - {n}: {n}"),
            "chip_to_boardtype:", *lines("  {n}: {board}"),
            "",
        ]
    )  # fmt: skip

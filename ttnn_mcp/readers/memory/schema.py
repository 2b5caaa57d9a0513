"""What a memory report's database holds: tables, columns, generation, ranks; found by looking, not by version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ttnn_mcp.errors import QuestionRefused, ReportForeign
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    import aiosqlite

NEWEST_VERSION = "3.5"  # the newest schema whose writer we have read
RANKLESS = frozenset({"report_metadata", "source_files"})  # shared by all ranks in every generation
TABLES = frozenset(
    {
        *(
            "devices",
            "operations",
            "operation_arguments",
            "tensors",
            "device_tensors",
            "input_tensors",
            "output_tensors",
        ),
        *("buffers", "buffer_pages", "buffer_chunks", "captured_graph", "stack_traces", "source_files", "errors"),
        *("report_metadata", "tensor_lifetime", "operation_executions", "sub_devices"),
        *("local_tensor_comparison_records", "global_tensor_comparison_records"),
    }
)
"""What we read; any other table is ignored."""
_RANKED_FIRST = frozenset({"operations", "devices", "tensors", "buffers", "input_tensors", "output_tensors"})
"""Quick to ask for their ranks; in `captured_graph` the rank lies behind the long text."""


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables, columns and ranks of one database, and the rank it is read at.

    Attributes:
        columns: column names per table that exists, lower case.
        metadata: the report's own `report_metadata`.
        refused: tables that exist but cannot be told apart by rank.
    """

    columns: Mapping[str, frozenset[str]]
    metadata: Mapping[str, str]
    ranks: tuple[int, ...]
    rank: int
    refused: frozenset[str]

    def has(self, table: str, column: str | None = None) -> bool:
        """Whether the table (and the column) can be read at this rank."""
        if table not in self.columns or table in self.refused:
            return False
        return column is None or column in self.columns[table]

    def where(self, table: str) -> str:
        """The filter that keeps one rank's rows; '1' where there is nothing to tell apart."""
        return f"rank = {self.rank}" if len(self.ranks) > 1 and "rank" in self.columns[table] else "1"

    @property
    def version(self) -> str | None:
        """The writer's schema_version, where it wrote one (since 2026)."""
        return self.metadata.get("schema_version") or None

    @property
    def generation(self) -> str:
        """The writer's version, or the generation that the tables give away."""
        if self.version:
            return self.version
        if "captured_graph" not in self.columns:
            return "G1 (2024)"
        if "device_tensors" not in self.columns:
            return "G2 (2024)"
        if "buffer_layout" not in self.columns.get("buffers", ()):
            return "G3 (2025)"
        return "G5a (2026)" if "report_metadata" in self.columns else "G4 (2025)"

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the reader of an answer should know about the database as a whole."""
        caveats: list[str] = []
        if _number(self.version) > _number(NEWEST_VERSION):
            caveats.append(f"the report's schema is newer than {NEWEST_VERSION}: what it added is not read")
        if len(self.ranks) > 1:
            caveats.append(
                f"ranks {', '.join(map(str, self.ranks))} are in the report; this is rank {self.rank} alone"
            )
        if self.refused:
            caveats.append(f"left out, because their rows do not say their rank: {', '.join(sorted(self.refused))}")
        return tuple(caveats)


async def read_schema(connection: aiosqlite.Connection, rank: int | None = None) -> Schema:
    """Look at the database.

    Raises:
        ReportForeign: a database, but no memory report, or one of before mid 2024.
        QuestionRefused: the report has no such rank.
    """
    columns = await _columns(connection)
    _refuse_foreign(columns)
    metadata: dict[str, str] = {}
    if {"key", "value"} <= columns.get("report_metadata", frozenset()):
        sql = "SELECT key, value FROM report_metadata WHERE key IS NOT NULL AND value IS NOT NULL LIMIT 1000"
        metadata = {str(key): str(value) for key, value in await connection.execute_fetchall(sql)}
    ranks = await _ranks(connection, columns)
    if rank is None:
        rank = 0 if 0 in ranks else ranks[0]
    elif rank not in ranks:
        raise QuestionRefused(f"The report has no rank {rank}; there is rank {', '.join(map(str, ranks))}.")
    rankless = {table for table, names in columns.items() if "rank" not in names} - RANKLESS
    return Schema(columns, metadata, ranks, rank, frozenset(rankless if len(ranks) > 1 else ()))


async def _columns(connection: aiosqlite.Connection) -> dict[str, frozenset[str]]:
    ours = ", ".join(f"'{table}'" for table in sorted(TABLES))
    sql = (
        "SELECT lower(tables.name), columns.name FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS "  # noqa: S608
        f"columns WHERE tables.type = 'table' AND tables.sql LIKE 'CREATE TABLE%' AND lower(tables.name) IN ({ours})"
    )
    columns: dict[str, set[str]] = {}
    for table, column in await connection.execute_fetchall(sql):
        columns.setdefault(str(table), set()).add(str(column).lower())
    return {table: frozenset(names) for table, names in sorted(columns.items())}


def _refuse_foreign(columns: Mapping[str, frozenset[str]]) -> None:
    if "tensors" not in columns and "address" in columns.get("input_tensors", ()):
        raise ReportForeign(
            "This memory report is of early 2024, before tensors had a table of their own; nothing reads it any "
            "more. Run the model again with a tt-metal of August 2024 or later."
        )
    missing = sorted({"operations", "tensors"} - set(columns))
    if missing:
        raise ReportForeign(
            f"This SQLite database is no TTNN memory report: it has no table {' and no table '.join(missing)}. "
            "Give the db.sqlite below generated/ttnn/reports."
        )


async def _ranks(connection: aiosqlite.Connection, columns: Mapping[str, frozenset[str]]) -> tuple[int, ...]:
    """All ranks of the small tables, else of any; 0 alone where no table tells."""
    ranked = [table for table, names in columns.items() if "rank" in names]
    of_tables = (
        f"SELECT * FROM (SELECT DISTINCT CAST(rank AS INTEGER) FROM {table} WHERE rank IS NOT NULL LIMIT 1000)"  # noqa: S608
        for table in [table for table in ranked if table in _RANKED_FIRST] or ranked
    )
    sql = " UNION ".join(of_tables)
    ranks = {int(row[0]) for row in await connection.execute_fetchall(sql)} if sql else ()
    return tuple(sorted(ranks)) or (0,)


def _number(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,9}", version or ""))

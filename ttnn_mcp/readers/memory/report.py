"""A memory report (`db.sqlite` and its folder) of any generation since mid 2024.

What every answer needs is read at once, in one snapshot: devices, operations, tensors and who uses them. What is
large or rarely asked for (buffers, arguments, source lines, captured graphs) is read when asked for; the file is
closed in between, and must be the same one still.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from sqlite3 import Row
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ReportMissing, shown
from ttnn_mcp.readers.memory import tables
from ttnn_mcp.readers.memory.chips import read_chips, read_sub_devices, rows_left_out
from ttnn_mcp.readers.memory.columns import (
    Chunks,
    Device,
    DeviceTensors,
    Executions,
    OperationError,
    Operations,
    RecordedLifetimes,
    TensorLinks,
    Tensors,
)
from ttnn_mcp.readers.memory.comparisons import ComparedTensor, read_comparisons
from ttnn_mcp.readers.memory.database import check_unchanged, open_database, state_of
from ttnn_mcp.readers.memory.folder import read_folder
from ttnn_mcp.readers.memory.rows import Rows
from ttnn_mcp.readers.memory.schema import Schema, read_schema
from ttnn_mcp.readers.source_lines import SourceLine, parse_stack_trace, text_of_line
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    import aiosqlite

DATABASE = "db.sqlite"
_VALUE_CHARS = 2000  # a tensor argument is printed with its values: 100 kB and more
_TRACE_CHARS = 4000  # the innermost frame comes first
_OF_PROGRAMS = frozenset(
    {"program_config", "core_grid", "num_out_blocks", "config", "num_links", "residual_input_tensor"}
)
_GRAPH = "CAST(captured_graph AS TEXT)"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an operation as printed, cut where it is long; positional ones are named '0', '1', ..."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class MemoryReport:
    """One rank of a memory report.

    Attributes:
        path: the database; `folder` holds it.
        state: of the database when it was read.
        generation: 'G1 (2024)' ... 'G5a (2026)', or the writer's own version ('2.1', '3.3').
        arch: from the cluster descriptor; None where the folder has none.
        boards: board names from the same file.
        lifetimes: None before schema 3.x.
        chips: ids of the chips it ran on; `devices` lists a chip twice where the opened mesh has its own id.
        comparisons: tensors against their golden function, where the run compared them.
        executions: None unless the report holds the ids of the performance report.
        has: tables that hold rows of this rank.
    """

    path: Path
    state: tuple[int, ...]
    folder: Path
    schema: Schema
    arch: str | None
    boards: tuple[str, ...]
    report_name: str | None
    devices: tuple[Device, ...]
    operations: Operations
    tensors: Tensors
    device_tensors: DeviceTensors
    inputs: TensorLinks
    outputs: TensorLinks
    lifetimes: RecordedLifetimes | None
    chips: tuple[int, ...]
    executions: Executions | None
    errors: tuple[OperationError, ...]
    comparisons: tuple[ComparedTensor, ...]
    has: frozenset[str]
    caveats: tuple[str, ...]

    @property
    def generation(self) -> str:
        """What kind of database this is, for a person."""
        return self.schema.generation

    @property
    def schema_version(self) -> str | None:
        """The writer's schema_version; None before 2026."""
        return self.schema.version

    @property
    def ranks(self) -> tuple[int, ...]:
        """All ranks of the database."""
        return self.schema.ranks

    @property
    def rank(self) -> int:
        """The rank this is."""
        return self.schema.rank

    @property
    def build(self) -> str | None:
        """The TTNN that wrote it, as '0.81.1 (d80d9482a4)'; None before 0.80 says so."""
        metadata = self.schema.metadata
        version, commit = metadata.get("version"), metadata.get("git_sha_short")
        return f"{version} ({commit})" if version and commit else version or commit or None

    async def chunks_of(self, operation: int) -> Chunks:
        """Where the L1 buffers live after `operation` lie, bank by bank."""
        async with self._rows() as rows:
            return await tables.read_chunks(rows, operation)

    async def arguments_of(self, operation: int, most_chars: int = _VALUE_CHARS) -> tuple[Argument, ...]:
        """The arguments of an operation, in the order they were written, their texts cut to so many characters."""
        async with self._rows() as rows:
            columns = [rows.text("operation_arguments", name, most_chars) for name in ("name", "value")]
            cells = await rows.few("operation_arguments", columns, operation=operation)
            return tuple(Argument(name or "", value or "") for name, value in cells)

    async def program_arguments(self) -> dict[int, dict[str, str]]:
        """By operation, the printed arguments of its call that decide its program."""
        printed: dict[int, dict[str, str]] = {}

        def keep(batch: list[Row]) -> None:
            for operation, name, value in batch:
                if name in _OF_PROGRAMS and value:
                    printed.setdefault(operation, {})[name] = value

        async with self._rows() as rows:
            ids = rows.numbers("operation_arguments", ("operation_id",))
            texts = [rows.text("operation_arguments", name, _VALUE_CHARS) for name in ("name", "value")]
            await rows.each_batch("operation_arguments", [*ids, *texts], keep)
        return printed

    async def source_of(self, operation: int) -> SourceLine | None:
        """The model line that called the operation; its text from the report's copy of the file if there is one."""
        async with self._rows() as rows:
            file_id = rows.numbers("stack_traces", ("source_file_id",))
            columns = [rows.text("stack_traces", "stack_trace", _TRACE_CHARS), *file_id]
            for trace, source_file in await rows.few("stack_traces", columns, operation=operation):
                line = parse_stack_trace(trace or "")
                if line is not None:
                    return replace(line, text=await _line_text(rows, source_file, line.line) or line.text)
        return None

    async def sources(self) -> dict[int, SourceLine]:
        """The model line of every operation that has one; the line's text as its stack trace quotes it."""
        parsed: dict[str, SourceLine | None] = {}
        lines: dict[int, SourceLine] = {}

        def keep(batch: list[Row]) -> None:
            for operation, trace in batch:
                if trace not in parsed:
                    parsed[trace] = parse_stack_trace(trace or "")
                line = parsed[trace]
                if line is not None:
                    lines.setdefault(operation, line)

        async with self._rows() as rows:
            ids = rows.numbers("stack_traces", ("operation_id",))
            await rows.each_batch(
                "stack_traces", [*ids, rows.text("stack_traces", "stack_trace", _TRACE_CHARS)], keep
            )
        return lines

    async def graph_of(self, operation: int) -> str | None:
        """The captured graph of one operation, as JSON text."""
        async with self._rows() as rows:
            if not rows.schema.has("captured_graph", "captured_graph"):
                return None
            cells = await rows.few("captured_graph", [_GRAPH], operation=operation, limit=1)
            return next((text for (text,) in cells if text), None)

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[aiosqlite.Connection, None]:
        """The database once more. A run that was started meanwhile may write another report there.

        Raises:
            ReportMissing, ReportBroken: as `open_database`; or it changed, so that what was read belongs to no run.
        """
        try:
            async with open_database(self.path) as connection:
                yield connection
        except Exception:
            check_unchanged(self.path, self.state)  # else the failure is not what it says
            raise
        check_unchanged(self.path, self.state)

    @asynccontextmanager
    async def _rows(self) -> AsyncGenerator[Rows, None]:
        async with self.opened() as connection:
            yield Rows(connection, self.schema)


async def read_memory_report(path: str | Path, *, rank: int | None = None) -> MemoryReport:
    """Read a memory report.

    Args:
        path: its folder, or the database in it.
        rank: which rank of a multi-host report; default 0, or the lowest there is.

    Raises:
        ReportMissing: nothing there.
        ReportBroken: empty, cut off, damaged, half written or being written.
        ReportForeign: a database of something else, or of early 2024.
        QuestionRefused: the report has no such rank.
    """
    database = _database(Path(path))
    state = state_of(database)
    async with open_database(database) as connection:
        await connection.execute("BEGIN")  # one snapshot, whoever writes meanwhile
        schema = await read_schema(connection, rank)
        rows = Rows(connection, schema)
        operations = await tables.read_operations(rows)
        facts = read_folder(database.parent, schema.rank)
        devices, tensors = await tables.read_devices(rows), await tables.read_tensors(rows)
        executions = await tables.read_executions(rows)
        return MemoryReport(
            path=database,
            state=state,
            folder=database.parent,
            schema=schema,
            arch=facts.arch,
            boards=facts.boards,
            report_name=facts.report_name,
            devices=devices,
            operations=operations,
            tensors=tensors,
            device_tensors=await tables.read_device_tensors(rows),
            inputs=await tables.read_links(rows, "input_tensors", "input_index"),
            outputs=await tables.read_links(rows, "output_tensors", "output_index"),
            lifetimes=await tables.read_lifetimes(rows),
            chips=await read_chips(rows, devices, tensors, executions),
            executions=executions,
            errors=await tables.read_errors(rows, operations),
            comparisons=await read_comparisons(rows),
            has=await tables.read_filled(rows),
            caveats=(*schema.caveats, *await rows_left_out(rows, devices), *await read_sub_devices(rows)),
        )


def _database(path: Path) -> Path:
    if path.is_dir() and not (path / DATABASE).exists():
        raise ReportMissing(f"{shown(path.name)} holds no {DATABASE}; give the folder of a memory report.")
    return path / DATABASE if path.is_dir() else path


async def _line_text(rows: Rows, source_file: int, line: int) -> str | None:
    if not rows.schema.has("source_files", "contents"):
        return None
    contents_read = await rows.connection.execute_fetchall(
        "SELECT contents FROM source_files WHERE id = ?", [source_file]
    )
    return next((text_of_line(str(contents), line) for (contents,) in contents_read if contents), None)

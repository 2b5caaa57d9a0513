"""The op table: the rows of a performance report as one class.

All tables of a report share the frame that was read; `readers.performance.columns` declares its columns. A table of
some rows holds only the places of these rows. Analyses get numpy arrays. A text column is a `Texts`: one code per
row, each distinct text once, so that a question about a million rows is asked about a few distinct texts. Access to
single rows (`cite`, `at_line`) is for the few rows that an answer names.
"""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp import quoting
from ttnn_mcp.arrays import Booleans, Codes, Floats, Integers
from ttnn_mcp.errors import shown
from ttnn_mcp.readers.performance.columns import BY_NAME, is_operand
from ttnn_mcp.readers.performance.frame import TextColumn
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.run.ops.operand import Operand, operands_of
from ttnn_mcp.run.ops.texts import Texts, no_texts, texts_of
from ttnn_mcp.wire import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ttnn_mcp.readers.performance.csv_file import PerformanceCsv
    from ttnn_mcp.readers.performance.frame import Frame

CORRECTED = "corrected"  # column of our own: whether a row's times come from firmware ends, not from its own cells


class OpTable:
    """Rows of a performance report, in file order unless they were taken in another one.

    Attributes:
        lines: per row, its line in the file; answers name rows by it.
        lock: held while an artefact of this table is computed.
        artefacts: results stored by `artefact`, and by nothing else.
    """

    def __init__(
        self,
        frame: Frame,
        lines: Integers,
        report: PerformanceCsv,
        places: Integers | None = None,
    ) -> None:
        self._frame = frame
        self._report = report
        self._places = places  # rows of the frame; None = all of them
        self.lines = lines
        self._numbers: dict[str, Floats] = {}
        self._texts: dict[str, Texts] = {}
        self._families: dict[tuple[str, ...], Booleans] = {}
        self.lock = RLock()
        self.artefacts: dict[object, object] = {}

    @classmethod
    def of(cls, report: PerformanceCsv) -> OpTable:
        """All rows of the report, host calls and signposts included."""
        return cls(report.frame, _line_numbers(report.frame), report)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def source(self) -> str:
        """The name of the report's file."""
        return quoting.single_line(self._report.path.name)

    def has(self, name: str) -> bool:
        """Whether the report has the column."""
        return name in self._report.headers

    def numbers(self, name: str) -> Floats:
        """A number column: NaN in rows without a value, and in all rows if the report has no such column."""
        if name not in self._numbers:
            if name not in self._frame:
                self._numbers[name] = np.full(len(self), np.nan)
            else:
                self._numbers[name] = self._frame.numbers(name, self._places)
        return self._numbers[name]

    def texts(self, name: str) -> Texts:
        """A text column: empty in all rows if the report has no such column."""
        if name not in self._texts:
            has_column = name in self._frame
            self._texts[name] = (
                texts_of(self._frame.texts(name), self._places) if has_column else no_texts(len(self))
            )
        return self._texts[name]

    def named(self, *canonical_names: str) -> Booleans:
        """Mask of the ops with one of these canonical names (`Conv2d`, `Tilize`)."""
        return self.texts("op_code").where(lambda text: canonical(text) in canonical_names)

    def by_device(self, values: Floats) -> dict[int, float]:
        """Sums of a value per row, by device id, ascending."""
        devices, places = np.unique(self.numbers("device"), return_inverse=True)
        sums = np.bincount(places, weights=values)
        return dict(zip(devices.astype(int).tolist(), sums.tolist(), strict=True))

    def of_family(self, *families: str) -> Booleans:
        """Mask of the ops of these families (`matmul`, `conv`, `layout`, ...); read-only, for all callers."""
        if families not in self._families:  # unmoved: computing it again gives the same
            mask = self.texts("op_code").where(lambda text: family(text) in families)
            mask.setflags(write=False)
            self._families[families] = mask
        return self._families[families]

    @cached_property
    def inputs(self) -> tuple[Operand, ...]:
        """INPUT_0, INPUT_1, ... of every row."""
        return operands_of(self._frame, "INPUT", self._places, has_logical=self._report.logical_shapes)

    @cached_property
    def outputs(self) -> tuple[Operand, ...]:
        """OUTPUT_0, OUTPUT_1, ... of every row."""
        return operands_of(self._frame, "OUTPUT", self._places, has_logical=self._report.logical_shapes)

    def operands_once(self) -> Iterator[Operand]:
        """INPUT_0, ..., OUTPUT_0, ... for one look at each: what is kept of an operand takes 100 bytes a row."""
        operands = [
            *operands_of(self._frame, "INPUT", self._places, has_logical=self._report.logical_shapes),
            *operands_of(self._frame, "OUTPUT", self._places, has_logical=self._report.logical_shapes),
        ]
        while operands:
            yield operands.pop(0)

    def alike(self) -> list[Codes] | None:
        """Numbers per row: rows that agree in all of them have the same op code and operands. None if not known."""
        columns = [self._frame.texts(name) for name in self._frame.columns if name == "op_code" or is_operand(name)]
        numbers = {id(column.alike): column.alike for column in columns}
        known = [values for values in numbers.values() if values is not None]
        if len(known) < len(numbers):
            return None
        return known if self._places is None else [values[self._places] for values in known]

    def take(self, chosen: Booleans | Integers) -> OpTable:
        """The chosen rows (a mask, or positions in the order wanted)."""
        if chosen.dtype == np.bool_:
            if chosen.all():
                return self
            places = np.flatnonzero(chosen)
        else:
            places = chosen.astype(np.int64, copy=False)
            if len(places) == len(self) and np.array_equal(places, np.arange(len(self))):  # unmoved: spares time
                return self
        within = places if self._places is None else self._places[places]
        return OpTable(self._frame, self.lines[places], self._report, within)

    def corrected(self, *, kernel_ns: Floats, gap_ns: Floats, corrected_rows: Booleans) -> OpTable:
        """The same rows with other times; `cite` names another column for the `corrected_rows` (a mask)."""
        return self._assigned(kernel_ns=kernel_ns, gap_ns=gap_ns, **{CORRECTED: corrected_rows.astype(np.float64)})

    def without_cycles(self) -> OpTable:
        """The same rows without their cycles: for a report whose cycles cannot be true."""
        unknown = np.full(len(self), np.nan)
        return self._assigned(fw_start_cycle=unknown, fw_end_cycle=unknown)

    def of_one_device(self) -> OpTable:
        """The same rows as rows of device 0: for a report without any DEVICE ID."""
        return self._assigned(device=np.zeros(len(self)))

    def renamed(self, chosen: Booleans, name: str) -> OpTable:
        """The same rows, the chosen ones under another name, and without operands and attributes."""
        frame = self._frame if self._places is None else self._frame.taken(self._places, len(self))
        named = frame.texts("op_code")
        codes = np.where(chosen, len(named.distinct), named.codes.astype(np.int64))
        columns = {"op_code": TextColumn(codes, (*named.distinct, name))}
        for blank in frame.columns:
            if blank == "attributes" or is_operand(blank):
                texts = frame.texts(blank)
                columns[blank] = TextColumn(np.where(chosen, -1, texts.codes), texts.distinct)
        return OpTable(frame.assigned(columns), self.lines, self._report)

    def with_attributes(self, text: str) -> OpTable:
        """The same rows, all with these attributes: an op with another setting."""
        frame = self._frame if self._places is None else self._frame.taken(self._places, len(self))
        column = TextColumn(np.zeros(len(self), dtype=np.int64), (text,))
        return OpTable(frame.assigned({"attributes": column}), self.lines, self._report)

    def shapes(self, row: int) -> str:
        """`1x384x1280 * 1280x5120 -> 1x384x5120`: logical shapes, with the padded size in brackets where it differs."""
        inputs = " * ".join(operand.shape_text(row) for operand in self.inputs if operand.present[row])
        outputs = " * ".join(operand.shape_text(row) for operand in self.outputs if operand.present[row])
        return f"{inputs} -> {outputs}"

    def at_lines(self, lines: Integers) -> Booleans:
        """Mask of the rows at these lines of the file."""
        if not len(self) or not len(lines):
            return np.zeros(len(self), dtype=np.bool_)
        chosen = np.zeros(1 + max(int(self.lines.max()), int(lines.max())), dtype=np.bool_)
        chosen[lines] = True  # np.isin takes twice as long for the few rows of most reports
        return chosen[self.lines]

    def at_line(self, line: int) -> int | None:
        """Position of the row at `line` of the file."""
        places = np.flatnonzero(self.lines == line)
        return int(places[0]) if len(places) else None

    def cite(self, row: int, name: str) -> Evidence:
        """The cell that proves a claim: file, line, column header, value, unit."""
        column = BY_NAME[name]
        header = self._report.headers.get(name, column.headers[0])
        value = shown(self.texts(name)[row]) if column.kind == "text" else _plain(float(self.numbers(name)[row]))
        unit = column.unit or None
        if name in ("kernel_ns", "gap_ns") and self._is_corrected(row):
            header, unit = "DEVICE FW END CYCLE", "ns, since the end before"
        return Evidence(source=self.source, row=int(self.lines[row]), column=header, value=value, unit=unit)

    def cite_operand(self, row: int, operand: Operand, part: str) -> Evidence:
        """The operand's cell that proves a claim; `part` is LAYOUT, DATATYPE or MEMORY."""
        return Evidence(
            source=self.source,
            row=int(self.lines[row]),
            column=f"{operand.name}_{part}",
            value=shown(operand.cell(row, part)),
        )

    def _assigned(self, **columns: Floats) -> OpTable:
        frame = self._frame if self._places is None else self._frame.taken(self._places, len(self))
        return OpTable(frame.assigned(columns), self.lines, self._report)

    def _is_corrected(self, row: int) -> bool:
        if CORRECTED not in self._frame:
            return False
        return bool(self.numbers(CORRECTED)[row])


def _plain(value: float) -> float | int | None:
    if not np.isfinite(value):
        return None
    return int(value) if value == int(value) else value


def _line_numbers(frame: Frame) -> Integers:
    """The line of each row; a line break within a cell moves all later rows down."""
    lines = np.arange(2, len(frame) + 2, dtype=np.int64)
    for name in ("op_code", "attributes"):
        if name in frame and any("\n" in text for text in frame.texts(name).distinct):  # unmoved: most hold none
            breaks = texts_of(frame.texts(name)).mapped(lambda text: text.count("\n"), missing=0, dtype=np.int64)
            lines[1:] += np.cumsum(breaks)[:-1]
    return lines

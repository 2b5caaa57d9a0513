"""tensor_formats: data types, fidelity, layouts, conversions and padding, and what a change would save."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.op_kinds.formats import engine_ops, reads_weights, spared_bytes, weight_of
from ttnn_mcp.analyses.op_kinds.layouts import TO_ROWS, TO_TILES, moves_bytes
from ttnn_mcp.analyses.op_kinds.tile_padding import tile_waste
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import ask
from ttnn_mcp.errors import shown
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.groups import grouped
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand
from ttnn_mcp.run.ops.texts import Texts
from ttnn_mcp.tools.parts.accuracy_suspects import SUSPECTS, table_of
from ttnn_mcp.tools.tool import OfWindow, Tool
from ttnn_mcp.wire import Cell, Columns, Quoting, Table, Us, Window, Wire

STEPS = (1, 2)  # of the skill: data formats and layouts
LINES_AT_MOST = 4  # per table; the rest is folded into one more: six tables and the candidates then fit 4 kB
CANDIDATES_AT_MOST = 6
SUSPECTS_AT_MOST = 8  # unmoved: the length of a table
FIGURES = ("ops", "kernel_us", "share")
WEIGHTS = Columns(
    *("dtype", "op_code", *FIGURES, "megabytes", "as_bfloat8_b_megabytes", "heaviest_op"),
    quoted=("dtype", "op_code"),
)
ACTIVATIONS = Columns("in", "out", *FIGURES, "heaviest_op", quoted=("in", "out"))
FIDELITY = Columns(
    "fidelity", "op_code", "in0", "in1", *FIGURES, "heaviest_op", quoted=("fidelity", "op_code", "in0", "in1")
)
LAYOUTS = Columns("in", "out", *FIGURES, "heaviest_op", quoted=("in", "out"))
CONVERSIONS = Columns("op_code", "in", "out", *FIGURES, "heaviest_op", quoted=("op_code", "in", "out"))
PADDING = Columns("op_code", "shapes", *FIGURES, "waste", "heaviest_op", quoted=("op_code",))
CANDIDATES = Columns("check", "ops", "heaviest_op", "share", "at_most_us")
SHAPES_AT_MOST = 44  # characters
WASTE = 0.05  # of an op's bytes: less padding is not worth a line
OTHER = "(other)"


class Arguments(OfWindow):
    """Arguments of tensor_formats."""

    suspects: bool = Field(False, description="Also rank ops by accuracy risk")


class Answer(Wire):
    """Answer of tensor_formats."""

    kernel_us: Us
    weights: Annotated[Table, WEIGHTS]
    activations: Annotated[Table, ACTIVATIONS]
    fidelity: Annotated[Table, FIDELITY]
    layouts: Annotated[Table, LAYOUTS]
    conversions: Annotated[Table, CONVERSIONS]
    padding: Annotated[Table, PADDING]
    candidates: Annotated[Table, CANDIDATES]
    suspects: Annotated[Table, SUSPECTS] | None = None
    caveat: Quoting | None = None
    window: Window


def tensor_formats(facts: WindowFacts, asked: Arguments) -> Answer:
    """Data types, math fidelity, layouts, conversions and tile padding by kernel time of the busiest device.

    Each with an example op; candidates bound what a change saves.
    """
    ops, first, second, output = facts.ops, facts.input(0), facts.input(1), facts.output()
    codes, weight = facts.names.folded(canonical), weight_of(ops)
    logical = facts.run.performance_report.csv.logical_shapes
    everything = np.arange(len(ops), dtype=np.int64)
    waste = tile_waste(ops)
    padded = moves_bytes(ops) & (waste >= WASTE)  # none where a report writes padded shapes only
    return Answer(
        kernel_us=facts.total_ns / 1e3,
        weights=WEIGHTS.table(
            _folded(
                facts,
                np.flatnonzero(reads_weights(ops, facts.flow)),
                (_dtype(weight, ops), codes),
                megabytes=_megabytes(facts, weight),
                narrow=_narrow_megabytes(facts, weight),
            )
        ),
        activations=ACTIVATIONS.table(_folded(facts, everything, (_dtype(first, ops), _dtype(output, ops)))),
        fidelity=FIDELITY.table(
            _folded(
                facts,
                np.flatnonzero(engine_ops(ops)),
                (ops.texts("fidelity"), codes, _dtype(first, ops), _dtype(second, ops)),
            )
        ),
        layouts=LAYOUTS.table(_folded(facts, everything, (_layout(first, ops), _layout(output, ops)))),
        conversions=CONVERSIONS.table(
            _folded(
                facts,
                np.flatnonzero(ops.named(*TO_TILES, *TO_ROWS, "Typecast")),
                (codes, _dtype(first, ops), _dtype(output, ops)),
            )
        ),
        padding=PADDING.table(_folded(facts, np.flatnonzero(padded), (codes, _shapes(facts)), waste=waste)),
        candidates=CANDIDATES.table(_candidates(facts)),
        suspects=table_of(facts, SUSPECTS_AT_MOST) if asked.suspects else None,
        caveat=None if logical else "padding not known: reports before 2025-09 write padded shapes only",
        window=facts.scope.window,
    )


def _megabytes(facts: WindowFacts, weight: Operand | None) -> Floats:
    """The weights as they are; NaN of a type that we do not know."""
    return (
        np.where(np.isnan(weight.element_bytes), np.nan, weight.bytes / 1e6) if weight else np.zeros(len(facts.ops))
    )


def _narrow_megabytes(facts: WindowFacts, weight: Operand | None) -> Floats:
    """The weights as BFLOAT8_B; not known of an architecture that may not have it."""
    if facts.chip.foreign:
        return np.full(len(facts.ops), np.nan)
    return _megabytes(facts, weight) - (spared_bytes(weight, "BFLOAT8_B") / 1e6 if weight else 0.0)


def _candidates(facts: WindowFacts) -> list[tuple[Cell, ...]]:
    """Changes to try, by the checks that propose them; they may speak of the same microseconds."""
    claims = [(check, claim) for check in CATALOGUE if check.step in STEPS for claim in ask(check, facts).claims]
    claims.sort(key=lambda pair: -float(pair[1].at_most_ns.sum()))
    return [
        (
            check.id,
            len(claim.rows),
            facts.line(facts.heaviest(claim.rows, 1)[0]),
            facts.share(claim.rows),
            float(claim.at_most_ns.sum()) / 1e3,
        )
        for check, claim in claims[:CANDIDATES_AT_MOST]
    ]


def _folded(
    facts: WindowFacts, rows: Integers, named_by: tuple[Texts, ...], **measured: Floats
) -> list[tuple[Cell, ...]]:
    """Ops of equal texts as one line, heaviest first, the lightest as one. `waste` is averaged, not summed."""
    key = np.zeros(len(rows), dtype=np.int64)
    for texts in named_by:
        key = key * (len(texts.distinct) + 1) + texts.codes[rows] + 1
    groups = [rows[group.rows] for group in grouped(key, facts.kernel_ns[rows])]
    lightest = groups[LINES_AT_MOST:]
    lines: list[tuple[Cell, ...]] = []
    for members in [*groups[:LINES_AT_MOST], *([np.concatenate(lightest)] if lightest else [])]:
        example = int(members[np.argmax(facts.kernel_ns[members])])
        names: list[Cell] = [shown(texts[example]) or None for texts in named_by]
        if len(lines) == LINES_AT_MOST:
            names = [OTHER, *([None] * (len(named_by) - 1))]
        spent = float(facts.kernel_ns[members].sum())
        figures = [
            np.average(values[members], weights=facts.kernel_ns[members] if spent else None)
            if name == "waste"
            else values[members].sum()
            for name, values in measured.items()
        ]
        share = spent / facts.total_ns if facts.total_ns else 0.0
        lines.append((*names, len(members), spent / 1e3, share, *map(float, figures), facts.line(example)))
    return lines


def _shapes(facts: WindowFacts) -> Texts:
    _, rows, codes = np.unique(signatures(facts.ops), return_index=True, return_inverse=True)
    texts = [facts.shapes(int(row)) for row in rows]
    short = [text if len(text) <= SHAPES_AT_MOST else f"{text[: SHAPES_AT_MOST - 3]}..." for text in texts]
    return Texts(codes.astype(np.int64), tuple(short))


def _dtype(operand: Operand | None, ops: OpTable) -> Texts:
    return operand.dtype if operand else _nothing(ops)


def _layout(operand: Operand | None, ops: OpTable) -> Texts:
    return operand.layout if operand else _nothing(ops)


def _nothing(ops: OpTable) -> Texts:
    return Texts(np.full(len(ops), -1, dtype=np.int64), ())


TOOL = Tool(
    name="tensor_formats",
    title="Tensor formats",
    arguments=Arguments,
    answer=Answer,
    ask=tensor_formats,
    about="window",
    needs=("performance",),
    search_hint=(
        "dtype bfloat8_b math fidelity tilize untilize layout "
        "padding typecast precision quantize bfp8 bfloat4_b bf16 accuracy pcc"
    ),
)

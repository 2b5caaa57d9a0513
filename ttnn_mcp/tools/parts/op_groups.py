"""Groups of ops in an answer, by what they have in common, with the rates they reached.

A role of a layer is called by the line of the model, else by its shapes and neighbours.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from ttnn_mcp.analyses.layers.layering import AFTER, BEFORE, Layering
from ttnn_mcp.analyses.op_kinds.formats import phases
from ttnn_mcp.analyses.roofline.roofline import Roofline
from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.errors import QuestionRefused, shown, shown_path
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.source_lines import parse_loc
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.groups import Group, keyed
from ttnn_mcp.run.ops.op_names import FAMILIES, canonical, family
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.run import Run
from ttnn_mcp.wire import Cell, Columns, Table

# MLPs of transformers widen 2.7 times (gated) or 4 times; projections of attention keep the width, or narrow keys
# and values to fewer heads.
WIDENS = 2.0
NEAR = 2  # ops: a mask or a scale may stand between scores and softmax
MAKES_HEADS = re.compile(r"(Create|Split).*Heads", re.IGNORECASE)
JOINS_HEADS = re.compile(r"Concat\w*Heads", re.IGNORECASE)
GroupBy = Literal["none", "op_code", "signature", "category", "source_line", "layer", "role"]
RATES = ("gflop", "padded_gflop", "tflop_s", "flop_share", "dram_mb", "gb_s", "dram_share")
GROUPS = Columns(
    *("key", "count", "kernel_us", "share", "median_gap_us", "min_cores", "heaviest_op", "heaviest_us"),
    *RATES,
    "differ",
    maybe=(*RATES, "differ"),
    quoted=("key",),
)
DIFFERENT_SHOWN = 8  # numbers named per group


@dataclass(frozen=True, slots=True)
class Grouping:
    """How some ops are folded.

    Attributes:
        keys: per op, an index into `labels`.
        labels: what the groups are called.
        caveat: what to know about them.
        differ: by layers or roles only: per op, the number to name where it takes an unusual time; 0 elsewhere.
    """

    keys: Integers
    labels: list[str]
    caveat: str | None = None
    differ: Integers | None = None


def grouping_of(
    run: Run, everything: OpTable, kept: Integers, group_by: GroupBy, layering: Layering | None
) -> Grouping:
    """The groups asked for.

    Args:
        run: the run.
        everything: all ops of the window.
        kept: positions of those to fold.
        group_by: by what.
        layering: the layers of all ops; needed for "layer" and "role".

    Raises:
        QuestionRefused: the run does not tell what the ops are to be folded by.
    """
    ops = everything.take(kept)
    names = ops.texts("op_code")
    if group_by == "op_code":
        return Grouping(names.codes, [shown(text) for text in names.distinct])
    if group_by == "category":
        other = len(FAMILIES) - 1
        return Grouping(
            names.mapped(lambda text: FAMILIES.index(family(text)), missing=other, dtype=np.int64), list(FAMILIES)
        )
    if group_by == "signature":
        _, first, keys = np.unique(signatures(ops), return_index=True, return_inverse=True)
        return Grouping(
            keys.astype(np.int64), [f"{shown(names[int(row)])} {ops.shapes(int(row))}" for row in first]
        )
    if group_by in ("layer", "role"):
        return _by_layering(run, everything, kept, group_by, layering)
    lines, caveat = source_lines(run, ops)
    return Grouping(*keyed(lines), caveat)


def _by_layering(
    run: Run, everything: OpTable, kept: Integers, group_by: GroupBy, layers: Layering | None
) -> Grouping:
    if layers is None:
        raise QuestionRefused(
            "No layers in this window: no LOC or signpost marks them, and no block of op names repeats over half of "
            "it. Group by signature or op_code."
        )
    if group_by == "role" and not layers.roles:
        raise QuestionRefused(f"No roles in this window: {layers.why}. Group by layer, signature or op_code.")
    ops, layering = everything.take(kept), layers.take(kept)
    edges = np.select([layering.layer == BEFORE, layering.layer == AFTER], [0, 1], default=2)
    outside = ["outside the layers" if layering.scattered else "before the layers", "after the layers"]
    if group_by == "layer":
        labels = [*outside, *(f"layer {n + 1}" for n in range(layering.count))]
        differ = np.where(layering.differs, layering.role, 0)
        return Grouping(np.where(edges < 2, edges, layering.layer + 1), labels, layering.why, differ)
    keys = np.where(layering.layer == BEFORE, 0, layering.role + 1)  # the role of what comes after is 0
    labels = [*outside, *([""] * layering.roles)]
    named = role_names(run, everything, layers)
    for key, row in zip(*np.unique(keys, return_index=True), strict=True):
        if key > 1:
            name = shown(ops.texts("op_code")[int(row)])
            in_brackets = f" ({named[key - 1]})" if key - 1 in named else ""
            labels[key] = f"role {key - 1} of {layering.roles}: {name} {ops.shapes(int(row))}{in_brackets}"
    return Grouping(keys, labels, layering.why, np.where(layering.differs, layering.layer, 0))


def source_lines(run: Run, ops: OpTable) -> tuple[list[str], str | None]:
    """Model source line per op: LOC of a compiler's run, else the linked ttnn call's; "" where unknown.

    Raises:
        QuestionRefused: nothing in the run knows source lines.
    """
    if run.performance_report.csv.compiler:
        loc = ops.texts("loc")
        lines = [shown_path(parse_loc(text) or "(unknown)") for text in loc.distinct]
        return [lines[code] if code >= 0 else "(unknown)" for code in loc.codes], None
    if run.linked is None or run.linked.link.status != "linked":
        why = run.linked.link.why if run.linked else "the run has no memory report"
        raise QuestionRefused(
            f"Source lines are not known: {why}. Open the run with its memory report, or group by op_code."
        )
    operations = [run.linked.operation_at.get(int(line)) for line in ops.lines]
    missing = sum(operation is None for operation in operations)
    labels = [
        "(not linked)" if one is None else shown_path(run.sources.get(one) or f"operation {one}")
        for one in operations
    ]
    return labels, f"{missing} ops are not linked to a ttnn call" if missing else None


def groups_table(
    run: Run,
    ops: OpTable,
    bounds: Roofline,
    groups: list[Group],
    *,
    gaps_ns: Floats,
    grouping: Grouping,
    total_ns: float,
) -> Table:
    """One row per group; rates only where some group has them."""
    kernel, cores = ops.numbers("kernel_ns"), ops.numbers("cores")
    rates = [_rates(run, ops, bounds, group) for group in groups]
    empty = [name for place, name in enumerate(RATES) if all(row[place] is None for row in rates)]
    shown_rates = [place for place, name in enumerate(RATES) if name not in empty]

    def row_of(group: Group, reached: tuple[Cell, ...]) -> tuple[Cell, ...]:
        heaviest = int(group.rows[np.argmax(kernel[group.rows])])
        return (
            grouping.labels[group.key],
            len(group.rows),
            group.kernel_ns / 1e3,
            group.kernel_ns / total_ns,
            float(np.nanmedian(gaps_ns[group.rows])) / 1e3
            if np.isfinite(gaps_ns[group.rows]).any()
            else float("nan"),
            float(np.nanmin(cores[group.rows])) if np.isfinite(cores[group.rows]).any() else float("nan"),
            int(ops.lines[heaviest]),
            kernel[heaviest] / 1e3,
            *(reached[place] for place in shown_rates),
            *(() if grouping.differ is None else (_different(grouping.differ[group.rows]),)),
        )

    without = [*empty, *(["differ"] if grouping.differ is None else [])]
    return GROUPS.table([row_of(*pair) for pair in zip(groups, rates, strict=True)], without)


def _rates(run: Run, ops: OpTable, bounds: Roofline, group: Group) -> tuple[Cell, ...]:
    """Useful and performed arithmetic, DRAM bytes, and what was reached of the peaks, over ops that show them."""
    rows, chip = group.rows, run.chip
    kernel = ops.numbers("kernel_ns")[rows]
    timed = kernel > 0  # a row without time reached nothing
    counted, moved = timed & np.isfinite(bounds.flops[rows]), timed & (np.nan_to_num(bounds.dram_bytes[rows]) > 0)
    cells: list[Cell] = [None] * len(RATES)
    if counted.any():
        useful, took_ns = bounds.flops[rows][counted].sum(), kernel[counted].sum()
        peak = chip.flop_per_ns_per_core * (chip.cores or np.nan)
        least_ns = (bounds.flops[rows] * phases(ops)[rows])[counted].sum() / peak
        cells[:4] = (
            float(useful / 1e9),
            float(bounds.padded_flops[rows][counted].sum() / 1e9),
            float(useful / took_ns / 1e3),
            float(np.minimum(least_ns / took_ns, 1.0)),
        )
    if moved.any():
        moved_bytes, took_ns = bounds.dram_bytes[rows][moved].sum(), kernel[moved].sum()
        rate = float(moved_bytes / took_ns)
        cells[4:] = (
            float(moved_bytes / 1e6),
            rate,
            min(rate / chip.dram_peak_gb_s, 1.0) if chip.dram_peak_gb_s else None,
        )
    return tuple(cells)


def _different(numbers: Integers) -> str | None:
    """Layers (of a role) or roles (of a layer) that take another time than usual: `1, 10, 11`."""
    different = sorted({*numbers.tolist()} - {0})
    more = f" and {len(different) - DIFFERENT_SHOWN} more" if len(different) > DIFFERENT_SHOWN else ""
    return ", ".join(map(str, different[:DIFFERENT_SHOWN])) + more or None


def role_names(run: Run, ops: OpTable, layering: Layering) -> dict[int, str]:
    """Role -> its name, of the roles that something names.

    Args:
        run: the run.
        ops: all ops of the window; with only some of them, others would seem to be neighbours.
        layering: their layers. The first of each block shows shapes and neighbours.
    """
    names: dict[int, str] = {}
    for block in layering.blocks:
        rows = np.flatnonzero(layering.layer == block.layers[0])[: len(block.roles)]  # of its first pass
        for place, row in enumerate(rows.tolist()):
            name = _line(run, ops, row) or _by_neighbours(ops, rows, place)
            if name:
                names[int(layering.role[row])] = name
    return names


def _line(run: Run, ops: OpTable, row: int) -> str | None:
    """The line of the model that calls the op, by LOC or the linked memory report."""
    if run.performance_report.csv.compiler:
        place = parse_loc(ops.texts("loc")[row])
        return None if place is None else shown_path(place)
    operation = run.linked.operation_at.get(int(ops.lines[row])) if run.linked else None
    source = None if operation is None else run.sources.get(operation)
    return None if source is None else shown_path(source)


def _by_neighbours(ops: OpTable, rows: Integers, place: int) -> str | None:
    """What a matmul is for, and by which rule."""
    names, row = ops.texts("op_code"), int(rows[place])
    if family(names[row]) != "matmul" or len(ops.inputs) < 2 or not ops.outputs:
        return None
    before = [canonical(names[at]) for at in rows[max(place - NEAR, 0) : place].tolist()]
    behind = [canonical(names[at]) for at in rows[place + 1 : place + 1 + NEAR].tolist()]
    if int(ops.inputs[1].logical[row, :2].prod()) > 1:
        return _of_attention(before, behind)
    return _of_weights(before, behind, int(ops.inputs[0].logical[row, 3]), int(ops.outputs[0].logical[row, 3]))


def _of_attention(before: list[str], behind: list[str]) -> str | None:
    """Both operands have heads: neither is a weight."""
    if "softmax" in map(family, behind):
        return "attention scores: softmax follows"
    return "attention times values: softmax precedes" if "softmax" in map(family, before) else None


def _of_weights(before: list[str], behind: list[str], inner: int, width: int) -> str | None:
    if any(map(MAKES_HEADS.search, behind[:1])):
        return f"QKV: {shown(behind[0])} follows"
    if any(map(JOINS_HEADS.search, before[-1:])):
        return f"attention output: {shown(before[-1])} precedes"
    if inner and width >= WIDENS * inner:  # unmoved: an op without one of both is named LostShape
        return f"up: widens {figure(width / inner, '.2g')} times"
    narrows = width and inner >= WIDENS * width  # unmoved: the same
    return f"down: narrows {figure(inner / width, '.2g')} times" if narrows else None

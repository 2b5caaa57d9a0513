"""Phrases and cells that claims share: times, ops, settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.arrays import Mask, Rows
from ttnn_mcp.errors import shown
from ttnn_mcp.hardware import FIDELITY_PHASES
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.operand import Operand
from ttnn_mcp.wire import Evidence

SHAPES_AT_MOST = 48  # characters of an op's shapes, of a claim's 200 (ours)
FLAGS = ("math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc")
UNCONFIGURED = {  # what runs without a compute config: TTNN 0.81.1 on mock devices
    "Matmul": (False, False, True),
    "MinimalMatmul": (False, True, True),
}
FLOAT32_UNCONFIGURED = (False, True, False)  # a matmul that writes FLOAT32: same
OTHERS_UNCONFIGURED = (True, False, False)  # convs and attention: same
_IN_MS, _IN_US = re.compile(r"\d ms\b"), re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?) us\b")


def took(ns: float) -> str:
    """19476700.0 -> '19.5 ms'; below a millisecond in microseconds."""
    return f"{figure(ns / 1e6, '.1f')} ms" if ns >= 1e6 else f"{figure(ns / 1e3, '.0f')} us"


def in_one_unit(sentence: str) -> str:
    """A sentence with all its times in ms where one is: '2.0 ms, of it 0.035 ms' for '2.0 ms, of it 35 us'."""
    if not _IN_MS.search(sentence):
        return sentence
    return _IN_US.sub(lambda time: f"{figure(float(time[1].replace(',', '')) / 1e3, '.3g')} ms", sentence)


def megabytes(size: float) -> str:
    """1370368 -> '1.37 MB'."""
    return f"{figure(size / 1e6, '.2f')} MB"


def counted(number: int, noun: str) -> str:
    """'3 norms', '1 norm'."""
    return f"{number} {noun}{'s' * (number > 1)}"


def time_of(facts: WindowFacts, rows: Rows) -> str:
    """'19.5 ms, 61.6 %': kernel time of the rows, and its share of the plan's whole."""
    return f"{took(facts.us(rows) * 1e3)}, {figure(facts.share_of_whole(rows), '.1%')}"


def example(facts: WindowFacts, row: int) -> str:
    """'19[32]x1280 -> 19x20[32]x64 at line 948': an op that the reader can look up."""
    shapes = facts.shapes(row)
    if len(shapes) > SHAPES_AT_MOST:
        shapes = f"{shapes[: SHAPES_AT_MOST - 3]}..."
    return f"{shapes} at line {facts.line(row)}"


def op_name(facts: WindowFacts, row: int) -> str:
    """'Matmul': the op's name without 'DeviceOperation', cleaned for the answer."""
    return shown(canonical(facts.names[row]))


def cite_op(facts: WindowFacts, row: int, *cells: tuple[Operand | None, str]) -> tuple[Evidence, ...]:
    """The op's kernel time, cells of its operands (`(operand, "DATATYPE")`), its model line if written."""
    present = [(operand, part) for operand, part in cells if operand is not None and operand.present[row]]
    evidence = [*facts.cite(row), *(facts.ops.cite_operand(row, operand, part) for operand, part in present)]
    line = facts.ops.texts("loc")[row]
    if line:
        evidence += [cell.model_copy(update={"value": shown(line)}) for cell in facts.cite(row, "loc")]
    return tuple(evidence)


def cite_each(rows: Iterable[int], cite: Callable[[int], Iterable[Evidence]]) -> tuple[Evidence, ...]:
    """The cells that `cite` returns for each row."""
    return tuple(cell for row in rows for cell in cite(row))


def kinds(facts: WindowFacts, rows: Rows) -> str:
    """'54 convs and 3 matmuls': the rows by kind of op."""
    names = (("conv", "conv"), ("matmul", "matmul"), ("attention", "attention op"))
    counts = [(int(facts.of_family(family)[rows].sum()), name) for family, name in names]
    return " and ".join(counted(count, name) for count, name in counts if count)


def unprinted(facts: WindowFacts, row: int) -> tuple[bool, bool, bool]:
    """The FLAGS that the op ran with where its row prints no compute config."""
    name = canonical(facts.names[row])
    if name == "Matmul" and any(operand.dtype[row] == "FLOAT32" for operand in facts.ops.outputs[:1]):
        return FLOAT32_UNCONFIGURED
    return UNCONFIGURED.get(name, OTHERS_UNCONFIGURED)


def fidelity_of(facts: WindowFacts, row: int) -> str:
    """The op's MATH FIDELITY as ttnn spells it; HiFi2, ttnn's own choice, where the cell names none."""
    fidelity = facts.ops.texts("fidelity")[row]
    return fidelity if fidelity in FIDELITY_PHASES else "HiFi2"


def cite_setting(facts: WindowFacts, row: int, key: str, field: str) -> Evidence:
    """One field of a struct in the op's ATTRIBUTES cell."""
    config = facts.attributes(row).struct(key)
    text = config.text_of(field) if config else None
    value = None if text is None else shown(text)
    return Evidence(source=facts.ops.source, row=facts.line(row), column=f"ATTRIBUTES.{key}.{field}", value=value)


def moved(facts: WindowFacts) -> Mask:
    """The ops that change a placement."""
    mask = np.zeros(len(facts), dtype=np.bool_)
    mask[facts.moves.rows] = True
    return mask


def cite_attribute(facts: WindowFacts, row: int, key: str) -> Evidence:
    """One entry of the op's ATTRIBUTES cell; the whole cell has a thousand characters."""
    text = facts.attributes(row).get(key)
    value = None if text is None else shown(text)
    return Evidence(source=facts.ops.source, row=facts.line(row), column=f"ATTRIBUTES.{key}", value=value)

"""The properties in which an op and its partner may differ: formats, placement, settings (by name), shapes, cores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from ttnn_mcp.analyses.comparison.op_tokens import dims_of
from ttnn_mcp.arrays import Floats, Integers
from ttnn_mcp.errors import shown
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.alike import first_rows, numbered
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.texts import Texts

PARSED_AT_MOST = 500  # distinct pairs of texts that are parsed; others are reported as "settings" only
NAMED = 2
_COMPUTE = "compute_kernel_config"
_COVERED_ELSEWHERE = re.compile(
    r"address|semaphore|hash|_id$|trace|mem(ory)?_config|dtype|shape|math_fidelity|pre_op"
)
Family = Literal["formats", "placement", "settings", "shapes"]
Kind = Literal["data type", "layout", "fidelity", "placement", "config", "cores", "shape"]
SAME = -1
_CORES = 100_000  # more than any mesh has: a code of two counts # unmoved: only written and read back
_FAMILIES: dict[Kind, Family] = {
    "data type": "formats",
    "layout": "formats",
    "fidelity": "formats",
    "placement": "placement",
    "shape": "shapes",
    "config": "settings",
    "cores": "settings",  # follows from formats and placement
}


@dataclass(frozen=True, slots=True)
class Aspect:
    """One property of all pairs.

    Attributes:
        kind: what kind of property it is.
        codes: per pair, a code of the difference; SAME where the two agree.
        labels: the difference in words, per code.
        before: per pair, a code of the baseline's value; 0 where values are not told apart.
        after: the same of the candidate's value.
    """

    kind: Kind
    codes: Integers
    labels: dict[int, str]
    before: Integers
    after: Integers

    @property
    def family(self) -> Family:
        """The kinds that belong together: a change of one often brings the others."""
        return _FAMILIES[self.kind]


def aspects_of(left: OpTable, right: OpTable, *, padded: bool) -> Iterator[Aspect]:
    """All aspects of two tables whose rows are partners."""
    nothing = np.zeros(len(left), dtype=np.int64)
    yield _of_texts("fidelity", "fidelity", left.texts("fidelity"), right.texts("fidelity"))
    yield _of_settings(left.texts("attributes"), right.texts("attributes"))
    for side, before, after in (("in", left.inputs, right.inputs), ("out", left.outputs, right.outputs)):
        for number, (operand_before, operand_after) in enumerate(zip(before, after, strict=False)):
            label, in_both = f"{side}{number}", operand_before.present & operand_after.present
            yield _of_texts(label, "data type", operand_before.dtype, operand_after.dtype)
            yield _of_texts(label, "layout", operand_before.layout, operand_after.layout)
            yield _of_texts(label, "placement", operand_before.placement, operand_after.placement)
            dims = (dims_of(operand, padded=padded) for operand in (operand_before, operand_after))
            moved = np.not_equal(*dims).any(axis=1) & in_both
            yield Aspect("shape", np.where(moved, 0, SAME), {0: f"{label} shape"}, nothing, nothing)
    yield _of_cores(left.numbers("cores"), right.numbers("cores"))


def _of_texts(label: str, kind: Kind, before: Texts, after: Texts) -> Aspect:
    words: list[str] = sorted({*before.distinct, *after.distinct})
    place = {word: number for number, word in enumerate(words)}
    code_before, code_after = (
        texts.mapped(place.__getitem__, missing=SAME, dtype=np.int64) for texts in (before, after)
    )
    written = (code_before >= 0) & (code_after >= 0)  # an empty cell is another generation's, or of no operand
    differs = written & (code_before != code_after)
    codes = np.where(differs, code_before * len(words) + code_after, SAME)
    occurring: list[int] = np.unique(codes[codes != SAME]).tolist()
    labels = {
        code: f"{label} {shown(words[code // len(words)])} -> {shown(words[code % len(words)])}"
        for code in occurring
    }
    return Aspect(kind, codes, labels, code_before, code_after)


def _of_cores(before: Floats, after: Floats) -> Aspect:
    differs = (before != after) & np.isfinite(before) & np.isfinite(after)
    cores_before, cores_after = np.nan_to_num(before).astype(np.int64), np.nan_to_num(after).astype(np.int64)
    codes = np.where(differs, cores_before * _CORES + cores_after, SAME)
    occurring: list[int] = np.unique(codes[codes != SAME]).tolist()
    labels = {code: f"cores {code // _CORES} -> {code % _CORES}" for code in occurring}
    return Aspect("cores", codes, labels, cores_before, cores_after)


def _of_settings(before: Texts, after: Texts) -> Aspect:
    """Attributes that both sides print with different values. Keys of one side only depend on the TTNN version."""
    place = numbered(len(before), [before.codes, after.codes])
    numbers: dict[str, int] = {"": SAME}
    differences = different_settings([(before[row], after[row]) for row in first_rows(place).tolist()])
    codes = np.array([numbers.setdefault(label, len(numbers)) for label in differences], dtype=np.int64)
    labels = {number: label for label, number in numbers.items()}
    return Aspect("config", codes[place], labels, np.zeros(len(before), dtype=np.int64), after.codes)


def different_settings(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Per pair of cells (before, after), the names of the settings that differ; "" where none does."""
    parsed: dict[str, Attributes] = {}
    budget = PARSED_AT_MOST
    labels: list[str] = []
    for before, after in pairs:
        if before == after or not before or not after:
            labels.append("")
            continue
        budget -= 1
        if budget < 0:
            labels.append("settings")
            continue
        attributes = [parsed.setdefault(text, parse_attributes(text)) for text in (before, after)]
        labels.append(", ".join(list(_different(*attributes))[:NAMED]))
    return labels


def _different(before: Attributes, after: Attributes) -> Iterator[str]:
    for key in before:
        if key not in after or before[key] == after[key] or _COVERED_ELSEWHERE.search(key):
            continue
        inside = list(_different_inside(before, after, key))
        if inside:
            yield from (f"{shown(key)}.{shown(field)}" for field in inside)
        elif key != _COMPUTE:  # without fields that differ, only its math_fidelity does: told by its own column
            yield shown(key)


def _different_inside(before: Attributes, after: Attributes, key: str) -> Iterator[str]:
    """The fields of a printed struct that both sides have and that differ; none if it is no such struct."""
    structs = before.struct(key), after.struct(key)
    if structs[0] is None or structs[1] is None or structs[0].name != structs[1].name:
        return
    left, right = structs[0].fields, structs[1].fields
    yield from (
        field
        for field in left
        if field in right and left[field] != right[field] and not _COVERED_ELSEWHERE.search(field)
    )

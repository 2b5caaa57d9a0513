"""What changed about the ops that have a partner in the other window; equal changes are one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from ttnn_mcp.analyses.comparison.op_tokens import dims_of
from ttnn_mcp.errors import shown
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.comparison.alignment import Alignment
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.texts import Texts

    Rows = NDArray[np.int64]

Family = Literal["formats", "placement", "settings", "shapes"]
SAME = -1
PARSED_AT_MOST = 500  # distinct pairs of attribute texts that are parsed; others are reported as "settings" only
SHOWN_PARTS = 3
_COVERED_ELSEWHERE = re.compile(
    r"address|semaphore|hash|_id$|trace|mem(ory)?_config|dtype|shape|compute_kernel_config|pre_op"
)


@dataclass(frozen=True, slots=True)
class Change:
    """Pairs of ops that changed in the same way.

    Attributes:
        op: the op's canonical name.
        text: `in1 BFLOAT16 -> BFLOAT8_B, fidelity HiFi4 -> HiFi2`; empty where only the time changed.
        families: what kinds of settings these are.
        pairs: numbers of the pairs.
    """

    op: str
    what: str
    families: frozenset[Family]
    pairs: Rows


@dataclass(frozen=True, slots=True)
class _Aspect:
    """One property in which partners may differ: a code per pair (SAME where they agree), and a label per code."""

    family: Family
    codes: Rows
    labels: dict[int, str]


def changes_of(alignment: Alignment, before: OpTable, after: OpTable, *, padded: bool) -> list[Change]:
    """The changes of all pairs; each pair is in exactly one. Pairs without a visible difference have an empty text."""
    left, right = before.take(alignment.before), after.take(alignment.after)
    aspects = list(_aspects(left, right, padded=padded))
    names = right.texts("op_code").folded(canonical)
    columns = [names.codes]
    columns += [aspect.codes for aspect in aspects]
    kinds, place = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    order = np.argsort(place.ravel(), kind="stable")
    bounds = np.searchsorted(place.ravel()[order], np.arange(len(kinds) + 1)).tolist()
    listed: list[list[int]] = kinds.tolist()
    return [
        _change(names.distinct[kind[0]] if kind[0] >= 0 else "", kind[1:], aspects, order[start:end])
        for kind, (start, end) in zip(listed, pairwise(bounds), strict=True)
    ]


def _change(op: str, codes: list[int], aspects: list[_Aspect], pairs: Rows) -> Change:
    differing = [(aspect, code) for aspect, code in zip(aspects, codes, strict=True) if code != SAME]
    parts = [aspect.labels[code] for aspect, code in differing]
    more = [f"{len(parts) - SHOWN_PARTS} more"] if len(parts) > SHOWN_PARTS else []
    families: list[Family] = [aspect.family for aspect, _ in differing]
    return Change(op, ", ".join([*parts[:SHOWN_PARTS], *more]), frozenset(families), pairs)


def _aspects(left: OpTable, right: OpTable, *, padded: bool) -> Iterator[_Aspect]:
    everywhere = np.ones(len(left), dtype=np.bool_)
    yield _of_texts("fidelity", "formats", left.texts("fidelity"), right.texts("fidelity"), everywhere)
    yield _of_settings(left.texts("attributes"), right.texts("attributes"))
    for side, before, after in (("in", left.inputs, right.inputs), ("out", left.outputs, right.outputs)):
        for number, (operand_before, operand_after) in enumerate(zip(before, after, strict=False)):
            in_both = operand_before.present & operand_after.present
            yield _of_texts(f"{side}{number}", "formats", operand_before.dtype, operand_after.dtype, in_both)
            yield _of_texts(f"{side}{number}", "formats", operand_before.layout, operand_after.layout, in_both)
            yield _of_texts(
                f"{side}{number}", "placement", operand_before.placement, operand_after.placement, in_both
            )
            moved = (dims_of(operand_before, padded=padded) != dims_of(operand_after, padded=padded)).any(
                axis=1
            ) & in_both
            yield _Aspect("shapes", np.where(moved, 0, SAME), {0: f"{side}{number} shape"})
    yield _of_cores(left.numbers("cores"), right.numbers("cores"))


def _of_texts(label: str, kind: Family, before: Texts, after: Texts, in_both: NDArray[np.bool_]) -> _Aspect:
    words: list[str] = sorted({*before.distinct, *after.distinct})
    place = {word: number for number, word in enumerate(words)}
    code_before, code_after = (
        texts.mapped(place.__getitem__, missing=SAME, dtype=np.int64) for texts in (before, after)
    )
    differs = (
        in_both & (code_before != code_after) & (code_before >= 0) & (code_after >= 0)
    )  # an empty cell is another generation's
    codes = np.where(differs, code_before * len(words) + code_after, SAME)
    occurring: list[int] = np.unique(codes[codes != SAME]).tolist()
    labels = {
        code: f"{label} {shown(words[code // len(words)])} -> {shown(words[code % len(words)])}"
        for code in occurring
    }
    return _Aspect(kind, codes, labels)


def _of_cores(before: NDArray[np.float64], after: NDArray[np.float64]) -> _Aspect:
    differs = (before != after) & np.isfinite(before) & np.isfinite(after)
    cores_before, cores_after = np.nan_to_num(before).astype(np.int64), np.nan_to_num(after).astype(np.int64)
    codes = np.where(differs, cores_before * 100_000 + cores_after, SAME)
    labels = {
        code: f"cores {code // 100_000} -> {code % 100_000}" for code in np.unique(codes).tolist() if code != SAME
    }
    return _Aspect("settings", codes, labels)  # follows from formats and placement


def _of_settings(before: Texts, after: Texts) -> _Aspect:
    """Attributes that both sides print with different values. Keys of one side only depend on the TTNN version."""
    combined = before.codes * (len(after.distinct) + 1) + after.codes
    distinct, first_rows, place = np.unique(combined, return_index=True, return_inverse=True)
    labels: dict[str, int] = {"": SAME}
    codes = np.full(len(distinct), SAME, dtype=np.int64)
    parsed: dict[str, Attributes] = {}
    budget = PARSED_AT_MOST
    for number, row in enumerate(first_rows.tolist()):
        text_before, text_after = before[row], after[row]
        if text_before == text_after or not text_before or not text_after:
            continue
        budget -= 1
        label = "settings"
        if budget >= 0:
            attributes = [parsed.setdefault(text, parse_attributes(text)) for text in (text_before, text_after)]
            label = ", ".join(_different(*attributes)[:2])
        codes[number] = labels.setdefault(label, len(labels) - 1)
    return _Aspect("settings", codes[place.ravel()], {code: label for label, code in labels.items()})


def _different(before: Attributes, after: Attributes) -> list[str]:
    keys = [key for key in before if key in after and before[key] != after[key]]
    return [shown(key) for key in keys if not _COVERED_ELSEWHERE.search(key)]

"""What changed about the ops that have a partner in the other window, folded into few lines."""

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
PARSED_AT_MOST = 500  # distinct pairs of attribute texts taken apart; more are just "settings"
SHOWN_PARTS = 3
_TOLD_ELSEWHERE = re.compile(
    r"address|semaphore|hash|_id$|trace|mem(ory)?_config|dtype|shape|compute_kernel_config|pre_op"
)


@dataclass(frozen=True, slots=True)
class Change:
    """Pairs of ops that changed alike.

    Attributes:
        op: the op's one name.
        what: `in1 BFLOAT16 -> BFLOAT8_B, fidelity HiFi4 -> HiFi2`; empty where only the time changed.
        families: what kinds of settings these are.
        pairs: numbers of the pairs.
    """

    op: str
    what: str
    families: frozenset[Family]
    pairs: Rows


@dataclass(frozen=True, slots=True)
class _Aspect:
    """One thing two partners may differ in: a code per pair (SAME where they agree) and what the codes mean."""

    family: Family
    codes: Rows
    labels: dict[int, str]


def changes_of(found: Alignment, before: OpTable, after: OpTable, *, padded: bool) -> list[Change]:
    """Every pair in exactly one change; pairs without a visible difference have an empty `what`."""
    left, right = before.take(found.before), after.take(found.after)
    aspects = list(_aspects(left, right, padded=padded))
    names = right.texts("op_code")
    distinct: list[str] = sorted({canonical(text) for text in names.distinct})
    number = {name: place for place, name in enumerate(distinct)}
    columns = [names.mapped(lambda text: number[canonical(text)], missing=SAME, dtype=np.int64)]
    columns += [aspect.codes for aspect in aspects]
    kinds, place = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    order = np.argsort(place.ravel(), kind="stable")
    bounds = np.searchsorted(place.ravel()[order], np.arange(len(kinds) + 1)).tolist()
    listed: list[list[int]] = kinds.tolist()
    return [
        _change(distinct[kind[0]] if kind[0] >= 0 else "", kind[1:], aspects, order[start:end])
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
        for number, (own, other) in enumerate(zip(before, after, strict=False)):
            both = own.present & other.present
            yield _of_texts(f"{side}{number}", "formats", own.dtype, other.dtype, both)
            yield _of_texts(f"{side}{number}", "formats", own.layout, other.layout, both)
            yield _of_texts(f"{side}{number}", "placement", own.placement, other.placement, both)
            moved = (dims_of(own, padded=padded) != dims_of(other, padded=padded)).any(axis=1) & both
            yield _Aspect("shapes", np.where(moved, 0, SAME), {0: f"{side}{number} shape"})
    yield _of_cores(left.numbers("cores"), right.numbers("cores"))


def _of_texts(label: str, kind: Family, before: Texts, after: Texts, both: NDArray[np.bool_]) -> _Aspect:
    words: list[str] = sorted({*before.distinct, *after.distinct})
    place = {word: number for number, word in enumerate(words)}
    own, other = (one.mapped(place.__getitem__, missing=SAME, dtype=np.int64) for one in (before, after))
    differs = both & (own != other) & (own >= 0) & (other >= 0)  # an empty cell is another generation's
    codes = np.where(differs, own * len(words) + other, SAME)
    occurring: list[int] = np.unique(codes[codes != SAME]).tolist()
    labels = {
        code: f"{label} {shown(words[code // len(words)])} -> {shown(words[code % len(words)])}"
        for code in occurring
    }
    return _Aspect(kind, codes, labels)


def _of_cores(before: NDArray[np.float64], after: NDArray[np.float64]) -> _Aspect:
    differs = (before != after) & np.isfinite(before) & np.isfinite(after)
    own, other = np.nan_to_num(before).astype(np.int64), np.nan_to_num(after).astype(np.int64)
    codes = np.where(differs, own * 100_000 + other, SAME)
    labels = {
        code: f"cores {code // 100_000} -> {code % 100_000}" for code in np.unique(codes).tolist() if code != SAME
    }
    return _Aspect("settings", codes, labels)  # follows from formats and placement


def _of_settings(before: Texts, after: Texts) -> _Aspect:
    """Attributes both sides print whose values differ; keys only one side has belong to its version."""
    combined = before.codes * (len(after.distinct) + 1) + after.codes
    distinct, first, place = np.unique(combined, return_index=True, return_inverse=True)
    labels: dict[str, int] = {"": SAME}
    codes = np.full(len(distinct), SAME, dtype=np.int64)
    parsed: dict[str, Attributes] = {}
    budget = PARSED_AT_MOST
    for number, row in enumerate(first.tolist()):
        own, other = before[row], after[row]
        if own == other or not own or not other:
            continue
        budget -= 1
        label = "settings"
        if budget >= 0:
            told = [parsed.setdefault(text, parse_attributes(text)) for text in (own, other)]
            label = ", ".join(_different(*told)[:2])
        codes[number] = labels.setdefault(label, len(labels) - 1)
    return _Aspect("settings", codes[place.ravel()], {code: label for label, code in labels.items()})


def _different(own: Attributes, other: Attributes) -> list[str]:
    keys = [key for key in own if key in other and own[key] != other[key]]
    return [shown(key) for key in keys if not _TOLD_ELSEWHERE.search(key)]

"""Which settings two printed ATTRIBUTES cells give different values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.errors import shown
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PARSED_AT_MOST = 500  # distinct pairs of texts that are parsed; others are reported as "settings" only
NAMED = 2
_COMPUTE = "compute_kernel_config"
_COVERED_ELSEWHERE = re.compile(
    r"address|semaphore|hash|_id$|trace|mem(ory)?_config|dtype|shape|math_fidelity|pre_op"
)


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

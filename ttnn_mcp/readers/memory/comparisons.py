"""Tensors that TTNN compared with their golden function while the model ran (`enable_comparison_mode`).

`local` gives the golden function the op's own inputs: its record speaks of this op alone. `global` hands the golden
results on: its record speaks of all ops so far.
"""

from __future__ import annotations

from typing import Literal

from ttnn_mcp.readers.memory.rows import Rows, real
from ttnn_mcp.records import dataclass

Scope = Literal["local", "global"]
TABLES: dict[Scope, str] = {
    "local": "local_tensor_comparison_records",
    "global": "global_tensor_comparison_records",
}
RECORDS_AT_MOST = 100_000  # per table; one per tensor that an op writes


@dataclass(frozen=True, slots=True)
class ComparedTensor:
    """One tensor against its golden tensor.

    Attributes:
        tensor: its id; the op that writes it is the one compared.
        matches: as TTNN judged it.
        desired: the bound, where it is one (0 to 1).
        actual: the PCC that was reached, where it is one (-1 to 1).
    """

    tensor: int
    scope: Scope
    matches: bool
    desired: float | None
    actual: float | None


async def read_comparisons(rows: Rows) -> tuple[ComparedTensor, ...]:
    """All records, local ones first; none in a report of a run without comparison mode."""
    records: list[ComparedTensor] = []
    for scope, table in TABLES.items():
        wanted = ("tensor_id", "matches", "desired_pcc", "actual_pcc")
        if all(rows.schema.has(table, column) for column in wanted):
            columns = (*rows.numbers(table, wanted[:2]), *map(real, wanted[2:]))
            records += [
                ComparedTensor(tensor, scope, bool(matches), _between(desired, 0.0), _between(actual, -1.0))
                for tensor, matches, desired, actual in await rows.few(table, columns, limit=RECORDS_AT_MOST)
                if tensor >= 0 and matches >= 0
            ]
    return tuple(records)


def _between(value: float | None, least: float) -> float | None:
    return value if value is not None and least <= value <= 1.0 else None

"""The ops that no finding explains and that are far from their roofline, by kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp.run.ops.groups import heaviest_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.check import Claim

AT_ITS_BOUND = 0.7  # of the roofline: an op this close needs no explanation (tt-metal's own matmuls reach 0.7-0.8)
KINDS = 5  # the most that are named, the heaviest first


class Kind(NamedTuple):
    """Unexplained ops of one kind.

    Attributes:
        name: canonical name of the op.
        ops: their number.
        kernel_ns: their time.
        roofline: share of that time that their arithmetic or DRAM traffic needs; NaN if neither is modelled (an
            op with all tensors in L1 and no matrix arithmetic).
        heaviest: position of the longest in `facts.ops`.
    """

    name: str
    ops: int
    kernel_ns: float
    roofline: float
    heaviest: int


@dataclass(frozen=True, slots=True)
class Unexplained:
    """Share of the kernel time, and its heaviest kinds of op."""

    share: float
    kinds: tuple[Kind, ...]


def unexplained(facts: WindowFacts, claims: Iterable[Claim]) -> Unexplained:
    """The kernel time that no claim of any check covers."""
    if not facts.total_ns:
        return Unexplained(0.0, ())
    bounded = np.nan_to_num(facts.roofline.efficiency) >= AT_ITS_BOUND
    for claim in claims:
        if claim.gap_ns is None and claim.promise_ns:  # neither gaps nor risks explain a kernel
            bounded[claim.rows] = True
    left_ns = np.where(bounded, 0.0, facts.kernel_ns)
    return Unexplained(float(left_ns.sum() / facts.total_ns), tuple(_kinds(facts, left_ns)))


def _kinds(facts: WindowFacts, left_ns: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[Kind]:
    floor_ns = facts.roofline.efficiency * facts.kernel_ns
    return [
        Kind(
            name,
            len(alike),
            took_ns,
            float(np.nansum(floor_ns[alike]) / took_ns) or np.nan,
            int(alike[np.argmax(left_ns[alike])]),
        )
        for name, took_ns, alike in heaviest_kinds(facts.names, left_ns, KINDS)
    ]

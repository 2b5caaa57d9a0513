"""The time that several claims save at once, and which of them counts it.

No microsecond is saved twice: on each op, all savings together are no more than its time. A finding keeps its own
bound as long as that holds. Where bounds add up to more than the time of an op, they keep theirs in this order: savings
that are sure (`at_least` above 0); ops that go away, the longest pattern first (nothing is left of them to improve);
ops that improve, the finding on the least time first (a wider one has other ops to save on); then all of that again for
general checks, the lower bound first. Findings that improve the same ops are peers: nothing tells which of them will
work, so none takes all. Small bounds stay whole, the others get equal parts of what is left. One that loses time tells
its own bound and which checks count the rest. Savings in gaps between ops are budgeted separately from savings in
kernels.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.check import Check, Claim

GOES_AWAY = 0.95  # of the time of the ops: a bound that leaves less stands for ops that go away (ours)
ROUNDING_NS = 1
PEERS = (False, 2)  # no general check, ops that improve: the head of a claim's precedence


class Settlement(NamedTuple):
    """The savings that a claim counts.

    Attributes:
        at_least_ns: the least.
        at_most_ns: the most.
        counted_under: ids of the checks that count a part of what the claim saves alone.
    """

    at_least_ns: float
    at_most_ns: float
    counted_under: tuple[str, ...]


def settlements(facts: WindowFacts, claims: Sequence[tuple[Check, Claim]]) -> list[Settlement]:
    """One per claim, in the order of the claims."""
    left: NDArray[np.float64] = np.array(facts.kernel_ns)
    gaps_left = max(0.0, float(facts.gap_ns))
    settled: dict[int, Settlement] = {}
    for peers in _in_order(facts, claims):
        counted = [*settled, *peers]
        shares = _shares([claims[place][1] for place in peers], left)
        for place, per_row in zip(peers, shares, strict=True):
            claim = claims[place][1]
            if claim.gap_ns is not None:
                most = min(claim.gap_ns[1], gaps_left)
                least = min(claim.gap_ns[0], most)
                gaps_left -= most
            else:
                left[claim.rows] = np.maximum(left[claim.rows] - per_row, 0.0)  # equal parts may round up
                most = float(per_row.sum())
                sure = claim.at_least_ns
                least = 0.0 if sure is None else float(np.minimum(sure, per_row).sum())
            loses = most + ROUNDING_NS < claim.promise_ns
            others = (claims[other] for other in counted if loses and other != place)
            under = [check.id for check, other in others if _share_time(claim, other)]
            settled[place] = Settlement(least, most, tuple(dict.fromkeys(under)))
    return [settled[place] for place in range(len(claims))]


def _shares(peers: Sequence[Claim], left: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """What each claim keeps on its rows: small bounds whole, large ones equal parts of what is left then."""
    if len(peers) == 1:  # unmoved: it only saves the time of sharing
        return [np.minimum(peers[0].at_most_ns, left[peers[0].rows])]
    rows = np.unique(np.concatenate([claim.rows for claim in peers]))
    bounds = np.zeros((len(peers), len(rows)))
    for bound, claim in zip(bounds, peers, strict=True):
        bound[np.searchsorted(rows, claim.rows)] = claim.at_most_ns
    rest, level = left[rows], np.zeros(len(rows))
    for still, smallest in zip(range(len(peers), 0, -1), np.sort(bounds, axis=0), strict=True):
        level = np.minimum(smallest, rest / still)
        rest = rest - level
    return [np.minimum(claim.at_most_ns, level[np.searchsorted(rows, claim.rows)]) for claim in peers]


def _in_order(facts: WindowFacts, claims: Sequence[tuple[Check, Claim]]) -> Iterator[list[int]]:
    """The places of the claims that are settled together, those first that keep their bounds where bounds overlap."""
    ranks = [_precedence(facts, *claim) for claim in claims]
    order = sorted(range(len(claims)), key=ranks.__getitem__)
    for _, peers in groupby(order, key=lambda place: ranks[place][:3] if ranks[place][:2] == PEERS else place):
        yield list(peers)


def _precedence(facts: WindowFacts, check: Check, claim: Claim) -> tuple[bool, int, float, float]:
    """The lowest keeps its bound where bounds overlap."""
    took = float(facts.kernel_ns[claim.rows[claim.at_most_ns > 0]].sum())
    if claim.sure:
        return check.general, 0, took, claim.promise_ns
    if claim.gap_ns is not None:
        return check.general, 3, 0.0, claim.promise_ns
    if claim.promise_ns >= GOES_AWAY * took:
        return check.general, 1, -claim.promise_ns, 0.0
    return check.general, 2, took, claim.promise_ns


def _share_time(claim: Claim, other: Claim) -> bool:
    """Whether both claim a part of the same time."""
    gaps = claim.gap_ns is not None and other.gap_ns is not None
    return gaps or bool(np.isin(claim.rows[claim.at_most_ns > 0], other.rows[other.at_most_ns > 0]).any())

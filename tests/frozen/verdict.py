"""What promises about a layer are worth against what was measured there."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tests.frozen.layer import Lever

NOISE = 1.02  # of the ledgers' figures
MOST_OF_A_DEAD_END = 0.05  # of the kernel time: this much may be promised of what brought nothing
EXPECTED_OF_A_DEAD_END = 0.01  # and that may be expected of it
NEAR = 2  # an expectation within this factor of the measured saving is near it
# what printed calls hold because a config is whole, not because the fix changes it: TTNN's own values, and the dearer ones
AS_IT_IS = re.compile(
    r"\b(?:fused_activation=(?:None|ttnn\.UnaryWithParam\([^()]*\))|drop activation=|inplace=False"
    r"|transpose_mcast=False|math_approx_mode=False|fp32_dest_acc_en=True"
    r"|packer_l1_acc=False|\w+=<as now>|keep \w+|core_grid alone would take \d+ cores)|no num_links of your own"
)


@dataclass(frozen=True)
class Promise:
    """What somebody says a change to these ops saves; without an expectation it is a trial, and promises nothing.

    `shares`: how the saving divides over the ops; None where it does not. `check`: that which says it. `if_gains_us`: of
    a trial, what tries elsewhere let it save where it gains.
    """

    fix: str
    ops: frozenset[int]
    at_least_us: float
    at_most_us: float
    expected_us: float | None = None
    shares: Mapping[int, float] | None = None
    check: str = ""
    is_trial: bool = False
    if_gains_us: float | None = None

    def on(self, ops: frozenset[int]) -> Promise:
        """What it says of those of its ops."""
        if self.shares is None or not (whole := sum(self.shares.values())):
            return self
        part = sum(share for op, share in self.shares.items() if op in ops) / whole
        expected = None if self.expected_us is None else self.expected_us * part
        if_gains = None if self.if_gains_us is None else self.if_gains_us * part
        at_least, at_most = self.at_least_us * part, self.at_most_us * part
        ops = self.ops & ops
        return replace(
            self, ops=ops, at_least_us=at_least, at_most_us=at_most, expected_us=expected, if_gains_us=if_gains
        )

    def holds(self, saving_us: float) -> bool:
        """Whether its bounds hold what was saved."""
        return self.at_least_us <= saving_us * NOISE and saving_us <= self.at_most_us * NOISE


@dataclass(frozen=True)
class Verdict:
    """`said` of a gain: right, named, bound wrong, not named; of a dead end: promised, quiet.

    `near` is None where nothing was expected by a promise that was right; then `near_if` says the same of what tries
    elsewhere let it save where it gains.
    """

    lever: str
    kind: str
    said: str
    near: bool | None = None
    near_if: bool | None = None


def verdicts(levers: Iterable[Lever], promises: Sequence[Promise], window_kernel_us: float) -> list[Verdict]:
    """One for each lever, in their order."""
    return [_judge(lever, that_name(lever, promises), window_kernel_us) for lever in levers]


def that_name(lever: Lever, promises: Sequence[Promise]) -> list[Promise]:
    """Those that name this very change, on at least one of its ops: what they say of these."""
    ops = frozenset(lever.ops)
    return [one.on(ops) for one in promises if one.ops & ops and named(lever, one.fix)]


def named(lever: Lever, fix: str) -> bool:
    """Whether the fix speaks of this change, beyond what it leaves as it is."""
    return re.search(lever.names, AS_IT_IS.sub("", fix), re.IGNORECASE) is not None


def _judge(lever: Lever, about: Sequence[Promise], window_kernel_us: float) -> Verdict:
    if lever.kind == "dead":
        most = sum(one.at_most_us for one in about if one.expected_us is not None)
        expected = sum(one.expected_us or 0 for one in about)
        loud = most > MOST_OF_A_DEAD_END * window_kernel_us or expected > EXPECTED_OF_A_DEAD_END * window_kernel_us
        return Verdict(lever.id, lever.kind, "promised" if loud else "quiet")
    if not about:
        return Verdict(lever.id, lever.kind, "not named")
    saving = lever.saving_us
    if saving is None:
        return Verdict(lever.id, lever.kind, "named")
    right = [one for one in (*about, _together(about)) if one.holds(saving)]
    if not right:
        return Verdict(lever.id, lever.kind, "bound wrong")
    near = _near(saving, [one.expected_us for one in right])
    near_if = _near(saving, [one.if_gains_us for one in right]) if near is None else None
    return Verdict(lever.id, lever.kind, "right", near, near_if)


def _together(about: Iterable[Promise]) -> Promise:
    """What those say together that speak of different ops, the largest first: a change may be several edits."""
    parts: list[Promise] = []
    for one in sorted(about, key=lambda one: -one.at_most_us):
        if all(one.ops.isdisjoint(part.ops) for part in parts):
            parts.append(one)
    expected, if_gains = ([getattr(part, name) for part in parts] for name in ("expected_us", "if_gains_us"))
    return Promise(
        "; ".join(part.fix for part in parts),
        frozenset().union(*(part.ops for part in parts)),
        sum(part.at_least_us for part in parts),
        sum(part.at_most_us for part in parts),
        None if None in expected else sum(expected),
        if_gains_us=None if None in if_gains else sum(if_gains),
    )


def _near(saving: float, told: Iterable[float | None]) -> bool | None:
    """Whether one of these is within the factor of the saving; None where there is none."""
    known = [one for one in told if one is not None]
    return any(saving / NEAR <= one <= saving * NEAR for one in known) if known else None

"""The expected time of an op after a change of its settings, given how long it took as it ran.

Two ways were tried on measured sweeps, with all rows of a shape or of a source left out of the fit (the page
ttnn://laws has the figures): the law alone, and anchored, which is the measured time times the ratio of what the law
expects of both. Of each law the better one is used: anchored where ops of one source lie on one side of the law (2D
and minimal matmuls on Blackhole), alone where they scatter around it (decode matmuls, attention). To anchor to two or
three measured settings of an op does not err less: of laws used alone 3 to 33 % then, 2 to 22 % as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ttnn_mcp.analyses.laws.catalogue import speaking
from ttnn_mcp.analyses.laws.law import Expected

if TYPE_CHECKING:
    from ttnn_mcp.analyses.laws.descriptions import Described
    from ttnn_mcp.analyses.laws.law import ChangeRule, Law

# Measured sweeps (ttnn://laws): of changes expected this near to today's time 86 to 100 % gained no tenth; of those
# expected further below it, though within what the law errs, 62 to 100 % were faster.
SAME = 0.05
NEAR_ITS_LAW = 1.5  # times: builds, clocks and neighbours differ so much; beyond it something else rules (ours)
Outlook = Literal["faster", "likely faster", "no difference", "likely slower", "slower"]


def after_change(now: Described, us: float | None, then: Described) -> Expected | None:
    """The time of an op that took `us` as described by `now`, when it is as described by `then`.

    Of an op that nobody measured (`us` is None) its law answers as of any op, with its own interval.

    None where no law speaks of it, where the law is blind to the change, or where the op as it ran took a time far from
    its law: then something rules it that the law does not know. An op outside of its law's interval that the law misses
    by a little keeps its distance from it, and the interval holds both ends. An op by another law is told by that law
    alone, which erred less than to anchor it (matmuls left to TTNN and 2D ones, DRAM-sharded and interleaved ones).
    """
    spoken, answer = speaking(then), speaking(now)
    if spoken is None or answer is None:
        return spoken[1] if spoken else None
    (law, later), (law_now, before) = spoken, answer
    if us is None:
        return later if law is not law_now or now == then or _telling(law, now, then) else None
    if now == then:
        return Expected(us, us, us, before.law, "measured")
    if not before.low_us <= us <= before.high_us:
        tells = law is not law_now or _telling(law, now, then)
        return _at_its_distance(us / before.us, later, then.floor_us) if tells and is_near(us, before) else None
    return later if law is not law_now else _by_the_same_law(law, (now, before), us, (then, later))


def is_near(us: float, answer: Expected) -> bool:
    """Whether a law misses a time by so little that it may still tell of changes."""
    return answer.us / NEAR_ITS_LAW <= us <= answer.us * NEAR_ITS_LAW


def _at_its_distance(missed: float, later: Expected, floor_us: float) -> Expected:
    times = missed * later.us, min(missed, 1.0) * later.low_us, max(missed, 1.0) * later.high_us
    us, low, high = (max(one, floor_us) for one in times)
    return replace(later, us=us, low_us=low, high_us=high)


def _by_the_same_law(
    law: Law[Any], now: tuple[Described, Expected], us: float, then: tuple[Described, Expected]
) -> Expected | None:
    (op, before), (changed, later) = now, then
    rule = _telling(law, op, changed)
    if rule is None:
        return None
    by_law = us * later.us / before.us if rule.anchors else later.us
    times = on_its_side(by_law, us, rule.ratios, gained_us=before.us - later.us)
    likely, low_us, high_us = (max(each, changed.floor_us) for each in times)
    return Expected(likely, low_us, high_us, later.law, later.source)


def on_its_side(
    by_law: float, us: float, ratios: tuple[float, float], *, gained_us: float
) -> tuple[float, float, float]:
    """The time of an op that took `us` after a change, and its interval.

    What the law expects to gain takes no longer than the op did, and what it expects to lose no shorter, wherever the
    op lies beside its law: of 162 measured pairs with fewer passes or narrower weights alone one took longer.
    """
    likely = min(by_law, us) if gained_us > 0 else max(by_law, us) if gained_us < 0 else us
    return likely, min(by_law * ratios[0], likely), max(by_law * ratios[1], likely)


def _telling(law: Law[Any], now: Described, then: Described) -> ChangeRule | None:
    """The rule by which the law tells of this change; None where it is silent."""
    fitted = law.fitted(then.chip)
    rule = fitted.changes if fitted else None
    return rule if rule is not None and rule.tell(now, then) else None


def outlook(answer: Expected, now_us: float) -> Outlook:
    """What to expect beside the time that the op took: "likely" is within what the law errs."""
    if answer.high_us < now_us:
        return "faster"
    if answer.low_us > now_us:
        return "slower"
    if abs(answer.us - now_us) <= SAME * now_us:
        return "no difference"
    return "likely faster" if answer.us < now_us else "likely slower"

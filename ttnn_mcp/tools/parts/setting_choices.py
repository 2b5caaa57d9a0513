"""The legal values of a setting as check_setting lists them: the marked ones first, the others by the time to expect.

A value is listed with the kernel time to expect of it where a law of time tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ttnn_mcp.analyses.laws.anchored import outlook
from ttnn_mcp.analyses.settings.judged import Verdict
from ttnn_mcp.analyses.settings.predicted import (
    COST_ACCURACY,
    LegalChoice,
    fastest,
    in_order,
    unlike_its_law,
    worth_a_trial,
)
from ttnn_mcp.analyses.settings.trial import Op
from ttnn_mcp.quoting import figure
from ttnn_mcp.tools.parts.setting_wording import NO_LAW, NO_TIMES, compared, unmeasured
from ttnn_mcp.wire import Cell, Us, Wire

CHOICES_AT_MOST = 24  # values listed beside those that are marked; the ones nearest to today's are kept
NOW, LARGEST, RECOMMENDED, FASTEST, TRIAL = ("now", "largest", "recommended", "fastest, costs accuracy", "a trial")


class Choice(Wire):
    """A legal value. Of `expected_us` 8 of 10 measurements lie between `low_us` and `high_us`."""

    value: Cell
    mark: str | None = None
    l1_bytes: int | None
    verdict: Verdict
    expected_us: Us | None = None
    low_us: Us | None = None
    high_us: Us | None = None


def marks_of(setting: str, legal: Sequence[LegalChoice], now_us: float | None) -> dict[int, str]:
    """What is said of some choices, by their place: in the order in which they are listed first."""
    places = {id(one): place for place, one in enumerate(legal)}
    numbers = [one for one in legal if one.number is not None]
    fitting = [one for one in numbers if one.runs]
    marked = [(NOW, next((one for one in legal if one.is_now), None))]
    marked += [(LARGEST, max(these, key=_number, default=None)) for these in (numbers,)]
    if fitting and max(fitting, key=_number) is not max(numbers, key=_number):
        marked.append(("largest that fits", max(fitting, key=_number)))
    marked.append(_first_to_try(setting, list(legal), now_us))
    words_at: dict[int, list[str]] = {}
    for mark, one in marked:
        if one is not None:
            words_at.setdefault(places[id(one)], []).append(mark)
    return {place: ", ".join(words) for place, words in words_at.items()}


def _number(one: LegalChoice) -> int:
    return one.number or 0


def _first_to_try(setting: str, legal: list[LegalChoice], now_us: float | None) -> tuple[str, LegalChoice | None]:
    """What to try first, by the laws or else by the bounds; what costs accuracy is never recommended."""
    best, costs = fastest(legal), setting in COST_ACCURACY
    if now_us is None or best is None or best.expected is None:  # unmoved: of the fastest a law tells
        return TRIAL, worth_a_trial(legal) if now_us is not None and not costs else None
    says = outlook(best.expected, now_us)
    if says in ("faster", "likely faster"):
        return FASTEST if costs else RECOMMENDED if says == "faster" else TRIAL, best
    return RECOMMENDED, next((one for one in legal if one.is_now), None)


def listed(legal: Sequence[LegalChoice], kept: Sequence[LegalChoice], marks: Mapping[int, str]) -> list[Choice]:
    """The marked ones first, in the order of their marks, then the others that are kept."""
    first = [(legal[place], mark) for place, mark in marks.items()]
    others = [one for one in in_order(list(kept)) if all(one is not its for its, _ in first)]
    return [_choice(one, mark) for one, mark in (*first, *((one, None) for one in others))]


def _choice(one: LegalChoice, mark: str | None) -> Choice:
    answer = one.expected
    return Choice(
        value=one.value,
        mark=mark,
        l1_bytes=one.judged.l1_bytes,
        verdict=one.judged.verdict,
        expected_us=answer.us if answer else None,
        low_us=answer.low_us if answer else None,
        high_us=answer.high_us if answer else None,
    )


def law_of(legal: Sequence[LegalChoice]) -> str | None:
    """The laws that told, by their names; None where none did."""
    names = [one.expected.law for one in legal if one.expected is not None and not one.is_now]
    return "; ".join(dict.fromkeys(names)) or None


def summary(setting: str, legal: list[LegalChoice], op: Op) -> str:
    """Which value to take, and what it would bring."""
    now_us, best = op.kernel_us, fastest(legal)
    if now_us is None:
        return f"{best.value}: {unmeasured(best.expected)}" if best and best.expected else NO_TIMES
    others = [one for one in legal if one.runs and not one.is_now]
    if not others:
        return "no other fits"
    if best is None or best.expected is None:  # unmoved: see above
        trial = None if setting in COST_ACCURACY else worth_a_trial(legal)
        return NO_LAW + (f" ({trial.value} first)" if trial else "") + _surprise(op)
    if best.is_now:
        return f"no other is expected to be faster than {best.value}"
    costs = setting in COST_ACCURACY and outlook(best.expected, now_us) != "no difference"
    accuracy = ", if the PCC allows it" if costs else ""
    return f"{best.value}: {compared(best.expected, now_us)}{accuracy}"


def _surprise(op: Op) -> str:
    """That the op took another time than its law expects: something rules it that the law does not know."""
    law = unlike_its_law(op)
    if law is None:
        return ""
    return (
        f"; it took {figure(op.kernel_us, '.1f')} us where its law expects "
        f"{figure(law.low_us, '.1f')} to {figure(law.high_us, '.1f')}"
    )


def nearest(legal: Sequence[LegalChoice], now: Cell) -> Sequence[LegalChoice]:
    """At most CHOICES_AT_MOST of them, those around today's value, in their order."""
    today = now if isinstance(now, int) else None
    here = sum(one.number is not None and today is not None and one.number <= today for one in legal)
    first = max(min(here - CHOICES_AT_MOST // 2, len(legal) - CHOICES_AT_MOST), 0)
    return legal[first : first + CHOICES_AT_MOST]

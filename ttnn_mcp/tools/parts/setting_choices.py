"""The legal values of a setting as check_setting lists them: the marked ones first, the others by the time to expect.

A value is listed with the kernel time to expect of it where a law of time tells. A caller's value is read as people
write it: numbers, flags, names in any spelling, grids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ttnn_mcp.analyses.laws.anchored import outlook
from ttnn_mcp.analyses.settings.compute import DTYPES, FIDELITIES
from ttnn_mcp.analyses.settings.conv import LAYOUTS
from ttnn_mcp.analyses.settings.judged import Verdict
from ttnn_mcp.analyses.settings.predicted import (
    COST_ACCURACY,
    LegalChoice,
    fastest,
    in_order,
    unlike_its_law,
    worth_a_trial,
)
from ttnn_mcp.analyses.settings.trial import Op, Value
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.tools.parts.setting_wording import NO_LAW, NO_TIMES, compared, unmeasured
from ttnn_mcp.wire import Cell, Us, Wire

CHOICES_AT_MOST = 24  # values listed beside those that are marked; the ones nearest to today's are kept
NOW, LARGEST, RECOMMENDED, FASTEST, TRIAL = ("now", "largest", "recommended", "fastest, costs accuracy", "a trial")

_GRID = re.compile(r"\D*(\d{1,3})\D+(\d{1,3})\D*")
_ROWS_FIRST = re.compile(r"\by\s*=.*\bx\s*=")  # as in ttnn.CoreGrid(y=8, x=7)
FLAGS = ("enable_act_double_buffer", "enable_weights_double_buffer", "fp32_dest_acc_en", "packer_l1_acc")
NAMES = {"math_fidelity": FIDELITIES, "shard_layout": LAYOUTS, "weights_dtype": DTYPES}
MOST = 1 << 24  # no chip holds a tensor with a longer side


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
    marked.append((LARGEST, max(numbers, key=_number, default=None)))
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
        if best is None or best.expected is None:  # unmoved: of the fastest a law tells
            return NO_TIMES
        return f"{best.value}: {unmeasured(best.expected)}"
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


def setting_value(setting: str, value: Value) -> Value:
    """The value of a setting as the report writes it; a grid as '8x7'.

    Raises:
        QuestionRefused: it is none of that setting.
    """
    if setting in NAMES:
        return one_of(setting, value, *NAMES[setting])
    if setting in FLAGS:
        return flag(setting, value)
    if setting == "core_grid":
        return "{}x{}".format(*grid(value))
    return whole(setting, value)


def whole(setting: str, value: Value) -> int:
    """A whole number.

    Raises:
        QuestionRefused: it is none, or larger than any tensor.
    """
    number = None
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,9}\s*", value):
        number = int(value)
    if number is None:
        raise QuestionRefused(f"{setting} is a whole number, not '{shown(value)}'.")
    if abs(number) > MOST:
        raise QuestionRefused(f"{setting} is at most {MOST}: no tensor has a longer side.")
    return number


def flag(setting: str, value: Value) -> bool:
    """True or false.

    Raises:
        QuestionRefused: it is neither.
    """
    known = {"true": True, "1": True, "false": False, "0": False}
    word = str(value).strip().lower()
    if word not in known:
        raise QuestionRefused(f"{setting} is true or false; '{shown(value)}' is neither.")
    return known[word]


def one_of(setting: str, value: Value, *names: str) -> str:
    """The name as the report writes it; 'block', 'ttnn.MathFidelity.HiFi2' and other cases count.

    Raises:
        QuestionRefused: it is none of `names`.
    """
    word = re.split(r"[.:]", str(value).strip())[-1].lower()
    exact = [name for name in names if name.lower() == word]
    matching = exact or [name for name in names if name.lower().startswith(word)]
    if len(matching) != 1:
        raise QuestionRefused(f"{setting} is one of {', '.join(names)}; not '{shown(value)}'.")
    return matching[0]


def grid(value: Value) -> tuple[int, int]:
    """'8x7', '(x=8,y=7)' or 'ttnn.CoreGrid(y=7, x=8)' as (columns, rows).

    Raises:
        QuestionRefused: it is no grid.
    """
    match = _GRID.fullmatch(str(value))
    if match is None:
        raise QuestionRefused(f"core_grid is columns x rows, such as 8x7; not '{shown(value)}'.")
    first, second = int(match[1]), int(match[2])
    return (second, first) if _ROWS_FIRST.search(str(value)) else (first, second)

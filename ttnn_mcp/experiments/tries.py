"""Which findings a loop has tried, and which of them it need not try again.

A finding is ruled out once a try was reverted, or after two tries that decided nothing. It counts again if it promises
more on the best run than it promised when it was tried: then something has changed. A kept try clears the count,
because what a finding still claims after it are other ops.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.experiments.rules import PCC_AT_LEAST
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ttnn_mcp.experiments.experiment import Experiment

TRIES = 2  # without a decision: one more than a single noisy measurement, so that no try is repeated for ever


@dataclass(frozen=True, slots=True)
class RuledOut:
    """A finding that is not worth another try, with the experiment that says so."""

    check: str
    tries: int
    experiment: int
    why: str


def check_named(text: str, checks: Collection[str]) -> str | None:
    """The one check that a text names by its id; None if it names none or several."""
    named = {word for word in re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+", text.lower()) if word in checks}
    return named.pop() if len(named) == 1 else None


def ruled_out(check: str, at_most_us: float, experiments: Sequence[Experiment], noise_us: float) -> RuledOut | None:
    """Why a finding is not worth another try; None if it is.

    Args:
        check: the finding's check.
        at_most_us: the most that it can save on the best run now.
        experiments: of the loop, in the order recorded.
        noise_us: a smaller gain cannot be measured.
    """
    tries: list[Experiment] = []
    for experiment in experiments:
        if experiment.finding == check:
            tries = [] if experiment.verdict == "keep" else [*tries, experiment]
    if not tries:
        return None
    last = tries[-1]
    inaccurate = last.pcc is not None and last.pcc < PCC_AT_LEAST  # more to gain does not mend accuracy
    promised_us = last.at_most_us
    if not inaccurate and promised_us is not None and at_most_us > promised_us + noise_us and len(tries) < TRIES:
        return None
    if last.verdict == "revert":
        return RuledOut(check, len(tries), last.id, "PCC too low" if inaccurate else "not faster")
    if len(tries) >= TRIES:
        return RuledOut(check, len(tries), last.id, f"{len(tries)} tries decided nothing")
    return None

"""Targets: parsing them, how far a run is from one, and whether the remaining findings can reach it."""

from __future__ import annotations

import re
from typing import Literal

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.experiments.experiment import RunSeen, Target, TargetKind
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass

Status = Literal["met", "within_reach", "out_of_reach", "unknown"]
_NUMBER = r"(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_LATENCY = re.compile(rf"{_NUMBER}\s*(?P<unit>us|ms|s)(?:\s.*)?", re.IGNORECASE)
_THROUGHPUT = re.compile(
    rf"{_NUMBER}\s*(?:[a-z]+\s*/\s*s(?:ec(?:ond)?)?|[a-z]+ per second|fps|hz)(?:\s.*)?", re.IGNORECASE
)
_ROOFLINE = re.compile(
    rf"{_NUMBER}\s*(?:(?P<percent>%)(?:\s*(?:of\s+)?(?:the\s+)?roofline)?|(?:of\s+)?(?:the\s+)?roofline)",
    re.IGNORECASE,
)
_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


@dataclass(frozen=True, slots=True)
class Reach:
    """The value of a run in the target's unit (ms, samples/s, share), now and at best.

    Attributes:
        current: the value by wall time where that was measured, otherwise by kernel time.
        at_best: the value if every remaining finding saved the most it can; None where the checks did not run.
    """

    current: float
    at_best: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is from its target, and whether to stop."""

    status: Status
    why: str
    stop: bool


def parse_target(text: str, baseline: RunSeen, batch: int) -> Target:
    """`10 ms`, `100 samples/s`, `60 % of roofline`.

    Raises:
        ArgumentsInvalid: the text is none of these.
    """
    written = text.strip()
    kind: TargetKind = "latency_ms"
    value = 0.0
    if match := _LATENCY.fullmatch(written):
        value = float(match["number"]) * _MS[match["unit"].lower()]
    elif match := _THROUGHPUT.fullmatch(written):
        kind, value = "samples_per_s", float(match["number"])
    elif match := _ROOFLINE.fullmatch(written):
        kind, value = "roofline_share", float(match["number"]) / (100 if match["percent"] else 1)
    if not 0 < value < float("inf") or (kind == "roofline_share" and value > 1):
        raise ArgumentsInvalid(
            f"experiments: no target in '{shown(text)}'. Write '10 ms', '100 samples/s' or '60 % of roofline'."
        )
    return Target(baseline, kind, value, batch)


def progress_of(target: Target, reach: Reach, *, wall_known: bool, worth_trying: bool | None) -> Progress:
    """Whether the target is met, whether the remaining findings can meet it, and whether to stop.

    Args:
        target: the target.
        reach: the value of the best run, now and at best.
        wall_known: whether that value is wall time measured with the profiler off.
        worth_trying: whether a finding could save more than the noise; None where the checks did not run.
    """
    unit = {"latency_ms": "ms", "samples_per_s": "samples/s", "roofline_share": "of the roofline"}[target.kind]
    kernel_only = not wall_known and target.kind != "roofline_share"
    position = (
        f"{figure(reach.current, '.4g')} {unit}{' by kernel time alone' if kernel_only else ''}, "
        f"target {target.text}"
    )
    if _meets(target, reach.current):
        sure = "; confirm it by wall time with the profiler off" if kernel_only else ""
        return Progress("met", f"{position}: met, stop here{sure}", stop=True)
    position += f", {figure(abs(target.value / reach.current - 1), '.0%')} to go" if reach.current else ""
    if reach.at_best is None:
        return Progress("unknown", f"{position}; list tells what is left to try", stop=False)
    if worth_trying is False:
        why = "no finding could save more than the noise: stop, or change the model"
        return Progress("out_of_reach", f"{position}; {why}", stop=True)
    best = f"all remaining findings together reach {figure(reach.at_best, '.4g')} at best"
    if not _meets(target, reach.at_best):
        return Progress("out_of_reach", f"{position}; {best}: relax the target, or change the model", stop=False)
    return Progress("within_reach", f"{position}; {best}", stop=False)


def _meets(target: Target, value: float) -> bool:
    return value <= target.value if target.kind == "latency_ms" else value >= target.value

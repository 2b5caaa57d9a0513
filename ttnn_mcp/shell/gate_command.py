"""The commands `gate` and `baseline`: is the candidate slower than the baseline by more than is allowed?

The gate, for continuous integration, asks compare_runs and adds no measurement of its own. Only a change beyond both
the limit and the noise counts as a regression; where the noise hides the limit, or the runs cannot be compared, it says
so with a status of its own.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ttnn_mcp.analyses.comparison.reasons import OF_GAIN
from ttnn_mcp.errors import ArgumentsInvalid, RunUnknown, StoreUnusable, TtnnMcpError, shown, shown_path
from ttnn_mcp.experiments.rules import WALL_NOISE_SHARE
from ttnn_mcp.records import dataclass
from ttnn_mcp.session.registry import SHOWN_CHARS
from ttnn_mcp.session.session import identity
from ttnn_mcp.shell import markdown
from ttnn_mcp.shell.call_arguments import tool_alone
from ttnn_mcp.shell.gate_status import CANNOT_JUDGE, SKIP
from ttnn_mcp.shell.markdown import shortage
from ttnn_mcp.shell.questions import spoken_here
from ttnn_mcp.tools import answering
from ttnn_mcp.tools.answering import records

if TYPE_CHECKING:
    import argparse

    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session

Outcome = Literal["pass", "regression", "cannot_judge"]
STATUS: dict[Outcome, int] = {"pass": 0, "regression": 1, "cannot_judge": CANNOT_JUDGE}
MOST_WORSE = 10.0  # a candidate that may take eleven times as long needs no gate
_SHARE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<percent>%?)")
_ROWS = 8  # ops that a reader of a pull request looks at
JSON_FIELDS = ("ran_out", "verdict", "change_share", "noise_share", "kernel_ms", "baseline", "candidate")


async def gate(session: Session, options: argparse.Namespace) -> tuple[str, int]:
    """What to print, and the exit status."""
    try:
        worse = share_of(options.worse)
        answer, names = await _compared(session, options)
    except TtnnMcpError as refusal:
        why = spoken_here(str(refusal))
        outcome = Ruling("cannot_judge", why)
        printed = {"outcome": outcome.outcome, "why": outcome.why}
        text = f"{json.dumps(printed)}\n" if options.json else f"### TTNN performance: cannot judge\n\n{why}\n"
        return text, outcome.status(bisect=options.bisect)
    outcome = judged(answer, worse)
    status = outcome.status(bisect=options.bisect)
    if not options.json:
        return pull_request(answer, outcome, names), status
    printed = {
        "outcome": outcome.outcome,
        "why": outcome.why,
        **{name: answer[name] for name in JSON_FIELDS if name in answer},
    }
    return f"{json.dumps(printed)}\n", status


async def _compared(session: Session, options: argparse.Namespace) -> tuple[dict[str, Any], tuple[str, str]]:
    before, after = await _unchanged(session, options.baseline), await session.run(options.candidate)
    arguments = {
        "baseline": before.id,
        "candidate": after.id,
        "repeats": [(await session.run(repeat)).id for repeat in options.repeat] or None,
        "start_signpost": options.start_signpost,
        "end_signpost": options.end_signpost,
    }
    answer, _text = await answering.answer(session, tool_alone("compare_runs"), arguments)
    return answer, (before.name, after.name)


async def _unchanged(session: Session, baseline: str) -> Run:
    """The baseline, if its report is the one that got the name.

    Raises:
        RunUnknown: the report was overwritten since.
        ReportMissing: it is gone; what else has the name is not what was meant.
    """
    for known in await session.registry.called(baseline):
        if not known.named_by_hand:
            continue
        now = await asyncio.to_thread(identity, known.pair, session.kept)
        if not now.startswith(known.id):  # opening it by its name would take what lies there now
            raise RunUnknown(
                f"The report of baseline '{shown(baseline)}' was overwritten: it was run {known.shown_id}, the file "
                f"now holds {now[:SHOWN_CHARS]}. Name it again with: ttnn-mcp baseline {shown(baseline)} PATH"
            )
    return await session.run(baseline)


async def baseline(session: Session, name: str | None, path: str | None) -> str:
    """Name a run, or list the names: what to print.

    Raises:
        StoreUnusable: the name cannot be kept.
    """
    if name is None:
        known = [run for run in await session.registry.all() if run.named_by_hand]
        if not known:
            return "No run has a name yet. Give one: ttnn-mcp baseline main PATH\n"
        return "".join(
            f"{run.name}  {run.shown_id}  {', '.join(map(shown_path, run.pair.paths))}\n" for run in known
        )
    named = await session.named(await session.run(path), name, move_name=True)
    if session.forgetful:
        raise StoreUnusable(
            f"No name can be kept: the state folder cannot be written ({session.forgetful}). --state chooses another."
        )
    moved = f"; {named.renamed}" if named.renamed else ""
    return f"{name} is run {named.id}{moved}\n"


@dataclass(frozen=True, slots=True)
class Ruling:
    """The gate's outcome, and why."""

    outcome: Outcome
    why: str

    def status(self, *, bisect: bool) -> int:
        """The exit status of the shell."""
        return SKIP if bisect and self.outcome == "cannot_judge" else STATUS[self.outcome]


def share_of(text: str) -> float:
    """`3%` or `0.03` as a share; 1 and more only with a percent sign.

    Raises:
        ArgumentsInvalid: it is neither, out of range, or may be meant as percent.
    """
    match = _SHARE.fullmatch(text.strip())
    share = float(match["number"]) / (100 if match["percent"] else 1) if match else -1.0
    bare = match is not None and not match["percent"] and share >= 1
    if bare and share < 100:  # who writes 8 means 8 %, and would be given 800 %
        raise ArgumentsInvalid(f"--worse {shown(text)} has no unit: write {share:.15g}% or {share / 100:.15g}.")
    if bare or not 0 <= share <= MOST_WORSE:
        raise ArgumentsInvalid(f"--worse wants a share such as 3% or 0.03, not '{shown(text)}'.")
    return share


def judged(answer: Mapping[str, Any], worse: float) -> Ruling:
    """The outcome for an answer of compare_runs."""
    doubts = [row for row in answer.get("suspicious", {"rows": ()})["rows"] if row[0] not in OF_GAIN]
    if doubts:
        count = "a doubt" if len(doubts) == 1 else f"{len(doubts)} doubts"
        return Ruling("cannot_judge", f"{answer['why']}; {count} about the measurement")
    if answer["verdict"] == "not_comparable":
        return Ruling("cannot_judge", answer["why"])
    return _regression(answer, worse) or _without_regression(answer, worse)


def _regression(answer: Mapping[str, Any], worse: float) -> Ruling | None:
    """A regression; None where there is none."""
    change, noise = answer["change_share"], answer["noise_share"]
    for key, stage_change in _stages(answer):
        if stage_change > max(worse, noise):
            return Ruling("regression", f"stage {key} takes {stage_change:+.1%}, more than the {worse:.1%} allowed")
    if change > max(worse, noise):
        return Ruling("regression", f"kernel time {change:+.2%}, more than the {worse:.1%} allowed")
    return None


def _without_regression(answer: Mapping[str, Any], worse: float) -> Ruling:
    """Whether that is certain: noise may hide a change, and the host may have become slower."""
    change, noise = answer["change_share"], answer["noise_share"]
    if change > worse:
        why = f"kernel time {change:+.2%} is over the {worse:.1%} allowed, but within the noise of {noise:.2%}"
        return Ruling("cannot_judge", f"{why}: profile more iterations, or give --repeat")
    walls = answer.get("wall_ms") or {"before": 1.0, "after": 1.0}
    longer = walls["after"] / walls["before"] - 1
    if longer > max(worse, noise, WALL_NOISE_SHARE):
        why = f"kernel time {change:+.2%}, but the window with its gaps {longer:+.1%} under the profiler"
        return Ruling("cannot_judge", f"{why}: the host may be slower; measure wall time with the profiler off")
    return Ruling("pass", f"kernel time {change:+.2%}; {worse:.1%} allowed, noise {noise:.2%}")


def _stages(answer: Mapping[str, Any]) -> list[tuple[str, float]]:
    rows = records(answer.get("stages"))
    return [(row["key"], row["after_us"] / row["before_us"] - 1) for row in rows if row["before_us"]]


def pull_request(answer: Mapping[str, Any], judgement: Ruling, names: Sequence[str]) -> str:
    """The outcome as Markdown, with the ops and layers behind it."""
    title = {"pass": "no regression", "regression": "**regression**", "cannot_judge": "cannot judge"}
    kernel = answer["kernel_ms"]
    window = answer["window"]
    change = f"Change {answer['change_share']:+.2%}, noise {answer['noise_share']:.2%}"
    lines = [
        f"### TTNN performance: {title[judgement.outcome]}",
        "",
        *shortage(answer),
        markdown.text(judgement.why),
        "",
        *markdown.table(
            ("", "kernel time", "window"),
            [
                (f"baseline {names[0]}", f"{kernel['before']:.4g} ms", markdown.window(answer["baseline_window"])),
                (f"candidate {names[1]}", f"{kernel['after']:.4g} ms", markdown.window(window)),
            ],
        ),
        "",
        f"{change}: {markdown.text(answer['noise_from'])}",
    ]
    for title_text, field in (
        ("Stages", "stages"),
        ("Ops, largest change first", "groups"),
        ("Layers", "layers"),
        ("Changed settings", "changed"),
        ("Doubts", "suspicious"),
    ):
        lines += _section(title_text, answer.get(field))
    lines += [f"- {markdown.text(caveat)}" for caveat in answer.get("caveats", ())]
    return "\n".join(lines) + "\n"


def _section(title: str, table: Mapping[str, Any] | None) -> list[str]:
    if not table:
        return []
    rows = [row for row in table["rows"] if dict(zip(table["columns"], row, strict=True)).get("delta_us", 1)]
    return ["", f"**{title}**", "", *markdown.table(table["columns"], rows[:_ROWS])] if rows else []

"""history: a model's or an op's time over the runs that were seen."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from ttnn_mcp.archive.past_runs import SAME
from ttnn_mcp.archive.turns import LONGEST, SIDE, TELLING
from ttnn_mcp.errors import QuestionRefused, ReportMissing, RunUnknown, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.tools.budget import fitted
from ttnn_mcp.tools.tool import Budget, OfRun, Tool
from ttnn_mcp.wire import Columns, Quoted, Quoting, Share, Table, Wire

if TYPE_CHECKING:
    from ttnn_mcp.archive.history import History
    from ttnn_mcp.archive.past_runs import PastRun
    from ttnn_mcp.archive.store import Archive
    from ttnn_mcp.session.session import Session

RUNS = Columns("run", "recorded", "time_us", "window_us", "build", maybe=("window_us",), quoted=("run", "build"))
TURNS = Columns("of", "run", "recorded", "before_us", "after_us", "change_share", "build", quoted=("run", "build"))
BEHIND = Columns("at", "op_code", "before_us", "after_us", "how", "op", quoted=("at", "op_code"))
TURNS_SHOWN = 4  # the newest
NAMED = 3  # runs named in a sentence
BUDGET = Budget(4_000, cut=("runs",))  # of a default list


class Arguments(OfRun):
    """Arguments of history."""

    op: int | None = Field(None, description="Only this op, by its line")


class Answer(Wire):
    """Answer of history. Times of runs newest first, turns in order."""

    run: Quoted
    op_code: Quoted | None = None
    verdict: Literal["turned", "steady", "too_few_runs", "cannot_tell"]
    why: Quoting
    noise_share: Share | None = None
    turns: Annotated[Table, TURNS] | None = None
    behind: Annotated[Table, BEHIND] | None = None
    newest: Quoting | None = None
    runs: Annotated[Table, RUNS]
    more_runs: int = 0
    left_out: tuple[Quoting, ...] = ()


async def history(session: Session, asked: Arguments) -> Answer:
    """How a model's or op's time went over all runs seen: each run, where it turned beyond noise, the ops behind."""
    if session.archive is None:
        raise QuestionRefused(
            "There is no archive of runs, so nothing is known of earlier ones. Install the extra `archive` "
            "(ttnn-mcp[archive]), and start without --archive-mb 0 and TTNN_MCP_ARCHIVE_MB=0."
        )
    answer = told(await _asked(session, session.archive, asked))
    return await asyncio.to_thread(fitted, answer, BUDGET, asked, "")


async def _asked(session: Session, archive: Archive, asked: Arguments) -> History:
    """The history of the run; of its name, where only the archive knows it."""
    from ttnn_mcp.archive.history import history_of  # noqa: PLC0415 - pandas loads with the first report

    try:
        run = await session.run(asked.run)
    except (RunUnknown, ReportMissing) as unknown:
        if asked.run is None:
            raise
        try:
            return await asyncio.to_thread(history_of, archive, asked.run, asked.op)
        except RunUnknown:
            raise unknown from None  # it names what is alike
    return await asyncio.to_thread(history_of, archive, run, asked.op)


def told(history: History) -> Answer:
    """The answer."""
    course = history.course
    return Answer(
        run=called(history.subject),
        op_code=history.op_code,
        verdict=verdict(history),
        why=why(history),
        noise_share=course.noise_share,
        turns=turns(history),
        behind=ops_behind(history),
        newest=newest(history),
        runs=runs(history),
        left_out=left_out(history),
    )


TOOL = Tool(
    name="history",
    title="History",
    arguments=Arguments,
    answer=Answer,
    ask=history,
    budget=BUDGET,
    search_hint="trend over time nightly regression change point when did it get slower archive earlier runs",
)


def verdict(history: History) -> Literal["turned", "steady", "too_few_runs", "cannot_tell"]:
    """Whether it turned.

    Nothing where runs are few, or differ by so much that a turn would not be seen, or where the newest may be one.
    """
    if history.turns:
        return "turned"
    if len(history.runs) < 2 * SIDE:
        return "too_few_runs"
    return "cannot_tell" if is_noisy(history) or history.course.newest_runs else "steady"


def is_noisy(history: History) -> bool:
    """Whether runs differ by so much that no turn tells nothing."""
    noise = history.course.noise_share
    return noise is not None and noise > TELLING


def called(run: PastRun) -> str:
    """A run's name as it may be quoted."""
    return shown(run.called)


def _when(run: PastRun) -> str:
    return datetime.fromtimestamp(run.recorded_at).strftime("%Y-%m-%d %H:%M")  # noqa: DTZ006 - file names hold local time


def _version(run: PastRun) -> str | None:
    return shown(run.version) if run.version else None


def runs(history: History) -> Table:
    """Every run of the series, newest first."""
    pairs = list(zip(history.runs, history.times_us, strict=True))[::-1]
    if history.op_code is not None:
        return RUNS.table(
            [(called(run), _when(run), us, _version(run)) for run, us in pairs], without=["window_us"]
        )
    return RUNS.table([(called(run), _when(run), us, run.window_us, _version(run)) for run, us in pairs])


def turns(history: History) -> Table | None:
    """The newest turns, in order."""
    rows = [
        (
            turned.of,
            called(history.runs[turned.turn.at]),
            _when(history.runs[turned.turn.at]),
            turned.turn.before,
            turned.turn.after,
            turned.turn.change,
            _builds(history.runs[turned.turn.at - 1], history.runs[turned.turn.at]),
        )
        for turned in history.turns[-TURNS_SHOWN:]
    ]
    return TURNS.table(rows) if rows else None


def _builds(before: PastRun, after: PastRun) -> str | None:
    if before.version == after.version:
        return _version(after)
    return f"{_version(before) or 'unknown'} -> {_version(after) or 'unknown'}"


def ops_behind(history: History) -> Table | None:
    """The ops behind these turns of the kernel time."""
    rows = [
        (
            called(history.runs[turned.turn.at]),
            shown(op.op_code),
            op.before_us,
            op.after_us,
            op.how,
            op.line,
        )
        for turned in history.turns[-TURNS_SHOWN:]
        for op in turned.ops
    ]
    return BEHIND.table(rows) if rows else None


def why(history: History) -> str:
    """What the series is, and what it takes to turn."""
    arch, clock = history.subject.arch or "", history.subject.clock_mhz or 0.0
    of = (
        f"{figure(SAME, '.0%')} or more of their ops alike"
        if history.op_code is None
        else f"with this {shown(history.op_code)}"
    )
    count = len(history.runs)
    parts = [f"{count} run{'' if count == 1 else 's'}, {of}, on {shown(arch)} at {figure(clock, '.0f')} MHz"]
    if history.through:
        parts.append(f"{history.through} of them alike only to others of them")
    if count < 2 * SIDE:
        parts.append(f"a turn takes {SIDE} on either side")
    elif not history.turns and is_noisy(history):
        parts.append(f"they differ by more than {figure(TELLING, '.0%')}: whether it is steady cannot be told")
    if count > LONGEST:
        parts.append(f"the newest {LONGEST} were searched for turns")
    return "; ".join(parts)


def newest(history: History) -> str | None:
    """Whether the newest runs are the first of a turn that is not yet sure."""
    change, count = history.course.newest_change, history.course.newest_runs
    if change is None:
        return None
    name = called(history.runs[-count])
    runs_told = f"{name} is" if count == 1 else f"the newest {count} runs, from {name} on, are"
    word = "slower" if change > 0 else "faster"
    return (
        f"{runs_told} {figure(abs(change), '.1%')} {word} than "
        f"those before {'it' if count == 1 else 'them'}: beyond noise, but a turn takes {SIDE} such runs"
    )


def left_out(history: History) -> tuple[str, ...]:
    """Runs that do not count, and why."""
    sentences: list[str] = []
    if history.unsure:
        names = ", ".join(called(run) for run in history.unsure[-NAMED:])
        sentences.append(
            f"cannot tell whether {len(history.unsure)} more are of the same model, by their ops they may be: {names}; "
            "runs that were archived with one --label count as one model"
        )
    if history.doubtful:
        names = ", ".join(f"{called(run)} ({shown(run.doubts or '')})" for run in history.doubtful[-NAMED:])
        sentences.append(f"{len(history.doubtful)} whose times are in doubt: {names}")
    if history.elsewhere:
        sentences.append(
            f"{history.elsewhere} with the same work at another clock or on another number of devices: never compared"
        )
    return tuple(sentences)

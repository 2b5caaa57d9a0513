"""replay_op: one op of a run as a script of its own, proven by TTNN, and its measurements taken back."""

from __future__ import annotations

import asyncio
import shlex
from typing import Annotated

from pydantic import Field

from ttnn_mcp import quoting
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, shown
from ttnn_mcp.replay.rebuilt import CANDIDATES, Rebuilt, Sweep, rebuilt, rebuilt_from_graph
from ttnn_mcp.replay.results import Results, TriedCandidate, judged, read_results
from ttnn_mcp.run.run import Run
from ttnn_mcp.session.places import lies_in, place_of
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools.parts.op_seen import row_at
from ttnn_mcp.tools.parts.replays import Proof, as_arguments, proof_of, written
from ttnn_mcp.tools.tool import Budget, OfRun, Tool
from ttnn_mcp.wire import Columns, NextCall, Quoted, Quoting, Table, Wire

MOST = 200
TRIED = Columns("candidate", "expected_us", "low_us", "buffer_bytes", quoted=("candidate",))
VERDICTS = Columns(*("candidate", "verdict", "median_us", "noise_share", "pcc", "why"), quoted=("candidate", "why"))


class Arguments(OfRun):
    """Arguments of replay_op."""

    op: int = Field(description="Its line in the CSV; on a memory report alone, the operation id")
    sweep: list[str] | None = Field(None, description="Settings of check_setting; [] for none")
    limit: int = Field(CANDIDATES, description="Most candidates")
    path: str | None = Field(None, description="Where the script goes")
    prove: bool = Field(False, description="Run it in your TTNN on a mock device")
    results: str | None = Field(None, description="JSON that the script wrote")


class TriedOut(Wire):
    """What the script measured: the winner, and the arguments that the model's call has then."""

    summary: Quoting
    ttnn: Quoted
    winner: Quoted | None = None
    change: Quoting | None = None
    verdicts: Annotated[Table, VERDICTS]
    next: NextCall | None = None


class Answer(Wire):
    """Answer of replay_op. `script` is the text where no file was written."""

    op: int
    op_code: Quoted
    file: Quoted | None = None
    script: Quoting | None = None
    run_with: Quoting | None = None
    assumed: list[Quoting]
    candidates: Annotated[Table, TRIED] | None = None
    more_candidates: int = 0
    left_out: dict[str, int] = Field(default_factory=dict[str, int])
    proof: Proof | None = None
    measured: TriedOut | None = None


async def replay_op(session: Session, asked: Arguments) -> Answer:
    """One op as a script that needs only TTNN and torch: as it ran, and legal settings that fit, measured honestly.

    prove: does TTNN accept them, with what L1? results: verdicts on what the script measured.
    """
    if not 0 <= asked.limit <= MOST:
        raise ArgumentsInvalid(f"replay_op: 'limit' is 0 to {MOST}.")
    run = await session.run(asked.run)
    one = await _rebuilt(run, asked)
    if asked.results is not None:
        return await _taken_back(session, asked, one)
    file, script = None, None
    if session.settings.confined:
        if asked.path is not None:
            raise QuestionRefused("Over HTTP no file is written: leave out `path`, the answer has the script.")
        script = one.text
    else:
        path = place_of(asked.path) if asked.path else session.replays.folder / one.file
        await asyncio.to_thread(written, path, one.text)
        file = str(path)
    rows = [
        (shown(each["name"]), each.get("expected_us"), each.get("low_us"), each["buffer_bytes"])
        for each in one.facts["candidates"][1:]
    ]
    word = shlex.quote(quoting.single_line(file or one.file))
    return Answer(
        op=asked.op,
        op_code=shown(one.source.name),
        file=file,
        script=script,
        run_with=f"python {word}; then replay_op(results=<the .json beside it>)",
        assumed=[*one.source.assumed, "made-up values"],
        candidates=TRIED.table(rows) if rows else None,
        left_out=dict(one.candidates.left_out),
        proof=await proof_of(run, one) if asked.prove else None,
    )


async def _rebuilt(run: Run, asked: Arguments) -> Rebuilt:
    sweep = Sweep(asked.sweep, asked.limit)
    if run.performance is None:
        return await rebuilt_from_graph(run, asked.op, sweep)
    return await rebuilt(run, asked.op, row_at(run, asked.op), sweep)


async def _taken_back(session: Session, asked: Arguments, one: Rebuilt) -> Answer:
    """The verdicts on what was measured of this op; kept, so that op_detail and check_setting cite it.

    Raises:
        QuestionRefused: it was measured of another op.
    """
    path = place_of(asked.results or "")
    if session.settings.confined and not await asyncio.to_thread(lies_in, path, [session.settings.state_folder]):
        raise QuestionRefused("Over HTTP only results in the state folder can be read. Put the JSON there.")
    results = await asyncio.to_thread(read_results, path)
    if (results.signature, results.tuned) != (one.facts["signature"], one.facts["tuned"]):
        raise QuestionRefused(
            f"{shown(path.name)} was measured of another op or with other settings (line {results.line} of its run)."
        )
    await asyncio.to_thread(session.replays.keep, results)
    judgement = judged(results)
    winner = judgement.winner
    rows = [
        (shown(each.name), verdict, each.median_us, noise, each.pcc, _why(each, results))
        for each, verdict, noise in judgement.verdicts
    ]
    change = as_arguments(one, dict(winner.settings)) if winner else None
    return Answer(
        op=asked.op,
        op_code=shown(one.source.name),
        assumed=list(one.source.assumed),
        measured=TriedOut(
            summary=judgement.summary,
            ttnn=shown(results.ttnn),
            winner=shown(winner.name) if winner else None,
            change=change,
            verdicts=VERDICTS.table(rows),
            next=NextCall(
                tool="experiments",
                arguments={"action": "record", "change": f"line {asked.op}: {shown(winner.name)}"},
                why="after the change is in the model and it was profiled again",
            )
            if winner
            else None,
        ),
    )


def _why(one: TriedCandidate, results: Results) -> str:
    """Once told of all, why a sweep ended is not told of each."""
    return "" if one.why == results.ended else quoting.reason(one.why)


TOOL = Tool(
    name="replay_op",
    title="Replay an op",
    arguments=Arguments,
    answer=Answer,
    ask=replay_op,
    writes=True,
    budget=Budget(36_000, cut=("candidates",)),  # unmoved: a script and 200 candidates take less
    search_hint="script sweep benchmark microbenchmark one op alone candidates prove mock device ttnn results verdict",
)

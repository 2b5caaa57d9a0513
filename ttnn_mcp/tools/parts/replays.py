"""What is said of a replay: where its script goes, what TTNN proved of it, and what was measured."""

from __future__ import annotations

import asyncio
import re
from math import prod
from pathlib import Path
from typing import Annotated

from ttnn_mcp import quoting
from ttnn_mcp.errors import QuestionRefused, StoreUnusable, shown, shown_path
from ttnn_mcp.readers.manifest import manifest_beside
from ttnn_mcp.readers.regular_file import begin_of
from ttnn_mcp.replay.interpreters import interpreter
from ttnn_mcp.replay.kept import Replays
from ttnn_mcp.replay.proof import proved
from ttnn_mcp.replay.rebuilt import Rebuilt
from ttnn_mcp.replay.results import TriedCandidate
from ttnn_mcp.run.run import Run
from ttnn_mcp.wire import Columns, Quoted, Quoting, Table, Wire

PROVEN = Columns(
    "candidate", "outcome", "buffer_bytes", "predicted_bytes", "tensor_bytes", "why", quoted=("candidate", "why")
)
_SETTING = re.compile(r's\["(\w+)"\]')
OURS = b"ttnn-mcp replay"
NO_KERNELS = "times and results: no kernel ran, and no simulator of the chip was used"
BEGIN_BYTES = 60_000  # a script with 200 candidates tells its format within them


class Proof(Wire):
    """What TTNN says of the script on a mock device. Sizes in bytes per core."""

    ttnn: Quoted
    chip: str
    accepted: int
    refused: int
    device_ops: Quoted
    output: Quoted
    candidates: Annotated[Table, PROVEN]
    failed: Quoting | None = None
    other_build: Quoting | None = None
    not_proven: Quoting


async def proof_of(run: Run, one: Rebuilt) -> Proof:
    """Run the script on a mock device.

    Raises:
        QuestionRefused: over HTTP, unless the operator named a Python; no TTNN, or no mock device like the run's.
    """
    replays = run.kept.get(Replays)
    if replays is None or (replays.confined and replays.python is None):
        raise QuestionRefused(
            "prove=true runs code, which this server does not do over HTTP: its operator allows it with --ttnn PYTHON."
        )
    python = await asyncio.to_thread(interpreter, replays.python)
    proof = await proved(python, run, one.text, prod(one.facts["mesh"] or ()))
    tries = proof.answer.candidates if proof.answer else ()
    predicted = [each["buffer_bytes"] for each in one.facts["candidates"]]
    first = tries[0] if tries else None
    rows = [
        (shown(each.name), each.outcome, each.buffer_bytes, bytes_told, each.tensor_bytes, _why(each, bytes_told))
        for each, bytes_told in zip(tries, predicted, strict=False)
    ]
    return Proof(
        ttnn=shown(python.version or ""),
        chip=proof.chip,
        accepted=sum(each.outcome == "accepted" for each in tries),
        refused=sum(each.outcome != "accepted" for each in tries),
        device_ops=shown(", ".join(first.device_ops) if first else ""),
        output=quoting.single_line(" ".join(first.output.values()) if first else ""),
        candidates=PROVEN.table(rows),
        failed=shown(proof.failed) or None,
        other_build=_other_build(run, one, shown(python.version or "")) if one.source.other_build else None,
        not_proven=NO_KERNELS,
    )


def _why(one: TriedCandidate, predicted: int | None) -> str:
    """Why TTNN did not take it, or how its L1 differs from what was predicted."""
    if one.outcome != "accepted" or None in (one.buffer_bytes, predicted) or one.buffer_bytes == predicted:
        return quoting.reason(one.why)
    more = (one.buffer_bytes or 0) - (predicted or 0)
    side = "more" if more > 0 else "less"
    rebuilt = "" if one.settings else ": what TTNN runs here is not quite what ran"
    return f"{quoting.figure(abs(more), ',')} B {side} than predicted{rebuilt}"


def _other_build(run: Run, one: Rebuilt, ttnn: str) -> str:
    """Whose L1 is which, where the report's build runs another program than the Python that proves."""
    report = run.performance_report.csv.path if run.performance else run.memory_report.path
    made = manifest_beside(report)
    build = shown(made.build) if made and made.build else "which it does not tell"
    return (
        f"buffer_bytes are those of TTNN {ttnn}, predicted_bytes of the report's build ({build}), "
        f"and need not agree: {one.source.other_build}"
    )


def written(path: Path, text: str) -> None:
    """Write a script; a file of another kind is left alone.

    Raises:
        QuestionRefused: there is another file at the path.
        StoreUnusable: it cannot be written.
    """
    try:
        if path.exists() and OURS not in begin_of(path, BEGIN_BYTES):
            raise QuestionRefused(f"{shown(path.name)} exists and is no script of ours. Choose another path.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as failed:
        raise StoreUnusable(f"The script cannot be written to {shown_path(path)} ({failed.strerror}).") from None


def as_arguments(one: Rebuilt, settings: dict[str, object]) -> str:
    """The arguments of the call that settings change, as they stand in the model then."""
    now = {**one.facts["settings"], **settings}

    def value(match: re.Match[str]) -> str:
        return repr(now[match[1]])

    changed = [
        f"{name}={_SETTING.sub(value, text)}"
        for name, text in one.call.named.items()
        if text and any(f's["{setting}"]' in text for setting in settings)
    ]
    return ", ".join(text.removesuffix(" if True else None") for text in changed)

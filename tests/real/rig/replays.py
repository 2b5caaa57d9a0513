"""Proves scripts of replayed ops: two ops of each kind of the reports at hand, and made ones of all, on mock devices.

Runs in the project's own environment; `replay_op(prove=true)` starts TTNN, as it does for anybody.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.real.rig.environment import ROOT
from tests.replay.rows import OPS, report_of
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER, SHARED
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.replay.mock_chips import kind_of
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools.replay_op import Arguments, replay_op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ttnn_mcp.tools.replay_op import Answer

MADE = "made"  # an op of each family
CALLS = "calls"  # a script of calls, captured here: what is rebuilt from a graph alone
REPORTS = (MADE, CALLS, "demo", *(str(SHARED / name) for name in (CLIP, DEEPLAB, OFT, SEGFORMER, DEEPSEEK, LINKED)))
CAPTURES = SHARED.parent / "real" / "reports"
OF_A_KIND = 2
# fields that differ or are not captured, and why: what is not here fails the part
EXPLAINED = {
    **dict.fromkeys(("scalar", "scalar_input_a"), "a graph prints `<variant>` in its place"),
    **dict.fromkeys(("pre_op_l1_allocation_size_bytes", "memory_used"), "what else lay in L1, not what was asked"),
    **dict.fromkeys(("nd_shard_spec", "shard_spec"), "derived of each other, by some builds"),
    **dict.fromkeys(
        ("enough_space_height", "enough_space_width", "pf_type", "use_multicore", "use_pack_untilize"),
        "fields of an Untilize that the build of the rig no longer has",
    ),
    "scale": "of attention a graph prints six digits",
    "dim": "the last of a TopK or ArgMax, which the call is given as -1",
}
_FIELD = re.compile(r"\b([A-Za-z_]\w*)=([^,;(){}\[\]'<]+)")
_ATTRIBUTE = re.compile(r"'(\w+)': '([\w:.+-]+)'")
LEAST_SHARE = 0.95  # of all candidates that TTNN accepts


@dataclass
class Proven:
    """What came of the scripts of one report."""

    accepted: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)
    unlike: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)  # fields of attributes that do not come back
    compared: int = 0  # ops whose attributes do
    other_build: list[str] = field(default_factory=list)  # which the answer says: tests/replay/test_proof.py
    unwritten: Counter[str] = field(default_factory=Counter)


def reports() -> list[str]:
    """Those that are at hand."""
    known = [name for name in REPORTS if name in (MADE, CALLS, "demo") or Path(name).is_file()]
    return [*known, *sorted(str(path) for path in CAPTURES.glob("*") if path.is_dir())]


def captured(folder: Path, python: Path, kind: str, script: str) -> str:
    """The memory report that `ttnn-mcp capture` makes of a script of this folder."""
    command = [sys.executable, "-m", "ttnn_mcp", "capture", "--arch", kind, "--ttnn", str(python), "--", "python"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder), "PWD": str(folder)}
    subprocess.run(
        [*command, str(Path(__file__).with_name(script))],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=True,
    )
    return str(next(folder.rglob("db.sqlite")).parent)


def fields_of(printed: str) -> dict[str, set[str]]:
    """The fields that a text names, each with its values; those of cores are printed in two ways and left out."""
    found: dict[str, set[str]] = {}
    for name, text in _FIELD.findall(printed):
        if name not in ("x", "y"):
            found.setdefault(name, set()).add(_plain(text))
    return found


def _plain(text: str) -> str:
    value = re.split(r"::|\.(?=[A-Za-z])", text.strip())[-1]
    return {"true": "1", "false": "0"}.get(value, value)


def changed_fields(row: str, captured: str) -> list[str]:
    """Fields of a row's attributes that TTNN captured otherwise, and plain values of it that it did not capture."""
    ours, theirs = fields_of(row), fields_of(captured)
    lost = [
        f"{name}: {ours[name]}, {theirs[name]}" for name in ours if name in theirs and ours[name] - theirs[name]
    ]
    words = {_plain(one) for one in re.split(r"[\s,(){}\[\]=]+", captured)}
    plain = {name: _plain(text) for name, text in _ATTRIBUTE.findall(row)}
    return lost + [f"{name}: {text}" for name, text in plain.items() if text not in words]


def proven(report: str, python: Path) -> Proven:
    """The scripts of one report."""
    with tempfile.TemporaryDirectory() as folder:
        told = asyncio.run(_proven(report, python, Path(folder)))
        if report == MADE:  # its operands are small
            command = [
                str(python),
                str(Path(__file__).with_name("references.py")),
                *map(str, Path(folder).glob("*.py")),
            ]
            ran = subprocess.run(command, capture_output=True, text=True, check=True)
            told.refused += [f"{line}, on torch" for line in ran.stdout.splitlines() if line.startswith("replay_")]
        return told


async def _proven(report: str, python: Path, folder: Path) -> Proven:
    told = Proven()
    at = Session(Settings(state=folder / "state", archive_mb=0, ttnn=python))
    if report == CALLS:
        report = captured(folder, python, "n150", "users_ops.py")
    if report == MADE:
        report = report_of(folder / MADE, [row for row, *_ in OPS])
        chosen = [(canonical(row[0]), place) for place, (row, *_) in enumerate(OPS, 2)]
    else:
        chosen = list(_chosen(await at.run(report)))
    for name, op in chosen:
        script = str(folder / f"replay_{op}.py")
        try:
            answer = await replay_op(at, Arguments(run=report, op=op, path=script, prove=True, limit=8))
        except QuestionRefused as refusal:
            told.unwritten[f"{name}: {refusal}"] += 1
            continue
        _judge(told, f"{Path(report).name} {op} {name}", name, answer)
    run = await at.run(report)
    if run.performance is not None:
        _compare(told, run, python, folder)
    return told


def _compare(told: Proven, run, python: Path, folder: Path) -> None:
    """The attributes of each row against what TTNN captured of its script: row, script, captured arguments."""
    ops, kind = run.performance_report.ops, kind_of(run.chip.arch, run.chip.worker_cores)
    if kind is None:
        return
    scripts = map(str, sorted(folder.glob("replay_*.py")))
    command = [str(python), "-m", "tests.real.rig.arguments", kind, *scripts]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for line in filter(lambda one: one.startswith("{"), ran.stdout.splitlines()):
        one = json.loads(line)
        op = int(Path(one["script"]).stem.partition("_")[2])
        row = ops.texts("attributes")[ops.at_line(op)]
        told.compared += bool(one["captured"])
        lost = changed_fields(row, one["captured"]) if one["captured"] else []
        name = f"{Path(run.id).name} {op}"
        told.changed += [f"{name} {text}" for text in lost if text.partition(":")[0] not in EXPLAINED]


def _judge(told: Proven, place: str, name: str, answer: Answer) -> None:
    proof = answer.proof
    if proof is None or proof.failed:
        told.refused.append(f"{place}: {proof.failed if proof else 'no proof'}")
        return
    for candidate, outcome, actual, predicted, _, why in proof.candidates.rows:
        if outcome != "accepted":
            told.refused.append(f"{place}, {candidate}: {outcome}, {why}")
            continue
        told.accepted[name] += 1
        if predicted is not None and predicted != actual:
            unlike = told.other_build if proof.other_build else told.unlike
            unlike.append(f"{place}, {candidate}: {predicted} bytes predicted, {actual} taken")


def _chosen(run) -> Iterator[tuple[str, int]]:
    """Two ops of each kind, with other attributes."""
    seen: Counter[str] = Counter()
    if run.performance is None:
        for operation, name in zip(
            run.memory_report.operations.ids, run.memory_report.operations.names, strict=True
        ):
            seen[name] += 1
            if seen[name] <= OF_A_KIND:
                yield name, int(operation)
        return
    ops = run.performance_report.ops
    known = set()
    for row in range(len(ops)):
        code, attributes = ops.texts("op_code")[row], ops.texts("attributes")[row]
        name = canonical(code)
        if (code, attributes) not in known and seen[name] < OF_A_KIND:
            known.add((code, attributes))
            seen[name] += 1
            yield name, int(ops.lines[row])

"""An op of a run as a script: as its reports tell it, with the candidates of a sweep, and how they are measured."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from inspect import getsource
from pprint import pformat
from typing import Any

import numpy as np

from ttnn_mcp.analyses.memory.l1_limit import l1_limit
from ttnn_mcp.analyses.settings.captured_op import captured_in_full
from ttnn_mcp.analyses.settings.held import results_in_l1
from ttnn_mcp.analyses.settings.judged import may_be_older
from ttnn_mcp.analyses.settings.kinds import modelled_as_it_ran
from ttnn_mcp.analyses.settings.room import room_at, taken_by
from ttnn_mcp.analyses.settings.told_shards import told_placements, told_shards
from ttnn_mcp.analyses.settings.trial import Op, Value, op_of
from ttnn_mcp.hardware import canonical_architecture
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.printed.memory_config import Placement
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay import measuring
from ttnn_mcp.replay.candidates import Beside, Candidate, Shortlist, candidates_of, only_one, swept_of
from ttnn_mcp.replay.families import call_of
from ttnn_mcp.replay.kept import signature_of
from ttnn_mcp.replay.matmuls import OWN
from ttnn_mcp.replay.source import Given, OpCall, OpSource
from ttnn_mcp.run.ops.op_names import canonical, names_of
from ttnn_mcp.run.ops.operand import Operand
from ttnn_mcp.run.run import Run

CANDIDATES = 12  # that a script has beside the op as profiled, unless asked otherwise: four minutes on a device
L1_SMALL_BYTES = (
    32_768  # what convolutions and pools need; a report without one does not tell what the model reserved
)

WIDTH = 110  # columns, as wide as the lines of a call  # unmoved: only where lines break
HEAD = '''"""Replays {name}, {place}, by itself. Needs TTNN and torch, and nothing else.

    python {file}                  measures the op as profiled, then its candidates, each in a process of its own
    python {file} --accept         asks only whether TTNN takes them, and their L1; on mock devices too
    python {file} --help           repeats, time limit, where the results go

Rebuilt from a report: {assumed}
"""
'''
END = """if __name__ == "__main__":
    calls = {"operands": operands, "call": call, "reference": reference}
    main(Replay(ttnn, torch, FACTS, calls))
"""


@dataclass(frozen=True)
class Rebuilt:
    """An op that can be replayed.

    Attributes:
        told: what its reports tell of it.
        call: the call that it is.
        facts: what the script knows of it, its candidates among it.
        file: a name for the script.
        text: the script.
        candidates: the candidates, and what was left out.
    """

    source: OpSource
    call: OpCall
    facts: dict[str, Any]
    file: str
    text: str
    candidates: Shortlist


@dataclass(frozen=True)
class Sweep:
    """What is to be swept.

    Attributes:
        settings: names; None for the op's own that cost no accuracy.
        most: how many candidates.
        only: the one candidate, whatever is thought of it.
    """

    settings: Sequence[str] | None = None
    most: int = CANDIDATES
    only: Mapping[str, Value] | None = None


async def rebuilt(run: Run, line: int, row: int, sweep: Sweep) -> Rebuilt:
    """The op at a row of the performance report.

    Raises:
        QuestionRefused: it cannot be rebuilt, or has no such setting; the message says what is missing.
    """
    table = run.performance_report.ops
    op = op_of(table.take(np.array([row])), run.chip, shards=await told_shards(run, line))
    operation = run.linked.operation_at.get(line) if run.linked else None
    room = await room_at(run, line)
    took = await taken_by(run, operation, canonical(table.texts("op_code")[row]), room)
    return _written(run, (op, line, room), await told_placements(run, line), (sweep, took))


async def rebuilt_from_graph(run: Run, operation: int, sweep: Sweep) -> Rebuilt:
    """The op of an operation of a memory report alone.

    Raises:
        QuestionRefused: as `rebuilt`.
    """
    op, room, launch = await captured_in_full(run, operation, others=True)
    pairs = [(op.table.inputs, launch.inputs), (op.table.outputs, launch.outputs)]
    places = {name: place for operands, specs in pairs for name, place in _placed(operands, specs)}
    took = await taken_by(run, operation, canonical(launch.name), room)
    return _written(run, (op, operation, room), places, (sweep, took))


def _placed(operands: Sequence[Operand], specs: Sequence[Spec]) -> list[tuple[str, Placement]]:
    paired = zip(operands, specs, strict=False)
    return [
        (one.name, spec.placement)
        for one, spec in paired
        if spec.placement is not None and one.sharded[0]  # unmoved: of others the operand's cell says the same
    ]


def _written(
    run: Run, at: tuple[Op, int, int | None], places: dict[str, Placement], asked: tuple[Sweep, int | None]
) -> Rebuilt:
    (op, line, room), (sweep, took), limit = at, asked, l1_limit(run)
    safe = limit.safe_bytes if limit else 0
    source = OpSource(op, places, swept_of(op, sweep.settings, safe), safe)
    call = call_of(source)
    source.swept = tuple(name for name in source.swept if name in source.settings)
    lost = [name for name in sweep.settings or () if name not in source.swept]
    if lost:
        raise source.refused(f"its row does not print {lost[0]}, so that it can be changed")
    beside = Beside(limit, room, may_be_older(run))
    candidates = (
        candidates_of(source, beside, sweep.most) if sweep.only is None else only_one(source, beside, sweep.only)
    )
    mesh = _mesh(call.on_mesh)
    in_parts = source.name in ("Conv2d", "Pool2D")  # its call places more than its op shows
    free = room + results_in_l1(op).most if room is not None and mesh is None and not in_parts else None
    ttnn_chose = source.name == "Matmul" and (call.named.get("program_config") is None or OWN in source.settings)
    if free is not None:
        source.assumed.append("what else lay in L1 is one tensor, of that size")
    elif ttnn_chose:
        source.assumed.append("nothing else lies in L1: TTNN chooses the config of a matmul by what is free")
    signature, tuned = signature_of(op.table, run.chip.arch)
    facts: dict[str, Any] = {
        "run": run.id,
        "line": line,
        "op": source.name,
        "signature": signature,
        "tuned": tuned,
        "arch": canonical_architecture(run.chip.arch or "") or None,
        "clock_ghz": run.chip.clock_ghz,
        "kernel_us": op.kernel_us,
        "floor_us": round(op.least_ns / 1e3, 3) if op.kernel_us is not None else None,
        "names": [name.lower() for name in names_of(source.name)],
        "mesh": mesh,
        "free_bytes": free,
        "l1_small_bytes": (limit.small_bytes if limit else 0) or (L1_SMALL_BYTES if in_parts else 0),
        "settings": dict(source.settings),
        "candidates": [
            {"name": "as profiled", "settings": {}, "buffer_bytes": took or modelled_as_it_ran(op, safe)},
            *(_candidate(one, of_ttnn=ttnn_chose and OWN not in one.settings) for one in candidates.chosen),
        ],
    }
    file = f"replay_{line}_{source.name.lower()}.py"
    return Rebuilt(source, call, facts, file, script_of(source, call, facts, file), candidates)


def _candidate(one: Candidate, *, of_ttnn: bool) -> dict[str, Any]:
    """`of_ttnn`: with a config that TTNN chooses, whose buffers are not those of the config that we judge by."""
    expected = one.expected
    times = {"expected_us": round(expected.us, 3), "low_us": round(expected.low_us, 3)} if expected else {}
    return {
        "name": one.name,
        "settings": dict(one.settings),
        **times,
        "buffer_bytes": None if of_ttnn else sum(one.judged.trial.buffers.values()) or None,  # of none: not known
    }


def _mesh(on_mesh: tuple[int, int] | None) -> list[int] | None:
    if on_mesh is None:
        return None
    chips, axis = on_mesh
    return [chips, 1] if axis == 0 else [1, chips]


def script_of(source: OpSource, call: OpCall, facts: dict[str, Any], file: str) -> str:
    """The whole text of the script."""
    imports, body = _measuring()
    assumed = "; ".join([*source.assumed, "the values of its operands are made up"])
    alone = facts["kernel_us"] is None
    place = f"{'operation' if alone else 'line'} {facts['line']} of a {'memory report' if alone else 'profile'}"
    reference = (
        f'def reference(x):\n    """The same in float32 on torch."""\n    return {call.reference}'
        if call.reference
        else "reference = None  # not compared with torch"
    )
    return "\n\n\n".join(
        (
            HEAD.format(name=source.name, place=place, file=file, assumed=assumed) + "\n" + imports,
            f"FACTS = {pformat(facts, width=WIDTH, sort_dicts=False)}",
            _operands(call.operands or ()),
            _call(call),
            reference,
            body.strip(),
            END,
        )
    )


def _measuring() -> tuple[str, str]:
    """The imports of the measuring part, and the rest of it."""
    text = re.sub(r"  # noqa: [^\n]*", "", getsource(measuring))
    imports, _, body = text.partition("FORMAT = ")
    _, _, imports = imports.partition("from __future__")
    return f"from __future__{imports.rstrip()}\n\nimport torch\nimport ttnn", f"FORMAT = {body}"


def _operands(operands: Sequence[Given]) -> str:
    lines = [
        f'        {{"shape": {one.shape}, "dtype": {one.dtype}, "layout": {one.layout}, '
        f'"memory": {one.memory}, "values": {one.values!r}}},'
        for one in operands
    ]
    return "\n".join(
        (
            "def operands(s):",
            '    """What the op reads, as profiled; one without memory stays on the host."""',
            "    return [",
            *lines,
            "    ]",
        )
    )


def _call(call: OpCall) -> str:
    named = [f"{name}={text}" for name, text in call.named.items() if text is not None]
    lines = [f"        {text}," for text in (*call.positional, *named)]
    return "\n".join(
        (
            "def call(device, x, s):",
            '    """The op: `x` are its operands, `s` its settings."""',
            f"    return {call.function}(",
            *lines,
            "    )",
        )
    )

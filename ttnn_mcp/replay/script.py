"""Writes the script: the op in words of TTNN, its candidates, and behind them how it is measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from inspect import getsource
from pprint import pformat
from typing import Any

from ttnn_mcp.replay import measuring
from ttnn_mcp.replay.source import Given, OpCall, OpSource

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


def script_of(source: OpSource, call: OpCall, facts: dict[str, Any], file: str) -> str:
    """The whole text of the script."""
    operands = call.operands if call.operands is not None else tuple(map(source.operand, range(len(source.inputs))))
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
            _operands(operands),
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

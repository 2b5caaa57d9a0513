"""The command `history`: the answer of the tool, for a terminal or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from ttnn_mcp.archive.store import Archive
from ttnn_mcp.session.session import Session
from ttnn_mcp.shell.call_arguments import tool_alone
from ttnn_mcp.shell.check_report import duration
from ttnn_mcp.tools import answering


async def history(session: Session, options: argparse.Namespace) -> str:
    """What to print."""
    if options.folder is not None:
        session.archiving.archive = Archive(options.folder)
    tool = tool_alone("history")
    answer, text = await answering.answer(session, tool, {"run": options.subject, "op": options.op})
    return f"{text}\n" if options.json else "\n".join(_lines(answer)) + "\n"


def _lines(answer: dict[str, Any]) -> Iterator[str]:
    of = f"{answer['op_code']} in " if "op_code" in answer else ""
    yield f"{of}{answer['run']}: {answer['verdict'].replace('_', ' ')}"
    yield f"  {answer['why']}"
    if "noise_share" in answer:
        yield f"  two runs differ by up to {answer['noise_share']:.1%} without a change"
    turned = {row["run"] for row in answering.records(answer.get("turns"))}
    for row in answering.records(answer.get("turns")):
        times = f"{_change(row)} ({row['change_share']:+.1%})"
        yield f"\n{row['recorded']}  {row['of']} {times}  {row['run']}{_build(row)}"
        for op in (
            op for op in answering.records(answer.get("behind")) if row["of"] == "kernel" and op["at"] == row["run"]
        ):
            line = f", line {op['op']}" if op["op"] is not None else ""
            yield f"  {op['op_code']}  {_change(op)}: {op['how']}{line}"
    yield ""
    runs = answering.records(answer.get("runs"))
    longest = max((row["time_us"] for row in runs), default=0.0)
    for row in runs:
        mark = "  <- turned" if row["run"] in turned else ""
        yield f"  {row['recorded']}  {duration(row['time_us'], longest):>12}  {row['run']}{_build(row)}{mark}"
    if answer.get("more_runs"):
        yield f"  and {answer['more_runs']} older"
    yield from (
        f"  {sentence}" for sentence in (*filter(None, [answer.get("newest")]), *answer.get("left_out", ()))
    )


def _build(row: dict[str, Any]) -> str:
    return f"  {row['build']}" if row["build"] else ""


def _change(row: dict[str, Any]) -> str:
    """'0.100 ms -> 1.500 ms', in one unit."""
    longest = max(row["before_us"], row["after_us"])
    return f"{duration(row['before_us'], longest)} -> {duration(row['after_us'], longest)}"

"""A question with a command of its own: ask the tool, and write the answer for a person, a page or a program.

`list_ops` has an outline of its own: a row for each kind of op, or for each op.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.report.sections import ops_counted, window_words
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.session.session import Session
from ttnn_mcp.shell.call_arguments import tool_alone
from ttnn_mcp.shell.check_report import check_report, edit_report
from ttnn_mcp.shell.check_screen import check_screen, verdict
from ttnn_mcp.shell.outline import Outline, Section, measured, outline_of, worded
from ttnn_mcp.shell.questions import QUESTIONS, answer_spoken_here, arguments, following, more
from ttnn_mcp.shell.terminal import coloured, width
from ttnn_mcp.tools import answering

# heading -> column of the answer, and how its cell is told
GROUPS: dict[str, str] = {
    "op": "key", "ops": "count", "time [us]": "kernel_us", "time %": "share", "gap [us]": "median_gap_us",
    "cores": "min_cores", "DRAM %": "dram_share", "FLOP %": "flop_share", "heaviest line": "heaviest_op",
    "differ": "differ",
}  # fmt: skip
EACH: dict[str, str] = {
    "line": "op", "op": "op_code", "device": "device", "time [us]": "kernel_us", "time %": "share",
    "gap [us]": "gap_us", "cores": "cores", "bound": "bound", "fidelity": "fidelity", "shapes": "shapes",
}  # fmt: skip
LEGEND = (  # below the table
    "time: of kernels. gap: the median before such an op, in which its device is idle. DRAM %, FLOP %: of the chip's "
    "peak, where the report tells. line: in the CSV, for ttnn-mcp op LINE."
)
PAGED = "optimization_check"  # its findings are joined; other tables are shown by the page


class Answered(NamedTuple):
    """An answer, and its runs by the names a person knows."""

    answer: dict[str, Any]
    named: list[str]


async def asked(
    session: Session, reader: argparse.Namespace, words: Sequence[str], tell: Callable[[str], None]
) -> Answered:
    """The answer to a command; a run that nobody named is told first, because the answer may be a refusal."""
    question = QUESTIONS[reader.command]
    each = ["group_by=none"] if getattr(reader, "each", False) else []
    wall = [] if getattr(reader, "wall_ms", None) is None else [f"wall_ms={reader.wall_ms}"]
    stated, named, choice = await arguments(session, question, [*words, *each, *wall])
    if choice:
        tell(choice)
    if question.tool == PAGED:
        answer = await all_findings(session, stated)
        return Answered(
            await _detailed(session, reader.details, stated, answer) if reader.details else answer, named
        )
    answer, _text = await answering.answer(session, tool_alone(question.tool), stated)
    return Answered(answer, named)


async def _detailed(
    session: Session, edit: str, stated: Mapping[str, object], whole: dict[str, Any]
) -> dict[str, Any]:
    """The answer about one edit, by its number in the plan or by its name.

    Raises:
        ArgumentsInvalid: the plan has no edit of that number.
    """
    names = {str(row["rank"]): row["edit"] for row in answering.records(whole.get("plan"))}
    if edit.isdecimal() and edit not in names:
        choice_of = f"it has {', '.join(names)}" if names else "it has none"
        raise ArgumentsInvalid(f"The plan has no edit {edit}: {choice_of}.")
    return await all_findings(session, {**stated, "details": [names.get(edit, edit)]})


async def all_findings(session: Session, stated: Mapping[str, object]) -> dict[str, Any]:
    """All pages of findings in one answer."""
    return await answering.all_findings(session, tool_alone(PAGED), stated)


def worded_for(reader: argparse.Namespace, asked: Answered, words: Sequence[str]) -> str:
    """An answer as JSON, as Markdown, or for the terminal."""
    answer, named = asked
    if reader.json:
        return answering.compact(answer) + "\n"
    if reader.markdown:
        return "\n".join(_as_markdown(reader.command, answer, titled(reader.command, named))).rstrip() + "\n"
    answer = answer_spoken_here(answer)
    if reader.command == "check" and "predicted" not in answer:
        screen = partial(check_screen, wall_ms=reader.wall_ms)
        form = edit_report if reader.details else check_report if reader.all else screen
        return form(answer, run=named[0], colour=coloured(sys.stdout), width=width())
    return _drawn(answer, named, reader.command, [*words, *(["--each"] if getattr(reader, "each", False) else [])])


def _as_markdown(command: str, answer: dict[str, Any], title: str) -> list[str]:
    """The lines of an answer; findings and comparisons in the form that they have in a report."""
    from ttnn_mcp.shell import markdown  # noqa: PLC0415 - only where Markdown is asked for

    forms = {"check": markdown.findings, "compare": markdown.compared}
    if command in forms and "predicted" not in answer:
        head = [f"### {markdown.text(title)}", "", *markdown.shortage(answer)]
        if command == "check" and answer.get("window"):
            head += [f"Window: {markdown.text(window_words(answer['window']))}.", ""]
            head += [markdown.text(f"{sentence.rstrip('.')}.") + "  " for sentence in verdict(answer)] + [""]
        return [*head, *forms[command](answer)]
    return markdown.page(title, outline_of(answer))


def titled(command: str, named: Sequence[str]) -> str:
    """The title of an answer."""
    return f"{worded(QUESTIONS[command].tool)}: {' and '.join(named)}" if named else worded(QUESTIONS[command].tool)


def _drawn(answer: dict[str, Any], named: Sequence[str], command: str, words: Sequence[str]) -> str:
    from ttnn_mcp.shell.tables import drawn  # noqa: PLC0415 - rich loads where something is drawn

    kept = [word for word in words if not word.startswith("cursor=")]
    further = more((command, *kept), answer)
    calls = [*([(further, "more rows")] if further else []), *following(answer, named[0] if named else None)]
    of_ops = command == "ops" and "total" in answer
    lines = [drawn(titled(command, named), ops_outline(answer) if of_ops else outline_of(answer))]
    lines += ["", *textwrap.wrap(LEGEND, width())] if of_ops else []
    lines += ["", "Next"] if calls else []
    lines += [f"{call}  # {why}" for call, why in calls]  # whole, so that they can be pasted
    return "\n".join(lines) + "\n"


def ops_outline(answer: dict[str, Any]) -> Outline:
    """The answer's outline; that of an answer about operations of the host stays as it is elsewhere."""
    total = answer["total"]
    kind = "groups" if "groups" in answer else "ops"
    table, columns = answer[kind], GROUPS if kind == "groups" else EACH
    facts = [
        ("window", window_words(answer["window"])),
        ("total", f"{ops_counted(total['count'])}, {total['kernel_us']:,} us of kernels"),
        *([("caveat", answer["caveat"])] if answer.get("caveat") else []),
    ]
    places = {
        heading: table["columns"].index(name) for heading, name in columns.items() if name in table["columns"]
    }
    rows = [
        tuple(TOLD.get(heading, lambda cell: cell)(row[place]) for heading, place in places.items())
        for row in table["rows"]
    ]
    devices = {row[place] for heading, place in places.items() if heading == "device" for row in table["rows"]}
    kept = [place for place, heading in enumerate(places) if heading != "device" or len(devices) > 1]
    headings = tuple(places)
    return Outline(
        facts,
        [
            Section(
                "", tuple(headings[place] for place in kept), [tuple(row[place] for place in kept) for row in rows]
            )
        ],
    )


def _short(name: Any) -> Any:
    """The name without 'DeviceOperation', and whatever stands behind it."""
    first, gap, rest = str(name).partition(" ")
    return f"{canonical(first)}{gap}{rest}"


def _percents(share: Any) -> Any:
    return None if share is None else measured(round(share * 100, 1), 1)


def _times(us: Any) -> Any:
    return measured(us, 1)


TOLD: dict[str, Callable[[Any], Any]] = {
    "op": _short,
    "time [us]": _times,
    "gap [us]": _times,
    "time %": _percents,
    "DRAM %": _percents,
    "FLOP %": _percents,
}

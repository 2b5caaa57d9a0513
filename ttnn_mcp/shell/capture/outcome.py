"""What `profile` and `capture` say of the reports they got.

`profile`: whether they can be believed, and what is slow. No times, raw timestamps, lost rows or no signposts show a
capture that went wrong. `capture`: does it fit L1, where is the peak, what is freed late, what was refused.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ttnn_mcp.errors import QuestionRefused, TtnnMcpError
from ttnn_mcp.quoting import line
from ttnn_mcp.run.run import Run
from ttnn_mcp.run.trust import dropped_rows
from ttnn_mcp.session.session import Session
from ttnn_mcp.shell.asking import all_findings
from ttnn_mcp.shell.call_arguments import tool_alone
from ttnn_mcp.shell.capture.failures import MORE_OPS, READ_OFTEN, Fault
from ttnn_mcp.shell.capture.mock_run import MockCapture
from ttnn_mcp.shell.capture.profiled import Capture
from ttnn_mcp.shell.check_screen import check_screen
from ttnn_mcp.shell.terminal import coloured, own_name, width
from ttnn_mcp.tools import answering

KERNEL_TIME = "DEVICE KERNEL DURATION"
FIRMWARE = "install the firmware that this tt-metal asks for, then profile again"
UNUSABLE = "no-times"
NO_TIMES = "no kernel ran: this report holds no times, and no results either (a check of values fails on it)"
LATER = "what ran after a device was closed is not recorded: capture one test at a time"
SHOWN = 3  # lines of each kind; `memory` has the rest
LONGEST = 240  # unmoved: memory_summary has cut TTNN's words to as many characters
WIDTH = 13  # of the words in front


async def findings_of(session: Session, capture: Capture) -> str:
    """The findings as `check` prints them; empty where the report holds no times."""
    memory = str(capture.memory_report) if capture.memory_report else None
    try:
        run = await session.open(str(capture.performance), memory)
        doubts = doubts_of(run)
        for doubt in doubts:
            capture.explain(doubt)
        if any(doubt.name == UNUSABLE for doubt in doubts):
            capture.status = capture.status or 1
            return ""
        answer = await all_findings(session, {"run": run.id})
    except TtnnMcpError as refusal:
        capture.tell(str(refusal))
        capture.status = capture.status or 1
        return ""
    return check_screen(answer, run=run.id, colour=coloured(sys.stdout), width=width())


def doubts_of(run: Run) -> list[Fault]:
    """The failures that the report shows, the worst first."""
    performance = run.performance
    if performance is None:
        return []
    absurd = [caveat for caveat in performance.csv.caveats if KERNEL_TIME in caveat]
    raw = f"{performance.outlasting} device ops have" if performance.outlasting else absurd and f"{absurd[0]}:"
    doubts = [Fault("raw-timestamps", f"{raw} raw timestamps instead of durations.", FIRMWARE)] if raw else []
    kernel = performance.steady.numbers("kernel_ns")
    if not kernel.any():
        what = "No device op has a kernel time: the device's profiler was off, or its log cannot be read."
        return [
            *doubts,
            Fault("no-times", what, "profile on a device, with a tt-metal that was built with Tracy"),
        ]
    dropped = dropped_rows(performance)
    if dropped:
        doubts.append(Fault("rows-dropped", f"{dropped[0]}.", READ_OFTEN, (f"--op-support-count={MORE_OPS}",)))
    if not performance.iterations.count and not len(performance.signposts):  # one is a trace's replay, so warm
        what = "No signpost and no repeated iteration: nothing tells a warm pass from the first."
        doubts.append(
            Fault("no-signposts", what, 'run the model three times, tracy.signpost("iteration") before each')
        )
    return doubts


async def answers_of(session: Session, capture: MockCapture, *, as_json: bool) -> str:
    """The answers in lines, or all of `memory_summary` as JSON."""
    try:
        run = await session.open(None, str(capture.report))
        answer, _text = await answering.answer(session, tool_alone("memory_summary"), {"run": run.id})
        predicted = await _predicted(session, run.id)
    except TtnnMcpError as refusal:
        capture.tell(f"{refusal} {line(capture.shortage, LONGEST)}".strip())
        capture.status = capture.status or 1
        return ""
    if as_json:
        made = {
            "arch": capture.arch,
            "ttnn": capture.build.version,
            "status": capture.status,
            "times": None,
            "unrecorded": capture.is_part,
        }
        return answering.compact({"run": run.id, "capture": made, "memory": answer, "predicted": predicted}) + "\n"
    made = f"{capture.arch}, TTNN {capture.build.version or 'of unknown version'}"
    ran = f"{len(run.memory_report.operations):,} operations"
    early = (
        f", then the program ended with status {capture.status}: nothing is known beyond" if capture.status else ""
    )
    later = f"; {LATER}" if capture.is_part else ""
    beyond = capture.shortage if capture.status and " L1" in capture.shortage else ""
    rows = [
        ("mock device", f"{made}: {NO_TIMES}"),
        ("ran", f"{ran}{early}{later}"),
        *rows_of(answer, is_whole=not (capture.status or capture.is_part), beyond=beyond),
        *_plan(predicted),
    ]
    more = f"\nNext\n{own_name()} memory {run.id}\n{own_name()} check {run.id}\n"
    return "".join(f"{name:<{WIDTH}}{text}\n" for name, text in rows) + more


def rows_of(answer: Mapping[str, Any], *, is_whole: bool, beyond: str = "") -> list[tuple[str, str]]:
    """The lines on memory, each with the word in front of it.

    Args:
        answer: of `memory_summary`.
        is_whole: whether all that the program would do was recorded.
        beyond: TTNN's last words on L1 that ran out; the report may know nothing of it.
    """
    errors: Sequence[Mapping[str, Any]] = answer["errors"]
    short = [one for one in errors if "ran_out_of" in one]
    refused = [one for one in errors if one not in short]
    return [
        ("fits L1", _verdict(answer, short, beyond, is_whole=is_whole)),
        ("peak", _peak(answer)),
        *_led("freed late", list(_late(answer))),
        *_led("ran out", _shortages(answer, short)),
        *_led("refused", [f"{_place(one)}: {_reason(one)}" for one in refused]),
    ]


async def _predicted(session: Session, run: str) -> Mapping[str, Any] | None:
    """The plan by laws of time; None where no device op ran."""
    try:
        return (await answering.answer(session, tool_alone("optimization_check"), {"run": run}))[0]["predicted"]
    except QuestionRefused:
        return None


def _plan(answer: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """What laws of time expect of a run, and of what settings and moves they expect to change it."""
    if answer is None:
        return []
    totals = [_within(one, "predicted") for one in answering.records(answer.get("total"))]
    rows = answering.records(answer["changes"])
    timed = [one for one in rows if one["then_us"] is not None]
    moves = len(rows) - len(timed) + answer.get("more_changes", 0)
    return _led(
        "predicted",
        [
            answer["why"].removeprefix("predicted, "),
            *(
                f"operation {one['op']} {one['op_code']}, {one['ops']} alike: {one['change']}, "
                f"{_within(one, 'then')} instead of {_within(one, 'predicted')}"
                for one in timed
            ),
            *([f"with these settings {totals[1]} instead of {totals[0]}"] if timed else []),
            *([f"and {moves} more that may change: {own_name()} check"] if moves else []),
        ],
    )


def _within(one: Mapping[str, Any], name: str) -> str:
    low, high = (one[f"{'then_' if name == 'then' else ''}{end}_us"] for end in ("low", "high"))
    return f"{one[f'{name}_us']:,.0f} us ({low:,.0f} to {high:,.0f})"


def _led(word: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    return [(word if number == 0 else "", text) for number, text in enumerate(texts or ["nothing"])]


def _verdict(answer: Mapping[str, Any], short: Sequence[Mapping[str, Any]], beyond: str, *, is_whole: bool) -> str:
    if any(one["ran_out_of"].startswith("L1") for one in short):
        return "no"
    if beyond:
        return f"no: {line(beyond, LONGEST)}"
    return _fits(answer) if is_whole else f"as far as it was recorded: {_fits(answer)}"


def _fits(answer: Mapping[str, Any]) -> str:
    peak = answer["l1_peak"]
    if peak["capacity_bytes"] is None:
        return "not known: the report does not tell how much L1 there is"
    if answer.get("floor"):
        return f"as far as it is known, and the peak is a floor: {answer['why']}"
    programs: Mapping[str, Any] = answer.get("programs") or {}
    modelled = programs.get("modelled")
    by = f"; circular buffers of {modelled} programs by our models" if modelled else ""
    return f"yes{by}"


def _peak(answer: Mapping[str, Any]) -> str:
    peak = answer["l1_peak"]
    level, capacity = peak["bytes_per_bank"], peak["capacity_bytes"]
    of = f" of {capacity:,} ({level / capacity:.0%})" if capacity else ""
    parts = f"tensors {peak['tensors_bytes']:,}, circular buffers {peak['circular_buffers_bytes']:,}"
    return f"{_place(peak)}: {level:,}{of} bytes of each core's L1; {parts}"


def _late(answer: Mapping[str, Any]) -> Iterator[str]:
    late = answering.records(answer["late_frees"])
    for one in late[:SHOWN]:
        since = f"{one['operations_run_since']} operations after its last use"
        where = f" ({one['line']})" if one["line"] else ""
        yield f"tensor {one['tensor']}{where}: {one['bytes_per_bank']:,} bytes per core, for {since}"
    more = len(late[SHOWN:]) + answer.get("more_late_frees", 0)
    if late:
        all_of_them = f"and {more} more; " if more else ""
        yield f"{all_of_them}in time, the peak is {answer.get('late_frees_return_bytes', 0):,} bytes lower"


def _shortages(answer: Mapping[str, Any], errors: Sequence[Mapping[str, Any]]) -> list[str]:
    """The first in the sentence that tells what helps, then where others ran out."""
    return (
        [answer["ran_out"], *(f"{_place(one)}: {one['ran_out_of']}" for one in errors[1:SHOWN])] if errors else []
    )


def _reason(one: Mapping[str, Any]) -> str:
    """TTNN's own words, without the condition in C++ before them."""
    message = one.get("message") or one.get("kind") or "TTNN gives no reason"
    return line(message.rpartition(" info: ")[2], LONGEST)


def _place(one: Mapping[str, Any]) -> str:
    line = f" ({one['line']})" if one.get("line") else ""
    return f"operation {one['operation']} {one['name']}{line}"

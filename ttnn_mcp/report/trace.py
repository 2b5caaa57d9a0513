"""A run as a trace that Perfetto opens: devices with their ops, gaps, stages and cores, and the findings."""

from __future__ import annotations

from itertools import count as counting
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.report.schedule import Slot, slots_of
from ttnn_mcp.report.track_events import beginning, count, piece, process, track

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ttnn_mcp.report.answers import Answers

FINDINGS = "findings (on the ops they cite)"
BEGINNING = beginning()
FINDINGS_PID = 1_000_000  # behind every device


def trace(answers: Answers) -> bytes:
    """The trace.

    Raises:
        QuestionRefused: the run has no device times.
    """
    if answers.ops is None or not answers.ops["ops"]["rows"]:
        raise QuestionRefused("This run has no device times, and a trace shows nothing else. Take --html.")
    return BEGINNING + b"".join(_packets(answers, answers.ops["ops"]))


def _packets(answers: Answers, ops: dict[str, Any]) -> Iterator[bytes]:
    names = counting(1)
    slots = slots_of(ops["columns"], ops["rows"])
    by_device: dict[int, list[Slot]] = {}
    for slot in slots:
        by_device.setdefault(slot.device, []).append(slot)
    for device, ran in by_device.items():
        group = next(names)
        yield process(group, device + 1, f"device {device}")
        yield from _stages(answers, ran, group, names)
        yield from _ops(answers, ops, ran, group, names)
        yield from _gaps(ops, ran, group, names)
        yield from _cores(ops, ran, group, names)
    if answers.check:
        yield from _findings(answers.check, ops, slots, names)


def _ops(
    answers: Answers, ops: dict[str, Any], ran: list[Slot], group: int, names: Iterator[int]
) -> Iterator[bytes]:
    """Ops that run side by side take tracks of their own: slices of one track must nest."""
    rooflines = answers.rooflines or {"columns": [], "rows": []}
    tracks: list[tuple[int, int]] = []  # (uuid, end of its last op)
    for slot in ran:
        place = next((at for at, (_, end) in enumerate(tracks) if end <= slot.start_ns), None)
        if place is None:
            place = len(tracks)
            tracks.append((next(names), 0))
            yield track(tracks[place][0], group, "ops" if not place else f"ops side by side {place}", 1)
        tracks[place] = (tracks[place][0], slot.end_ns)
        notes = dict(zip(ops["columns"], ops["rows"][slot.row], strict=True))
        roofline = dict(zip(rooflines["columns"], rooflines["rows"][slot.row], strict=True))
        name, notes["line"] = notes.pop("op_code"), notes.pop("op")
        yield piece(
            tracks[place][0], (slot.start_ns, slot.end_ns), name, notes["bound"] or "op", {**roofline, **notes}
        )


def _gaps(ops: dict[str, Any], ran: list[Slot], group: int, names: Iterator[int]) -> Iterator[bytes]:
    uuid, columns = next(names), ops["columns"]
    yield track(uuid, group, "gaps", 2)
    for slot in (slot for slot in ran if slot.gap_ns):
        notes = {"before_line": ops["rows"][slot.row][columns.index("op")]}
        yield piece(uuid, (slot.start_ns - slot.gap_ns, slot.start_ns), "gap", "gap", notes)


def _stages(answers: Answers, ran: list[Slot], group: int, names: Iterator[int]) -> Iterator[bytes]:
    """Ops of one stage that follow each other, as one slice."""
    stretches: list[tuple[str, int, int, int]] = []  # stage, start, end, row of the last op
    for slot in ran:
        stage = answers.stage_of_op[slot.row]
        if stage is None:
            continue
        if stretches and stretches[-1][0] == stage and stretches[-1][3] == slot.row - 1:
            stretches[-1] = (stage, stretches[-1][1], max(slot.end_ns, stretches[-1][2]), slot.row)
        else:
            stretches.append((stage, slot.start_ns, slot.end_ns, slot.row))
    if stretches:
        uuid = next(names)
        yield track(uuid, group, "stages", 0)
        for stage, start, end, _ in stretches:
            yield piece(uuid, (start, end), stage, "stage", {})


def _cores(ops: dict[str, Any], ran: list[Slot], group: int, names: Iterator[int]) -> Iterator[bytes]:
    """Cores of the op that runs; none within a gap."""
    uuid, at = next(names), ops["columns"].index("cores")
    yield track(uuid, group, "cores", 3, counts=True)
    for slot in ran:
        cores = ops["rows"][slot.row][at]
        if slot.gap_ns:
            yield count(uuid, slot.start_ns - slot.gap_ns, 0)
        if cores is not None:
            yield count(uuid, slot.start_ns, int(cores))
    yield count(uuid, max(slot.end_ns for slot in ran), 0)


def _findings(
    check: dict[str, Any], ops: dict[str, Any], slots: list[Slot], names: Iterator[int]
) -> Iterator[bytes]:
    """A track per finding, with a slice on every op that it cites."""
    group, at = next(names), ops["columns"].index("op")
    by_line = {ops["rows"][slot.row][at]: slot for slot in slots}
    yield process(group, FINDINGS_PID, FINDINGS)
    for rank, finding in enumerate(check["findings"], start=1):
        lines = dict.fromkeys(cell["row"] for cell in finding["evidence"] if cell["row"] in by_line)
        cited = sorted((by_line[line] for line in lines), key=lambda slot: (slot.start_ns, slot.row))
        if not cited:
            continue
        uuid = next(names)
        yield track(uuid, group, f"{rank}. {finding['check']}", rank)
        saving = {f"saving_us_{bound}": us for bound, us in finding["saving_us"].items()}
        notes = {name: finding.get(name) for name in ("claim", "assumption", "fix", "verify", "caveat", "step")}
        reached = -1
        for slot in cited:
            if slot.start_ns < reached:  # two devices at once: the first stands for both
                continue
            reached = slot.end_ns
            line = ops["rows"][slot.row][at]
            yield piece(
                uuid, (slot.start_ns, slot.end_ns), finding["check"], "finding", {"line": line, **saving, **notes}
            )

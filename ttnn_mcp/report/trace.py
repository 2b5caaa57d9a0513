"""A run as a trace that Perfetto opens: devices with their ops, gaps, stages and cores, and the findings.

Tracks, slices and counters are written in as much of the protobuf wire format as they need. Field numbers are those of
protos/perfetto/trace/ (trace_packet.proto, track_event/track_event.proto, track_event/track_descriptor.proto,
track_event/debug_annotation.proto). The tests read them back with Perfetto's own classes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from itertools import count as counting
from typing import Any

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.report.answers import Answers
from ttnn_mcp.report.plotted import Slot, slots_of

VARINT, DOUBLE, BYTES = 0, 1, 2  # wire types: developers.google.com/protocol-buffers, "Encoding"
PACKET = 1
TIMESTAMP, SEQUENCE, TRACK_EVENT, SEQUENCE_FLAGS, TRACK_DESCRIPTOR = 8, 10, 11, 13, 60
ANNOTATIONS, TYPE, TRACK, CATEGORIES, NAME, COUNT = 4, 9, 11, 22, 23, 30
UUID, TRACK_NAME, PROCESS, PARENT, COUNTER, CHILD_ORDERING, RANK = 1, 2, 3, 5, 8, 11, 12
PID, PROCESS_NAME = 1, 6
BEGIN, END, COUNTS = 1, 2, 4  # TrackEvent.Type
EXPLICIT = 3  # TrackDescriptor.ChildTracksOrdering: by rank
ANNOTATION_NAME, BOOL, WHOLE, FRACTION, STRING = 10, 2, 4, 5, 6
ONE_WRITER = 1  # everything comes from one sequence
CLEARED = 1  # SEQ_INCREMENTAL_STATE_CLEARED: nothing of an earlier trace is referred to


def beginning() -> bytes:
    """The first packet, the same in every trace."""
    return message(PACKET, whole(SEQUENCE, ONE_WRITER), whole(SEQUENCE_FLAGS, CLEARED))


def process(uuid: int, pid: int, name: str) -> bytes:
    """A group of tracks."""
    return _descriptor(
        whole(UUID, uuid),
        message(PROCESS, whole(PID, pid), text(PROCESS_NAME, name)),
        whole(CHILD_ORDERING, EXPLICIT),
    )


def track(uuid: int, parent: int, name: str, rank: int, *, counts: bool = False) -> bytes:
    """A track inside a group; of slices, or of a counter."""
    counter = message(COUNTER) if counts else b""
    return _descriptor(whole(UUID, uuid), text(TRACK_NAME, name), whole(PARENT, parent), whole(RANK, rank), counter)


def piece(uuid: int, from_to_ns: tuple[int, int], name: str, category: str, notes: Mapping[str, Any]) -> bytes:
    """A slice: what ran from one time to another, with notes that a click shows."""
    start_ns, end_ns = from_to_ns
    annotations = [_note(label, value) for label, value in notes.items() if value is not None]
    begin = (whole(TYPE, BEGIN), whole(TRACK, uuid), text(CATEGORIES, category), text(NAME, name), *annotations)
    return _event(start_ns, *begin) + _event(end_ns, whole(TYPE, END), whole(TRACK, uuid))


def count(uuid: int, at_ns: int, value: int) -> bytes:
    """A counter's value from a time on."""
    return _event(at_ns, whole(TYPE, COUNTS), whole(TRACK, uuid), whole(COUNT, value))


def _note(name: str, value: Any) -> bytes:
    label = text(ANNOTATION_NAME, name)
    if isinstance(value, bool):
        return message(ANNOTATIONS, label, whole(BOOL, int(value)))
    if isinstance(value, int):
        return message(ANNOTATIONS, label, whole(WHOLE, value))
    if isinstance(value, float):
        return message(ANNOTATIONS, label, double(FRACTION, value))
    return message(ANNOTATIONS, label, text(STRING, str(value)))


def _descriptor(*parts: bytes) -> bytes:
    return message(PACKET, whole(SEQUENCE, ONE_WRITER), message(TRACK_DESCRIPTOR, *parts))


def _event(at_ns: int, *parts: bytes) -> bytes:
    return message(PACKET, whole(TIMESTAMP, at_ns), whole(SEQUENCE, ONE_WRITER), message(TRACK_EVENT, *parts))


def varint(value: int) -> bytes:
    """A whole number, seven bits a byte; a negative one as its 64-bit complement."""
    value &= (1 << 64) - 1
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def whole(field: int, value: int) -> bytes:
    """A field that holds a whole number, a truth value or an enum."""
    return _key(field, VARINT) + varint(value)


def double(field: int, value: float) -> bytes:
    """A field that holds a number with a fraction."""
    return _key(field, DOUBLE) + struct.pack("<d", value)


def message(field: int, *parts: bytes) -> bytes:
    """A field that holds a message, or bytes."""
    inside = b"".join(parts)
    return _key(field, BYTES) + varint(len(inside)) + inside


def text(field: int, value: str) -> bytes:
    """A field that holds a text."""
    return message(field, value.encode(errors="replace"))


def _key(field: int, wire_type: int) -> bytes:
    """What stands before a field's value."""
    return varint(field << 3 | wire_type)


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

"""The parts of a Perfetto trace (tracks, slices, counters), in as much of the protobuf wire format as they need.

Field numbers: protos/perfetto/trace/ of Perfetto (trace_packet.proto, track_event/track_event.proto,
track_event/track_descriptor.proto, track_event/debug_annotation.proto). The tests read them back with Perfetto's own
classes.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

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

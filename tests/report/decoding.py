"""A trace read back by Perfetto's field numbers, without any code of ours. `browser/` reads it with Perfetto's classes."""

import struct
from collections import defaultdict

# protos/perfetto/trace/trace_packet.proto, track_event/track_event.proto, track_descriptor.proto, debug_annotation.proto
PACKET, TIMESTAMP, SEQUENCE, EVENT, FLAGS, DESCRIPTOR = 1, 8, 10, 11, 13, 60
TYPE, TRACK, NAME, CATEGORY, ANNOTATION, COUNT = 9, 11, 23, 22, 4, 30
BEGIN, END, COUNTER = 1, 2, 4
NOTE_NAME, NOTE_KINDS = 10, {2: bool, 4: int, 5: float, 6: str}


def _varint(coded, at):
    value = shift = 0
    while True:
        byte = coded[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(coded):
    """The values of each field: whole numbers, floats, or bytes."""
    found, at = defaultdict(list), 0
    while at < len(coded):
        key, at = _varint(coded, at)
        if key % 8 == 0:
            value, at = _varint(coded, at)
        elif key % 8 == 1:
            value, at = struct.unpack("<d", coded[at : at + 8])[0], at + 8
        else:
            assert key % 8 == 2
            size, at = _varint(coded, at)
            value, at = coded[at : at + size], at + size
            assert len(value) == size
        found[key // 8].append(value)
    return found


def note(coded):
    """A note of a slice: its name and its value, of the type that it was written with."""
    parts = fields(coded)
    (kind,) = NOTE_KINDS.keys() & parts.keys()
    (value,) = parts[kind]
    return parts[NOTE_NAME][0].decode(), value.decode() if kind == 6 else NOTE_KINDS[kind](value)


class Trace:
    """What a trace holds.

    Attributes:
        groups: name, number of the process and order of its tracks, of each group.
        tracks: (group, name, rank, whether it counts) of each track.
        slices: (name, start, end, category, notes) by the track's name, in the order they begin.
        counts: (time, value) by the track's name.
    """

    def __init__(self, coded):
        self.groups, self.tracks, self.slices, self.counts = {}, {}, defaultdict(list), defaultdict(list)
        waiting = {}
        first, *packets = (fields(packet) for packet in fields(coded)[PACKET])
        assert (first[SEQUENCE], first[FLAGS]) == ([1], [1])  # SEQ_INCREMENTAL_STATE_CLEARED
        for packet in packets:
            assert packet[SEQUENCE] == [1]
            if DESCRIPTOR in packet:
                self._described(fields(packet[DESCRIPTOR][0]))
                continue
            event, (at,) = fields(packet[EVENT][0]), packet[TIMESTAMP]
            (uuid,), (kind,) = event[TRACK], event[TYPE]
            name = self.tracks[uuid][1]
            if kind == BEGIN:
                notes = dict(note(each) for each in event[ANNOTATION])
                waiting[uuid] = (event[NAME][0].decode(), at, event[CATEGORY][0].decode(), notes)
            elif kind == END:
                called, start, category, notes = waiting.pop(uuid)
                self.slices[name].append((called, start, at, category, notes))
            else:
                assert kind == COUNTER
                self.counts[name].append((at, event[COUNT][0]))
        assert not waiting

    def _described(self, parts):
        (uuid,) = parts[1]
        if 3 in parts:
            of = fields(parts[3][0])
            self.groups[uuid] = (of[6][0].decode(), of[1][0], parts[11][0])
        else:
            group = self.groups[parts[5][0]][0]
            self.tracks[uuid] = (group, parts[2][0].decode(), parts[12][0], 8 in parts)

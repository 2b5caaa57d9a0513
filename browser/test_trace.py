"""The trace by Perfetto's own schema; and in its trace processor, where that can be had."""

import os
import shutil
from pathlib import Path

import pytest

from browser.elsewhere import elsewhere
from tests.asking import session
from tests.language_model import LanguageModel
from tests.profiles import write_performance_report
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.report.trace import trace

schema = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
Event = schema.TrackEvent


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    return elsewhere(lambda: answers_of(session(tmp_path_factory.mktemp("state")), "demo", None))


def packets_of(answers):
    return schema.Trace.FromString(trace(answers)).packet


def tracks_of(packets):
    return {
        packet.track_descriptor.uuid: packet.track_descriptor
        for packet in packets
        if packet.HasField("track_descriptor")
    }


def slices_of(packets, named):
    """(name, start, end, notes) of the slices on tracks of this name."""
    wanted = {uuid for uuid, track in tracks_of(packets).items() if track.name == named}
    open_slices, closed = {}, []
    for packet in packets:
        event = packet.track_event
        if event.track_uuid not in wanted or event.type == Event.TYPE_COUNTER:
            continue
        if event.type == Event.TYPE_SLICE_BEGIN:
            notes = {note.name: getattr(note, note.WhichOneof("value")) for note in event.debug_annotations}
            open_slices.setdefault(event.track_uuid, []).append((event.name, packet.timestamp, notes))
        else:
            name, start, notes = open_slices[event.track_uuid].pop()
            closed.append((name, start, packet.timestamp, notes))
    assert not any(open_slices.values())
    return closed


def test_nothing_in_the_trace_is_unknown_to_perfetto(answers):
    from google.protobuf.unknown_fields import UnknownFieldSet

    def check(message):
        assert not len(UnknownFieldSet(message))
        for field, value in message.ListFields():
            if field.type == field.TYPE_MESSAGE:
                for each in value if field.is_repeated else [value]:
                    check(each)

    packets = packets_of(answers)
    assert len(packets) > 100
    for packet in packets:
        check(packet)


def test_every_op_and_gap_is_a_slice_with_its_numbers(answers):
    packets, table = packets_of(answers), answers.ops["ops"]
    ops, gaps = slices_of(packets, "ops"), slices_of(packets, "gaps")
    assert len(ops) == len(table["rows"])
    for (name, start, end, notes), row in zip(ops, table["rows"], strict=True):
        told = dict(zip(table["columns"], row, strict=True))
        assert name == told["op_code"]
        assert end - start == round(told["kernel_us"] * 1000)
        assert notes["line"] == told["op"]
        assert notes["cores"] == told["cores"]
        assert notes["shapes"] == told["shapes"]
    assert [end - start for _, start, end, _ in gaps] == [round(row[5] * 1000) for row in table["rows"][1:]]


def test_every_finding_lies_on_the_ops_it_cites(answers):
    packets = packets_of(answers)
    lines = [row[0] for row in answers.ops["ops"]["rows"]]
    for rank, finding in enumerate(answers.check["findings"], start=1):
        cited = {cell["row"] for cell in finding["evidence"] if cell["row"] in lines}
        shown = slices_of(packets, f"{rank}. {finding['check']}")
        assert {notes["line"] for *_, notes in shown} == cited
        for *_, notes in shown:
            assert notes["saving_us_at_most"] == finding["saving_us"]["at_most"]


def test_time_never_runs_backwards_on_a_track_and_cores_are_counted(answers):
    packets = packets_of(answers)
    seen, counts = {}, []
    for packet in packets:
        if packet.HasField("track_event"):
            track = packet.track_event.track_uuid
            assert packet.timestamp >= seen.get(track, 0)
            seen[track] = packet.timestamp
            if packet.track_event.type == Event.TYPE_COUNTER:
                counts.append(packet.track_event.counter_value)
    assert set(counts) == {0, *(row[6] for row in answers.ops["ops"]["rows"])}


def test_every_track_hangs_on_a_process(answers):
    tracks = tracks_of(packets_of(answers))
    groups = {uuid for uuid, track in tracks.items() if track.HasField("process")}
    assert groups
    assert all(track.parent_uuid in groups for uuid, track in tracks.items() if uuid not in groups)


def test_stages_of_a_language_model_are_slices(tmp_path):
    path = write_performance_report(tmp_path, LanguageModel().prefill().decode().decode())
    told = elsewhere(lambda: answers_of(session(tmp_path), str(path), None))
    assert told.stages["stages"]["rows"]
    stages = slices_of(packets_of(told), "stages")
    assert {name for name, *_ in stages} == {row[0] for row in told.stages["stages"]["rows"]}


def test_the_trace_processor_reads_it(answers, tmp_path):
    program = os.environ.get("TRACE_PROCESSOR") or shutil.which("trace_processor_shell")
    if program is None:
        pytest.skip("no trace processor: name Perfetto's trace_processor_shell with TRACE_PROCESSOR=...")
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    path = Path(tmp_path / "run.pftrace")
    path.write_bytes(trace(answers))
    with TraceProcessor(trace=str(path), config=TraceProcessorConfig(bin_path=program)) as processor:
        rows = list(processor.query("select count(*) as n from slice where category != 'gap'"))
        assert rows[0].n >= len(answers.ops["ops"]["rows"])
        errors = processor.query("select name, value from stats where severity = 'error' and value > 0")
        assert not list(errors)

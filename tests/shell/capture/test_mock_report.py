"""What is said of a report from mock devices."""

import json
from pathlib import Path

from tests.analyses.settings.graphs import MATMUL, graph, report
from tests.asking import session
from tests.for_all import for_all
from tests.shared_reports import shared
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell.capture.mock_run import MockCapture
from ttnn_mcp.shell.capture.outcome import LATER, answers_of, rows_of
from ttnn_mcp.shell.capture.recorded import UNRECORDED
from ttnn_mcp.shell.capture.target import Build

LATE = ("tensor", "bytes_per_bank", "last_use", "freed", "operations_run_since", "headroom_bytes", "line")


def answer(errors=(), late=(), **changes):
    """An answer of memory_summary, as far as it is read here."""
    peak = {
        "operation": 7,
        "name": "ttnn.linear",
        "line": "m.py:3",
        "bytes_per_bank": 600_000,
        "capacity_bytes": 1_200_000,
    }
    peak |= {"tensors_bytes": 400_000, "circular_buffers_bytes": 200_000, **changes.pop("peak", {})}
    rows = [list(one) for one in late]
    return {"l1_peak": peak, "errors": list(errors), "late_frees": {"columns": list(LATE), "rows": rows}, **changes}


def told(*asked, is_whole=True, beyond="", **named):
    rows = rows_of(answer(*asked, **named), is_whole=is_whole, beyond=beyond)
    return {word: text for word, text in rows if word}, [text for _word, text in rows]


def test_a_run_that_fits():
    words, _texts = told()
    assert words == {
        "fits L1": "yes",
        "peak": "operation 7 ttnn.linear (m.py:3): 600,000 of 1,200,000 (50%) bytes of each core's L1; tensors 400,000, "
        "circular buffers 200,000",
        "freed late": "nothing",
        "ran out": "nothing",
        "refused": "nothing",
    }  # fmt: skip


@for_all(
    ("changes", "says"),
    [
        ({"programs": {"modelled": 3}}, "yes; circular buffers of 3 programs by our models"),
        ({"floor": True, "why": "no graphs"}, "as far as it is known, and the peak is a floor: no graphs"),
        ({"is_whole": False}, "as far as it was recorded: yes"),
        ({"beyond": "Out of Memory: no L1 is left"}, "no: Out of Memory: no L1 is left"),
        ({"peak": {"capacity_bytes": None}}, "not known: the report does not tell how much L1 there is"),
    ],
)
def test_what_the_verdict_rests_on_is_said(changes, says):
    assert told(**changes)[0]["fits L1"] == says


SHORT = {"operation": 9, "name": "ttnn.add", "line": None, "ran_out_of": "L1 for a tensor", "asked_bytes": 65_536, "short_bytes": 32_096}  # fmt: skip
DRAM = {"operation": 8, "name": "ttnn.add", "ran_out_of": "DRAM for a tensor", "asked_bytes": 9}
SENTENCE = "ran out of DRAM for a tensor in operation 8 ttnn.add"
REFUSED = {"operation": 4, "name": "ttnn.matmul", "line": "m.py:9", "message": "TT_FATAL @ a.cpp:1: a == b info: Widths differ."}  # fmt: skip


def test_what_ran_out_is_told_with_a_remedy_and_does_not_fit():
    words, texts = told([DRAM, SHORT, SHORT, SHORT, REFUSED], ran_out=SENTENCE)
    assert (words["fits L1"], words["ran out"]) == ("no", SENTENCE)
    assert texts[4:] == [
        *["operation 9 ttnn.add: L1 for a tensor"] * 2,
        "operation 4 ttnn.matmul (m.py:9): Widths differ.",
    ]
    assert told([DRAM], ran_out=SENTENCE)[0]["fits L1"] == "yes"


def test_what_was_refused_is_told_in_ttnns_words():
    assert told([REFUSED])[0]["refused"] == "operation 4 ttnn.matmul (m.py:9): Widths differ."
    assert told([{**REFUSED, "message": None, "kind": "ValueError"}])[0]["refused"].endswith(": ValueError")
    assert told([{**REFUSED, "message": None}])[0]["refused"].endswith(": TTNN gives no reason")
    assert len(told([REFUSED] * 2)[1]) == 6


def test_late_frees_are_told_up_to_three_and_the_rest_counted():
    late = [(one, 1000, 1, None, 5, 10, "m.py:2" if one else None) for one in range(4)]
    texts = told(late=late, more_late_frees=2, late_frees_return_bytes=4096)[1]
    assert texts[2] == "tensor 0: 1,000 bytes per core, for 5 operations after its last use"
    assert texts[3].startswith("tensor 1 (m.py:2): ")
    assert texts[5] == "and 3 more; in time, the peak is 4,096 bytes lower"
    assert told(late=late[:1])[1][3] == "in time, the peak is 0 bytes lower"


async def test_a_report_that_cannot_be_read_fails_the_capture_in_a_sentence(tmp_path):
    sentences = []
    made = MockCapture([], "n150", None, 1, None, tmp_path, sentences.append)
    made.report = tmp_path / "db.sqlite"
    made.report.write_bytes(b"\0" * 1000)
    assert await answers_of(session(tmp_path), made, as_json=False) == ""
    assert (made.status, len(sentences)) == (1, 1)
    assert "Memory" not in sentences[0]
    for text in ("TT_FATAL: Out of Memory: no room for it (a.cpp:3)\n", "other words\n"):
        made.heard(text)
    await answers_of(session(tmp_path), made, as_json=False)
    assert sentences[1] == f"{sentences[0]} Out of Memory: no room for it (a.cpp:3)"


async def test_what_laws_expect_is_told_as_predicted_with_what_they_would_change(tmp_path):
    made = MockCapture([], "n150", None, 1, None, tmp_path, print)
    made.report = shared("../real/reports/llama_decode") / "db.sqlite"
    lines = (await answers_of(session(tmp_path), made, as_json=False)).splitlines()
    at = next(
        place for place, line in enumerate(lines) if line.startswith("predicted    not measured: laws of time")
    )
    assert lines[at + 1].split(maxsplit=1) == [
        "operation",
        "26 Matmul, 4 alike: in0_block_w: 4 -> 8, 815 us (774 to 855) instead of 893 us (849 to 938)",
    ]
    assert lines[at + 5].strip() == (
        "with these settings 1,709 us (1,623 to 1,794) instead of 1,871 us (1,778 to 1,965)"
    )
    assert (lines[-2].split()[-2], lines[-1].split()[-2]) == ("memory", "check")
    told = json.loads(await answers_of(session(tmp_path), made, as_json=True))
    assert told["predicted"]["changes"]["rows"][0][:2] == [26, "Matmul"]


async def test_nothing_is_predicted_of_a_program_that_died_in_its_first_op(tmp_path):
    died = graph("MatmulDeviceOperation", MATMUL, [(1, 1, 64, 64)] * 2, (1, 1, 64, 64), ends=False)
    made = MockCapture([], "n150", None, 1, None, tmp_path, print)
    made.report = Path(report(tmp_path / "memory", ("ttnn.matmul", died, {})))
    assert "predicted" not in await answers_of(session(tmp_path), made, as_json=False)
    unknown = graph("XDeviceOperation", "x(", [(32, 32)], (32, 32))
    made.report = Path(report(tmp_path / "no_law", ("ttnn.x", unknown, {})))
    text = await answers_of(session(tmp_path), made, as_json=False)
    assert "predicted    not measured: laws of time speak of 0 of 1 device ops" in text
    assert "with these settings" not in text


async def test_the_demo_is_told_with_what_comes_next(tmp_path):
    build = Build("0.81.1", frozenset(), joins=False, records_graph=True)
    made = MockCapture([], "n150", None, 1, None, tmp_path, print, build=build)
    made.report = Path(demo_reports()[1], "db.sqlite")
    text = await answers_of(session(tmp_path), made, as_json=False)
    first, second, *_rest, last, _ops = text.splitlines()
    assert first.startswith("mock device  n150, TTNN 0.81.1: no kernel ran: this report holds no times")
    assert second.startswith("ran          ")
    assert second.endswith(" operations")
    assert " memory " in last
    assert "\nfits L1      yes" in text
    made.heard("ttnn-mcp: " + UNRECORDED.partition(": ")[2] + " And more.\n")
    made.heard("Out of Memory: no L1 buffer is left\n")
    text = await answers_of(session(tmp_path), made, as_json=False)
    assert f"operations; {LATER}\nfits L1      as far as it was recorded: yes" in text
    assert json.loads(await answers_of(session(tmp_path), made, as_json=True))["capture"]["unrecorded"] is True
    made.status = 1
    text = await answers_of(session(tmp_path), made, as_json=False)
    assert f"nothing is known beyond; {LATER}\nfits L1      no: Out of Memory: no L1 buffer is left\n" in text
    made.heard("Out of Memory: no DRAM buffer is left\n")
    made.is_part = False
    text = await answers_of(session(tmp_path), made, as_json=False)
    assert "nothing is known beyond\nfits L1      as far as it was recorded: yes" in text

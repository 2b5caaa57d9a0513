"""prove=true: which Python, which chip, with which limits, and what is said where nothing can be proven."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.replay.made import CONFIG, linear, report
from tests.replay.rows import report_of
from tests.shared_reports import SEGFORMER, shared
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.replay import proof
from ttnn_mcp.replay.interpreters import Interpreter
from ttnn_mcp.replay.mock_chips import KINDS, description, kind_of
from ttnn_mcp.replay.results import TriedCandidate
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools.parts.replays import _why

RESOURCES = Path(__file__).parents[2] / "resources"
ANSWERING = """
import json, os, sys
out = sys.argv[sys.argv.index("--out") + 1]
assert "--accept" in sys.argv and os.environ["TT_METAL_MOCK_CLUSTER_DESC_PATH"].endswith("cluster_descriptor.yaml")
import resource
assert resource.getrlimit(resource.RLIMIT_AS)[0] == 12 << 30
facts = {"line": 3, "op": "Matmul", "signature": "0" * 16, "tuned": "0" * 16, "arch": None, "clock_ghz": None}
told = {"name": "as profiled", "settings": {}, "outcome": "accepted", "buffer_bytes": 7, "tensor_bytes": 8}
told |= {"device_ops": ["MatmulDeviceOperation"], "output": {"shape": "Shape([1])"}}
facts |= {"kernel_us": None, "floor_us": None, "mode": "accepted", "chip": {"arch": "wormhole_b0", "mock": IS_IT}}
json.dump({"format": "ttnn-mcp replay 1", **facts, "candidates": [told]}, open(out, "w"))
"""


@pytest.fixture
def known(monkeypatch):
    """A Python whose TTNN is as told."""

    def is_(version="0.81.1", *, mock=True):
        found = Interpreter(Path(sys.executable), "--ttnn", version, mock)
        monkeypatch.setattr("ttnn_mcp.tools.parts.replays.interpreter", lambda _: found)

    return is_


async def proven(tmp_path, at=None, **asked):
    return await ask(
        at or session(tmp_path), "replay_op", run=report(tmp_path), op=3, sweep=[], prove=True, **asked
    )


async def test_what_ttnn_says_on_a_mock_device_is_told(tmp_path, known, monkeypatch):
    known()
    monkeypatch.setattr("ttnn_mcp.replay.rebuilt.script_of", lambda *_: ANSWERING.replace("IS_IT", "True"))
    said = (await proven(tmp_path))["proof"]
    assert (said["ttnn"], said["chip"], said["accepted"], said["refused"]) == ("0.81.1", "n150", 1, 0)
    assert said["device_ops"] == "MatmulDeviceOperation"
    assert said["not_proven"] == "times and results: no kernel ran, and no simulator of the chip was used"
    less = "20,985 B less than predicted: what TTNN runs here is not quite what ran"
    assert said["candidates"]["rows"] == [["as profiled", "accepted", 7, 20_992, 8, less]]


def test_a_difference_between_the_l1_of_ttnn_and_ours_is_said():
    def why(took, predicted, outcome="accepted", **settings):
        one = TriedCandidate(name="x", settings=settings, outcome=outcome, buffer_bytes=took, why="TTNN's own")
        return _why(one, predicted)

    assert [why(7, 7), why(None, 7), why(7, None), why(7, 9, "refused")] == ["TTNN's own"] * 4
    assert why(3_000, 7, q=1) == "2,993 B more than predicted"
    assert why(7, 3_000) == "2,993 B less than predicted: what TTNN runs here is not quite what ran"


@for_all("chip", ['{"arch": "wormhole_b0", "mock": False}', "None"])
async def test_an_answer_that_comes_from_no_mock_device_is_none(tmp_path, known, monkeypatch, chip):
    known()
    answering = ANSWERING.replace('{"arch": "wormhole_b0", "mock": IS_IT}', chip)
    monkeypatch.setattr("ttnn_mcp.replay.rebuilt.script_of", lambda *_: answering)
    said = (await proven(tmp_path))["proof"]
    assert (said["accepted"], said["failed"]) == (0, "it wrote no answer")


async def test_a_script_that_fails_or_hangs_is_said_to(tmp_path, known, monkeypatch):
    known()
    monkeypatch.setattr(
        "ttnn_mcp.replay.rebuilt.script_of", lambda *_: "# ttnn-mcp replay\nraise SystemExit('no such thing\\n ')"
    )
    assert (await proven(tmp_path))["proof"]["failed"] == "exit status 1: no such thing"
    monkeypatch.setattr(proof, "LIMIT_S", 0.3)
    monkeypatch.setattr("ttnn_mcp.replay.rebuilt.script_of", lambda *_: "import time; time.sleep(60)")
    assert (await proven(tmp_path))["proof"]["failed"] == "no answer after 0.3 s"


@for_all(("version", "mock", "why"), [(None, False, "no TTNN in"), ("0.60", False, "which knows no mock devices")])
async def test_without_a_ttnn_that_can_be_kept_from_devices_the_model_judges(tmp_path, known, version, mock, why):
    known(version, mock=mock)
    with pytest.raises(QuestionRefused, match=f"{why}.*Until then our model judges"):
        await proven(tmp_path)


async def test_over_http_nothing_is_run_or_written_unless_the_operator_allows_it(tmp_path, known, monkeypatch):
    known()
    monkeypatch.setattr("ttnn_mcp.replay.rebuilt.script_of", lambda *_: ANSWERING.replace("IS_IT", "True"))
    run = {"run": report(tmp_path), "op": 3, "sweep": []}

    def confined(**more):
        return Session(Settings(roots=(tmp_path,), state=tmp_path / "state", confined=True, **more))

    with pytest.raises(QuestionRefused, match="its operator allows it with --ttnn PYTHON"):
        await ask(confined(), "replay_op", **run, prove=True)
    answer = await ask(confined(ttnn=Path(sys.executable)), "replay_op", **run, prove=True)
    assert answer["proof"]["accepted"] == 1
    assert "file" not in answer
    assert answer["script"].startswith("\nimport json")
    with pytest.raises(QuestionRefused, match="Over HTTP no file is written"):
        await ask(confined(), "replay_op", **run, path="x.py")
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(QuestionRefused, match="Over HTTP only results in the state folder"):
        await ask(confined(), "replay_op", **run, results=str(tmp_path / "results.json"))


async def test_whose_l1_is_whose_is_said_where_the_report_is_of_another_build(tmp_path, known, monkeypatch):
    """Of the two convolutions whose buffers real TTNN 0.81.1 takes otherwise, and of one of its own kind."""
    known()
    monkeypatch.setattr("ttnn_mcp.replay.rebuilt.script_of", lambda *_: ANSWERING.replace("IS_IT", "True"))
    file = shutil.copy(shared(SEGFORMER), tmp_path)
    asked = {"run": str(file), "sweep": [], "prove": True}
    said = {
        op: (await ask(session(tmp_path), "replay_op", **asked, op=op))["proof"].get("other_build")
        for op in (784, 797, 1034)
    }
    begin = (
        "buffer_bytes are those of TTNN 0.81.1, predicted_bytes of the report's build (which it does not tell), "
    )
    assert said[784] == f"{begin}and need not agree: its build filled 3 channels up to 16, today's fills 8: less L1"
    assert said[797].endswith("TTNN of today may fold such a window and run a matmul in its place, with other L1")
    assert said[1034] is None
    (tmp_path / "run_manifest.json").write_text(json.dumps({"build": "ttnn 0.56 tt-metal 12ab"}))
    again = await ask(session(tmp_path), "replay_op", **asked, op=784)
    assert "of the report's build (ttnn 0.56 tt-metal 12ab)" in again["proof"]["other_build"]


async def test_a_collective_is_proven_on_a_mesh_as_long_as_it_needs(tmp_path, known, monkeypatch):
    known()
    monkeypatch.setattr("ttnn_mcp.replay.rebuilt.script_of", lambda *_: ANSWERING.replace("IS_IT", "True"))
    x, gathered = (1, 1, 64, 64), "AllGatherAsyncDeviceOperation"
    rows = [(gathered, [x], (1, 1, 64, 64 * chips), {"ring_size": str(chips)}) for chips in (8, 9)]
    asked = {"run": report_of(tmp_path / "perf", rows), "sweep": [], "prove": True}
    answer = await ask(session(tmp_path), "replay_op", **asked, op=2)
    assert (answer["proof"]["chip"], answer["proof"]["accepted"]) == ("t3000", 1)
    with pytest.raises(QuestionRefused, match="no mock mesh of 9 chips of wormhole_b0"):
        await ask(session(tmp_path), "replay_op", **asked, op=3)


async def test_the_mock_device_is_that_of_the_cluster_beside_the_memory_report(tmp_path, known, monkeypatch):
    """Of a descriptor a million bytes are read: a Galaxy's takes 30,000."""
    known()
    describes = "assert os.path.getsize(os.environ['TT_METAL_MOCK_CLUSTER_DESC_PATH']) == 1_000_000"
    answering = ANSWERING.replace("IS_IT", "True")
    folder = shutil.copytree(RESOURCES / "demo" / "memory", tmp_path / "memory")
    asked = {"run": str(folder), "op": 43, "sweep": [], "prove": True}
    monkeypatch.setattr("ttnn_mcp.replay.rebuilt.script_of", lambda *_: answering)
    descriptor = folder / "cluster_descriptor.yaml"
    descriptor.unlink()
    with pytest.raises(QuestionRefused, match="no mock device of an architecture that the run does not tell"):
        await ask(session(tmp_path), "replay_op", **asked)
    monkeypatch.setattr("ttnn_mcp.replay.rebuilt.script_of", lambda *_: f"import os\n{describes}\n{answering}")
    descriptor.write_text("#" * 1_000_001)
    said = (await ask(session(tmp_path), "replay_op", **asked))["proof"]
    assert (said["chip"], said["accepted"]) == ("the chip of the run's own cluster descriptor", 1)


async def test_check_setting_asks_too(tmp_path, known, monkeypatch):
    known()
    written = {}

    def script(_told, _call, facts, _file):
        written.update(facts)
        return ANSWERING.replace("IS_IT", "True")

    monkeypatch.setattr("ttnn_mcp.replay.rebuilt.script_of", script)
    asked = {"run": report(tmp_path), "op": 3, "setting": "in0_block_w", "value": 5}
    answer = await ask(session(tmp_path), "check_setting", **asked, prove=True)
    assert (answer["legal"], answer["proof"]["accepted"]) == (False, 1)
    assert [one["settings"] for one in written["candidates"]] == [{}, {"in0_block_w": 5}]
    assert "proof" not in await ask(session(tmp_path), "check_setting", **asked)


@for_all(
    ("arch", "cores", "kind"),
    [("wormhole_b0", 64, "n150"), ("wormhole_b0", 56, "n300-8x7"), ("wormhole_b0", 72, "galaxy"), ("blackhole", 110, "p300"),
     ("blackhole", None, "p150"), ("blackhole", 130, "p100"), ("grayskull", 64, None), (None, None, None)],
)  # fmt: skip
def test_the_mock_device_is_the_chip_of_the_run(arch, cores, kind):
    assert kind_of(arch, cores) == kind
    assert kind is None or f"  0: {KINDS[kind].board}" in description(KINDS[kind])


async def measured(tmp_path, at, asked, settings, times):
    """The file that a script wrote of the op as profiled and of one candidate, and what it holds."""
    script, results = tmp_path / "s.py", tmp_path / "s.json"
    await ask(at, "replay_op", **asked, sweep=[*settings], path=str(script))
    text = script.read_text()
    facts = eval(text[text.index("FACTS = ") + 8 : text.index("def operands")])  # noqa: S307 - a literal of ours
    name = ", ".join(f"{one}={value}" for one, value in settings.items())
    told = [
        {"name": title, "settings": changed, "outcome": "measured", "median_us": us, "noise_share": 0.01,
         "source": "device profiler", "pcc": 0.9999}
        for title, changed, us in zip(("as profiled", name), ({}, settings), times, strict=True)
    ]  # fmt: skip
    document = {"format": "ttnn-mcp replay 1", **facts, "candidates": told, "mode": "measured", "ttnn": "0.81.1"}
    results.write_text(json.dumps(document))
    return results, document


async def test_what_was_measured_is_cited_later(tmp_path):
    at, run = session(tmp_path), report(tmp_path)
    results, document = await measured(tmp_path, at, {"run": run, "op": 3}, {"in0_block_w": 4}, (20.0, 15.0))
    moved = await ask(at, "experiments", action="import", path=str(results))
    assert moved["file"]["replayed"] == 2
    said = "faster alone: in0_block_w=4 15.00 us, 20.00 as profiled, noise 1.0% (TTNN 0.81.1)"
    assert (await ask(at, "op_detail", run=run, op=3))["replayed"] == said
    asked = {"run": run, "op": 3, "setting": "in0_block_w"}
    answer = await ask(at, "check_setting", **asked, value=4)
    assert (answer["earlier"], answer["law"]) == (said, "measured here")
    assert answer["now_us"] == 20.0
    low, high = answer["predicted"]["low_us"], answer["predicted"]["high_us"]
    assert (answer["predicted"]["expected_us"], low, high) == (15.0, pytest.approx(14.85), pytest.approx(15.15))
    choices = {one["value"]: one.get("expected_us") for one in (await ask(at, "check_setting", **asked))["choices"]}
    assert choices[4] == 15.0
    assert (await ask(at, "check_setting", **asked, value=8)).get("law") != "measured here"
    assert "earlier" not in await ask(at, "check_setting", **asked, value=8)
    answer = await ask(at, "replay_op", run=run, op=3, results=str(results))
    assert answer["measured"]["next"]["arguments"]["change"] == "line 3: in0_block_w=4"
    other = report(tmp_path / "other", linear(config=CONFIG.replace("out_subblock_w=2", "out_subblock_w=1")))
    answer = await ask(at, "check_setting", run=other, op=3, setting="in0_block_w", value=4)
    assert answer.get("law") != "measured here"  # of the same work, set otherwise
    results.write_text(json.dumps({**document, "signature": "0" * 16}))
    with pytest.raises(QuestionRefused, match="was measured of another op"):
        await ask(at, "replay_op", run=run, op=3, results=str(results))


async def test_of_a_memory_report_alone_it_is_cited_too(tmp_path):
    """A matmul of the demo, by its operation: what it takes alone, as no report has its time."""
    folder = shutil.copytree(RESOURCES / "demo" / "memory", tmp_path / "memory")
    at, run = session(tmp_path), str(folder)
    asked = {"run": run, "op": 43}
    results, _ = await measured(tmp_path, at, asked, {"in0_block_w": 4}, (20.0, 15.0))
    await ask(at, "replay_op", **asked, results=str(results))
    said = "faster alone: in0_block_w=4 15.00 us, 20.00 as profiled, noise 1.0% (TTNN 0.81.1)"
    assert (await ask(at, "op_detail", **asked))["replayed"] == said
    answer = await ask(at, "check_setting", **asked, setting="in0_block_w", value=4)
    assert (answer["earlier"], answer["law"]) == (said, "measured here")
    assert answer["expected"].endswith("; measured alone: 15.0 us (14.8 to 15.2)")
    other = await ask(at, "check_setting", **asked, setting="in0_block_w", value=8)
    assert ("earlier" in other, other.get("law")) == (False, None)


@for_all(
    ("then_us", "build", "expected", "said"),
    [
        (80.0, "ttnn 0.81.1 tt-metal 123", 0.2, "at least what was measured"),
        (120.0, None, 0.0, "was slower before"),
        (80.0, "ttnn 0.81.10", None, ""),
    ],
)
async def test_the_plan_expects_what_a_replay_of_this_chip_and_build_measured(
    tmp_path, then_us, build, expected, said
):
    """The demo's line 79: a matmul whose weights are wider than it needs. Its time is another than alone."""
    report = shutil.copy(next((RESOURCES / "demo" / "performance").rglob("ops_perf*.csv")), tmp_path)
    if build:
        (tmp_path / "run_manifest.json").write_text(json.dumps({"build": build}))
    at, asked = session(tmp_path), {"run": str(report), "op": 79}

    async def plan():
        plan = (await ask(at, "optimization_check", run=str(report)))["plan"]
        return {row[1]: dict(zip(plan["columns"], row, strict=True)) for row in plan["rows"]}["weights-format"]

    before = await plan()
    results, _ = await measured(tmp_path, at, asked, {"weights_dtype": "BFLOAT8_B"}, (100.0, then_us))
    await ask(at, "replay_op", **asked, results=str(results))
    after = await plan()
    detail = await ask(at, "optimization_check", run=str(report), details=["weights-format"])
    (finding,) = [one for one in detail["findings"] if one["check"] == "wide-weights"]
    if expected is None:
        assert after == before
        return
    took = (await ask(at, "op_detail", **asked))["kernel_us"]
    assert after["basis"] == "replay"
    assert after["expected_us"] == pytest.approx(expected * took, abs=0.02)
    assert said in f"{finding['assumption']} {finding.get('caveat')}"
    cell = finding["evidence"][-1]
    assert (cell["row"], cell["column"], cell["value"]) == (79, "candidates[1].median_us", then_us)
    assert cell["source"].endswith("0811.json")

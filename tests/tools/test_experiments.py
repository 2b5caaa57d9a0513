"""The whole loop, told to the tool and told back by it."""

import asyncio
import csv
import json
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.asking import call, session
from tests.for_all import for_all
from tests.pairs import Model, write
from tests.profiles import Iteration
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused, ReportMissing, RunUnknown, TtnnMcpError
from ttnn_mcp.experiments.store import StoreUnusable
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools.experiments import TOOL
from ttnn_mcp.tools.list_ops import TOOL as LIST_OPS

BASE = Model()
BFP8 = replace(BASE, weights="BFLOAT8_B", up_ns=70_000)
FUSED = replace(BFP8, fused_relu=True)
TOO_LOW = replace(FUSED, fidelity="LoFi", up_ns=40_000)
SAME = replace(FUSED, jitter=0.01, seed=3)


def written(folder):
    models = {"base": BASE, "bfp8": BFP8, "fused": FUSED, "low": TOO_LOW, "same": SAME}
    return {name: write(folder / name, model) for name, model in models.items()}


def teller(folder):
    at = session(folder)

    async def told(action="list", **arguments):
        return await call(TOOL, at, {"action": action, **arguments})

    return told


async def loop(tell, runs):
    """The verdicts on four changes."""
    await tell("target", baseline=runs["base"], target="1.06 ms")
    verdicts = []
    for change, candidate, pcc in (
        ("weights to bfloat8_b", "bfp8", 0.9992),
        ("relu into the matmul", "fused", 0.9991),
        ("LoFi everywhere", "low", 0.971),
        ("another core grid", "same", 0.9991),
    ):
        said = await tell(
            "record", change=change, step=1, candidate=runs[candidate], pcc=pcc, **first(verdicts, runs)
        )
        verdicts.append(said["experiment"]["verdict"])
    return verdicts


class Looped(NamedTuple):
    """A loop that nobody goes on with.

    Attributes:
        folder: where its log and its reports lie.
        runs: its reports.
        verdicts: on its changes.
        story: what the server that recorded them tells.
    """

    folder: Path
    runs: dict[str, str]
    verdicts: list[str]
    story: dict[str, Any]


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loop")
    runs, tell = written(folder), teller(folder)

    async def told():
        return Looped(folder, runs, await loop(tell, runs), await tell())

    return asyncio.run(told())


@pytest.fixture
def runs(once):
    """Reports that stay as they are."""
    return once.runs


@pytest.fixture
def tell(tmp_path):
    return teller(tmp_path)


@pytest.fixture
def looped(once, tmp_path):
    """The verdicts; the log is the test's own from here on."""
    shutil.copytree(once.folder / "state", tmp_path / "state")
    return once.verdicts


@pytest.fixture
def own_runs(tmp_path):
    """Reports that the test may change."""
    return written(tmp_path)


@pytest.fixture
async def own_loop(own_runs, tell):
    return await loop(tell, own_runs)


def first(verdicts, runs):
    return {} if verdicts else {"baseline": runs["base"]}


def rows(table):
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


async def test_the_whole_loop_keeps_reverts_and_meets_its_target(looped, tell):
    assert looped == ["keep", "keep", "revert", "inconclusive"]
    said = await tell()
    assert [row["verdict"] for row in rows(said["log"])] == looped
    assert 0.1 < said["best"]["kernel_ms"] < said["baseline"]["kernel_ms"] < 100
    assert said["best"]["gain_share"] == pytest.approx(
        said["best"]["kernel_ms"] / said["baseline"]["kernel_ms"] - 1, abs=1e-3
    )
    assert said["target"]["status"] == "met"
    assert said["target"]["stop"] is True
    assert "next" not in said


async def test_a_fresh_server_takes_up_the_log(looped, tell, once):
    assert await tell() == once.story


async def test_the_story_takes_less_than_a_thousand_tokens(looped, tell, runs):
    for number in range(10):
        await tell(
            "record",
            change=f"{number} " + "a long description " * 20,
            baseline=runs["base"],
            candidate=runs["same"],
        )
    said = await tell()
    assert len(json.dumps(said, separators=(",", ":"))) < 3_000
    assert len(said["log"]["rows"]) == 10
    assert said["earlier"].startswith("4 earlier: 2 kept, 1 reverted")


async def test_the_checklist_has_nine_ticks_and_says_what_each_rests_on(looped, tell):
    ticks = rows((await tell())["checklist"])
    assert len(ticks) == 9
    assert {one["rests_on"] for one in ticks} <= {"measured", "recorded", "not shown"}
    assert ticks[0]["rests_on"] == "measured"
    assert ticks[-1] == {"tick": "Final PCC", "rests_on": "recorded", "why": "0.9991 with the best run"}
    assert ticks[6]["rests_on"] == "measured", "no convolution in this model"


async def test_recording_answers_shortly_with_the_verdict_and_the_next_call(runs, tell):
    said = await tell("record", change="x", step=1, baseline=runs["base"], candidate=runs["bfp8"], pcc=0.9992)
    assert said["experiment"]["id"] == 1
    assert said["experiment"]["change_share"] < 0
    assert said["next"][0]["arguments"] == {"action": "next"}
    assert len(json.dumps(said)) < 1_024


async def test_without_a_pcc_nothing_is_kept(runs, tell):
    said = await tell("record", change="x", baseline=runs["base"], candidate=runs["bfp8"])
    assert said["experiment"]["verdict"] == "inconclusive"
    assert "no PCC was given" in said["experiment"]["why"]


async def test_metal_trace_is_judged_by_wall_time(runs, tell):
    walls = {"wall_before_ms": 52.1, "wall_after_ms": 11.8}
    said = await tell(
        "record", change="Metal Trace", step=4, baseline=runs["fused"], candidate=runs["same"], pcc=0.999, **walls
    )
    assert (said["experiment"]["verdict"], said["experiment"]["judged_by"]) == ("keep", "wall")
    listed = await tell()
    assert listed["best"]["wall_ms"] == 11.8
    with pytest.raises(ArgumentsInvalid, match="together"):
        await tell("record", change="x", step=4, baseline=runs["fused"], wall_before_ms=1.0)


async def test_a_baseline_that_is_not_the_best_so_far_is_flagged(looped, tell, runs):
    said = await tell("record", change="y", baseline=runs["base"], candidate=runs["fused"], pcc=0.999)
    assert said["experiment"]["verdict"] == "inconclusive"
    assert {"recorded_before", "baseline_moved"} <= {row["code"] for row in rows(said["suspicious"])}
    assert any("baseline_moved" in note for note in (await tell())["notes"])


async def test_several_changes_at_once_are_flagged(runs, tell, tmp_path):
    both = write(tmp_path / "both", replace(BASE, weights="BFLOAT8_B", fused_qkv=True))
    said = await tell("record", change="x", baseline=runs["base"], candidate=both, pcc=0.999)
    assert said["experiment"]["verdict"] == "inconclusive"
    [doubt] = rows(said["suspicious"])
    assert doubt["code"] == "several_changes"
    assert "more than one change" in doubt["what"]


async def test_recording_needs_a_change_a_baseline_and_sane_figures(runs, tell):
    with pytest.raises(ArgumentsInvalid, match="'change' is required"):
        await tell("record", baseline=runs["base"], candidate=runs["bfp8"])
    with pytest.raises(QuestionRefused, match="give `baseline`"):
        await tell("record", change="x", candidate=runs["bfp8"])
    for pcc in (1.5, float("nan")):
        with pytest.raises(ArgumentsInvalid, match="'pcc'"):
            await tell("record", change="x", baseline=runs["base"], candidate=runs["bfp8"], pcc=pcc)
    with pytest.raises(RunUnknown):
        await tell("record", change="x", baseline="nowhere", candidate=runs["bfp8"])
    assert (await tell())["log"]["rows"] == []


@for_all(
    ("figures", "fault"),
    [
        ({"step": 0}, "'step' is 1 to 7"),
        ({"step": 8}, "'step' is 1 to 7"),
        ({"pcc": -1.01}, "'pcc' is -1 to 1"),
        ({"pcc": 1.01}, "'pcc' is -1 to 1"),
        ({"batch": 0}, "'batch' is 1 or more"),
        ({"rounds": 0}, "'rounds' is 1 to 1000000"),
        ({"rounds": 10**6 + 1}, "'rounds' is 1 to 1000000"),
        ({"hours": 0.0}, "'hours' is above 0"),
        ({"hours": 10.0**6 + 1}, "'hours' is above 0"),
        ({"wall_before_ms": 1.0}, "wall_before_ms and wall_after_ms come together"),
        ({"wall_before_ms": 1.0, "wall_after_ms": 0.0}, "wall times are positive"),
        ({"wall_before_ms": 1.0, "wall_after_ms": []}, "wall times are positive"),
        ({"wall_before_ms": [1.0, 0.0], "wall_after_ms": 1.0}, "wall times are positive"),
        ({"note": "n" * 501}, "'note' has more than 500 characters"),
        ({"change": "c" * 501, "hypothesis": "h" * 500}, "'change' has more than 500 characters"),
    ],
)
async def test_figures_and_texts_out_of_bounds_are_named(tell, figures, fault):
    with pytest.raises(ArgumentsInvalid) as wrong:
        await tell(**figures)
    assert str(wrong.value) == f"experiments: {fault}."


async def test_figures_and_texts_at_their_bounds_pass(tell):
    least = {"step": 1, "pcc": -1.0, "batch": 1, "rounds": 1, "hours": 1e-3}
    most = {"step": 7, "pcc": 1.0, "rounds": 10**6, "hours": 10.0**6, "note": "n" * 500}
    walls = {"wall_before_ms": 1e-3, "wall_after_ms": 1e-3}
    assert await tell(**least) == await tell(**most) == await tell(**walls) == await tell()


@for_all(("action", "missing"), [("target", "target"), ("import", "path"), ("record", "change")])
async def test_what_an_action_cannot_do_without_is_named(tell, action, missing):
    with pytest.raises(TtnnMcpError, match=f"experiments: '{missing}' is required"):
        await tell(action)


async def test_a_moved_report_is_the_same_run(own_loop, tell, own_runs, tmp_path):
    fused = Path(own_runs["fused"])
    moved = tmp_path / "moved" / fused.name
    moved.parent.mkdir()
    shutil.move(fused, moved)
    faster = write(tmp_path / "faster", replace(FUSED, up_ns=50_000))
    said = await tell("record", change="next", baseline=str(moved), candidate=faster, pcc=0.999)
    assert not [flag for flag in said["experiment"].get("flags", ()) if "best run" in flag]
    assert (await tell())["best"]["run"] == said["experiment"]["candidate"]


async def test_an_overwritten_report_is_noticed_before_it_is_compared(own_loop, tell, own_runs, tmp_path):
    best = (await tell())["best"]["run"]
    shutil.copy(own_runs["low"], own_runs["fused"])
    with pytest.raises(RunUnknown, match=f"Run {best} no longer exists: its report was overwritten"):
        await tell("record", change="next", candidate=own_runs["same"], pcc=0.999)
    assert any("overwritten" in note for note in (await tell())["notes"])
    said = await tell("record", change="next", baseline=own_runs["fused"], candidate=own_runs["same"], pcc=0.999)
    assert "overwritten" in {row["code"] for row in rows(said["suspicious"])}


async def test_reports_that_are_gone_leave_the_story_readable(own_loop, tell, own_runs):
    for path in own_runs.values():
        shutil.rmtree(Path(path).parent)
    said = await tell()
    assert len(said["log"]["rows"]) == 4
    assert any("cannot be opened" in note for note in said["notes"])
    assert any("not where it was" in note for note in said["notes"])


async def test_a_target_tells_how_far_and_whether_what_is_left_can_reach_it(runs, tell):
    near = (await tell("target", baseline=runs["base"], target="1.1 ms"))["target"]
    assert (near["status"], near["stop"]) == ("within_reach", False)
    assert "6% to go" in near["why"] or "5% to go" in near["why"]
    far = (await tell("target", target="0.001 ms"))["target"]
    assert far["status"] == "out_of_reach"
    assert (await tell("target", target="500 samples/s", batch=1))["target"]["status"] == "met"
    assert (await tell("target", target="99 % of roofline"))["target"]["status"] == "out_of_reach"
    with pytest.raises(ArgumentsInvalid, match="'10 ms'"):
        await tell("target", target="soon")


async def test_the_log_moves_to_another_machine_as_json(looped, tell, tmp_path):
    exported = await tell("export", path=str(tmp_path / "log.json"))
    assert exported["file"]["experiments"] == 4
    document = json.loads((tmp_path / "log.json").read_text())
    assert [one["change"] for one in document["experiments"]][:1] == ["weights to bfloat8_b"]
    elsewhere = session(tmp_path / "elsewhere")
    imported = await call(TOOL, elsewhere, {"action": "import", "path": str(tmp_path / "log.json")})
    assert (imported["file"]["experiments"], imported["file"]["new"]) == (4, 4)
    again = await call(TOOL, elsewhere, {"action": "import", "path": str(tmp_path / "log.json")})
    assert again["file"]["new"] == 0
    there, here = (await call(TOOL, elsewhere, {}))["log"], (await tell())["log"]
    assert there == here


async def test_a_ledger_comes_in_once_and_tells_its_story(tmp_path, tell):
    (tmp_path / "Sweep.CSV").write_text(
        "id,status,pcc,traced_decode_ms\nbaseline,ok,0.9993,0.8990\nqkv,ok,0.9993,0.8882\ndown,ok,0.9993,0.7436\n"
        "gate,ok,0.9993,0.8468\nall,error,,\nodd,ok,0.9993,0.7x\n"
    )
    imported = await tell("import", path=str(tmp_path / "Sweep.CSV"))
    assert (imported["file"]["experiments"], imported["file"]["new"]) == (3, 3)
    assert imported["notes"] == [
        "1 rows without a time were left out",
        "1 rows whose time is not clear were left out: odd says 0.7x in traced_decode_ms",
    ]
    again = await tell("import", path=str(tmp_path / "Sweep.CSV"))
    assert again["file"]["new"] == 0
    story = await tell()
    assert [row["change"] for row in rows(story["log"])] == ["down", "gate", "qkv"]
    assert [row["verdict"] for row in rows(story["log"])] == ["keep", "keep", "inconclusive"]
    assert story["best"]["name"] == "Sweep.CSV: down"
    assert [note for note in story["notes"] if "report" in note] == [
        "the best run is a row of a ledger, without a report: record a run of its change"
    ]
    assert (await tell("next"))["decided"]["reason"] == "blocked"
    (tmp_path / "log.md").write_text("| id | ms |\n|---|---|\n| baseline | 2 |\n| other | 1 |\n")
    assert "notes" not in await tell("import", path=str(tmp_path / "log.md"))
    (tmp_path / "grid.csv").write_text("id,ms\n8x4,2\n8x8,1\n")
    assert (await tell("import", path=str(tmp_path / "grid.csv"), baseline="8x4"))["file"]["new"] == 1
    (tmp_path / "folder").mkdir()
    for name, us in (("baseline", 2), ("fast", 1)):
        table = f"OP Code,Device Time,Op-to-Op Gap\nMatmul,{us},\n"
        (tmp_path / "folder" / f"{name}.csv").write_text(table)
    assert (await tell("import", path=str(tmp_path / "folder")))["file"]["new"] == 1


async def test_an_export_never_overwrites_somebody_elses_file(looped, tell, tmp_path):
    (tmp_path / "notes.json").write_text('{"mine": 1}')
    with pytest.raises(QuestionRefused, match="is no export of ours"):
        await tell("export", path=str(tmp_path / "notes.json"))
    assert (tmp_path / "notes.json").read_text() == '{"mine": 1}'
    default = (await tell("export"))["file"]["path"]
    assert (await tell("export"))["file"]["path"] == default
    with pytest.raises(StoreUnusable, match="cannot be written"):
        await tell("export", path=str(tmp_path / "notes.json" / "below.json"))


async def test_what_is_no_export_is_not_imported(tell, tmp_path):
    with pytest.raises(ReportMissing):
        await tell("import", path=str(tmp_path / "nothing.json"))
    for text in (
        "{}",
        "not json",
        '{"format": "ttnn-mcp experiments", "version": 2, "experiments": [], "targets": []}',
    ):
        (tmp_path / "odd.json").write_text(text)
        with pytest.raises(QuestionRefused, match="no export of experiments"):
            await tell("import", path=str(tmp_path / "odd.json"))


async def test_over_http_files_stay_in_the_state_folder(tmp_path):
    confined = Session(Settings(roots=(tmp_path,), state=tmp_path / "state", confined=True))
    with pytest.raises(QuestionRefused, match="state folder"):
        await call(TOOL, confined, {"action": "export", "path": str(tmp_path / "x.json")})
    with pytest.raises(QuestionRefused, match="state folder"):
        await call(TOOL, confined, {"action": "import", "path": "/etc/hostname"})


async def test_a_loop_on_signposts_compares_the_marked_range(tmp_path, tell):
    marked = (Iteration(cold=True), Iteration(signposts=("start", "stop")))
    paths = [write(tmp_path / str(n), model, marked) for n, model in enumerate((BASE, BFP8))]
    asked = {"baseline": paths[0], "candidate": paths[1], "start_signpost": "start", "end_signpost": "stop"}
    said = await tell("record", change="x", pcc=0.999, **asked)
    assert said["experiment"]["verdict"] == "keep"
    assert said["experiment"]["noise_share"] == 0.02


async def test_a_part_that_gained_does_not_make_the_whole_run_as_short_as_the_part(tmp_path, tell):
    paths = [
        marked_before_last_layer(write(tmp_path / str(n), model)) for n, model in enumerate((BASE, BFP8, FUSED))
    ]
    part = {"start_signpost": "last layer", "pcc": 0.999}
    whole = [(await call(LIST_OPS, session(tmp_path), {"run": path}))["total"]["kernel_us"] / 1e3 for path in paths]
    first = await tell("record", change="weights to bfloat8_b", baseline=paths[0], candidate=paths[1], **part)
    assert first["experiment"]["verdict"] == "keep"
    assert first["experiment"]["kernel_ms"]["after"] < 0.7 * whole[1]
    again = await tell("record", change="weights to bfloat8_b", baseline=paths[0], candidate=paths[1], **part)
    assert "recorded_before" in [row["code"] for row in rows(again["suspicious"])]
    walls = {"wall_before_ms": whole[1], "wall_after_ms": whole[1]}
    told = await tell(
        "record", change="relu into the matmul", baseline=paths[1], candidate=paths[2], **part, **walls
    )
    assert told["experiment"]["verdict"] == "keep"
    story = await tell()
    assert story["baseline"]["kernel_ms"] == pytest.approx(whole[0], abs=1e-3)
    assert story["best"]["kernel_ms"] == pytest.approx(whole[2], abs=1e-3)
    assert story["best"]["gain_share"] == pytest.approx(whole[2] / whole[0] - 1, abs=1e-3)
    assert story["best"].get("wall_ms") is None


async def test_a_loop_whose_target_is_of_a_part_follows_that_part(tmp_path, tell):
    paths = [
        marked_before_last_layer(write(tmp_path / str(n), model)) for n, model in enumerate((BASE, BFP8, FUSED))
    ]
    part = {"start_signpost": "last layer"}
    await tell("target", target="0.01 ms", baseline=paths[0], **part)
    for before, after in pairwise(paths):
        told = await tell("record", change="x", baseline=before, candidate=after, pcc=0.999, **part)
        story = await tell()
        assert story["best"]["kernel_ms"] == told["experiment"]["kernel_ms"]["after"]
    with pytest.raises(QuestionRefused, match=r"of a part .* give the signposts"):
        await tell("record", change="x", baseline=paths[1], candidate=paths[2], pcc=0.999)
    with pytest.raises(QuestionRefused, match="other rows of run"):
        await tell("target", target="1 ms", baseline=paths[0])
    await tell("target", target="0.02 ms", baseline=paths[0], **part)
    assert (await tell())["target"]["target"] == "0.02 ms"


async def test_a_loop_of_whole_runs_takes_no_target_of_a_part_once_it_has_experiments(tmp_path, tell):
    paths = [marked_before_last_layer(write(tmp_path / str(n), model)) for n, model in enumerate((BASE, BFP8))]
    await tell("target", target="0.01 ms", baseline=paths[0], start_signpost="last layer")
    await tell("target", target="1 ms", baseline=paths[0])  # nothing was tried: the whole run from now on
    await tell("record", change="x", baseline=paths[0], candidate=paths[1], pcc=0.999)
    story = await tell()
    assert story["best"]["gain_share"] == pytest.approx(-0.0688, abs=1e-4)
    fewer = write(tmp_path / "fewer", replace(BASE, layers=1))  # another run may have other rows
    await tell("record", change="y", baseline=paths[0], candidate=fewer, pcc=0.999)
    await tell("target", target="2 ms", baseline=paths[0])
    with pytest.raises(QuestionRefused, match="other rows of run"):
        await tell("target", target="0.01 ms", baseline=paths[0], start_signpost="last layer")


async def test_a_target_whose_report_was_overwritten_holds_no_experiment_up(tmp_path, tell):
    paths = [write(tmp_path / str(n), model) for n, model in enumerate((BASE, BFP8, FUSED))]
    await tell("target", target="1 ms", baseline=paths[0])
    await tell("record", change="x", baseline=paths[0], candidate=paths[1], pcc=0.999)
    cut_short(paths[0])
    told = await tell("record", change="y", baseline=paths[1], candidate=paths[2], pcc=0.999)
    assert told["experiment"]["id"] == 2


def csv_of(path):
    (file,) = [Path(path)] if Path(path).is_file() else Path(path).rglob("ops_perf_results*.csv")
    return file


def cut_short(path):
    """Another report with another time, under the same name."""
    file = csv_of(path)
    with file.open(newline="") as text:
        header, *ops = csv.reader(text)
    with file.open("w", newline="") as text:
        csv.writer(text).writerows([header, *ops[: len(ops) // 4]])


def marked_before_last_layer(path):
    """The report with a signpost before the last layer of its last pass."""
    file = csv_of(path)
    with file.open(newline="") as text:
        header, *ops = csv.reader(text)
    mark = ["last layer" if name == "OP CODE" else "signpost" if name == "OP TYPE" else "" for name in header]
    with file.open("w", newline="") as text:
        csv.writer(text).writerows([header, *ops[: len(ops) * 11 // 12], mark, *ops[len(ops) * 11 // 12 :]])
    return path


def test_the_tool_says_that_it_writes():
    assert TOOL.writes
    assert len(json.dumps(TOOL.input_schema, separators=(",", ":"))) < 1_800


async def test_over_http_the_log_names_only_runs_under_the_roots(looped, tell, runs, tmp_path):
    assert len((await tell())["log"]["rows"]) == len(looped)
    (tmp_path / "served").mkdir()
    settings = Settings(roots=[tmp_path / "served"], confined=True, state=session(tmp_path).settings.state_folder)
    said = await call(TOOL, Session(settings), {"action": "list"})
    assert said["log"]["rows"] == []
    assert said["notes"] == ["nothing recorded yet"]


async def test_a_damaged_row_is_named_and_the_loop_goes_on(looped, tell, tmp_path):
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(session(tmp_path).settings.state_folder / "experiments.sqlite")) as database:
        database.execute("UPDATE experiments SET flags = 'no json' WHERE id = 4")
        database.commit()
    said = await tell()
    assert [row["verdict"] for row in rows(said["log"])] == looped[:3]
    assert "experiment 4 is left out: its flags cannot be read" in said["notes"]


NO_FILE = ["a\0b", "x" * 300, "x" * 9000, "\ud800"]


@for_all(
    ("action", "path"),
    [
        *(("export", path) for path in NO_FILE),
        *(("import", path) for path in (*NO_FILE, "~nosuchuser/x", "", "/dev/zero")),
    ],
)
async def test_a_path_that_is_none_is_one_of_our_sentences(tell, tmp_path, monkeypatch, action, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ReportMissing, QuestionRefused, StoreUnusable)):
        await tell(action, path=path)


async def test_next_names_one_finding_and_then_leaves_out_what_was_reverted(runs, tell):
    first = (await tell("next", baseline=runs["base"]))["decided"]
    assert first["decision"] == "try"
    assert first["saving_us"]["at_most"] > 0
    assert first["fix"]
    slower = await tell(
        "record", change="it", finding=first["finding"], baseline=runs["base"], candidate=runs["low"], pcc=0.9
    )
    assert slower["experiment"]["verdict"] == "revert"
    assert slower["next"][0]["arguments"] == {"action": "next"}
    second = await tell("next")
    assert second["decided"]["finding"] != first["finding"]
    assert rows(second["decided"]["ruled_out"])[0]["check"] == first["finding"]
    assert len(json.dumps(second)) < 3_000
    listed = rows((await tell())["try_next"])
    assert listed[0]["check"] == second["decided"]["finding"]
    assert first["finding"] not in {row["check"] for row in listed}


async def test_next_gives_the_same_decision_again_and_to_another_server(looped, tell, tmp_path):
    decided = await tell("next")
    assert await tell("next") == decided
    assert await call(TOOL, session(tmp_path), {"action": "next"}) == decided
    assert (decided["decided"]["decision"], decided["decided"]["reason"]) == ("stop", "target_met")
    assert "next" not in decided


async def test_a_met_target_leaves_nothing_to_call_after_a_record(looped, tell, runs):
    again = await tell("record", change="again", step=1, candidate=runs["same"], pcc=0.9991)
    assert again["target"]["status"] == "met"
    assert "next" not in again


async def test_next_stops_when_the_rounds_are_spent(runs, tell):
    await tell("target", baseline=runs["base"], target="0.9 ms", rounds=1)
    await tell("record", change="x", baseline=runs["base"], candidate=runs["low"], pcc=0.9)
    assert (await tell("next"))["decided"]["reason"] == "budget_spent"


async def test_a_target_below_the_floor_of_the_chip_is_out_of_reach(runs, tell):
    await tell("target", baseline=runs["base"], target="1 us")
    decided = (await tell("next"))["decided"]
    assert decided["reason"] == "out_of_reach"
    assert "floor" in decided["why"]


async def test_an_unknown_finding_is_refused_with_the_nearest(runs, tell):
    with pytest.raises(ArgumentsInvalid, match="Did you mean 'low-core-count'"):
        await tell("record", change="x", finding="low-core-counts", baseline=runs["base"], candidate=runs["low"])

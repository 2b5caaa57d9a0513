"""Results of replays in the state folder: which are cited, and how many stay."""

import json
import os

import numpy as np
import pytest

from tests.asking import session
from tests.for_all import for_all
from tests.replay.made import linear, report
from tests.replay.test_results import tried
from ttnn_mcp.readers.manifest import NAME as MANIFEST
from ttnn_mcp.replay.kept import Replays, cited, has_replays, measured_here, signature_of, tried_alone
from ttnn_mcp.replay.results import read_results
from ttnn_mcp.session.opening import read_run


def settings(us, value, **more):
    return tried(us, **{"name": f"in0_block_w={value}", "settings": {"in0_block_w": value}, **more})


@pytest.fixture
async def kept(tmp_path):
    """What is cited of the only op of a run, whose replay measured these candidates."""
    at = session(tmp_path)
    performance = report(tmp_path, linear())
    run = await at.run(performance)
    op = run.performance_report.ops.take(np.array([0]))
    signature, tuned = signature_of(op, run.chip.arch)
    facts = {"format": "ttnn-mcp replay 1", "line": 3, "op": "Matmul", "signature": signature, "tuned": tuned}
    facts |= {"arch": run.chip.arch, "clock_ghz": run.chip.clock_ghz, "kernel_us": 20.0, "floor_us": 1.0}
    facts |= {"mode": "measured", "ttnn": "0.81.1"}

    def of(*candidates, **more):
        path = tmp_path / "try.json"
        path.write_text(json.dumps({**facts, "candidates": [tried(100.0), *candidates], **more}))
        for old in at.replays.folder.glob("*.json"):
            old.unlink()
        at.replays.keep(read_results(path))
        return run, op

    return of


async def test_the_two_fastest_are_cited_with_what_they_were_judged_by(kept):
    run, op = kept(settings(150.0, 8), settings(50.0, 2), settings(80.0, 4, noise_share=0.1))
    assert cited(run, op) == (
        "faster alone: in0_block_w=2 50.00 us, 100.00 as profiled, noise 0.5% (TTNN 0.81.1); "
        "faster alone: in0_block_w=4 80.00 us, 100.00 as profiled, noise 10.0% (TTNN 0.81.1)"
    )
    assert cited(run, op, {"in0_block_w": 8}).startswith("slower alone: in0_block_w=8 150.00 us")
    assert cited(run, op, {"in0_block_w": 16}) == ""


async def test_what_was_not_measured_or_not_right_is_not_cited(kept):
    run, op = kept(settings(50.0, 2, pcc=0.5), {**settings(50.0, 4), "outcome": "refused", "median_us": None})
    assert cited(run, op) == ""


@for_all("more", [{"mode": "accepted"}, {"clock_ghz": 1.2}, {"clock_ghz": None}])
async def test_results_of_another_clock_or_of_no_device_are_not_cited(kept, more):
    assert cited(*kept(settings(50.0, 2), **more)) == ""


@for_all(("ttnn", "is_cited"), [("0.81.1", True), ("0.80.0", False)])
async def test_results_of_another_build_are_not_cited(kept, ttnn, is_cited):
    run, op = kept(settings(50.0, 2), ttnn=ttnn)
    beside = run.performance_report.csv.path.parent / MANIFEST
    beside.write_text(json.dumps({"build": "ttnn 0.81.1 of a commit"}))
    assert bool(cited(run, op)) is is_cited


async def test_what_was_measured_here_is_expected_of_the_same_settings_in_proportion(kept):
    run, op = kept(settings(50.0, 2, noise_share=0.1))
    expected = measured_here(run, op, 30.0, {"in0_block_w": 2})
    assert (expected.us, expected.low_us, expected.high_us) == pytest.approx((15.0, 13.5, 16.5))
    assert measured_here(run, op, None, {"in0_block_w": 2}).us == pytest.approx(50.0)
    assert measured_here(run, op, 30.0, {"in0_block_w": 4}) is None


async def test_an_op_with_other_settings_expects_nothing_of_them(kept):
    run, op = kept(settings(50.0, 2), tuned="0" * 16)
    assert measured_here(run, op, 30.0, {"in0_block_w": 2}) is None
    assert tried_alone(run, op, op.lines)[int(op.lines[0])].precedents == ()


@for_all(("op_code", "config"), [("Matmul", "program_config"), ("Conv2d", "conv_config")])
async def test_a_setting_that_was_tried_is_one_of_the_config_that_holds_it(kept, op_code, config):
    run, op = kept(settings(50.0, 2, settings={"in0_block_w": 2, "math_fidelity": "LoFi"}), op=op_code)
    ((one,),) = (each.precedents for each in tried_alone(run, op, op.lines).values())
    assert one.differences == (("in0_block_w", config, "2"), ("math_fidelity", "math_fidelity", "LoFi"))


async def test_a_run_of_a_session_without_results_has_none(kept):
    run, op = kept(settings(50.0, 2))
    assert has_replays(run)
    for path in run.kept.get(Replays).folder.glob("*.json"):
        path.unlink()
    assert not has_replays(run)
    assert cited(run, op) == ""


async def test_a_config_of_ours_is_cited_by_what_it_sets(kept):
    run, op = kept(settings(50.0, 2, settings={"own_config": True, "in0_block_w": 2}))
    assert cited(run, op, {"in0_block_w": 2}).startswith("faster alone")


async def test_the_name_of_a_build_leads_out_of_no_folder(kept):
    run, _ = kept(settings(50.0, 2), ttnn="../0.81.1")
    (path,) = run.kept.get(Replays).folder.glob("*.json")
    assert path.name.endswith("-0811.json")


async def test_a_run_that_no_session_opened_has_none(kept):
    run, op = kept(settings(50.0, 2))
    alone = await read_run("alone", "alone", run.performance_report.csv.path, None)
    assert not has_replays(alone)
    assert (cited(alone, op), tried_alone(alone, op, op.lines)) == ("", {})


async def test_two_thousand_files_stay_and_the_oldest_go(kept):
    run, _ = kept(settings(50.0, 2))
    replays = run.kept.get(Replays)
    folder = replays.folder
    (newest,) = folder.glob("*.json")
    for number in range(2_000):
        path = folder / f"{number:016x}-old.json"
        path.touch()
        os.utime(path, (number, number))
    assert replays.keep(read_results(newest)) == newest
    left = {path.name for path in folder.glob("*.json")}
    assert len(left) == 2_000
    assert newest.name in left
    assert [f"{number:016x}-old.json" in left for number in (0, 1)] == [False, True]

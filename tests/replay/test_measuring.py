"""The measuring part of a script, with a stand-in for TTNN whose times and manners are known."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.replay.made import linear, report
from ttnn_mcp.replay import measuring

STAND_INS = Path(__file__).parent / "stand_ins"
NOW = "2"  # in0_block_w of the profile


@pytest.fixture
def replayed(tmp_path):
    """Write the script of the made matmul, run it with the stand-in, and give what it wrote and what we say of it."""

    async def of(manners, *options, **asked):
        at = session(tmp_path)
        told = {"run": report(tmp_path, linear(kernel_ns=asked.pop("kernel_ns", 20_000))), "op": 3}
        script = tmp_path / "replay.py"
        await ask(at, "replay_op", **told, sweep=["in0_block_w"], path=str(script), **asked)
        environment = {**os.environ, "PYTHONPATH": str(STAND_INS), "STAND_IN": json.dumps(manners)}
        ran = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, script, "--repeats", "3", "--calls", "2", *options],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        results = script.with_suffix(".json")
        answer = await ask(at, "replay_op", **told, sweep=["in0_block_w"], results=str(results))
        verdicts = {row[0]: row[1] for row in answer["measured"]["verdicts"]["rows"]}
        return json.loads(results.read_text()), answer["measured"], verdicts, ran.stdout

    return of


async def test_each_candidate_gets_the_verdict_that_its_manners_deserve(replayed):
    wrote, measured, verdicts, printed = await replayed(
        {NOW: [20.0, 20.2, 20.1], "1": "die", "4": [15.0, 15.1, 15.0], "8": "wrong", "wrong_us": [9.0]}
    )
    assert verdicts == {
        "as profiled": "alike", "in0_block_w=1": "died", "in0_block_w=4": "faster", "in0_block_w=8": "wrong result",
    }  # fmt: skip
    assert measured["winner"] == "in0_block_w=4"
    assert "in0_block_w=4" in measured["change"]
    assert "per_core_M=1" in measured["change"]
    assert any("exit status 3" in one.get("why", "") for one in wrote["candidates"])
    assert wrote["ttnn"] == "0.0.stand-in"
    assert "in0_block_w=4: measured, 15.00 us by the device profiler, noise 0.7%, PCC 1.00000" in printed


async def test_the_walk_of_the_readme_leads_from_a_finding_to_a_verdict(tmp_path):
    at, script, asked = session(tmp_path), tmp_path / "try.py", {"run": "demo", "op": 75}
    found = await ask(at, "optimization_check", run="demo", details=["matmul-config"])
    assert "75" in json.dumps(found)
    legal = await ask(at, "check_setting", **asked, setting="in0_block_w")
    told = await ask(at, "replay_op", **asked, sweep=["in0_block_w"], path=str(script), limit=1)
    [(tried, *_)] = told["candidates"]["rows"]
    value = int(tried.rpartition("=")[2])
    assert value in [one["value"] for one in legal["choices"]]
    manners = {"chosen": [68.3], str(value): [40.0]}
    environment = {**os.environ, "PYTHONPATH": str(STAND_INS), "STAND_IN": json.dumps(manners)}
    command = [sys.executable, script, "--repeats", "2", "--calls", "2"]
    await asyncio.to_thread(subprocess.run, command, env=environment, capture_output=True, check=True)
    measured = (await ask(at, "replay_op", **asked, results=str(tmp_path / "try.json")))["measured"]
    assert measured["summary"] == f"{tried} is faster: 40.00 instead of 68.30 us (41.4%)"
    assert tried in measured["change"]
    later = await ask(at, "check_setting", **asked, setting="in0_block_w", value=value)
    assert (later["law"], later["predicted"]["expected_us"]) == ("measured here", 40.0)
    assert f"faster alone: {tried} 40.00 us, 68.30 as profiled" in json.dumps(await ask(at, "op_detail", **asked))


async def test_a_process_that_is_killed_or_answers_nonsense_costs_no_other_its_measurement(replayed):
    wrote, measured, verdicts, _ = await replayed(
        {NOW: [20.0], "1": "kill", "4": "torn", "8": "nan", "wrong_us": [9.0]}, "--repeats", "2"
    )
    assert [verdicts[f"in0_block_w={value}"] for value in (1, 4, 8)] == ["died", "died", "wrong result"]
    assert [one.get("why") for one in wrote["candidates"]].count("exit status -9: ") == 2
    assert measured["summary"] == "no candidate was measured"


async def test_a_first_round_that_is_slower_hides_no_gain(replayed):
    _, measured, _, _ = await replayed(
        {NOW: [20.0], "1": [20.0], "8": [20.0], "4": [90.0, *[15.0] * 4]}, "--repeats", "5"
    )
    assert measured["summary"] == "in0_block_w=4 is faster: 15.00 instead of 20.00 us (25.0%)"


@pytest.mark.slow
async def test_a_clock_that_falls_half_way_makes_no_winner_and_no_loser(replayed, tmp_path):
    """The op as profiled comes again, last: within a tenth its drift is noise, and beyond nothing is compared."""
    times = {NOW: [20.0], "1": [20.0], "4": [20.0], "8": [15.0]}
    for last, ended in ((1.05, None), (1.3, "took 20.0 us before the candidates and 26.0 us after them")):
        counted = tmp_path / f"processes {last}"
        manners = {**times, "processes": str(counted), "slower": [1.0, 1.0, 1.04, 1.0, last]}
        wrote, measured, verdicts, _ = await replayed(manners)
        assert counted.stat().st_size == 5
        if ended is None:
            assert wrote["again_us"] == pytest.approx(21.0)
            assert sorted(verdicts.values()) == ["alike", "alike", "alike", "faster"]
        else:
            assert ended in measured["summary"]
            assert {*verdicts.values()} == {"alike", "not measured"}
    manners = {**times, "processes": str(tmp_path / "clocks"), "mhz": [1000, 1000, 800, 800, 800]}
    _, measured, _, _ = await replayed(manners)
    assert measured["summary"] == "no candidate was compared: the chip's clock changed from 1000 to 800 MHz"


def test_a_sweep_that_is_interrupted_keeps_what_it_measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["replay.py"])
    answers = iter([{"outcome": "measured", "median_us": 20.0, "noise_share": 0.0, "source": "x"}])

    def in_a_process(_numbers, _asked):
        try:
            return [next(answers)]
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(measuring, "_in_a_process", in_a_process)
    facts = {"candidates": [{"name": name, "settings": {}} for name in "ab"], "kernel_us": 20.0}
    with pytest.raises(KeyboardInterrupt):
        measuring.main(measuring.Replay(None, None, facts, dict.fromkeys(("operands", "call", "reference"))))
    wrote = json.loads((tmp_path / "replay.json").read_text())
    assert [one["median_us"] for one in wrote["candidates"]] == [20.0]
    assert not [*tmp_path.glob("*.part")]


def test_of_five_rounds_one_may_be_far_off():
    assert measuring._noise([10.0, 10.0, 10.0, 15.0]) == 0.5
    assert measuring._noise([10.0, 10.0, 10.0, 10.0, 15.0]) == 0.0
    assert measuring._noise([10.0, 10.0, 10.0, 15.0, 15.0]) == 0.5
    assert measuring._noise([0.0]) == 0.0


def test_an_op_as_profiled_that_fails_when_it_comes_again_ends_the_sweep():
    first = {"median_us": 20.0}
    assert measuring._drifted(first, {"median_us": 22.0}) is None
    assert measuring._drifted(first, {"median_us": 17.9})
    assert "was hung: no answer" in str(measuring._drifted(first, {"outcome": "hung", "why": "no answer"}))
    assert not measuring._other_clock({}, {"clock_mhz": 800})
    assert not measuring._other_clock({"clock_mhz": 800}, {"clock_mhz": None})


async def test_a_refusal_as_profiled_ends_the_sweep_in_the_words_of_ttnn(replayed):
    wrote, _, verdicts, _ = await replayed({NOW: "refuse"})
    assert wrote["ended"] == "the op as profiled was refused: RuntimeError: it must divide K"
    assert verdicts["in0_block_w=4"] == "skipped"


async def test_a_baseline_that_does_not_reproduce_ends_the_sweep(replayed):
    wrote, measured, verdicts, _ = await replayed({NOW: [23.0], "1": [1.0], "4": [1.0], "8": [1.0]})
    assert "takes 23.0 us here and 20.0 us in its profile" in wrote["ended"]
    assert {verdict for name, verdict in verdicts.items() if name != "as profiled"} == {"skipped"}
    assert measured["summary"] == f"no candidate was compared: {wrote['ended']}"
    assert {row[5] for row in measured["verdicts"]["rows"]} == {""}  # it is told once


@for_all(("here", "ended"), [(22.0, False), (22.1, True), (18.0, False), (17.9, True)])
def test_a_tenth_is_how_far_the_baseline_may_be_from_its_profile(here, ended):
    from ttnn_mcp.replay.measuring import _unlike_its_profile

    answer = {"outcome": "measured", "median_us": here, "source": "device profiler"}
    assert bool(_unlike_its_profile({"kernel_us": 20.0}, answer)) is ended


def test_what_is_expected_to_be_slower_at_best_than_what_was_measured_is_not_run():
    from argparse import Namespace

    from ttnn_mcp.replay.measuring import _cannot_win

    measured = [{"outcome": "measured", "median_us": 9.0}, {"outcome": "measured", "median_us": 10.0}]
    asked = Namespace(accept=False)
    assert _cannot_win({"low_us": 10.1}, measured, asked)
    assert not _cannot_win({"low_us": 10.0}, measured, asked)
    assert not _cannot_win({}, measured, asked)
    assert not _cannot_win({"low_us": 10.1}, measured[:1], asked)
    assert not _cannot_win({"low_us": 10.1}, measured, Namespace(accept=True))


def test_a_process_that_hangs_is_ended(tmp_path, monkeypatch):
    from argparse import Namespace

    from ttnn_mcp.replay.measuring import _in_a_process

    script = tmp_path / "hangs.py"
    script.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(sys, "argv", [str(script)])
    for accept in (False, True):
        asked = Namespace(accept=accept, repeats=1, calls=1, warm_up=1, limit_s=0.2)
        assert _in_a_process(range(2), asked) == [{"outcome": "hung", "why": "no answer after 0.2 s"}]


def test_of_a_call_of_several_programs_the_one_replayed_is_timed():
    from ttnn_mcp.replay.measuring import _of_the_op

    assert _of_the_op([1.0, 5.0, 1.0, 7.0], 2, 1) == 6.0
    assert _of_the_op([1.0, 5.0, 1.0, 7.0], 2, None) == 7.0
    assert _of_the_op([1.0, 5.0, 1.0], 2, 1) is None
    assert _of_the_op([], 2, None) is None


def test_buffers_are_counted_on_the_fullest_core_and_those_on_a_tensor_are_not():
    from ttnn_mcp.replay.measuring import _programs

    start = {
        "node_type": "function_start",
        "params": {"name": "MatmulDeviceOperation", "program_factory_type": "x"},
    }
    buffers = [
        {"node_type": "circular_buffer_allocate", "params": {"size": size, "core_range_set": cores, **more}}
        for size, cores, more in (
            (100, "{[0-0 - 1-0]}", {}),
            (50, "{[1-0 - 1-0], [3-3 - 3-3]}", {}),
            (999, "{[0-0 - 0-0]}", {"globally_allocated": 1}),
        )
    ]
    assert _programs([{"node_type": "capture_start", "params": None}, start, *buffers]) == [
        ("MatmulDeviceOperation", 150)
    ]


def test_what_lay_beside_the_op_lies_there_as_one_tensor(monkeypatch):
    """Of 10,000 bytes a core that are to be taken, four tiles; they are not told as the op's own."""
    view = SimpleNamespace(largest_contiguous_bytes_free_per_bank=100_000, num_banks=64)
    names = {name: name for name in ("bfloat16", "TILE_LAYOUT", "L1_MEMORY_CONFIG")}
    ttnn = SimpleNamespace(
        get_memory_view=lambda *_: view,
        BufferType=SimpleNamespace(L1=1),
        empty=lambda shape, **_: SimpleNamespace(shape=shape),
        **names,
    )

    def replay(free, of=ttnn):
        return SimpleNamespace(ttnn=of, facts={"free_bytes": free}, operands=lambda _: [])

    taken = [measuring._beside(replay(free), None) for free in (90_000, 97_952, 97_953, 100_000, 120_000, None)]
    assert [one and one.shape for one in taken] == [(1, 1, 128, 2_048), (1, 1, 32, 2_048), None, None, None, None]
    assert measuring._beside(replay(90_000, SimpleNamespace()), None) is None
    device, asked = SimpleNamespace(clear_program_cache=lambda: None), SimpleNamespace(accept=True)
    monkeypatch.setattr(measuring, "_machine", lambda *_: {})
    monkeypatch.setattr(measuring, "_accepted", lambda *_, dry: {"outcome": "accepted", "tensor_bytes": 20_000})
    answers = [measuring._candidate(replay(free), device, {}, asked) for free in (90_000, None)]
    assert [one["tensor_bytes"] for one in answers] == [20_000 - 4 * 2_048, 20_000]


def test_an_operand_holds_what_its_op_can_read():
    torch = SimpleNamespace(
        full=lambda shape, number, dtype: ("full", shape, number),
        randint=lambda below, shape, dtype: ("below", shape, below),
        arange=lambda count, dtype: np.arange(count),
        randn=lambda shape: ("normal", shape, None),
        int32="int32",
    )
    value = {
        values: measuring._value(SimpleNamespace(torch=torch), {"shape": (2, 3), "values": values})
        for values in ("all 7", "below 9", "normal", "pages below 4")
    }
    assert value.pop("pages below 4").tolist() == [[0, 1, 2], [3, 0, 1]]  # a cache has no page 4 and 5
    assert [*value.values()] == [("full", (2, 3), 7), ("below", (2, 3), 9), ("normal", (2, 3), None)]

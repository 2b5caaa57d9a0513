"""The measuring part of a script, with a stand-in for TTNN whose times and manners are known."""

import asyncio
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.replay.made import linear, report
from tests.replay.sweeps import STAND_INS, Sweep
from ttnn_mcp.replay import measuring

NOW = "2"  # in0_block_w of the profile


ALONE = [{"name": "as profiled", "settings": {}}]
TYPECAST_TOO = {"TypecastDeviceOperation": 9, "MatmulDeviceOperation": 7}
OPENED = "open {'l1_small_size': 0, 'trace_region_size': 4194304}"


@pytest.fixture
def swept(tmp_path, monkeypatch):
    """Write the script of the made matmul and start it with the stand-in, here: what it wrote and printed, its processes."""

    async def of(manners, *options, facts=None):
        script = tmp_path / "replay.py"
        asked = {"run": report(tmp_path, linear(kernel_ns=20_000)), "op": 3, "sweep": ["in0_block_w"]}
        await ask(session(tmp_path), "replay_op", **asked, path=str(script))
        monkeypatch.setenv("STAND_IN", json.dumps(manners))
        sweep = Sweep(script, facts)
        printed = sweep.run("--repeats", "3", "--calls", "2", *options)
        return json.loads(script.with_suffix(".json").read_text()), printed, sweep.children

    return of


@pytest.fixture
def replayed(swept, tmp_path):
    """What it wrote, what we say of it, and what it printed."""

    async def of(manners, *options):
        wrote, printed, _ = await swept(manners, *options)
        asked = {"run": str(tmp_path / "perf"), "op": 3, "results": str(tmp_path / "replay.json")}
        measured = (await ask(session(tmp_path), "replay_op", **asked, sweep=["in0_block_w"]))["measured"]
        verdicts = {row[0]: row[1] for row in measured["verdicts"]["rows"]}
        return wrote, measured, verdicts, printed

    return of


async def test_each_candidate_gets_the_verdict_that_its_manners_deserve(replayed, tmp_path):
    wrote, measured, verdicts, printed = await replayed(
        {NOW: [20.0, 20.2, 20.1], "1": "die", "4": [15.0, 15.1, 15.0], "8": "wrong", "wrong_us": [9.0]}
    )
    assert verdicts == {
        "as profiled": "alike", "in0_block_w=1": "died", "in0_block_w=4": "faster", "in0_block_w=8": "wrong result",
    }  # fmt: skip
    assert measured["winner"] == "in0_block_w=4"
    assert "in0_block_w=4" in measured["change"]
    assert "per_core_M=1" in measured["change"]
    assert wrote["ttnn"] == "0.0.stand-in"
    assert printed.splitlines() == [
        "as profiled: measured, 20.10 us by the device profiler, noise 1.0%, PCC 1.00000",
        f"in0_block_w=8: measured, 9.00 us by the device profiler, noise 0.0%, PCC {wrote['candidates'][1]['pcc']:.5f}",
        "in0_block_w=4: measured, 15.00 us by the device profiler, noise 0.7%, PCC 1.00000",
        "in0_block_w=1: died, exit status 3: it fell over",
        f"written: {tmp_path / 'replay.json'}",
    ]


async def test_a_candidate_is_called_warm_then_in_rounds_then_in_a_trace(swept):
    """Of two programs a call the matmul is timed, on the slower of two chips."""
    manners = {NOW: [20.0, 20.2, 20.1], "trace": [31.0, 33.0, 32.0], "graph": TYPECAST_TOO, "other_us": [90.0]}
    wrote, _, (first, *others) = await swept(manners, "--warm-up", "1", "--limit-s", "60")
    assert first.ttnn.calls == [
        *(OPENED, "clear", "call", "call", "call", "wet", "call", *["call"] * 2 * 3),
        *("trace", "call", "call", "replay", "replay", "replay", "release", "close"),
    ]  # fmt: skip
    assert len(others) == 3  # none was measured, so the first does not come again
    numbers = [[value.numbers for value, _ in one.ttnn.operands] for one in (first, *others)]
    assert numbers[1:] == numbers[:1] * len(others)  # all read the same
    assert [kind for _, kind in first.ttnn.operands] == [{"dtype", "layout", "device", "memory_config"}] * 2
    assert (first.apart, first.timeout) == (True, 60.0)
    outcome = wrote["candidates"][0]
    assert (outcome.pop("traced_us"), outcome.pop("pcc")) == (pytest.approx(32.0), pytest.approx(1.0))
    assert outcome.pop("us") == pytest.approx([20.0, 20.2, 20.1])
    assert outcome.pop("median_us") == pytest.approx(20.1)
    assert outcome.pop("noise_share") == pytest.approx(0.2 / 20.1)
    assert outcome == {
        "name": "as profiled", "settings": {}, "outcome": "measured", "source": "device profiler",
        "device_ops": [*TYPECAST_TOO], "output": {"shape": "(1, 1, 256, 512)", "memory": "DRAM_MEMORY_CONFIG"},
    }  # fmt: skip
    assert wrote["chip"] == {"arch": "wormhole_b0", "grid": [8, 7], "mock": False}
    assert {one["outcome"] for one in wrote["candidates"][1:]} == {"refused"}


@for_all(
    ("manners", "us", "source"),
    [
        ({"graph": TYPECAST_TOO}, 20.0, "device profiler"),
        ({"graph": {"Typecast": 0, "TilizeDeviceOperation": 0}}, 180.0, "device profiler"),
        ({"graph": {"matmul_device_operation": 0}}, 20.0, "device profiler"),
        ({"trace": [31.0]}, 20.0, "device profiler"),
        ({"trace": [31.0], "lost": [1]}, 31.0, "traced replay"),
        ({"trace": [31.0], "blind": True}, 31.0, "traced replay"),
        ({"lost": [1]}, None, None),
        ({"blind": True}, None, None),
        ({"l1": {"largest_contiguous_bytes_free_per_bank": 90_000, "num_banks": 64}}, 20.0, "device profiler"),
    ],
)
async def test_what_a_build_lacks_decides_how_a_call_is_timed(swept, manners, us, source):
    """By the profiler, of the op alone where a graph tells which program it is; else in a trace, else not."""
    wrote, _, _ = await swept(
        {NOW: [20.0], "other_us": [90.0], **manners},
        facts={"free_bytes": 0, "kernel_us": None, "candidates": ALONE},
    )
    first = wrote["candidates"][0]
    if us is None:
        why = "this build profiles no device and replays no trace"
        assert (first["outcome"], first["why"], first["us"]) == ("not measured", why, [])
    else:
        assert (first["median_us"], first["source"]) == (pytest.approx(us), source)
    assert first["device_ops"] == [*manners.get("graph", [])]
    assert ("traced_us" in first, first["traced_us"] is None) == (True, "trace" not in manners)


async def test_asked_only_what_ttnn_takes_one_process_tells_of_all(swept):
    """Its buffers are those of the op, not of a program beside it; what lay in L1 is not the op's."""
    l1 = {
        "largest_contiguous_bytes_free_per_bank": 90_000,
        "num_banks": 64,
        "total_bytes_allocated_per_bank": 30_000,
    }
    manners = {
        NOW: [20.0],
        "1": "refuse",
        "4": [1.0],
        "8": [1.0],
        "graph": TYPECAST_TOO,
        "other_us": [1.0],
        "l1": l1,
    }
    wrote, printed, (only,) = await swept(manners, "--accept", facts={"free_bytes": 85_000})
    each = ["clear", "dry", "call", "wet", "call"]
    assert only.ttnn.calls == [OPENED, *each * 3, *each[:3], "close"]
    assert [value for value, _ in only.ttnn.operands] == [None] * 8
    assert (only.apart, "TT_METAL_DEVICE_PROFILER" in only.environment) == (False, False)
    accepted = {
        "outcome": "accepted", "device_ops": [*TYPECAST_TOO], "buffer_bytes": 7, "tensor_bytes": 30_000 - 2 * 2_048,
        "output": {"shape": "(1, 1, 256, 512)", "memory": "DRAM_MEMORY_CONFIG"},
    }  # fmt: skip
    named = {one.pop("name"): (one.pop("settings"), one) for one in wrote["candidates"]}
    refused = {"outcome": "refused", "why": "RuntimeError: it must divide K"}
    assert named == {
        "as profiled": ({}, accepted),
        **{f"in0_block_w={value}": ({"in0_block_w": value}, accepted) for value in (8, 4)},
        "in0_block_w=1": ({"in0_block_w": 1}, refused),
    }
    assert (wrote["mode"], wrote["ended"]) == ("accepted", None)
    assert printed.splitlines()[0] == "as profiled: accepted, 7 bytes of buffers per core"
    assert "in0_block_w=1: refused, RuntimeError: it must divide K\n" in printed
    manners |= {"graph": {"Other": 9, "Another": 5}}
    wrote, _, _ = await swept(manners, "--accept", "--out", str(only.sweep.path.with_suffix(".json")))
    assert (wrote["candidates"][0]["buffer_bytes"], wrote["candidates"][0]["tensor_bytes"]) == (9, 30_000)


async def test_where_one_of_them_ends_the_process_the_others_get_another(swept):
    l1 = {"largest_contiguous_bytes_free_per_bank": 0, "num_banks": 1, "total_bytes_allocated_per_bank": 0}
    manners = {"1": [1.0], "4": "hang", "8": "die", NOW: [1.0], "graph": {"Matmul": 1}, "l1": l1}
    wrote, _, children = await swept(manners, "--accept", "--limit-s", "5")
    assert [one["outcome"] for one in wrote["candidates"]] == ["accepted", "died", "hung", "accepted"]
    assert [one.get("why") for one in wrote["candidates"]] == [
        None, "exit status 3: it fell over", "no answer after 5 s", None,
    ]  # fmt: skip
    assert [one.killed for one in children] == [None, "alone", None]
    wrote, _, children = await swept({**manners, NOW: [20.0]})
    assert [one.killed for one in children] == [None, None, "with all that it started", None, None]


async def test_a_collective_is_measured_on_a_mesh(swept):
    wrote, _, (only, *_) = await swept({NOW: [20.0]}, facts={"mesh": [1, 4]})
    first, second, *_, last = only.ttnn.calls
    assert (first, second, last) == ("FabricConfig.FABRIC_1D", "mesh (1, 4)", "close mesh")
    assert wrote["candidates"][0]["outcome"] == "measured"


async def test_a_result_of_several_tensors_is_judged_by_its_first_and_one_of_another_size_is_not_compared(swept):
    wrote, _, _ = await swept(
        {NOW: [20.0], "4": "short", "8": "nan", "1": [20.0], "wrong_us": [9.0], "several": True}
    )
    told = {one["name"]: one["pcc"] for one in wrote["candidates"]}
    assert told == {
        "as profiled": pytest.approx(1.0), "in0_block_w=8": 0.0, "in0_block_w=4": None, "in0_block_w=1": pytest.approx(1.0),
    }  # fmt: skip
    assert wrote["candidates"][0]["output"]["shape"] == "(1, 1, 256, 512)"
    assert measuring._pcc(SimpleNamespace(reference=None), None, []) is None


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
    refusing = {
        **manners,
        "processes": str(tmp_path / "refusing"),
        "8": "refuse",
    }  # the clock of the first still counts
    wrote, _, _, printed = await replayed(refusing)
    assert [one["outcome"] for one in wrote["candidates"]] == ["measured", "refused", "measured", "skipped"]
    assert "ended: the chip's clock changed from 1000 to 800 MHz\nwritten: " in printed
    falling = {**manners, "processes": str(tmp_path / "falling"), "mhz": [1000, 1000, 1000, 1000, 800]}
    assert (await replayed(falling))[0]["ended"] == "the chip's clock changed from 1000 to 800 MHz"


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
    assert measuring._noise([10.0, 10.0, 10.0, 10.0, 5.0]) == 0.0
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
    wrote, _, verdicts, _ = await replayed({NOW: "refuse", "1": [1.0], "4": [1.0], "8": [1.0]}, "--anyway")
    assert (wrote["ended"], [one["outcome"] for one in wrote["candidates"]]) == (
        None,
        ["refused", *["measured"] * 3],
    )


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
    assert _unlike_its_profile({"kernel_us": 20.0}, {**answer, "source": "traced replay"}) is None
    assert _unlike_its_profile({"kernel_us": None}, answer) is None


async def test_what_is_expected_to_be_slower_at_best_than_what_was_measured_is_not_run(swept):
    from argparse import Namespace

    from ttnn_mcp.replay.measuring import _cannot_win

    measured = [{"outcome": "measured", "median_us": 9.0}, {"outcome": "measured", "median_us": 10.0}]
    asked = Namespace(accept=False)
    assert _cannot_win({"low_us": 10.1}, measured, asked)
    assert not _cannot_win({"low_us": 10.0}, measured, asked)
    assert not _cannot_win({}, measured, asked)
    assert not _cannot_win({"low_us": 10.1}, measured[:1], asked)
    assert not _cannot_win({"low_us": 10.1}, measured, Namespace(accept=True))
    lows = {"as profiled": 19.0, "4": 15.0, "8": 15.1}
    facts = {"candidates": [{"name": name, "settings": {}, "low_us": low} for name, low in lows.items()]}
    wrote, _, _ = await swept({NOW: [20.0]}, facts=facts)
    assert [one["outcome"] for one in wrote["candidates"]] == ["measured"] * 3
    facts["candidates"][2]["low_us"] = 20.1
    wrote, _, _ = await swept({NOW: [20.0]}, facts=facts)
    assert wrote["candidates"][2]["why"] == "what is measured is faster than this is expected to be at best"


def test_a_process_that_hangs_is_ended(tmp_path, monkeypatch):
    from argparse import Namespace

    from ttnn_mcp.replay.measuring import _in_a_process

    script = tmp_path / "hangs.py"
    script.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(sys, "argv", [str(script)])
    for accept in (False, True):
        asked = Namespace(accept=accept, repeats=1, calls=1, warm_up=1, limit_s=0.05)
        assert _in_a_process(range(2), asked) == [{"outcome": "hung", "why": "no answer after 0.05 s"}]


def test_of_a_call_of_several_programs_the_one_replayed_is_timed():
    from ttnn_mcp.replay.measuring import _of_the_op

    assert _of_the_op([1.0, 5.0, 2.0, 1.0, 7.0, 2.0], 2, 1, 3) == 6.0
    assert _of_the_op([1.0, 5.0, 1.0, 7.0], 2, None, 2) == 7.0
    assert _of_the_op([1.0, 5.0, 1.0, 7.0], 2, 0, 1) == 7.0  # the graph shows another number of programs
    assert _of_the_op([1.0, 5.0, 1.0], 2, 1, 2) is None
    assert _of_the_op([], 2, None, 0) is None


def test_the_op_replayed_is_known_by_any_of_its_names_and_by_no_longer_one():
    from ttnn_mcp.replay.measuring import _is_replayed
    from ttnn_mcp.run.ops.op_names import names_of

    names = [
        "BinaryNgDeviceOperation",
        "SDPAOperation",
        "TopkRouteFinishDeviceOperation",
        "UntilizeCodegenDeviceOperation",
    ]
    names += ["ttnn::prim::TopKDeviceOperation", "SdpaDecodeDeviceOperation", "Pool2D"]
    of = {"ScaledDotProductAttention": [1], "TopK": [4], "ScaledDotProductAttentionDecode": [5], "Pool2D": [6]}
    for op, places in {**of, "Untilize": [3], "Binary": [0], "Tilize": []}.items():
        replay = SimpleNamespace(facts={"names": [name.lower() for name in names_of(op)]})
        assert [place for place, name in enumerate(names) if _is_replayed(replay, name)] == places, op


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
    others = [
        {"node_type": "function_start", "params": {"name": "ttnn.matmul"}},
        {"node_type": "function_end", "params": start["params"]},
        {"node_type": "function_start", "params": {"name": "", "program_factory_type": "x"}},
        {"node_type": "buffer_allocate", "params": buffers[0]["params"]},
        {"node_type": "circular_buffer_allocate", "params": {"size": 1, "core_range_set": "{}"}},
    ]
    begin = {"node_type": "capture_start", "params": None}
    assert _programs([begin, buffers[0], start, *buffers, *others]) == [("MatmulDeviceOperation", 150)]


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


def test_an_operand_holds_what_its_op_can_read_and_without_memory_it_stays_on_the_host():
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
    given = [{"shape": (2, 3), "dtype": "x", "layout": "y", "memory": place} for place in ("DRAM", None)]
    ttnn = SimpleNamespace(zeros=lambda shape, **kind: kind)
    made = measuring._made(SimpleNamespace(ttnn=ttnn, operands=lambda _: given), "chip", {}, None)
    kind = {"dtype": "x", "layout": "y"}
    assert made == [{**kind, "device": "chip", "memory_config": "DRAM"}, kind]

"""The script that finds the op and the layer which lose accuracy: its verdicts, and how it hears TTNN's comparisons."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from tests.for_all import for_all
from ttnn_mcp.shell.capture import accuracy_check
from ttnn_mcp.shell.capture.accuracy_check import NOTHING, Watch, _ending, _pcc, verdict_of


def ops(accumulated, alone=1.0, layers=True):
    alone = alone if isinstance(alone, list) else [alone] * len(accumulated)
    return [
        {"suspect": 0, "name": "ttnn.x", "call": number, "layer": number + 1 if layers else None, "alone": one, "accumulated": all_}
        for number, (one, all_) in enumerate(zip(alone, accumulated, strict=True))
    ]  # fmt: skip


def verdict(*asked, **named):
    told = verdict_of(ops(*asked, **named))
    return told["first_drifting_layer"], told["why"]


def test_the_planted_wrong_op_is_named_by_its_layer():
    curve = [0.9999, 0.9998, 0.98, 0.9799, 0.9798]
    layer, why = verdict(curve, [1.0, 1.0, 0.95, 1.0, 1.0])
    assert layer == 3
    assert why == "loses 0.0198: an op is wrong alone"
    assert verdict(curve)[1] == "loses 0.0198: its ops are right alone: look before it"
    assert verdict(curve, None)[1] == verdict(curve)[1]


@for_all(("alone", "is_wrong"), [(0.999, False), (0.9989, True)])
def test_an_op_is_wrong_alone_below_the_bound_of_a_module(alone, is_wrong):
    assert ("wrong alone" in verdict([0.5], alone)[1]) is is_wrong


def test_a_planted_drift_is_no_single_op():
    layer, why = verdict([1 - 0.003 * n for n in range(1, 7)])
    assert layer == 4
    assert why == "the first below 0.99; every layer loses about 0.0030: drift, no single op"


def test_a_model_that_keeps_its_pcc_drifts_nowhere():
    assert verdict([0.9999, 0.9998, 0.9997]) == (None, "no layer loses much, and the model keeps its PCC")
    for last, why in (
        (0.99, "and the model keeps its PCC"),
        (0.9899, "but ttnn.head, outside of them, is at 0.9899"),
    ):
        told = verdict_of(ops([0.9999]), {"name": "ttnn.head", "accumulated": last})
        assert (told["first_drifting_layer"], told["why"]) == (None, f"no layer loses much, {why}")
    told = verdict_of(ops([0.9999]), None, "ValueError")
    assert told["why"] == "no layer loses much as far as the program ran; it ended with ValueError"
    told = verdict_of([*ops([0.9999]), *ops([None], layers=False)])
    assert told["why"] == "no layer loses much, and the model keeps its PCC"
    assert verdict([0.99])[0] == 1
    assert verdict([0.998, 0.996, 0.994, 0.992, 0.99])[0] is None


@for_all(("less", "layer"), [(0.0019, None), (0.0021, 2)])
def test_a_layer_may_lose_two_thousandths(less, layer):
    assert verdict([1.0, 1.0 - less, 1.0 - less])[0] == layer


@for_all(("less", "layer"), [(0.0029, None), (0.0031, 4)])
def test_a_layer_that_loses_three_times_the_usual_stands_out(less, layer):
    curve = [0.999, 0.998, 0.997]
    assert verdict([*curve, curve[-1] - less, curve[-1] - less - 0.001])[0] == layer


def test_layers_have_their_lowest_figures_and_ops_stand_in_for_layers():
    told = verdict_of([*ops([0.99], [0.9]), *ops([0.98], [0.95])])
    assert told["layers"] == [{"layer": 1, "alone": 0.9, "accumulated": 0.98}]
    two_kinds = [*ops([1.0, 0.9], layers=False), *ops([0.8], layers=False)]
    told = verdict_of(two_kinds)
    assert [(one["layer"], one["accumulated"]) for one in told["layers"]] == [(1, 1.0), (2, 0.9), (3, 0.8)]
    assert told["why"].endswith("each op compared counts as one")
    told = verdict_of([*ops([0.9999]), *ops([0.5], layers=False)])  # a norm behind the layers is none of them
    assert [one["layer"] for one in told["layers"]] == [1]
    assert told["why"] == "no layer loses much, but ttnn.x, outside of them, is at 0.5000"
    told = verdict_of(ops([None, 0.5]))
    assert (told["layers"][0]["accumulated"], told["first_drifting_layer"]) == (None, 2)
    assert verdict_of([])["layers"] == []


@for_all("compared", [[], ops([None, None])])
def test_where_nothing_was_compared_no_model_keeps_its_pcc(compared):
    told = verdict_of(compared)
    assert (told["first_drifting_layer"], told["why"]) == (None, NOTHING)


def test_a_pcc_that_is_no_number_agrees_with_nothing():
    assert [_pcc({"actual_pcc": pcc}) for pcc in (float("nan"), 0.5)] == [0.0, 0.5]


SUSPECTS = [
    {"risk": "r", "names": ["layer_norm"], "layers": [1, 1, 2]},
    {"risk": "r", "names": ["linear"], "layers": []},
]


def test_comparisons_are_paired_and_calls_counted_from_pass_to_pass():
    watch = Watch(SUSPECTS)
    watch.note("ttnn.linear", "globally", 0.2)
    for level, pcc in (("locally", 0.9), ("globally", 0.8), ("locally", 0.7), ("globally", 0.6), ("globally", 0.5)):
        watch.note("ttnn.layer_norm", level, pcc)
    watch.note("ttnn.add", "locally", 0.1)
    watch.note("ttnn.layer_norm", "locally", 0.3)
    watch.note("ttnn.linear", "locally", 0.4)
    watch.note("ttnn.layer_norm", "globally", 0.25)
    told = [(one["name"], one["call"], one["layer"], one["alone"], one["accumulated"]) for one in watch.ops]
    assert told == [
        ("ttnn.linear", 0, None, None, 0.2),
        ("ttnn.layer_norm", 0, 1, 0.9, 0.8),
        ("ttnn.layer_norm", 1, 1, 0.7, 0.6),
        ("ttnn.layer_norm", 2, 2, None, 0.5),
        ("ttnn.layer_norm", 3, 1, 0.3, 0.25),
        ("ttnn.linear", 1, None, 0.4, None),
    ]


def test_layers_are_told_of_whole_passes_only():
    watch = Watch([*SUSPECTS, {"risk": "r", "names": ["sdpa"], "layers": [7]}])
    for calls, ended in enumerate(("status 1", "ValueError", "", ""), 1):
        for name in ("layer_norm", "linear", "sdpa"):
            watch.note(f"ttnn.{name}", "locally", 1.0)
        watch.verdict(ended)
        assert [one["layer"] for one in watch.ops[::3]] == ([1, 1, 2] if calls < 4 else [None] * 4)[:calls]
        assert {one["layer"] for one in watch.ops[2::3]} == {7}
    assert watch.last is None
    watch.note("ttnn.add", "globally", 0.5)
    assert watch.last == {"name": "ttnn.add", "accumulated": 0.5}


def test_a_program_that_leaves_without_a_status_has_not_failed():
    assert [_ending(SystemExit(code)) for code in (None, 0, 2, "why")] == ["", "", "status 2", "status why"]
    assert _ending(KeyboardInterrupt()) == "KeyboardInterrupt"


class Record:
    actual_pcc = 0.75


def test_an_op_of_several_outputs_counts_once_with_its_lowest():
    watch = Watch(SUSPECTS)

    def compare(name, parts, level):
        if parts:
            return [record for part in parts for record in heard(name, part, level=level)]
        return [{"actual_pcc": 0.9}, Record()]

    heard = watch.around(compare)
    assert len(heard("ttnn.layer_norm", [[], []], level="locally")) == 4
    assert [(one["alone"], one["accumulated"]) for one in watch.ops] == [(0.75, None)]
    watch.around(lambda *_asked, **_named: [])("ttnn.layer_norm", level="locally")
    assert len(watch.ops) == 1


DECORATORS = """
import json, os
assert json.loads(os.environ["TTNN_CONFIG_OVERRIDES"])["enable_comparison_mode"] is True
def compare_tensors_using_pcc(name, golden, output, desired_pcc, level, fail_on_bad_comparison):
    return [{"actual_pcc": golden}]
def run(name, alone, accumulated):
    for level, pcc in (("locally", alone), ("globally", accumulated)):
        compare_tensors_using_pcc(name, pcc, None, desired_pcc=1, level=level, fail_on_bad_comparison=False)
"""
MODEL = """
import sys, ttnn.decorators
assert sys.argv[1:] == ["a b"], sys.argv
ttnn.decorators.run("ttnn.layer_norm", 0.99, 0.5)
raise SystemExit(3)
"""
ENDS = {  # how the model ends -> its status, and what is said where no layer drifts
    "raise SystemExit(4)": (4, " as far as the program ran; it ended with status 4"),
    "raise ValueError": (1, " as far as the program ran; it ended with ValueError"),
    "raise SystemExit": (0, ", and the model keeps its PCC; which op is of which layer is not known"),
    "": (0, ", and the model keeps its PCC; which op is of which layer is not known"),
    "ttnn.decorators.run('ttnn.head', 0.1, 0.2)": (0, ", but ttnn.head, outside of them, is at 0.2000; which op"),
}


def test_the_whole_script_with_a_stand_in_for_ttnn(tmp_path, monkeypatch, capsys):
    (tmp_path / "ttnn").mkdir()
    (tmp_path / "ttnn" / "__init__.py").touch()
    (tmp_path / "ttnn" / "decorators.py").write_text(DECORATORS)
    (tmp_path / "model.py").write_text(MODEL)
    environment = {"PYTHONPATH": str(tmp_path), "TTNN_CONFIG_OVERRIDES": '{"enable_logging": true}'}

    def run(*words):
        with monkeypatch.context() as at:
            for name in ("ttnn", "ttnn.decorators", "model"):
                at.delitem(sys.modules, name, raising=False)
            at.chdir(tmp_path)
            at.setattr(sys, "argv", ["accuracy_check.py", *words])
            at.setattr(sys, "path", ["", str(tmp_path), *sys.path])
            at.setattr(accuracy_check, "SUSPECTS", SUSPECTS)
            for name, value in environment.items():
                at.setenv(name, value)
            try:
                status = accuracy_check.main(list(words))
            except (SystemExit, ValueError) as ended:
                status = (ended.code or 0) if isinstance(ended, SystemExit) else 1
            finally:
                for name in ("ttnn", "ttnn.decorators", "model"):
                    sys.modules.pop(name, None)
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=status, stdout=printed.out, stderr=printed.err)

    text = Path(accuracy_check.__file__).read_text().replace("]] = []", f"]] = {SUSPECTS!r}", 1)
    (tmp_path / "check.py").write_text(text)
    command = [sys.executable, "check.py", "model.py", "a b"]
    assert subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False).returncode == 3
    assert (tmp_path / "accuracy.json").exists()
    for start in (["model.py"], ["-m", "model"]):
        ran = run("--out", "found.json", "--", *start, "a b")
        assert ran.returncode == 3, ran.stderr
        told = json.loads((tmp_path / "found.json").read_text())
        assert (told["format"], told["version"], told["first_drifting_layer"]) == ("ttnn-mcp accuracy", 1, 1)
        assert told["layers"] == [{"layer": 1, "alone": 0.99, "accumulated": 0.5}]
        assert "first drifting layer: 1; loses 0.5000: an op is wrong alone; see found.json" in ran.stdout
        (tmp_path / "found.json").unlink()
    environment["TT_METAL_MOCK_CLUSTER_DESC_PATH"] = "n150.yaml"
    ran = run("--out", "found.json", "--", "model.py", "a b")
    told = json.loads((tmp_path / "found.json").read_text())
    assert (told["layers"], told["first_drifting_layer"], len(told["ops"])) == ([], None, 1)
    assert "first drifting layer: None; no kernel runs on a mock device" in ran.stdout
    del environment["TT_METAL_MOCK_CLUSTER_DESC_PATH"]
    assert run("model.py", "a b").returncode == 3
    assert (tmp_path / "accuracy.json").exists()
    good = MODEL.replace("0.5", "0.9999")
    for end, (status, why) in ENDS.items():
        (tmp_path / "model.py").write_text(good.replace("raise SystemExit(3)", end))
        assert run("--", "model.py", "a b").returncode == status
        assert f"no layer loses much{why}" in json.loads((tmp_path / "accuracy.json").read_text())["why"]
    for words in ([], ["-m"], ["--out", "x", "--"]):
        ran = run(*words)
        assert (ran.returncode, "python accuracy_check.py" in ran.stderr) == (2, True)

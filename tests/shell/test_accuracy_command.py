"""The command that prints the script: which ops it checks, in which layers."""

from __future__ import annotations

import ast

import pytest

from tests.asking import session
from tests.profiles import Program, write_performance_report, write_run
from tests.profiles.model import DeviceOp
from tests.tools.parts.test_accuracy_suspects import NARROW, WIDE, put
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.accuracy_command import script


def suspects_in(text):
    """The list that the script holds."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.AnnAssign) and node.target.id == "SUSPECTS":
            return ast.literal_eval(node.value)
    raise AssertionError


def norms(layers=4):
    program = Program("wormhole_b0")
    put(program, "Embeddings", [WIDE])
    for _ in range(layers):
        put(program, "LayerNorm", [NARROW], fp32=False)
        put(program, "Matmul", [WIDE, WIDE], fidelity="LoFi")
        put(program, "LayerNorm", [WIDE])
        put(program, "Unary", [WIDE])
    put(program, "Softmax", [WIDE])
    return program


async def test_the_worst_kinds_are_checked_call_by_call_in_their_layers(tmp_path):
    path = str(write_performance_report(tmp_path / "run", norms()))
    norm, matmul = suspects_in(await script(session(tmp_path), path, 5))
    assert norm == {
        "risk": "norm reads a block float; norm sums in 16 bits",
        "names": ["layer_norm", "rms_norm"],
        "layers": [1, 1, 2, 2, 3, 3, 4, 4],
    }
    assert matmul == {"risk": "bfloat16 multiplied at LoFi", "names": ["linear", "matmul"], "layers": [1, 2, 3, 4]}
    assert len(suspects_in(await script(session(tmp_path), path, 1))) == 1
    behind = norms()
    put(behind, "LayerNorm", [NARROW])
    path = str(write_performance_report(tmp_path / "behind", behind))
    (norm,) = suspects_in(await script(session(tmp_path), path, 1))
    assert norm["layers"] == [1, 1, 2, 2, 3, 3, 4, 4, None]
    path = str(write_performance_report(tmp_path / "short", norms(1)))
    assert [one["layers"] for one in suspects_in(await script(session(tmp_path), path, 5))] == [[], []]


async def test_names_of_operations_come_from_the_memory_report_as_far_as_they_are_names(tmp_path):
    program = Program("wormhole_b0")
    for operation in ("ttnn.my_norm", "ttnn.x'); import os", "ttnn.fine"):
        x, out = program.tensor([1, 1, 64, 64], NARROW), program.tensor([1, 1, 64, 64], WIDE)
        put(program, f"Other{len(operation)}", [WIDE])
        program.call(operation, (x,), (out,), (DeviceOp("LayerNormDeviceOperation", (x,), (out,), 9_000),))
    x, out = program.tensor([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
    program.call("ttnn.no_suspect", (x,), (out,), (DeviceOp("UnaryDeviceOperation", (x,), (out,), 9_000),))
    made = write_run(tmp_path / "run", program)
    at = session(tmp_path)
    run = await at.open(str(made.performance), str(made.memory))
    (one,) = suspects_in(await script(at, run.id, 5))
    assert one["names"] == ["fine", "layer_norm", "my_norm", "rms_norm"]


async def test_a_kind_whose_operation_nobody_can_name_is_left_out(tmp_path):
    program = norms()
    put(program, "LayerNormPreAllGather", [NARROW])
    path = str(write_performance_report(tmp_path / "run", program))
    assert [one["names"][0] for one in suspects_in(await script(session(tmp_path), path, 5))] == [
        "layer_norm",
        "linear",
    ]


async def test_without_a_suspect_it_says_what_to_do(tmp_path):
    with pytest.raises(QuestionRefused, match=r"No op of run .* is suspect"):
        await script(session(tmp_path), "demo", 5)


def test_at_a_shell(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = str(write_performance_report(tmp_path / "run", norms()))
    assert cli.main(["accuracy", path, "--worst", "1"]) == 0
    assert len(suspects_in(capsys.readouterr().out)) == 1

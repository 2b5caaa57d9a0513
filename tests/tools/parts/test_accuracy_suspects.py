"""Ops that are likely to lose accuracy: each risk at its line, and the order of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np

from tests.asking import call, session
from tests.checks.asking import case_of_reports
from tests.checks.rows import case_of
from tests.checks.step3_programs import without
from tests.for_all import for_all
from tests.profiles import Program, write_run
from tests.profiles.model import DeviceOp
from tests.profiles.ops import kernel_config
from tests.programs import LAYERS, block, layered
from ttnn_mcp.tools.parts.accuracy_suspects import layers_of, suspects_of, table_of
from ttnn_mcp.tools.tensor_formats import TOOL


def put(program, name, dtypes, *, fidelity="HiFi2", fp32=True, program_config=None, keys=128, kernel_ns=10_000):
    """An op whose inputs have these data types."""
    tensors = [program.tensor([1, 1, keys, 64], dtype) for dtype in dtypes]
    out = program.tensor([1, 1, keys, 64], "BFLOAT16")
    attributes = {"compute_kernel_config": kernel_config(fidelity, fp32=fp32)}
    attributes |= {"program_config": program_config} if program_config else {}
    op = DeviceOp(
        f"{name}DeviceOperation", tuple(tensors), (out,), kernel_ns, fidelity=fidelity, attributes=attributes
    )
    program.call(f"ttnn.{name}", tuple(tensors), (out,), (op,))


def suspects(folder, *asked, **how):
    program = Program("wormhole_b0")
    put(program, *asked, **how)
    return [(one.risk, one.pcc_elsewhere) for one in suspects_of(case_of(folder, program))]


WIDE, NARROW = "BFLOAT16", "BFLOAT8_B"
ATTENTION = "ScaledDotProductAttention"


@for_all(
    ("asked", "how", "risks"),
    [
        (("LayerNorm", [WIDE]), {}, []),
        (("LayerNorm", [NARROW]), {}, [("norm reads a block float", 0.50)]),
        (("GroupNorm", [NARROW]), {}, [("norm reads a block float", 0.50)]),
        (("Unary", [NARROW]), {}, []),
        (("LayerNorm", [WIDE]), {"fp32": False}, [("norm sums in 16 bits", 0.89)]),
        (("LayerNorm", [WIDE]), {"fidelity": "LoFi"}, [("norm at LoFi", 0.91)]),
        (("Unary", [WIDE]), {"fp32": False}, []),
        ((ATTENTION, [WIDE] * 3), {}, []),
        ((ATTENTION, [WIDE] * 3), {"fp32": False}, [("attention sums in 16 bits", 0.938)]),
        ((ATTENTION, [WIDE] * 4), {}, []),
        ((ATTENTION, [*[WIDE] * 3, NARROW]), {}, [("mask in a block float", None)]),
        (("RingJointSDPA", [*[WIDE] * 3, NARROW]), {}, []),
        (("Matmul", [WIDE, WIDE]), {}, []),
        (("Matmul", [WIDE, WIDE]), {"fidelity": "LoFi"}, [("bfloat16 multiplied at LoFi", None)]),
        (("Matmul", [WIDE, NARROW]), {"fidelity": "LoFi"}, []),
        (("Matmul", [NARROW, WIDE]), {"fidelity": "LoFi"}, []),
        (("Unary", [WIDE, WIDE]), {"fidelity": "LoFi"}, []),
    ],
)
def test_each_risk_at_its_line(tmp_path, asked, how, risks):
    assert suspects(tmp_path, *asked, **how) == risks


@for_all(("keys", "approximate", "is_suspect"), [(16_384, 1, False), (16_416, 1, True), (16_416, 0, False)])
def test_the_approximate_exponential_is_suspect_beyond_16_k_keys(tmp_path, keys, approximate, is_suspect):
    config = f"SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),q_chunk_size=128,k_chunk_size=128,exp_approx_mode={approximate})"
    told = suspects(tmp_path, ATTENTION, [WIDE] * 3, keys=keys, program_config=config)
    assert told == ([("approximate exp beyond 16 k keys", None)] if is_suspect else [])
    assert suspects(tmp_path, ATTENTION, [WIDE] * 3, keys=keys) == []
    assert suspects(tmp_path, "Matmul", [WIDE, NARROW], keys=keys, program_config=config) == []


def test_columns_of_operands_that_are_lost_leave_the_risks_that_need_none_of_them(tmp_path):
    program = Program("wormhole_b0")
    put(program, "Matmul", [WIDE, WIDE], fidelity="LoFi")
    put(program, "LayerNorm", [NARROW])
    for lost, risks in ((("INPUT_1", "INPUT_2", "INPUT_3"), ["norm reads a block float"]), (("INPUT_",), [])):
        facts = case_of_reports(without(tmp_path, lost, program))
        assert [one.risk for one in suspects_of(facts)] == risks


def test_each_kind_of_op_that_has_a_risk_is_one_suspect(tmp_path):
    program = Program("wormhole_b0")
    for name, dtype in (("LayerNorm", NARROW), ("GroupNorm", NARROW), ("LayerNorm", WIDE)):
        put(program, name, [dtype])
    told = {one.op_code: one.rows.tolist() for one in suspects_of(case_of(tmp_path, program))}
    assert told == {"LayerNorm": [0], "GroupNorm": [1]}


def test_the_worst_by_what_others_lost_comes_first_then_the_heavier(tmp_path):
    program = Program("wormhole_b0")
    put(program, "Matmul", [WIDE, WIDE], fidelity="LoFi", kernel_ns=5_000)
    put(program, "Conv2d", [WIDE, WIDE], fidelity="LoFi", kernel_ns=50_000)
    put(program, ATTENTION, [WIDE] * 3, fp32=False)
    put(program, "LayerNorm", [NARROW])
    put(program, "LayerNorm", [WIDE], fp32=False)
    facts = case_of(tmp_path, program)
    assert [one.op_code for one in suspects_of(facts)] == ["LayerNorm", "LayerNorm", ATTENTION, "Conv2d", "Matmul"]
    assert len(table_of(facts, 2).rows) == 2


def compared(folder, *records):
    """A run of a norm over a block float and of a matmul, with comparison records of some outputs."""
    program = Program("wormhole_b0")
    put(program, "LayerNorm", [NARROW])
    put(program, "Matmul", [WIDE, NARROW])
    made = write_run(folder / "run", program)
    with closing(sqlite3.connect(made.memory)) as database, database:
        outputs = [row[0] for row in database.execute("SELECT tensor_id FROM output_tensors ORDER BY operation_id")]
        second = max(outputs) + 1  # another output of the norm, of which nobody knows how far it is off
        insert = "INSERT INTO output_tensors (operation_id, output_index, tensor_id) SELECT operation_id, 1, ? FROM output_tensors WHERE tensor_id = ?"
        database.execute(insert, (second, outputs[0]))
        outputs.append(second)
        records = (*records, (2, "local", 1, None))
        for op, scope, matches, actual in records:
            database.execute(
                f"INSERT INTO {scope}_tensor_comparison_records (tensor_id, golden_tensor_id, matches, desired_pcc,"
                " actual_pcc) VALUES (?, 0, ?, 0.99, ?)",
                (outputs[op], matches, actual),
            )
    return case_of_reports(made.performance, made.memory)


def test_what_was_compared_here_goes_before_what_others_lost(tmp_path):
    facts = compared(tmp_path, (0, "local", 1, 0.995), (1, "local", 0, 0.7), (0, "global", 0, 0.2))
    assert [(one.risk, one.pcc_here) for one in suspects_of(facts)] == [
        ("missed its PCC bound", 0.7),
        ("norm reads a block float", 0.995),
    ]
    (risk, op_code, ops, layers, op, here, *_rest) = table_of(facts, 1).rows[0]
    assert (risk, op_code, ops, layers, here) == ("missed its PCC bound", "Matmul", 1, None, 0.7)
    assert op == facts.line(1)


def test_without_records_nothing_was_reached_here(tmp_path):
    (one,) = suspects_of(compared(tmp_path, (1, "global", 0, 0.2)))
    assert (one.risk, one.pcc_here) == ("norm reads a block float", None)


def test_each_op_has_its_layer_where_the_window_shows_layers(tmp_path):
    facts = case_of(tmp_path, layered())
    assert {*layers_of(facts, np.arange(len(facts)))} == {None, *range(1, LAYERS + 1)}
    flat = case_of(tmp_path, block())
    assert {*layers_of(flat, flat.named("Matmul").nonzero()[0])} == {None}


async def test_tensor_formats_ranks_suspects_where_it_is_asked_to(tmp_path):
    at = session(tmp_path)
    assert "suspects" not in await call(TOOL, at, {"run": "demo"})
    assert (await call(TOOL, at, {"run": "demo", "suspects": True}))["suspects"]["rows"] == []

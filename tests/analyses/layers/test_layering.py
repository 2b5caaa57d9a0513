"""Layers by names that repeat, and the ops that differ from their like."""

import asyncio
import csv

import numpy as np
import pytest

from tests.asking import session
from tests.profiles import Iteration, Program, header_of, performance_rows, write_performance_report, write_rows
from tests.programs import LAYERS, layered
from tests.shared_reports import CLIP, DEEPLAB, OFT, shared
from ttnn_mcp.analyses.layers.layering import AFTER, BEFORE, layering_of


def of(folder, program_or_path):
    path = (
        write_performance_report(folder, program_or_path, (Iteration(cold=True), Iteration()))
        if isinstance(program_or_path, Program)
        else program_or_path
    )
    run = asyncio.run(session(folder).run(str(path)))
    return layering_of(run.scope("last", None, None).ops, run.performance_report.signposts)


def test_every_op_has_its_layer_and_its_role(tmp_path):
    layering = of(tmp_path, layered())
    assert (layering.count, layering.roles) == (LAYERS, 4)
    assert layering.layer.tolist() == [BEFORE, *(n for n in range(1, LAYERS + 1) for _ in range(4)), AFTER]
    assert layering.role.tolist() == [0, *([1, 2, 3, 4] * LAYERS), 0]


@pytest.mark.parametrize(
    ("usual_ns", "slow_ns", "differs"),
    [(20_000, 20_900, 0), (20_000, 21_100, 1), (200_000, 209_000, 0), (200_000, 211_000, 1), (2_000, 2_900, 0)],
)
def test_an_op_differs_from_a_twentieth_and_a_microsecond_on(tmp_path, usual_ns, slow_ns, differs):
    program = layered(3, slow_ns)
    for op in program.device_ops:
        op.kernel_ns = usual_ns if op.kernel_ns == 20_000 else op.kernel_ns
    layering = of(tmp_path, program)
    assert layering.differs.sum() == differs
    assert not differs or layering.layer[layering.differs].tolist() == [3]


def test_ops_outside_the_layers_have_nothing_to_differ_from(tmp_path):
    program = layered()
    program.device_ops[-1].kernel_ns = 90_000
    assert not of(tmp_path, program).differs.any()


def test_ops_that_do_not_repeat_have_no_layers(tmp_path):
    program = Program("wormhole_b0")
    for family in ("Embeddings", "LayerNorm", "Unary", "BinaryNg", "Transpose"):
        program.op(f"{family}DeviceOperation", [program.tensor([1, 1, 32, 512])])
    assert of(tmp_path, program) is None


def test_no_ops_have_no_layers(tmp_path):
    run = asyncio.run(session(tmp_path).run(str(write_performance_report(tmp_path, layered(), [Iteration()]))))
    signposts = run.performance_report.signposts
    assert layering_of(run.scope().ops.take(np.arange(0)), signposts) is None


def test_a_real_encoder_has_thirty_two_layers_that_begin_at_a_norm(tmp_path):
    layering = of(tmp_path, shared(CLIP))
    assert (layering.count, layering.roles) == (32, 29)
    assert [(layering.layer == edge).sum() for edge in (BEFORE, AFTER)] == [5, 3]
    assert {*layering.layer[layering.differs].tolist()} == {1, 10, 11, 20, 28}


def test_a_convolutional_model_has_none(tmp_path):
    assert of(tmp_path, shared(DEEPLAB)) is None


def test_signposts_of_a_real_report_mark_its_blocks(tmp_path):
    """16 times 'TTBasicBlock forward started' to '... finished', over 69 % of the ops; 'OFT block' marks fewer ops."""
    path = shared(OFT)
    with path.open(newline="") as lines:
        rows = dict(enumerate(csv.DictReader(lines), start=2))
    expected, block, inside = {}, 0, False
    for line, row in rows.items():
        if row["OP TYPE"] == "signpost":
            inside = row["OP CODE"] == "TTBasicBlock forward started" or (
                inside and "finished" not in row["OP CODE"]
            )
            block += row["OP CODE"] == "TTBasicBlock forward started"
        elif row["DEVICE KERNEL DURATION [ns]"]:
            expected[line] = block if inside else 0
    run = asyncio.run(session(tmp_path).run(str(path)))
    ops = run.scope().ops
    layering = layering_of(ops, run.performance_report.signposts)
    assert dict(zip(ops.lines.tolist(), layering.layer.tolist(), strict=True)) == expected
    assert (layering.count, layering.roles) == (16, 0)
    assert "TTBasicBlock forward started" in layering.why
    assert not layering.differs.any()


def marked(folder, marks: dict[int, str], locs: dict[int, str] | None = None):
    """Six layers of four ops, behind one op; signposts before these ops of each pass, LOC of these."""
    rows = performance_rows(layered(), [Iteration(cold=True), Iteration()])
    ops = 4 * LAYERS + 2
    written = []
    for place, row in enumerate(rows):
        texts = marks[place % ops].split("|") if place % ops in marks else []
        written += [{"OP CODE": text, "OP TYPE": "signpost"} for text in texts]
        written.append(
            row | ({"LOC": locs[place % ops]} if locs and place % ops in locs else {"LOC": "loc(unknown)"})
        )
    path = write_rows(folder / "x.csv", written, header_of(rows, "tt-torch" if locs else "C7"))
    return of(folder, path)


STARTS = range(1, 4 * LAYERS + 1, 4)


@pytest.mark.parametrize("text", ["layer {}", "decoder_block_{} start", "Layer begin"])
def test_signposts_that_count_layers_mark_them(tmp_path, text):
    layering = marked(tmp_path, {start: text.format(number) for number, start in enumerate(STARTS)} | {25: "head"})
    assert (layering.count, layering.roles) == (LAYERS, 4)
    assert layering.layer.tolist() == [0, *(n for n in range(1, LAYERS + 1) for _ in range(4)), 0]
    assert "signposts" in layering.why


def test_signposts_of_something_else_mark_no_layers(tmp_path):
    layering = marked(tmp_path, {start: f"request {number}" for number, start in enumerate(STARTS)})
    assert "op names that repeat" in layering.why


@pytest.mark.parametrize(("end", "told"), [(13, "op names"), (14, "signposts")])
def test_signposts_mark_layers_over_half_of_the_ops(tmp_path, end, told):
    """Of 26 ops those from the second on, up to some other signpost."""
    layering = marked(tmp_path, {1: "layer 0", 5: "layer 1", 9: "layer 2", end: "rest"})
    assert told in layering.why


@pytest.mark.parametrize(("starts", "told"), [([1], "op names"), ([1, 13], "2 layers by signposts")])
def test_one_layer_alone_is_none(tmp_path, starts, told):
    assert told in marked(tmp_path, dict.fromkeys(starts, "layer begins")).why


def test_signposts_without_ops_between_them_are_no_layers(tmp_path):
    layering = marked(tmp_path, dict.fromkeys(STARTS, "decoder layer|decoder layer"))
    assert "op names" in layering.why


@pytest.mark.parametrize(
    ("layers", "told"),
    [
        ([0] * 26, "op names"),
        ([0] * 12, "op names"),
        ([0] * 6 + [1] * 6, "op names"),
        ([0] * 6 + [1] * 7, "2 layers by LOC"),
    ],
)
def test_two_layers_over_half_of_the_ops_are_told_by_locations(tmp_path, layers, told):
    locs = {op: f'loc("model.layers.{number}.mlp")' for op, number in enumerate(layers)}
    assert told in marked(tmp_path, {}, locs).why


def test_a_compiler_s_locations_name_the_layers(tmp_path):
    """The third op of each layer has no number of its own: its neighbours tell."""
    locs = {
        start + op: f'loc(fused["/models/block2/layer.7/test.py":60:0, "model.layers.{number}.mlp.up_proj"])'
        for number, start in enumerate(STARTS)
        for op in (0, 1, 3)
    }
    layering = marked(tmp_path, {}, locs)
    assert (layering.count, layering.roles) == (LAYERS, 4)
    assert layering.layer.tolist() == [0, *(n for n in range(1, LAYERS + 1) for _ in range(4)), 0]
    assert layering.why == "6 layers by LOC: layer 1 is 'model.layers.0'"


def test_devices_with_different_layers_have_none(tmp_path):
    program = layered()
    program.devices = 2
    rows = performance_rows(program, [Iteration()])
    last = [place for place, row in enumerate(rows) if str(row["DEVICE ID"]) == "1"][-5:-1]
    kept = [row for place, row in enumerate(rows) if place not in last]
    assert of(tmp_path, write_rows(tmp_path / "both.csv", rows, header_of(rows, "C7"))).count == LAYERS
    assert of(tmp_path, write_rows(tmp_path / "fewer.csv", kept, header_of(rows, "C7"))) is None


def test_each_device_s_ops_are_compared_with_its_own(tmp_path):
    """One device takes twice as long for everything: none of its ops is unusual there."""
    program = layered()
    program.devices = 2
    for op in program.device_ops:
        op.kernel_ns = (20_000, 40_000)
    assert not of(tmp_path, program).differs.any()


def test_layers_that_run_in_several_passes_are_no_more_layers(tmp_path):
    """One iteration decodes three tokens: each token runs embedding, layers and head again."""
    program, token = Program("wormhole_b0"), layered()
    program.calls = [*token.calls, *token.calls, *token.calls]
    program.op("TypecastDeviceOperation", [program.tensor([1, 1, 32, 64])])
    layering = of(tmp_path, program)
    one = [BEFORE, *(n for n in range(1, LAYERS + 1) for _ in range(4)), BEFORE]
    assert layering.layer.tolist() == [*one, *one, *one, BEFORE]
    assert layering.role.tolist() == [*[0, *([1, 2, 3, 4] * LAYERS), 0] * 3, 0]
    assert layering.scattered
    assert layering.why == "6 layers of 4 ops in each of 3 passes, by op names that repeat"

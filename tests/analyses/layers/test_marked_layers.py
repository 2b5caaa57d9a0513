"""Layers that the run marks itself, by signposts or by a compiler's LOC."""

import asyncio
import csv

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import LAYERS, layered
from tests.shared_reports import OFT, shared
from ttnn_mcp.analyses.layers.layering import layering_of


def of(folder, path):
    run = asyncio.run(session(folder).run(str(path)))
    return layering_of(run.scope("last", None, None).ops, run.performance_report.signposts)


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


@for_all("text", ["layer {}", "decoder_block_{} start", "Layer begin"])
def test_signposts_that_count_layers_mark_them(tmp_path, text):
    layering = marked(tmp_path, {start: text.format(number) for number, start in enumerate(STARTS)} | {25: "head"})
    assert (layering.count, layering.roles) == (LAYERS, 4)
    assert layering.layer.tolist() == [0, *(n for n in range(1, LAYERS + 1) for _ in range(4)), 0]
    assert layering.role.tolist() == [0, *[1, 2, 3, 4] * LAYERS, 0]
    assert "signposts" in layering.why


def test_signposts_of_something_else_mark_no_layers(tmp_path):
    layering = marked(tmp_path, {start: f"request {number}" for number, start in enumerate(STARTS)})
    assert "op names that repeat" in layering.why


@for_all(("end", "told"), [(13, "op names"), (14, "signposts")])
def test_signposts_mark_layers_over_half_of_the_ops(tmp_path, end, told):
    """Of 26 ops those from the second on, up to some other signpost."""
    layering = marked(tmp_path, {1: "layer 0", 5: "layer 1", 9: "layer 2", end: "rest"})
    assert told in layering.why


@for_all(("starts", "told"), [([1], "op names"), ([1, 13], "2 layers by signposts")])
def test_one_layer_alone_is_none(tmp_path, starts, told):
    assert told in marked(tmp_path, dict.fromkeys(starts, "layer begins")).why


def test_signposts_without_ops_between_them_are_no_layers(tmp_path):
    layering = marked(tmp_path, dict.fromkeys(STARTS, "decoder layer|decoder layer"))
    assert "op names" in layering.why


@for_all(
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


def layers_in(folder, marks):
    return marked(folder, marks).layer.tolist()


EVERY = [0, *(number for number in range(1, LAYERS + 1) for _ in range(4)), 0]


@for_all(
    ("begin", "end"),
    [
        ("layer_{}_start", "layer_{}_end"),
        ("Layer{}Start", "Layer{}End"),
        ("block_{}_begin", "block_{}_done"),
        ("layer {} start", "layer {} stop"),
        ("layer_{}_start", "end_of_layer_{}"),  # an end whose other words differ
        ("layer_{}_in", "layer_{}_out"),  # no word says which is the end: nothing runs behind it
    ],
)
def test_however_words_are_joined_layers_run_from_start_to_end(tmp_path, begin, end):
    marks = {start: [begin.format(number)] for number, start in enumerate(STARTS)}
    for number, start in enumerate(STARTS):
        marks.setdefault(start + 4, []).insert(0, end.format(number))
    assert layers_in(tmp_path, {place: "|".join(texts) for place, texts in marks.items()}) == EVERY


def test_a_part_of_each_layer_does_not_begin_it(tmp_path):
    """Parts run to the head, so they cover more ops; the last layer ends where no other one goes on."""
    marks = {start: f"layer {number} attention" for number, start in enumerate(STARTS)}
    marks |= {start + 2: f"layer {number} mlp" for number, start in enumerate(STARTS)}
    assert layers_in(tmp_path, marks | {25: "head"}) == EVERY
    assert layers_in(tmp_path, marks) == [*EVERY[:-1], LAYERS]


def test_marks_that_do_not_take_turns_with_others_are_no_part_of_them(tmp_path):
    """As many of both, but the blocks lie behind the layers: the wider marks are the layers."""
    marks = {1: "layer 0", 2: "layer 1", 3: "layer 2", 5: "block 0", 9: "block 1", 17: "block 2", 25: "head"}
    marks[15] = "layer 2 end"  # these too cover half
    assert layers_in(tmp_path, marks) == [0] * 5 + [1] * 4 + [2] * 8 + [3] * 8 + [0]


def test_ends_alone_begin_no_layers(tmp_path):
    layering = marked(tmp_path, {start + 4: f"layer_{number}_end" for number, start in enumerate(STARTS)})
    assert "op names that repeat" in layering.why


def test_what_nothing_runs_behind_ends_each_layer_even_if_it_covers_more(tmp_path):
    """A long head follows, so that the marks behind the layers cover more ops than the layers."""
    marks = {1: "layer_0_in", 5: "layer_0_out|layer_1_in", 10: "layer_1_out|layer_2_in", 14: "layer_2_out"}
    assert layers_in(tmp_path, marks) == [0] + [1] * 4 + [2] * 5 + [3] * 4 + [0] * 12


def test_ops_between_two_passes_of_layers_are_in_none(tmp_path):
    marks = {1: "layer_0_in", 3: "mlp", 5: "layer_0_out|layer_1_in", 7: "mlp", 9: "layer_1_out"}
    marks |= {place + 12: text for place, text in marks.items()}
    assert layers_in(tmp_path, marks) == [0, *[1] * 4, *[2] * 4, *[0] * 4, *[3] * 4, *[4] * 4, *[0] * 5]


def test_one_mark_before_all_layers_begins_none_of_them(tmp_path):
    marks = {start: f"layer {number}" for number, start in enumerate(STARTS)}
    assert layers_in(tmp_path, {0: "decoder block", **marks, 25: "head"}) == EVERY


def test_marks_right_before_the_first_op_count(tmp_path):
    marks = {0: "layer 0|forward", 6: "layer 1", 12: "layer 2", 18: "head"}
    assert layers_in(tmp_path, marks) == [1] * 6 + [2] * 6 + [3] * 6 + [0] * 8

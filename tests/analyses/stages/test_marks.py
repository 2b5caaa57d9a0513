"""Stages that signposts name."""

import numpy as np

from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from ttnn_mcp.analyses.stages.stages import KINDS, stages_by_signposts, stages_of
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance

OPS = 6


def named(folder, *marks):
    """The kind of each of six ops, by signposts before these."""
    program = Program("wormhole_b0")
    for _ in range(OPS):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])])
    rows = performance_rows(program, [Iteration()])
    header = header_of(rows, "C7")
    for place, text in reversed(marks):
        rows.insert(place, {"OP CODE": text, "OP TYPE": "signpost"})
    report = Performance(read_performance_csv(write_rows(folder / "x.csv", rows, header)))
    found = stages_by_signposts(report.ops, report.signposts)
    kinds = [KINDS[code] for code in found[0].tolist()] if found else []
    stages = [stage.kind for stage in stages_of(report.ops, report.signposts)]
    assert stages == [kind for kind in dict.fromkeys(kinds) if kind]
    return found and (kinds, found[1])


NONE, PREFILL, DECODE = "", "prefill", "decode"


@for_all(
    ("marks", "expected"),
    [
        ([(0, "prefill"), (4, "decode")], [PREFILL] * 4 + [DECODE] * 2),
        (
            [(1, "prefill_start"), (2, "prefill_end"), (4, "decodeStart")],
            [NONE, PREFILL, NONE, NONE, DECODE, DECODE],
        ),
        (
            [(1, "prefill start"), (3, "prefill end"), (5, "decode end")],
            [NONE, PREFILL, PREFILL, DECODE, DECODE, NONE],
        ),
        ([(2, "prefill done")], [PREFILL] * 2 + [NONE] * 4),
        ([(1, "decode"), (3, "stop")], [NONE, DECODE, DECODE, NONE, NONE, NONE]),
        ([(1, "decode"), (3, "stop 1")], [NONE, DECODE, DECODE, NONE, NONE, NONE]),
        ([(1, "decode"), (3, "layer_0_end")], [NONE] + [DECODE] * 5),
        ([(1, "decode"), (3, "prefill end")], [NONE] + [DECODE] * 5),
        ([(1, "stop"), (3, "decode")], [NONE] * 3 + [DECODE] * 3),
    ],
)
def test_a_stage_lasts_until_its_end_or_the_next_one(tmp_path, marks, expected):
    assert named(tmp_path, *marks)[0] == expected


@for_all(
    "text", ["decoder layer 3", "Upsample", "downsampling_2d", "positional encoding", "sample 4", "stop", "warm"]
)
def test_words_that_only_contain_a_stage_s_name_name_none(tmp_path, text):
    assert named(tmp_path, (0, text)) is None


@for_all(
    ("text", "kind"),
    [
        ("Prefill 128", "prefill"),
        ("decode_iter_3", "decode"),
        ("DecodeForward", "decode"),
        ("vision tower", "encoder"),
        ("text_encoder", "encoder"),
        ("token sampling", "sampling"),
    ],
)
def test_a_whole_word_names_a_stage(tmp_path, text, kind):
    kinds, why = named(tmp_path, (0, text), (3, text))
    assert set(kinds) == {kind}
    assert why == {kind: "signpost at line 2"}


def test_signposts_before_and_behind_the_ops_name_nothing(tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])])
    marked = [Iteration(signposts=("prefill", "over")), Iteration(signposts=("warm", "over"))]
    rows = performance_rows(program, marked)
    report = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    assert stages_by_signposts(report.ops.take(np.array([1], dtype=np.int64)), report.signposts) is None
    assert stages_by_signposts(report.ops.take(np.array([0], dtype=np.int64)), report.signposts) is not None
    assert stages_by_signposts(report.ops.take(np.array([], dtype=np.int64)), report.signposts) is None

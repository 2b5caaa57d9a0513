"""Where a stage begins, and what tells its kind."""

import numpy as np

from tests.analyses.tables import ops_of
from tests.for_all import for_all
from tests.language_model import HEADS, USERS, WIDTH, LanguageModel, attend_in_single_ops
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from ttnn_mcp.analyses.stages.stages import stages_of
from ttnn_mcp.analyses.stages.tokens import tokens_of
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance


def stages(folder, program, marks=(), cells=()):
    """Kinds and first rows of its stages; signposts before these ops, cells of some ops from a row on."""
    rows = performance_rows(program, [Iteration()])
    for first, name, value in cells:
        rows[first:] = [row | {name: value} for row in rows[first:]]
    for place, text in reversed(marks):
        rows.insert(place, {"OP CODE": text, "OP TYPE": "signpost"})
    path = write_rows(folder / "x.csv", rows, header_of(performance_rows(program, [Iteration()]), "C7"))
    performance = Performance(read_performance_csv(path))
    return [(stage.kind, int(stage.rows[0])) for stage in stages_of(performance.ops, performance.signposts)]


@for_all(("cells", "first"), [([], 8), ([(9, "METAL TRACE ID", 2)], 9), ([(10, "METAL TRACE ID", 2)], 10)])
def test_a_stage_begins_with_its_trace(tmp_path, cells, first):
    """Without one it begins at the longest gap, here the first op behind the other stage's last attention."""
    program = LanguageModel().prefill(embedded=False).prefill(embedded=False, causal="false")
    assert stages(tmp_path, program, cells=cells) == [("prefill", 0), ("encoder", first)]


@for_all(
    ("marks", "expected"),
    [
        ([(0, "decode"), (3, "prefill")], [("decode", 0), ("prefill", 3)]),
        ([(0, "decode"), (3, "prefill done")], [("decode", 0)]),
        ([(12, "decode")], [("prefill", 0)]),
    ],
)
def test_signposts_name_what_begins_among_the_ops(tmp_path, marks, expected):
    program = LanguageModel().prefill(embedded=False)
    assert stages(tmp_path, program, marks=marks) == expected


def attention(program, name="SDPAOperation", fills=False, **attributes):
    q = program.tensor([1, HEADS, 128, WIDTH])
    y = program.op(name, [q, q, q], attributes=attributes)
    if fills:
        program.op("FillCacheDeviceOperation", [program.tensor([1, HEADS, 1024, WIDTH]), y])
    return program


@for_all(
    ("name", "fills", "attributes", "kind"),
    [
        ("SDPAOperation", False, {}, "encoder"),
        ("SDPAOperation", True, {}, "prefill"),
        ("SDPAOperation", True, {"is_causal": "false"}, "encoder"),
        ("FlashMLAPrefillDeviceOperation", False, {"is_causal": "true"}, "prefill"),
        ("FlashMLADecodeDeviceOperation", False, {}, "decode"),
    ],
)
def test_an_attention_s_name_its_mask_and_caches_tell_its_stage(tmp_path, name, fills, attributes, kind):
    program = attention(Program("wormhole_b0"), name, fills, **attributes)
    assert stages(tmp_path, program) == [(kind, 0)]


def conv(program, gap_ns=1_500):
    x, weight = program.tensor([1, 1, 1024, 64]), program.weight([1, 1, 64, 512])
    program.op("Conv2d", [x, weight], shape=[1, 1, 1024, 512], gap_ns=gap_ns)
    return program


def with_prefill_before(program):
    return attention(conv(attention(program, is_causal="true"), gap_ns=90_000), is_causal="false")


@for_all(
    ("build", "sees"),
    [
        (lambda program: attention(conv(program), is_causal="false"), True),
        (lambda program: conv(attention(program, is_causal="false")), False),
        (with_prefill_before, True),
        (lambda program: conv(program).prefill().prefill(causal="false"), False),
    ],
)
def test_patches_are_made_before_an_encoder_s_first_attention(tmp_path, build, sees):
    ops = ops_of(tmp_path, build(LanguageModel()))
    (encoder,) = (stage for stage in stages_of(ops, ops.take(np.arange(0))) if stage.kind == "encoder")
    assert ("a vision encoder" in encoder.why) is sees


def tokens(folder, program, without=""):
    ops = ops_of(folder, program, without=without)
    (stage,) = stages_of(ops, ops.take(np.arange(0)))
    return tokens_of(ops, stage)


def test_an_attention_without_values_of_its_own_holds_keys_only(tmp_path):
    program = LanguageModel()
    q, cache = program.tensor([1, USERS, HEADS, WIDTH]), program.tensor([USERS, 1, 1024, WIDTH])
    program.op("SdpaDecodeDeviceOperation", [q, cache, cache])
    program.op("SdpaDecodeDeviceOperation", [q, cache])
    one = USERS * 1024 * WIDTH * 2
    assert tokens(tmp_path, program).cache_bytes == 3 * one
    assert tokens(tmp_path, program, without="^INPUT_2").cache_bytes == 2 * one
    assert tokens(tmp_path, program, without="^INPUT") is None


def test_tokens_are_read_as_the_op_holds_its_queries(tmp_path):
    """Beside decode's own op, attention to an encoded text has neither its users nor its cache."""
    q, cache = (USERS, HEADS, WIDTH), (USERS, HEADS, 1024, WIDTH)
    program = LanguageModel()
    text = program.tensor([USERS, HEADS, 1_500, WIDTH])
    one = program.tensor([USERS, HEADS, 1, WIDTH])
    program.op("SDPAOperation", [one, text, text], attributes={"is_causal": "false"})
    kept = program.tensor([*cache])
    program.op("SdpaDecodeDeviceOperation", [program.tensor([1, *q]), kept, kept])
    told = tokens(tmp_path / "own", program)
    assert (told.users, told.per_user, told.cache_bytes) == (USERS, 1, 2 * USERS * HEADS * 1024 * WIDTH * 2)
    alone = LanguageModel()
    alone.op("SDPAOperation", [one, text, text], attributes={"is_causal": "false"})
    told = tokens(tmp_path / "alone", alone)
    assert (told.users, told.per_user, told.cache_bytes) == (USERS, 1, 0)


def test_attention_written_out_tells_no_tokens(tmp_path):
    program = Program("wormhole_b0")
    attend_in_single_ops(program, 64, 64)
    assert tokens(tmp_path, program) is None

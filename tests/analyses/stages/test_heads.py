"""Which matmuls are an LM head, and which ops behind one are sampling."""

import numpy as np

from tests.analyses.tables import ops_of
from tests.for_all import for_all
from tests.profiles import Program
from ttnn_mcp.analyses.stages.heads import head_groups, lm_heads
from ttnn_mcp.analyses.stages.stages import Stage, chosen_behind, stages_of

HEAD = (512, 16_384)


def model(*parts):
    """A matmul for each (inner, width), other ops by name; all in one row."""
    program = Program("wormhole_b0")
    for part in parts:
        if isinstance(part, str):
            program.op(part, [program.tensor([1, 1, 32, 512])])
        else:
            inner, width = part
            program.op(
                "MatmulDeviceOperation",
                [program.tensor([1, 1, 32, inner]), program.weight([1, 1, inner, width])],
                shape=[1, 1, 32, width],
            )
    return program


@for_all(
    ("parts", "heads"),
    [
        ([(512, 8_192)], [0]),
        ([(512, 8_160)], []),
        ([(4_128, 8_256)], [0]),
        ([(4_160, 8_256)], []),
        ([HEAD, (16_384, 512)], []),
        ([HEAD, "ArgMaxDeviceOperation", (512, 512)], [0]),
        ([HEAD, "EmbeddingsDeviceOperation", (512, 512)], [0]),
        ([HEAD, HEAD], [0, 1]),
        ([HEAD, HEAD, (512, 512)], []),
        ([(512, 32_768), HEAD], [1]),
        ([(12_288, 16_384), HEAD], [1]),
        ([HEAD, (512, 512), HEAD], [0, 2]),
        ([(512, 24_576), (512, 512), HEAD], [2]),
        ([HEAD, (512, 512), (512, 512)], []),
        ([(8_192, 16_032), "UntilizeDeviceOperation", "ArgMaxDeviceOperation"], [0]),
        ([(8_192, 16_032), "EmbeddingsDeviceOperation"], []),
        ([(8_192, 8_160), "ArgMaxDeviceOperation"], []),
        ([(8_192, 16_032), "ArgMaxDeviceOperation", (512, 512)], [0]),
        (["UnaryDeviceOperation"], []),
    ],
)
def test_a_head_ends_a_pass_and_is_wider_than_the_model_or_chosen_from(tmp_path, parts, heads):
    assert lm_heads(ops_of(tmp_path, model(*parts))).tolist() == heads


@for_all("lost", ["^INPUT", "^OUTPUT"])
def test_without_shapes_no_head_is_known(tmp_path, lost):
    assert not len(lm_heads(ops_of(tmp_path, model(HEAD), without=lost)))


@for_all(
    ("parts", "groups"),
    [([HEAD], 1), ([HEAD, HEAD], 1), ([HEAD, (512, 512), HEAD], 2), ([(512, 512), HEAD, HEAD], 1), ([], 0)],
)
def test_the_parts_of_a_split_head_end_one_pass(tmp_path, parts, groups):
    ops = ops_of(tmp_path, model(*parts, "UnaryDeviceOperation"))
    assert head_groups(ops, lm_heads(ops)) == groups


ATTENTION, LOOKED_UP, CHOICE, OTHER = (
    f"{name}DeviceOperation" for name in ("SdpaDecode", "Embeddings", "ArgMax", "Untilize")
)


@for_all(
    ("passes", "sampling"),
    [
        ([ATTENTION, HEAD, OTHER, CHOICE], [2, 3]),
        ([ATTENTION, HEAD, OTHER], []),
        ([ATTENTION, HEAD, OTHER, LOOKED_UP, ATTENTION, HEAD, OTHER, CHOICE], [6, 7]),
        ([ATTENTION, HEAD, OTHER, CHOICE, LOOKED_UP, ATTENTION, HEAD, OTHER], [2, 3]),
        ([ATTENTION, HEAD, CHOICE, OTHER, ATTENTION, HEAD, OTHER, CHOICE, OTHER], [2, 6, 7, 8]),
        ([ATTENTION, HEAD, CHOICE, OTHER, (512, 512), ATTENTION, HEAD], [2]),
        ([ATTENTION, HEAD, CHOICE, OTHER, LOOKED_UP, ATTENTION], [2, 3]),
        ([ATTENTION, HEAD, OTHER, ATTENTION, CHOICE], []),
        ([ATTENTION, HEAD, OTHER, LOOKED_UP, CHOICE], []),
    ],
)
def test_ops_behind_a_head_are_sampling_if_one_of_them_chooses(tmp_path, passes, sampling):
    ops = ops_of(tmp_path, model(*passes))
    stages = {stage.kind: stage.rows.tolist() for stage in stages_of(ops, ops.take(np.arange(0)))}
    assert stages.get("sampling", []) == sampling


def stage(kind, *rows):
    return Stage(kind, "", np.array(rows), 1, True, np.zeros(0, dtype=np.int64))


@for_all(
    ("stages", "chosen"),
    [
        ([stage("decode", 0, 1, 4, 5), stage("sampling", 2, 3, 6)], [[2, 3, 6], []]),
        ([stage("prefill", 0, 1), stage("sampling", 2, 5), stage("decode", 3, 4)], [[], [], [5]]),
        ([stage("decode", 0, 1)], [[]]),
        ([stage("sampling", 0, 1)], [[]]),
    ],
)
def test_what_is_chosen_behind_decode_belongs_to_its_tokens(stages, chosen):
    assert [chosen_behind(each, stages).tolist() for each in stages] == chosen

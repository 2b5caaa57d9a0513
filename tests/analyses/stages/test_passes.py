"""How often a stage ran."""

import numpy as np

from tests.analyses.tables import ops_of
from tests.for_all import for_all
from tests.language_model import HIDDEN, USERS, LanguageModel
from ttnn_mcp.analyses.stages.heads import lm_heads
from ttnn_mcp.analyses.stages.stages import passes_of, stages_of


def look_up(program, width, rows=USERS):
    program.op("EmbeddingsDeviceOperation", [program.weight([1, 1, 1024, width])], shape=[1, 1, rows, width])
    return program


def attention(program):
    q = program.tensor([1, 8, 128, 64])
    program.op("SDPAOperation", [q, q, q], attributes={"is_causal": "true"})
    return program


def multiply(program):
    program.op("MatmulDeviceOperation", [program.tensor([1, 1, 32, 64]), program.weight([1, 1, 64, 64])])
    return program


def multiplied_by_the_vocabulary(program):
    head = program.weight([1, 1, 512, 16_384])
    program.op("MatmulDeviceOperation", [program.tensor([1, 1, 32, 512]), head], shape=[1, 1, 32, 16_384])


STEPS = {
    "a": attention,
    "m": multiply,
    "t": lambda program: look_up(program, HIDDEN),
    "p": lambda program: look_up(program, 64),
}


@for_all(
    ("steps", "passes"),
    [
        ("ta", 1),
        ("tata", 2),
        ("ppta", 1),  # the cosines and sines of positions, then tokens
        ("pptappta", 2),
        ("taptapta", 1),  # a look-up in each layer is no pass
        ("tptapa", 1),
        ("a", 1),
        ("tmtm", 2),
        ("ptmptm", 2),
        ("tt", 1),
    ],
)
def test_look_ups_of_the_same_begin_passes(tmp_path, steps, passes):
    program = LanguageModel()
    for step in steps:
        STEPS[step](program)
    ops = ops_of(tmp_path, program)
    assert passes_of(ops, np.arange(len(ops)), np.zeros(0, dtype=np.int64)) == passes


def test_passes_without_a_look_up_are_told_by_their_heads_and_by_what_lies_between(tmp_path):
    program = LanguageModel()
    for _ in range(3):
        attention(program)
        multiplied_by_the_vocabulary(program)
    ops = ops_of(tmp_path, program)
    nothing = np.zeros(0, dtype=np.int64)
    assert passes_of(ops, np.arange(6), nothing) == 1
    assert passes_of(ops, np.array([0, 1, 3, 4]), nothing) == 2
    attention(multiply(program))  # between two heads there must be another matmul, or they are one that was split
    assert passes_of(ops, np.arange(6), lm_heads(ops)) == 1


def stages(folder, program):
    ops = ops_of(folder, program)
    return {stage.kind: stage for stage in stages_of(ops, ops.take(np.arange(0)))}


def test_a_stage_begins_behind_the_head_of_the_one_before(tmp_path):
    program = attention(multiply(LanguageModel()))
    multiplied_by_the_vocabulary(program)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 512])], gap_ns=1_000)
    q = program.tensor([1, USERS, 8, 64])
    program.op("SdpaDecodeDeviceOperation", [q, q, q], gap_ns=90_000)
    multiplied_by_the_vocabulary(program)
    found = stages(tmp_path, program)
    assert {kind: stage.rows.tolist() for kind, stage in found.items()} == {
        "prefill": [0, 1, 2],
        "decode": [3, 4, 5],
    }
    assert found["decode"].whole
    assert "guess" not in found["decode"].why


def test_a_stage_that_begins_at_the_longest_gap_is_a_guess_and_not_whole(tmp_path):
    program = LanguageModel().prefill()
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 512])], gap_ns=90_000)
    for _ in range(2):
        q = program.tensor([1, USERS, 8, 64])
        program.op("SdpaDecodeDeviceOperation", [q, q, q])
    found = stages(tmp_path, program)
    assert found["decode"].rows.tolist() == [10, 11, 12]
    assert found["decode"].why.endswith("; that it begins at line 12, the longest gap, is a guess")
    assert "guess" not in found["prefill"].why
    assert [found[kind].whole for kind in ("prefill", "decode")] == [False, False]


def test_a_head_of_an_earlier_pass_ends_nothing_later(tmp_path):
    program = LanguageModel()
    for part in ("a", "head", "a", "self"):
        if part == "head":
            multiplied_by_the_vocabulary(program)
        else:
            q = program.tensor([1, 8, 128, 64])
            program.op("SDPAOperation", [q, q, q], attributes={"is_causal": "true" if part == "a" else "false"})
    assert stages(tmp_path, program)["encoder"].rows.tolist() == [3]


def test_a_guess_is_told_once(tmp_path):
    program = LanguageModel()
    for causal in ("true", "false") * 2:
        q = program.tensor([1, 8, 128, 64])
        program.op("SDPAOperation", [q, q, q], attributes={"is_causal": causal})
    assert stages(tmp_path, program)["encoder"].why.count("guess") == 1

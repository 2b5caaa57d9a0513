"""What the Conv2d checks share: which convs can be judged, what stands behind an op, and on what L1 figures rest."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from tests.checks.asking import asker, case_of_reports
from tests.checks.conv_programs import of_unknown_chip, put_conv, with_conv
from tests.checks.programs import prefill
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, write_run
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, sharded_to_interleaved, unary
from ttnn_mcp.checks.op_config import present
from ttnn_mcp.checks.shared import conv_ops
from ttnn_mcp.checks.shared.conv_ops import grown, in_other_layout, on_grid, with_doubles

JUDGE_CONVS = (
    "act-block-h-below-maximum",
    "conv-cores-idle",
    "conv-double-buffer-off",
    "conv-shard-layout-slow",
    "copies-before-halo",
    "moves-behind-halo",
)
BEHIND = "conv-activation-unfused"


@pytest.fixture
def ask(tmp_path):
    return lambda check, about, **how: asker(check, tmp_path).ask(about, **how)


@for_all("check", [*JUDGE_CONVS, BEHIND, "batch-norm-unfolded", "weights-prepared-every-call"])
def test_a_run_without_convs_is_not_applicable(ask, check):
    program = Program("wormhole_b0")
    pass_time(program, 10_000)
    outcome = ask(check, program)
    assert (outcome.status, outcome.why) == (
        "not_applicable",
        "no Conv2d ops (a 1x1 conv of stride 1 runs as a Matmul)",
    )


@for_all("check", JUDGE_CONVS)
def test_convs_that_say_nothing_of_their_blocks_cannot_be_judged(ask, check):
    program = Program("wormhole_b0")
    x, w, y = program.tensor([1, 1, 64, 64]), program.weight([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
    put(program, DeviceOp("Conv2dDeviceOperation", (x, w), (y,), 10_000))
    outcome = ask(check, program)
    assert outcome.status == "cannot_tell"
    assert outcome.why.startswith("the Conv2d rows carry no block_config in ATTRIBUTES; profile with")


def activated(*between, others=False, twice=False):
    """A conv, ops that only move its output, and a relu; `others`: the conv's output is read elsewhere too."""
    program = Program("wormhole_b0")
    out = x = put_conv(program)
    for name in between:
        place = DRAM if name.startswith("Sharded") or x.placement is DRAM else x.placement
        y = program.tensor(x.shape, x.dtype, placement=L1 if name.startswith("Clone") else place)
        move = DeviceOp(name, (x,), (y,), 3_000)
        x = put(program, sharded_to_interleaved(x, y, 3_000) if name.startswith("Sharded") else move)
    if others:
        put(program, DeviceOp("MadeUpOfNoFamily", (out,), (program.tensor([1, 1, 32, 32]),), 3_000))
    y = put(program, unary("RELU", x, program.tensor(x.shape, x.dtype, placement=x.placement), 20_000))
    if twice:
        put(program, binary("ADD", y, y, program.tensor(y.shape, y.dtype, placement=y.placement), 5_000))
    return program


OUT, SLICE, MOVE, COMPUTES = (
    "ShardedToInterleavedDeviceOperation",
    "SliceWriteDeviceOperation",
    "CloneDeviceOperation",
    "PermuteDeviceOperation",
)


@for_all("between", [(), (OUT,), (OUT, SLICE)], ids=["directly", "a copy", "a copy and a slice"])
def test_a_conv_stands_behind_copies_and_slice_writes(ask, between):
    outcome = ask(BEHIND, activated(*between))
    assert f"behind the conv at line {outcome.case.line(0)}" in outcome.claim.claim


def test_two_copies_are_the_most(ask):
    assert ask(BEHIND, activated(OUT, SLICE)).fires
    assert ask(BEHIND, activated(OUT, SLICE, MOVE)).status == "clean"


def test_an_op_that_changes_the_tensor_ends_the_way(ask):
    assert ask(BEHIND, activated(OUT, COMPUTES)).status == "clean"


@for_all("between", [(), (OUT,)], ids=["directly", "a copy"])
def test_an_output_that_others_read_is_not_only_behind_one_op(ask, between):
    assert ask(BEHIND, activated(*between, others=True)).status == "clean"


def test_an_op_that_seems_to_read_the_activation_twice_may_read_the_conv(ask):
    assert ask(BEHIND, activated(twice=True)).status == "clean"


def test_figures_rest_on_what_the_reports_say(ask, tmp_path):
    def caveat(arch, *, memory=False, **how):
        program = Program(arch)
        put_conv(program, **how)
        about = program
        if memory:
            made = write_run(tmp_path / "linked", program)
            about = case_of_reports(made.performance, made.memory)
        return ask("act-block-h-below-maximum", about).claim.caveat

    modelled, unknown = "L1 modelled to about 5 %", "; other tensors in L1 are not known, only the conv's input is"
    assert caveat("wormhole_b0", memory=True) == modelled
    assert caveat("wormhole_b0") == f"{modelled}; limit of wormhole_b0 (no memory report)"
    assert caveat("blackhole").startswith(f"{modelled}; limit of blackhole (no memory report)")
    assert caveat("grayskull").startswith(f"{modelled}; limit inferred for grayskull (no memory report)")
    assert caveat("wormhole_b0", memory=True, allocated=None) == f"{modelled}{unknown} counted"


@for_all(
    ("legacy", "key", "height"),
    [(False, "per_core_out_matrix_height_ntile", "8"), (True, "per_core_out_matrix_height", "256")],
)
def test_heights_are_cited_as_the_report_writes_them(ask, legacy, key, height):
    program = Program("wormhole_b0")
    put_conv(program, legacy=legacy)
    block, core, *_ = ask("act-block-h-below-maximum", program).claim.evidence
    assert (block.column, block.value) == ("ATTRIBUTES.block_config.act_block_h_ntiles", "2")
    assert (core.column, core.value) == (f"ATTRIBUTES.parallelization_config.{key}", height)


def test_bytes_are_told_in_megabytes(ask):
    program = Program("wormhole_b0")
    put_conv(program)
    assert "MB of 1.39 MB L1" in ask("act-block-h-below-maximum", program).claim.fix


class Form(NamedTuple):
    """A conv of which only its bytes matter."""

    total_bytes: int


def test_a_form_that_does_not_fit_l1_is_no_candidate():
    forms = [Form(1), Form(2), Form(3), None]
    convs = SimpleNamespace(
        distinct=forms,
        where=lambda holds: [row for row, form in enumerate(forms) if holds(form)],
    )
    facts = SimpleNamespace(convs=convs, safe_l1_bytes=100)
    fitting = conv_ops.candidates(facts, lambda conv: Form(conv.total_bytes * 50))
    assert fitting.to == {Form(1): Form(50), Form(2): Form(100)}
    assert fitting.rows == [0, 1]


def case_of(tmp_path, program, **how):
    return asker(__name__, tmp_path).case(program, **how)


def test_an_op_that_is_no_conv_gets_no_form_of_one(tmp_path):
    program = Program("wormhole_b0")
    prefill(program)
    matmul = present(case_of(tmp_path, program), 0)
    forms = (grown, with_doubles, lambda one: on_grid(one, (8, 8)), in_other_layout("BLOCK_SHARDED", (8, 8)))
    assert [form(matmul) for form in forms] == [None] * 4


def test_double_buffers_that_a_conv_has_are_not_given_again(tmp_path):
    how = {"layout": "BLOCK", "channel_cores": 8, "allocated": 0}
    now = present(case_of(tmp_path, with_conv(**how)), 0)
    both = replace(now, conv=replace(now.conv, act_double=True, weights_double=True))
    assert with_doubles(now) == both
    assert with_doubles(both) is None


def test_a_conv_that_fits_no_other_cores_stays_where_it_is(tmp_path):
    now = present(case_of(tmp_path, with_conv(per_core=(2000, 2))), 0)
    assert on_grid(now, (8, 8)) is None
    assert in_other_layout("BLOCK_SHARDED", (8, 8))(now) is None


def test_without_a_known_limit_of_l1_a_block_grows_no_larger_than_now(tmp_path):
    now = present(case_of(tmp_path, of_unknown_chip(), generation="C4"), 0)
    moved = in_other_layout("HEIGHT_SHARDED", (8, 8))(now)
    assert (moved.conv.per_core_h, moved.conv.block_h) == (8, now.conv.block_h)

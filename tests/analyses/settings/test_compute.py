"""Weights, fidelity and grids: what another value changes, and what of it can save time."""

from __future__ import annotations

import pytest

from tests.analyses.settings.rows import on_chip, ops_in
from tests.analyses.tables import put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.settings.compute import (
    grid_of,
    grid_rules,
    lighter_weights,
    math_fidelity,
)
from ttnn_mcp.hardware import FIDELITY_PHASES
from ttnn_mcp.readers.printed.nesting import parse_struct


def engine_op(
    program, weights="BFLOAT16", fidelity="HiFi4", *, code="ConvDepthwise", kernel_ns=4_000_000, side=4096
):
    """128 x 128 x 128 tiles are 137 GFLOP: at LoFi 64 cores of a Wormhole need 524 us for them."""
    x, out = (program.tensor([1, 1, side, side]) for _ in range(2))
    w = program.weight([1, 1, side, side], weights)
    put(program, DeviceOp(f"{code}DeviceOperation", (x, w), (out,), kernel_ns, fidelity=fidelity))


@pytest.fixture
def made(tmp_path):
    def of(**how):
        program = Program("wormhole_b0")
        engine_op(program, **{"code": "Matmul", **how})
        return ops_in(tmp_path, program)[0]

    return of


@for_all(
    ("weights", "now", "value", "saves", "told"),
    [
        ("BFLOAT4_B", "HiFi2", "LoFi", True, "the result stays"),  # no bits for a second pass: tt-metal #39627
        ("BFLOAT4_B", "HiFi4", "LoFi", True, "4 now, 1 then"),
        ("BFLOAT8_B", "HiFi2", "LoFi", True, "2 now, 1 then"),
        ("BFLOAT8_B", "HiFi4", "HiFi4", False, "PCC"),
        ("BFLOAT8_B", "LoFi", "HiFi4", False, "1 now, 4 then, which takes longer"),
    ],
)
def test_fewer_passes_save_time_and_more_take_longer(made, weights, now, value, saves, told):  # noqa: PLR0917
    trial = math_fidelity(made(weights=weights, fidelity=now, kernel_ns=550_000 * FIDELITY_PHASES[now]), value)
    assert (trial.now, trial.effect, trial.at_most_ns > 0, trial.same_l1) == (now, now != value, saves, True)
    assert told in f"{trial.change} {trial.needs}"
    assert ("the result stays" in trial.needs) == (told == "the result stays")


def test_an_op_without_fidelity_says_so(made):
    trial = math_fidelity(made(fidelity=None), "LoFi")
    assert (trial.now, trial.at_most_ns) == (None, None)
    assert "reports no math fidelity" in trial.change


def test_attention_that_waits_for_something_else_gains_nothing_by_fewer_passes(tmp_path):
    program = Program("wormhole_b0")
    for kernel_ns in (300_000, 9_000_000):
        q = [program.tensor([1, 8, 2048, 128]) for _ in range(4)]
        put(program, DeviceOp("SDPAOperation", q[:3], q[3:], kernel_ns, fidelity="HiFi4"))
    bound, idle = (math_fidelity(op, "LoFi") for op in ops_in(tmp_path, program))
    assert bound.at_most_ns > 0
    assert "does not wait" not in bound.change
    assert idle.at_most_ns == 0
    assert "does not wait for its arithmetic" in idle.change


@for_all(
    ("grid", "legal"),
    [((8, 8), True), ((9, 8), False), ((8, 9), False), ((0, 8), False), ((8, 0), False), ((1, 1), True)],
)
def test_a_grid_lies_within_the_chips(made, grid, legal):
    assert (not grid_rules(made(), grid)) is legal


@for_all(
    ("cores", "grid", "legal"),
    [
        (25, (5, 5), True),
        (25, (13, 2), False),
        (25, (0, 5), False),
        (25, (5, 0), False),
        (25, (-2, -2), False),
        (None, (99, 99), True),
    ],
)
def test_on_a_grid_nobody_knows_cores_are_counted(made, cores, grid, legal):
    assert (not grid_rules(on_chip(made(), cores=cores), grid)) is legal


@for_all(
    ("printed", "grid"),
    [("(x=8,y=4)", (8, 4)), ("(x=0,y=4)", None), ("(x=8,y=0)", None), ("(x=8)", None), ("<grid>", None)],
)
def test_a_grid_that_is_printed_has_two_sides(printed, grid):
    assert grid_of(parse_struct(f"SDPAProgramConfig(compute_with_storage_grid_size={printed})")) == grid


def test_weights_of_an_op_that_waits_for_its_arithmetic_save_no_time(made):
    bound, waiting = made(kernel_ns=2_200_000), made(side=1024, kernel_ns=40_000, fidelity="LoFi")
    trials = [lighter_weights(op, "BFLOAT16", "BFLOAT8_B") for op in (bound, waiting)]
    assert [trial.at_most_ns > 0 for trial in trials] == [False, True]
    assert ["does not wait for bytes" in trial.change for trial in trials] == [True, False]

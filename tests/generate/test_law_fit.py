"""The fit of laws: what it solves, what it leaves out, and when a law is not good enough."""

from dataclasses import replace

import numpy as np
import pytest

from generate import law_fit
from generate.law_changes import Changes
from generate.law_fit import Fit, LeftOut, fits, non_negative, weighted
from generate.law_rows import Measured, measured
from ttnn_mcp.analyses.laws.catalogue import LAWS
from ttnn_mcp.analyses.laws.moves import MoveDescription

LAW = next(law for law in LAWS if law.name == "copy and typecast")


def copy(rows, source="one"):
    op = MoveDescription(
        "blackhole", kind="clone", rows=rows, width=1024, dtype="BFLOAT16", from_place="DRAM_INTERLEAVED",
        to_place="DRAM_INTERLEAVED",
    )  # fmt: skip
    return Measured(op, 5.0 + 1.3 * op.dram_us(op.dram_bytes), source, f"{rows}")


ROWS = [
    copy(rows, source)
    for rows, source in zip(range(1024, 9216, 1024), ["one", "two", "three", "one"] * 2, strict=True)
]


def test_coefficients_are_found_again():
    fit = Fit(LAW, "", ROWS)
    assert fit.coefficients == pytest.approx([5.0, 1.3])
    assert (fit.by_shape.median, fit.by_source.p90) == pytest.approx((0, 0), abs=1e-9)
    assert fit.why_not == ""
    assert fit.ratios == (0.95, 1.05)


def test_no_coefficient_is_below_zero():
    factors = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    assert non_negative(factors, np.array([3.0, 2.0, 1.0])) == pytest.approx([2.0, 0.0])
    assert non_negative(-factors, np.array([3.0, 2.0, 1.0])).tolist() == [0.0, 0.0]


def test_an_outlier_does_not_rule():
    factors = np.array([[1.0, size] for size in range(1, 12)])
    us = factors @ [2.0, 3.0]
    us[-1] *= 3
    assert weighted(factors, us) == pytest.approx([2.0, 3.0], rel=0.05)


def test_few_rows_and_few_shapes_are_no_base():
    assert Fit(LAW, "", ROWS[: law_fit.ROWS_AT_LEAST]).why_not == ""
    assert Fit(LAW, "", ROWS[: law_fit.ROWS_AT_LEAST - 1]).why_not == "5 rows of 5 shapes are too few"
    alike = [replace(row, shape=f"{number % 2}") for number, row in enumerate(ROWS)]
    assert Fit(LAW, "", alike).why_not == "8 rows of 2 shapes are too few"


def test_large_errors_on_left_out_shapes_or_sources_make_a_law_silent():
    wild = [replace(row, us=row.us * (1 + number % 2)) for number, row in enumerate(ROWS)]
    assert "on shapes left out" in Fit(LAW, "", wild).why_not
    slow = [replace(row, us=row.us * (1 + 0.9 * (row.source != "one"))) for row in ROWS]
    apart = Fit(LAW, "", [replace(row, shape=f"{row.us:.3g}") for row in slow])
    assert apart.by_source.median > apart.by_shape.median


def test_an_interval_of_one_study_is_wider():
    noisy = [replace(row, us=row.us * (1 + 0.1 * (number % 3))) for number, row in enumerate(ROWS)]
    alone = [replace(row, source=f"study/{row.source}") for row in noisy]
    several, one = Fit(LAW, "", noisy), Fit(LAW, "", alone)
    assert one.studies == {"study": len(ROWS)}
    assert one.ratios[0] < several.ratios[0]
    assert one.ratios[1] > several.ratios[1]


def test_ends_hold_at_least_eight_of_ten():
    left_out = LeftOut(np.array([0.5, 0.9, 1.0, 1.1, 2.0]))
    assert left_out.ends == (0.5, 2.0)
    assert left_out.inside((0.9, 1.1)) == 0.6


def test_what_a_basis_has_beyond_the_kernel_is_taken_off_or_leaves_the_row_out():
    walls = [row.us for row in measured() if row.source == "gemm_flops" and row.shape == "Matmul 512 512 512"]
    assert 19.96517 - 2.0 in walls
    moves = [row.us for row in measured() if row.source == "metal_6729"]
    assert 22.265 - 1.0 in moves
    additions = [row.us for row in measured() if row.source == "pplx_embed_4b" and row.shape.startswith("BinaryNg")]
    assert min(additions) > 5 * 2.0
    assert 76.4 in [row.us for row in measured() if row.source == "pplx_baseline"]


def test_the_best_grid_of_a_norm_is_told_without_its_time():
    """Six grids of one norm, each told by a fit to the others; shape_of leaves a sharded norm's grid out by itself."""
    law = next(law for law in LAWS if law.name == "norm, sharded")
    (fit,) = fits([law], [row for row in measured() if isinstance(row.op, law.of) and row.source == "janus_vision"])
    told_us = {(row.op.block_h, row.op.block_w): row.us / ratio for row, ratio in zip(fit.rows, fit.without_shapes, strict=True)}  # fmt: skip
    measured_us = {(row.op.block_h, row.op.block_w): row.us for row in fit.rows}
    assert len(told_us) == 6
    assert min(told_us, key=told_us.get) == min(measured_us, key=measured_us.get) == (3, 4)
    assert all(fit.ratios[0] <= measured_us[block] / us <= fit.ratios[1] for block, us in told_us.items())
    assert sorted(told_us, key=told_us.get)[-2:] == sorted(measured_us, key=measured_us.get)[-2:]


def test_rows_of_one_port_of_a_model_are_left_out_together():
    """Two documents of one port are one model, whatever commit they are of; a study of several has each by itself."""
    one, other = (replace(ROWS[0], source=key) for key in ("autoport_coder_30b", "autoport_coder_30b_mesh"))
    assert one.model == other.model == "models/autoports/qwen_qwen3_coder_30b_a3b_instruct"
    assert {replace(ROWS[0], source=f"dram_sharding_p150/{name}").model[-1] for name in "ab"} == {"a", "b"}
    assert replace(ROWS[0], source="nobody").model == "nobody"


def test_a_field_of_which_a_law_tells_less_than_that_nothing_changes_is_missed():
    """Ten times as wide copies that take no longer; their rows do as the law has it."""
    law = replace(LAW, factors=lambda op: (float(op.rows), float(op.width)))
    rows = [
        replace(copy(height, source), op=replace(copy(height, source).op, width=width), us=height, shape=source)
        for source in ("one", "two", "three")
        for height in (320, 640)
        for width in (32, 320)
    ]
    changes = Changes(Fit(law, "", rows))
    left_out = np.array([row.us / (row.op.rows + 9 * row.op.width) for row in rows])
    changes.fit.__dict__["without_sources"] = left_out
    assert changes.missed == {"width"}
    assert "rows" in changes.rests_on
    assert "width" not in changes.rests_on

"""Ops as they would be after a change."""

from __future__ import annotations

from dataclasses import replace

from tests.checks.matmul_programs import config, of_linear
from tests.checks.rows import case_of
from ttnn_mcp.analyses.programs.matmul_config import MatmulConfig
from ttnn_mcp.checks.shared.changed_ops import becomes, changed, configured


def test_a_change_of_what_a_law_does_not_describe_is_no_op(tmp_path):
    facts = case_of(tmp_path, of_linear(program_config=config()))
    assert changed(facts, 0, fidelity="LoFi").fidelity == "LoFi"
    assert becomes(facts, no_such_field=1)(0) is None


def test_no_law_is_asked_about_a_config_that_multiplies_batches_one_after_the_other(tmp_path):
    facts = case_of(tmp_path, of_linear(program_config=config()))
    apart = MatmulConfig("2D", (8, 8), 2, 1, 4, 4, 4, mcast_in0=False, l1_bytes=0, fuse_batch=False)
    assert configured(facts, lambda _: apart)(0) is None
    assert configured(facts, lambda _: replace(apart, fuse_batch=True))(0).per_core_m == 4
    assert configured(facts, lambda _: None)(0) is None

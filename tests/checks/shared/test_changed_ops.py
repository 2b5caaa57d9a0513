"""Ops as they would be after a change."""

from __future__ import annotations

from tests.checks.matmul_programs import config, of_linear
from tests.checks.rows import case_of
from ttnn_mcp.checks.shared.changed_ops import becomes, changed


def test_a_change_of_what_a_law_does_not_describe_is_no_op(tmp_path):
    facts = case_of(tmp_path, of_linear(program_config=config()))
    assert changed(facts, 0, fidelity="LoFi").fidelity == "LoFi"
    assert becomes(facts, no_such_field=1)(0) is None

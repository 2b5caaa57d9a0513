"""An op misses its PCC bound; the claim itself is held by tests/analyses/memory/test_accuracy.py."""

from tests.programs import block


def test_a_run_without_comparisons_is_not_applicable(check):
    assert check.ask(block()).status == "not_applicable"
    assert "enable_comparison_mode" in check.ask(block(), memory="3.3").why

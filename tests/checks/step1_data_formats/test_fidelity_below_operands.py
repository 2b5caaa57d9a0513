"""fidelity-below-operands: bfloat16 at LoFi is a risk that is told, and promises nothing."""

import pytest

from tests.checks.programs import NARROW, WIDE, prefill, scaled
from tests.checks.rows import pass_time
from tests.for_all import for_all
from tests.profiles import Program


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def at_lofi(program, **change):
    prefill(program, **{"weights": WIDE, "fidelity": "LoFi", **change})


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(at_lofi, 0.01, of="time")


def test_the_claim_is_sound(check, program):
    at_lofi(program)
    check.assert_sound(program)


@for_all("other", [lambda program: pass_time(program, 1000), scaled], ids=["no inputs", "eltwise"])
def test_a_run_without_matmuls_and_convs_is_not_applicable(check, program, other):
    other(program)
    assert check.ask(program).status == "not_applicable"


def test_lofi_on_bfloat16_is_a_risk_and_no_saving(check, program):
    at_lofi(program)
    outcome = check.ask(program)
    assert outcome.at_most_ns == 0
    assert outcome.claim.caveat is None


def test_a_core_grid_is_named_as_the_likely_reason_for_lofi(check, program):
    at_lofi(program, core_grid="(x=8,y=8)")
    assert "core_grid" in check.ask(program).claim.caveat


@for_all("change", [{"weights": NARROW}, {"activations": NARROW}, {"fidelity": "HiFi2"}], ids=str)
def test_lofi_with_a_narrow_side_is_common_practice(check, program, change):
    at_lofi(program, **change)
    assert not check.ask(program).fires


def test_an_empty_fidelity_column_is_no_verdict(check, program):
    at_lofi(program)
    program.calls[-1].ops[0].fidelity = None
    outcome = check.ask(program)
    assert outcome.status == "cannot_tell"
    assert "MATH FIDELITY is empty" in outcome.why


def test_attention_at_lofi_is_none_of_its_business(check, program):
    at_lofi(program)
    at_lofi(program)
    program.calls[-1].ops[0].op_code = "ScaledDotProductAttentionDeviceOperation"
    assert check.ask(program).claim.rows.tolist() == [0]


@for_all("lost", ["INPUT_", "INPUT_[12]"], ids=["all", "weights"])
def test_a_report_without_inputs_is_no_evidence(check, program, lost):
    at_lofi(program)
    assert check.ask(program, without=lost).status in ("not_applicable", "cannot_tell")


def test_a_compilers_config_is_the_compilers_business(check, program):
    at_lofi(program)
    fix = check.ask(program, generation="tt-torch").claim.fix
    assert fix.startswith("the compiler writes the compute config")
    assert "ttnn." not in fix

"""gelu-exact: GELU by its exact formula, as a trial."""

from __future__ import annotations

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import matmul, unary


def computing(kind="GELU", parameter="0", kernel_ns=208_000, program=None, *, behind_matmul=False):
    program = program or Program("blackhole")
    x, y = (program.tensor([1, 1, 4096, 3072]) for _ in range(2))
    if behind_matmul:
        put(program, matmul(program.tensor([1, 1, 4096, 1024]), program.weight([1, 1, 1024, 3072]), x, 400_000))
    op = unary(kind, x, y, kernel_ns)
    chain = str(op.attributes["op_chain"]).replace("param={}", f"param={{{parameter}}}")
    op.attributes = {**op.attributes, "op_chain": chain}
    put(program, op)
    return program


def test_an_exact_gelu_is_a_trial_of_half_of_its_time(check):
    outcome = check.ask(computing())
    claim = outcome.claim
    assert claim.claim.startswith("1 GELU is computed exactly, by erf (208 us, 100.0%): ")
    assert "activation='gelu_tanh', ...)" in claim.fix
    assert (outcome.at_most_ns, claim.expected) == (104_000, None)


def test_behind_a_matmul_all_of_it_may_go(check):
    """ModernBERT's exact GELU was an op of 124 us; by tanh its matmul took it over."""
    assert check.ask(computing(behind_matmul=True)).at_most_ns == 208_000
    before_it = computing()
    x, y = (before_it.tensor([1, 1, 32, 32], "UINT16") for _ in range(2))
    put(before_it, matmul(x, before_it.weight([1, 1, 32, 32]), y, 10_000))
    assert check.ask(before_it).at_most_ns == 104_000  # the last op of the window made nothing of it


def test_only_unary_ops_with_attributes_can_be_judged(check, tmp_path):
    assert check.ask(no_such_ops()).status == "not_applicable"
    assert_cannot_tell(check.ask(without(tmp_path, ("ATTRIBUTES",), computing())), "ATTRIBUTES")


@for_all(
    ("kind", "parameter", "told"),
    [
        ("GELU", "", True),
        ("GELU", "0.0f", True),
        ("GELU", "1", False),
        ("GELU_TANH", "0", False),
        ("SILU", "", False),
    ],
)
def test_the_fast_form_and_other_functions_are_no_matter(check, kind, parameter, told):
    assert check.ask(computing(kind, parameter)).fires is told


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(computing())


def test_five_microseconds_and_one_percent_of_the_window_are_worth_telling(check):
    check.pair(lambda ns: computing(kernel_ns=ns), silent=4_900, fires=5_100)
    check.share_pair(lambda program: computing(program=program), 0.01, of="saving")

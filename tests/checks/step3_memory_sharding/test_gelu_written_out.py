"""gelu-written-out: the formula of GELU as five ops."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import binary, unary
from tests.shared_reports import CLIP, shared

FORMULA = ("MUL", "ERF", "ADD", "MUL", "MUL")
SIDE = [1, 1, 512, 4096]


def formula(program, kinds=FORMULA, ns=10_000):
    x = program.tensor(SIDE)
    for kind in kinds:
        out = program.tensor(SIDE)
        put(program, unary(kind, x, out, ns) if kind in {"ERF", "TANH"} else binary(kind, x, x, out, ns))
        x = out


def of_formula(kinds=FORMULA):
    program = Program("wormhole_b0")
    pass_time(program, 1_000)
    formula(program, kinds)
    pass_time(program, 1_000)
    return program


def test_the_formula_is_one_function(check):
    claim = check.assert_sound(of_formula())
    assert claim.claim == (
        "GELU runs as its formula around erf (1x, 5 ops, 50 us, 82.0%): 512x4096 -> 512x4096 at line 11, "
        "plus one at line 12"
    )
    assert claim.rows.tolist() == [1, 2, 3, 4, 5]
    assert claim.at_most_ns.tolist() == [10_000] * 5
    assert [one.value for one in claim.evidence] == [10_000, "BinaryOpType::ADD"]
    assert "activation=ttnn.UnaryOpType.GELU, core_grid=ttnn.CoreGrid(y=g.y, x=g.x), ...) where" in claim.fix
    assert "ttnn.gelu(x)" in claim.fix


@for_all(
    ("kinds", "rows"),
    [
        (("ERF", "ADD", "MUL"), [1, 2, 3]),
        (("DIV", "ERF", "ADD", "DIV"), [1, 2, 3, 4]),
        (("ADD", "ERF", "ADD", "MUL", "ADD"), [2, 3, 4]),
        (("MUL", "ERF", "ADD", "MUL", "MUL", "MUL"), [1, 2, 3, 4, 5]),
    ],
)
def test_the_scalings_around_belong_to_it(check, kinds, rows):
    assert check.ask(of_formula(kinds)).claim.rows.tolist() == rows


@for_all(
    "kinds", [("MUL", "ERF", "MUL", "MUL"), ("MUL", "ERF", "ADD", "ADD"), ("ERF",), ("MUL", "TANH", "ADD", "MUL")]
)
def test_an_erf_of_another_formula_stays(check, kinds):
    check.pair(of_formula, silent=kinds, fires=FORMULA)


@for_all("kinds", [("ERF", "ADD"), ("MUL", "ERF", "ADD"), ("ERF",)])
def test_a_formula_that_the_window_cuts_is_none(check, kinds):
    program = Program("wormhole_b0")
    formula(program, kinds)
    assert check.ask(program).status == "clean"


def test_a_formula_alone_has_no_neighbours(check):
    program = Program("wormhole_b0")
    formula(program, FORMULA[1:4])
    assert check.ask(program).claim.rows.tolist() == [0, 1, 2]


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(formula, 0.005, of="time")


def test_a_compilers_user_calls_the_function(check):
    assert "torch.nn.functional.gelu" in check.ask(of_formula(), generation="tt-torch").claim.fix


def test_a_run_without_unary_ops_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_what_it_cannot_see_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("ATTRIBUTES",), of_formula())), "ATTRIBUTES")


def test_a_real_encoder_has_it_in_all_its_layers(check):
    claim = check.ask(shared(CLIP)).claim
    assert claim.claim.startswith("GELU runs as its formula around erf (32x, 160 ops, 1.3 ms, 3.9%)")

"""A report that lost columns is answered with what is missing, never with silence."""

from __future__ import annotations

import pytest

import ttnn_mcp.checks as catalogue
from tests.analyses.tables import performance_of
from tests.checks.asking import asker
from tests.checks.step3_programs import assert_cannot_tell, of_every_kind, without
from tests.for_all import for_all
from tests.profiles.demo_model import demo_program
from tests.programs import block
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.diagnosis import ask as ask_once
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.run.run import Run

OPERANDS = ("unfused-attention", "minimal-matmul-on-few-rows", "matmul-small-blocks")
PLACEMENTS = ("hot-operands-in-dram", "placement-round-trip", "reshard-chain", "matmul-operands-in-l1-interleaved")
AS_WRITTEN = "; give the CSV as the profiler wrote it (`python -m tracy -r -p`)"


@pytest.fixture
def ask(tmp_path):
    return lambda check, *lost: asker(check, tmp_path).ask(without(tmp_path, lost))


@for_all("check", OPERANDS)
@for_all("lost", [("PUT_",), ("OUTPUT_",), ("INPUT_",), ("INPUT_1", "INPUT_2")])
def test_two_inputs_and_an_output_are_needed(ask, check, lost):
    outcome = ask(check, *lost)
    assert_cannot_tell(outcome)
    assert outcome.why == f"no INPUT_n and OUTPUT_n columns in the report{AS_WRITTEN}"


@for_all("lost", [("PUT_",), ("OUTPUT_",), ("INPUT_",)])
def test_one_input_is_enough_for_a_norm(ask, lost):
    assert_cannot_tell(ask("norm-on-few-cores", *lost), "INPUT_n")


def test_further_inputs_may_be_lost(ask):
    assert ask("norm-on-few-cores", "INPUT_1", "INPUT_2").status == "clean"


@for_all("check", PLACEMENTS)
@for_all("lost", [("_MEMORY",), ("PUT_",), ("OUTPUT_",)])
def test_placements_are_needed(ask, check, lost):
    assert ask(check, *lost).why == f"no INPUT_n_MEMORY and OUTPUT_n_MEMORY columns in the report{AS_WRITTEN}"


@for_all("lost", ["INPUT_0_MEMORY", "OUTPUT_0_MEMORY"])
def test_placements_of_one_side_are_something_to_look_at(ask, lost):
    assert ask("matmul-operands-in-l1-interleaved", lost).status in ("found", "clean")


@for_all("check", ["low-core-count", "norm-on-few-cores", "matmul-small-blocks"])
@for_all("lost", ["=CORE COUNT=", "CORE COUNT"], ids=["of ops", "of the grid too"])
def test_core_counts_are_needed(ask, check, lost):
    assert ask(check, lost).why == f"no CORE COUNT in the report{AS_WRITTEN}"


def test_the_grid_is_the_most_that_was_used_where_nothing_else_tells(ask):
    assert ask("norm-on-few-cores", "AVAILABLE").status == "clean"


@for_all("how", ["without", "emptied"], sampled=3)
@for_all(
    "lost",
    [
        *("PUT_", "^INPUT_", "^OUTPUT_", "^INPUT_0", "^INPUT_1", "^INPUT_[01]", "^INPUT_[12]"),
        *("PUT_._[WZYX]", "^INPUT_0_[WZYX]", "^INPUT_1_[WZYX]", "^OUTPUT_0_[WZYX]"),
        *("_MEMORY", "_DATATYPE", "_LAYOUT", "ATTRIBUTES", "FIDELITY", "CORE COUNT"),
    ],
)
@for_all("program", [of_every_kind, block, demo_program])
def test_no_check_and_no_plan_breaks_where_columns_or_their_cells_are_lost(tmp_path, program, lost, how):
    run = Run("made", "made", performance_of(tmp_path, program(), **{how: lost}), None)
    facts = WindowFacts(run, run.scope("all"))
    broken = [check.id for check in catalogue.CATALOGUE if "a bug in" in ask_once(check, facts).why]
    assert not broken, "see the log"
    diagnose(facts, catalogue.CATALOGUE)


def test_nothing_is_missing_in_what_the_profiler_wrote(tmp_path):
    for check in (*OPERANDS, *PLACEMENTS, "low-core-count", "norm-on-few-cores", "sdpa-small-chunks"):
        assert asker(check, tmp_path).ask(of_every_kind()).status in ("found", "clean"), check

"""constant-converted-repeatedly: conversions per iteration of what no op of it made."""

import pytest

from tests.checks.programs import relu, scaled, to_rows, to_tiles
from tests.checks.rows import ONE_PASS, pass_time, put
from tests.for_all import for_all
from tests.profiles import Iteration, Program
from tests.profiles.model import DeviceOp

ROWS = "ROW_MAJOR"


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def constants(program):
    """The model's input, then a mask."""
    for height in (64, 128):
        relu(program, to_tiles(program, program.tensor([1, 1, height, 512], layout=ROWS)))


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(constants, 0.01, of="saving")


def test_the_claim_is_sound(check, program):
    constants(program)
    check.assert_sound(program)


@for_all("other", [lambda program: pass_time(program, 1000), scaled], ids=["other", "eltwise"])
def test_a_run_without_conversions_is_not_applicable(check, program, other):
    other(program)
    assert check.ask(program).status == "not_applicable"


def test_all_but_the_first_can_go(check, program):
    constants(program)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [2]
    assert claim.at_most_ns.tolist() == [40_000]


def test_a_constant_untilized_counts_too(check, program):
    constants(program)
    relu(program, to_rows(program, program.tensor([1, 1, 256, 512])), "FLOAT32")
    assert check.ask(program).claim.rows.tolist() == [2, 4]


def looked_up(program, reader="Embeddings"):
    """A table in tiles, and an embedding that wants rows."""
    table = to_rows(program, program.tensor([1, 1, 1024, 512]))
    tokens = program.tensor([1, 32], "UINT32", layout=ROWS)
    put(program, DeviceOp(f"{reader}DeviceOperation", (tokens, table), (program.tensor([1, 1, 32, 512]),), 5_000))


def test_the_table_of_an_embedding_is_no_models_input(check):
    def of(reader):
        program = Program("wormhole_b0")
        looked_up(program, reader)
        return program

    claim = check.pair(of, silent="MadeUp", fires="Embeddings").claim
    assert claim.rows.tolist() == [0]
    assert "layout=ttnn.ROW_MAJOR_LAYOUT" in claim.fix


def test_a_tilized_constant_is_loaded_in_tiles(check, program):
    constants(program)
    assert "layout=ttnn.TILE_LAYOUT" in check.ask(program).claim.fix


def test_one_pass_does_not_show_what_repeats(check, program):
    constants(program)
    outcome = check.ask(program, ONE_PASS)
    assert outcome.status == "cannot_tell"
    assert "2 or more iterations" in outcome.why


def test_one_replay_of_a_trace_does_not_either(check, program):
    constants(program)
    replayed_once = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(1, 1))]
    assert check.ask(program, replayed_once).status == "cannot_tell"


def test_all_iterations_together_do_not_show_what_one_converts(check, program):
    constants(program)
    assert check.ask(program, chosen="all").status == "cannot_tell"


def test_one_pass_with_little_to_convert_is_clean(check, program):
    constants(program)
    pass_time(program, 10_000_000)
    assert check.ask(program, ONE_PASS).status == "clean"


def test_the_first_conversion_is_taken_for_the_models_input(check, program):
    relu(program, to_tiles(program, program.tensor([1, 1, 64, 512], layout=ROWS)))
    assert check.ask(program).status == "clean"


def test_what_an_op_of_the_iteration_made_is_no_constant(check, program):
    for height in (512, 1024):
        relu(program, to_tiles(program, to_rows(program, relu(program, program.tensor([1, 1, height, 256])))))
    assert check.ask(program).status == "clean"


def test_ops_that_read_weights_are_no_conversions(check, program):
    constants(program)
    relu(program, program.tensor([1, 1, 1024, 512]))
    assert check.ask(program).claim.rows.tolist() == [2]


def test_a_front_end_gets_advice_on_its_model(check, program):
    constants(program)
    claim = check.ask(program, generation="tt-torch").claim
    assert "keep the tensor as a parameter" in claim.fix
    assert "ttnn." not in claim.fix
    assert any(one.column == "LOC" for one in claim.evidence)


def test_a_window_that_took_no_time_has_nothing_to_save(check, program):
    to_tiles(program, program.tensor([1, 1, 64, 512], layout=ROWS), 0)
    assert check.ask(program, [Iteration()]).status == "clean"


def test_without_second_operands_nothing_is_a_table(check, program):
    looked_up(program)
    assert check.ask(program, without="INPUT_1").status == "clean"

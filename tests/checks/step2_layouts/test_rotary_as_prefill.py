"""rotary-as-prefill: one token in the mode for prompts."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import no_such_ops
from tests.profiles import Program
from tests.profiles.model import DeviceOp


def turn(program, *, heads=16, tokens=1, decode=False, kernel_ns=41_300):
    x, y = (program.tensor([1, heads, tokens, 128]) for _ in range(2))
    tables = [program.tensor([1, 1, tokens, 128]) for _ in range(2)]
    said = {} if decode is None else {"is_decode_mode": decode}
    operands = (x, *tables, program.tensor([1, 1, 32, 32]))
    put(program, DeviceOp("RotaryEmbeddingLlamaDeviceOperation", operands, (y,), kernel_ns, attributes=said))


def turned(**how):
    program = Program("wormhole_b0")
    turn(program, **how)
    return program


def test_one_token_in_prefill_mode_is_told(check):
    """41.3 and 26.1 us; 50 were saved on both."""
    program = turned()
    turn(program, heads=8, kernel_ns=26_100)
    outcome = check.ask(program)
    assert outcome.at_most_ns == pytest.approx(41_300 + 26_100 - 2 * 3_400)
    assert 50_000 <= outcome.at_most_ns <= 5 * 50_000
    assert outcome.claim.claim.startswith("2 rotary embeddings of one token in prefill mode (67 us, 97.8%)")
    assert "is_decode_mode=True" in outcome.claim.fix
    assert "[1,users,16,128]" in outcome.claim.fix


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(turned())


def test_decode_mode_is_what_we_want(check):
    check.pair(lambda decode: turned(decode=decode), silent=True, fires=False)
    assert not check.ask(turned(decode=None)).fires


def test_a_prompt_has_more_rows(check):
    check.pair(lambda tokens: turned(tokens=tokens), silent=2, fires=1)


def test_few_heads_are_quick_and_more_than_a_tile_do_not_fit(check):
    check.pair(lambda heads: turned(heads=heads), silent=3, fires=4)
    check.pair(lambda heads: turned(heads=heads), silent=33, fires=32)


def test_what_decode_mode_takes_stays(check):
    check.pair(lambda ns: turned(kernel_ns=ns), silent=3_400, fires=3_500)


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(turn, 0.01, of="saving")


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no rotary embeddings"


def test_without_operands_it_cannot_tell(check):
    assert "no INPUT_n and OUTPUT_n" in check.ask(turned(), without="PUT_").why


def test_without_attributes_it_cannot_tell(check):
    assert check.ask(turned(), without="ATTRIBUTES").status == "cannot_tell"


def test_without_logical_shapes_a_token_is_no_less_than_a_tile(check):
    assert "padded shapes only" in check.ask(turned(), generation="C3").why

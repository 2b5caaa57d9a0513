"""sdpa-uneven-chunks: FILL IN what is wrong, in one line."""

from tests.checks.rows import pass_time
from tests.profiles import Program


def program(amount: float) -> Program:
    """FILL IN: a program that has `amount` of what the check measures."""
    made = Program("wormhole_b0")
    pass_time(made, 1000 * amount)
    return made


def test_where_the_line_is(check):
    check.pair(program, silent=1.0, fires=2.0)  # FILL IN both sides of the line

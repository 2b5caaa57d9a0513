"""Facts about columns: since when TTNN writes them, by the headers of all generations, and what can be true."""

import csv

from tests.for_all import for_all
from tests.profiles.csv_header import header
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.readers.performance.columns import BY_NAME, COLUMNS, is_operand
from ttnn_mcp.readers.performance.header import generation_of

BY_COUNTERS = {  # only with counters, since TTNN 0.72 and 2026-03
    **dict.fromkeys(("fpu_util_pct", "sfpu_util_pct", "math_util_pct"), 5),
    **dict.fromkeys(("srca_wait_pct", "srcb_wait_pct"), 6),
}
BY_COMPILER = {"loc": 3, "const_eval": 3}


@for_all("column", COLUMNS, ids=lambda column: column.name)
def test_a_column_is_written_since_the_generation_that_it_says(column):
    """The headers are made by the profiles' own list, which real reports hold."""
    told = BY_COUNTERS | BY_COMPILER
    first = next((one for one in range(1, 8) if {*column.headers} & {*header(f"C{one}", counters=True)}), None)
    assert column.since == told.get(column.name, first)


@for_all("report", [CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER])
def test_no_real_report_is_older_than_a_column_it_has(report):
    with shared(report).open(newline="") as file:
        names = tuple(name.strip() for name in next(csv.reader(file)))
    generation = int(generation_of(names)[1:])
    early = [one.name for one in COLUMNS if {*one.headers} & {*names} and one.since > generation]
    assert early == []


def test_ids_have_bounds_of_their_own():
    own = {column.name: column.at_most for column in COLUMNS if column.at_most is not None}
    assert own == {
        "device": 1023.0,  # GLOBAL CALL COUNT has ten bits for it
        "host_start_ns": 2.0**63,
        "trace_id": 2.0**31 - 1,
        "trace_session": 2.0**31 - 1,
    }


def test_operands_are_told_from_columns():
    assert is_operand("INPUT_0_W")
    assert is_operand("OUTPUT_12_Y_PAD[LOGICAL]")
    assert not is_operand("INPUT_0_V")
    assert not any(is_operand(name) for name in BY_NAME)

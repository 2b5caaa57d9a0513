"""Which columns a report of some generation should have, and what it costs when one is missing."""

from tests.for_all import for_all
from tests.profiles import CSV_GENERATIONS
from tests.profiles.csv_header import header
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER, shared
from ttnn_mcp.readers.performance.columns import COLUMNS, UNREAD
from ttnn_mcp.readers.performance.header import generation_of, header_of, lost_columns, nearest_header


def lost(names):
    return lost_columns(names, generation_of(tuple(names)), compiler="LOC" in names)


@for_all("generation", CSV_GENERATIONS)
def test_a_whole_header_of_any_generation_has_lost_nothing(generation):
    assert lost(header(generation)) == []


@for_all("name", [CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER])
def test_real_reports_have_lost_nothing(name):
    assert header_of(shared(name)).lost == ()


@for_all("column", [column for column in COLUMNS if column.costs], ids=lambda column: column.name)
def test_every_column_on_which_an_answer_hangs_is_missed(column):
    generation = "tt-torch" if column.by_compiler else "C7"
    names = header(generation)
    left = [name for name in names if name not in column.headers]
    said = lost_columns(
        left, generation_of(tuple(left)) if generation != "C7" else "C7", compiler=column.by_compiler
    )
    assert [caveat for caveat in said if caveat.startswith(f"no {column.headers[0]}: ")] == said
    assert column.costs in said[0]


def test_columns_that_came_later_are_not_missed():
    names = header("C4")
    assert "DEVICE ARCH" not in names
    assert lost(names) == []


def test_what_costs_the_same_is_one_sentence():
    names = [name for name in header("C7") if not name.startswith("INPUT_") or "MEMORY" not in name]
    assert lost(names) == [
        "no INPUT_0_MEMORY, INPUT_1_MEMORY, INPUT_2_MEMORY: checks of placement and sharding cannot tell"
    ]


def test_no_unread_column_of_ttnn_passes_for_a_lost_one():
    for generation in CSV_GENERATIONS:
        for column in COLUMNS:
            for old in column.headers:
                names = [name for name in header(generation, counters=True) if name != old]
                assert nearest_header(old, names) is None, old


@for_all(
    "renamed",
    ["MATH FIDELITY X", "Math Fidelity", "MATH_FIDELITY", "FIDELITY MATH", "MATH FIDELITY (last kernel of op)"],
)
def test_a_renamed_column_is_named(renamed):
    names = [renamed if name == "MATH FIDELITY" else name for name in header("C7")]
    near = f" (a column '{renamed}' is there)" if renamed != "FIDELITY MATH" else ""
    assert lost(names) == [f"no MATH FIDELITY{near}: fidelity checks and compute bounds cannot tell"]


def test_ttnn_s_unread_columns_are_told_from_strangers():
    read = {name for column in COLUMNS for name in column.headers if column.costs}
    assert not [name for name in read if UNREAD.search(name)]


def test_more_than_three_columns_are_counted():
    names = [name for name in header("C7") if not name.endswith("MEMORY")]
    [told] = [caveat for caveat in lost(names) if "MEMORY" in caveat]
    assert told == (
        "no INPUT_0_MEMORY, OUTPUT_0_MEMORY, INPUT_1_MEMORY and 1 more: checks of placement and sharding cannot tell"
    )


def test_a_column_without_a_name_is_like_no_other():
    assert nearest_header("MATH FIDELITY", ["", "MATH FIDELITIES"]) == "MATH FIDELITIES"
    assert nearest_header("MATH FIDELITY", [""]) is None

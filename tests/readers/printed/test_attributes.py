import csv
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_all import for_all
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.readers.printed.nesting import parse_struct, split_fields

REPORTS = Path(__file__).parents[3] / "../shared/data/perf"


def distinct_cells():
    if not REPORTS.is_dir():
        pytest.skip("the real reports are not here")
    csv.field_size_limit(10**9)
    cells = {}
    for report in sorted(REPORTS.glob("*.csv")):
        with report.open(newline="") as lines:
            cells.update({row["ATTRIBUTES"] or "": row["OP TYPE"] for row in csv.DictReader(lines)})
    assert len(cells) > 400
    return cells


def test_keys_and_values_are_read_in_order():
    attributes = parse_attributes("{'dim': '3'; 'groups': '1'; 'output_mem_config': 'std::nullopt'}")
    assert list(attributes.items()) == [("dim", "3"), ("groups", "1"), ("output_mem_config", "std::nullopt")]
    assert attributes.number("dim") == 3


def test_the_trailing_underscore_of_older_reports_makes_no_difference():
    attributes = parse_attributes("{'output_memory_config_': 'x'; 'remote_read_': 'false'}")
    assert attributes["output_memory_config"] == attributes["output_memory_config_"] == "x"
    assert "remote_read" in attributes
    assert attributes.flag("remote_read") is False


def test_values_keep_their_nested_separators():
    text = "{'a': 'X(p=(1; 2);q={[(x=0;y=0) - (x=7;y=7)]})'; 'b': '{1; 2}'; 'c': ''}"
    assert dict(parse_attributes(text)) == {
        "a": "X(p=(1; 2);q={[(x=0;y=0) - (x=7;y=7)]})",
        "b": "{1; 2}",
        "c": "",
    }


def test_values_keep_quotes_and_printed_dicts():
    text = "{'inner': '{'x': 'y'; 'z': 'w'}'; 'said': \"it's\"; 'both': 'it\\'s \"so\"'; 'n': 5}"
    assert dict(parse_attributes(text)) == {
        "inner": "{'x': 'y'; 'z': 'w'}",
        "said": "it's",
        "both": 'it\'s "so"',
        "n": "5",
    }


def test_a_value_whose_bracket_never_closes_ends_at_the_next_key():
    assert dict(parse_attributes("{'a': 'f('; 'b': '1'}")) == {"a": "f(", "b": "1"}


@for_all("cell", ["", "None", "second line of a signpost", "{}", "{'a'", "a 'b': 'c'"])
def test_a_cell_that_is_no_dict_has_no_attributes(cell):
    assert len(parse_attributes(cell)) == 0


def test_a_cell_cut_short_gives_what_it_still_says():
    assert dict(parse_attributes("{'a': '1'; 'b': 'X(p=1;q")) == {"a": "1", "b": "'X(p=1;q"}


def test_absent_values_are_passed_over():
    attributes = parse_attributes("{'memory_config': 'std::nullopt'; 'output_mem_config': 'M(a=1)'; 'on': 'true'}")
    assert attributes.text_of("memory_config") is None
    assert attributes.text_of("memory_config", "output_mem_config") == "M(a=1)"
    assert attributes.struct("output_mem_config").fields == {"a": "1"}
    assert attributes.flag("on") is True
    assert attributes.flag("output_mem_config") is None


KEYS = st.from_regex(r"[a-z][a-z0-9]{0,10}", fullmatch=True)
WORDS = st.text(alphabet="abc123_.:=- ", max_size=8).map(str.strip)
NESTED = st.recursive(
    WORDS,
    lambda inner: st.tuples(st.sampled_from(["()", "[]", "{}"]), st.lists(inner, max_size=3)).map(
        lambda made: made[0][0] + "; ".join(made[1]) + made[0][1]
    ),
    max_leaves=6,
)


@given(st.dictionaries(KEYS, NESTED, min_size=1, max_size=6))
def test_rendered_attributes_read_back(expected):
    assert dict(parse_attributes(str(expected).replace(",", ";"))) == expected


@given(st.dictionaries(KEYS, st.text(alphabet="ab'\"\\ ", max_size=12), min_size=1, max_size=4))
def test_quotes_and_backslashes_read_back(expected):
    assert dict(parse_attributes(str(expected).replace(",", ";"))) == expected


@given(st.text(alphabet="{}()[]'\":;, ab\\", max_size=80))
def test_no_cell_breaks_the_reader(cell):
    parse_attributes(cell)
    parse_attributes("{'a': '" + cell)
    parse_struct(cell)
    split_fields(cell)


@pytest.mark.slow
def test_a_long_hostile_cell_is_read_in_time():
    assert len(parse_attributes("{" + "'k': '('; " * 20_000 + "}")) == 1
    split_fields("([{" * 50_000)


def test_every_distinct_cell_of_the_real_reports_gives_all_its_keys():
    for cell, op_type in distinct_cells().items():
        attributes = parse_attributes(cell)
        if op_type != "tt_dnn_device":
            assert len(attributes) == 0
            continue
        # an independent count: keys of the printed dict are lower-case words at its top level, never inside a struct
        expected = re.findall(r"'([a-z0-9_]+)': '", cell)
        assert [key.rstrip("_") for key in expected] == list(attributes)
        assert "; ".join(f"'{key}': '{attributes[key]}'" for key in expected) == cell[1:-1]


def test_every_struct_of_the_real_reports_is_taken_apart():
    structs = {value for cell in distinct_cells() for value in parse_attributes(cell).values() if "(" in value}
    assert len(structs) > 300
    for text in structs:
        call = parse_struct(text)
        assert call is not None
        assert text.startswith(call.name)
        if "Config(" in text.split("=")[0] and not text.endswith("Config()"):
            assert call.fields
            assert not call.values


def test_a_struct_gives_its_name_and_fields():
    call = parse_struct("Conv2dBlockConfig(act_block_h_ntiles=2;act_block_w_ntiles=24;out_subblock_h_ntiles=1)")
    assert call.name == "Conv2dBlockConfig"
    assert call.number("act_block_w_ntiles") == 24
    assert list(call.fields) == ["act_block_h_ntiles", "act_block_w_ntiles", "out_subblock_h_ntiles"]


def test_nested_structs_stay_whole():
    call = parse_struct(
        "P(grid_size=(x=5;y=4);fused=BasicUnaryWithParam<float; int>(op_type=UnaryOpType::RELU;param={}), padding = ((1; 1); (0; 0)); core_range_set_={[(x=0;y=0) - (x=7;y=7)]}; f=std::nullopt)"
    )
    assert call.fields == {
        "grid_size": "(x=5;y=4)",
        "fused": "BasicUnaryWithParam<float; int>(op_type=UnaryOpType::RELU;param={})",
        "padding": "((1; 1); (0; 0))",
        "core_range_set": "{[(x=0;y=0) - (x=7;y=7)]}",
        "f": "std::nullopt",
    }
    assert parse_struct(call.fields["grid_size"]).number("y") == 4
    assert call.text_of("f") is None


def test_braces_of_c_are_read_too():
    assert parse_struct("Config{.a = 1, .b = {2, 3}}").fields == {"a": "1", "b": "{2, 3}"}
    assert parse_struct("{1; 512; 512; 3}").values == ("1", "512", "512", "3")
    assert parse_struct("SmallVector([0; 3; 1; 2])").values == ("[0; 3; 1; 2]",)


@for_all("text", ["", "3", "std::nullopt", "DataType::BFLOAT16", "1e-05"])
def test_a_plain_value_is_no_struct(text):
    assert parse_struct(text) is None


def nested(count):
    """A value that holds as many keys in brackets, and a key behind it."""
    return "{'a': (x" + ", 'k': 1" * count + "), 'b': 2}"


def test_a_value_may_hold_as_many_keys_as_an_op_can_have():
    assert dict(parse_attributes(nested(31))) == {"a": "(x" + ", 'k': 1" * 31 + ")", "b": "2"}
    assert parse_attributes(nested(32))["a"] == "(x"


def test_a_quote_that_is_not_closed_is_no_value():
    assert dict(parse_attributes("{'a': ', 'b': 'x'}")) == {"a": ", 'b': 'x"}
    assert dict(parse_attributes("{'a': '}")) == {"a": "'"}
    assert dict(parse_attributes("{'a': 'x, 'b': 1'}")) == {"a": "x, 'b': 1"}
    assert dict(parse_attributes("{'a': x', 'b': 1}")) == {"a": "x'", "b": "1"}
    assert dict(parse_attributes("{'a': 'x\", 'b': 1}")) == {"a": "'x\"", "b": "1"}


def test_only_quotes_are_taken_off():
    assert dict(parse_attributes("{'a': 101, 'b': '1', 'c': 'x'y}")) == {"a": "101", "b": "1", "c": "'x'y"}


def test_keys_behind_other_text_are_no_attributes():
    assert dict(parse_attributes("text, 'a': 1, 'b': 2")) == {}
    assert dict(parse_attributes("")) == {}


def test_what_is_escaped_is_written_out():
    assert dict(parse_attributes(r"{'a': 'it\'s', 'b': '1\n2\\3\q'}")) == {"a": "it's", "b": "1\n2\\3q"}


def test_the_first_key_with_a_value_is_it():
    attributes = parse_attributes("{'a': 'std::nullopt', 'b_': '7', 'c': 'f(x=1)', 'd': 'TRUE'}")
    assert (attributes.text_of("no", "a", "b"), attributes.number("a", "b"), attributes.number("a")) == (
        "7",
        7,
        None,
    )
    assert (attributes.struct("a", "c").number("x"), attributes.struct("a"), attributes.struct("b")) == (
        1,
        None,
        None,
    )
    assert (attributes.flag("d"), attributes.flag("a"), attributes.flag("c")) == (True, None, None)

"""Printed structs: fields and values by hand, as TTNN prints them and as a cut or damaged cell leaves them."""

from tests.for_all import for_all
from ttnn_mcp.readers.printed.nesting import PrintedStruct, has_value, normal_key, parse_struct, split_fields, whole


@for_all(
    ("text", "number"),
    [
        ("12", 12),
        (" -7 ", -7),
        ("+7", 7),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("-9223372036854775808", -(2**63)),
        ("-9223372036854775809", None),
        ("12345678901234567890", None),
        ("0" * 20, None),  # no number is printed with so many digits
        ("1" * 5000, None),
        ("1.5", None),
        ("", None),
        ("-", None),
        ("twelve", None),
        ("0x10", None),
    ],
)
def test_a_whole_number_is_digits_within_64_bits(text, number):
    assert whole(text) == number


@for_all("text", ["", " ", "std::nullopt", "nullopt", "None", "none", " null "])
def test_nothing_has_many_spellings(text):
    assert not has_value(text)
    assert has_value(f"({text})")
    assert PrintedStruct("", {"x": text}).text_of("x") is None


@for_all(
    ("text", "parts"),
    [
        ("a, b; c", ["a", "b", "c"]),
        ("f(a, b), [c; d], {e, f}", ["f(a, b)", "[c; d]", "{e, f}"]),
        ("Param<float; int>, x", ["Param<float; int>", "x"]),
        ("a < b, c > d", ["a < b", "c > d"]),
        ("f(a[b, c), d", ["f(a[b, c)", "d"]),  # the inner bracket ends with its parent
        ("a), b]", ["a)", "b]"]),  # closes nothing
        ("(a)), (b, c)", ["(a))", "(b, c)"]),
        ("f(a, b", ["f(a, b"]),
        (", ,a,", ["a"]),
        ("", []),
    ],
)
def test_fields_are_split_outside_of_brackets(text, parts):
    assert split_fields(text) == parts


@for_all(
    ("text", "struct"),
    [
        ("Name(a=1, b_=f(2; 3))", PrintedStruct("Name", {"a": "1", "b": "f(2; 3)"})),
        ("(x=1;y=2)", PrintedStruct("", {"x": "1", "y": "2"})),
        ("{1; 2}", PrintedStruct("", {}, ("1", "2"))),
        ("{.a = 1, 2}", PrintedStruct("", {"a": "1"}, ("2",))),
        ("Name(a=1, a=2)", PrintedStruct("Name", {"a": "1"})),
        ("Name(a=1, b=2", PrintedStruct("Name", {"a": "1", "b": "2"})),
        ("Name(a == b)", PrintedStruct("Name", {}, ("a == b",))),
        ("[1, 2]", PrintedStruct("", {}, ("1", "2"))),
        ("plain", None),
        ("None", None),
        ("", None),
    ],
)
def test_a_struct_is_read_one_level_deep(text, struct):
    assert parse_struct(text) == struct


def test_a_field_is_a_text_or_a_number():
    struct = PrintedStruct("", {"a": "12", "b": "x"})
    assert (struct.text_of("a"), struct.number("a"), struct.number("b"), struct.number("c")) == (
        "12",
        12,
        None,
        None,
    )
    assert struct.text_of("c") is None


def test_keys_lose_the_mark_of_members():
    assert [normal_key(one) for one in ("config_", " config ", "_")] == ["config", "config", "_"]

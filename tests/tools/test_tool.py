"""Which words of a schema stay."""

from tests.for_all import for_all
from ttnn_mcp.tools.tool import slim

TEXT, NULL = {"type": "string"}, {"type": "null"}


@for_all(
    ("schema", "slimmed"),
    [
        ({"title": "Run", "default": None, **TEXT}, TEXT),
        ({"title": TEXT, "default": 3}, {"title": TEXT, "default": 3}),
        ({"items": {"title": "Run", **TEXT}}, {"items": TEXT}),
        ({"prefixItems": [{"title": "Run", **TEXT}]}, {"prefixItems": [TEXT]}),
        ({"enum": ["title"], "const": None}, {"enum": ["title"], "const": None}),
        ({"propertyNames": {"title": "Name", "maxLength": 3}}, {"propertyNames": {**TEXT, "maxLength": 3}}),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, {"type": "number"}),
        ({"anyOf": [{"type": "integer"}, TEXT]}, {"anyOf": [{"type": "integer"}, TEXT]}),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}, TEXT]}, {"anyOf": [{"type": "number"}, TEXT]}),
    ],
)
def test_titles_empty_defaults_and_whole_numbers_beside_numbers_go(schema, slimmed):
    assert slim(schema) == slimmed


@for_all("key", ["properties", "$defs"])
def test_what_is_called_title_or_default_stays(key):
    assert slim(
        {key: {"title": {"title": "Title", **TEXT}, "default": TEXT}, "required": ["title", "default"]}
    ) == {
        key: {"title": TEXT, "default": TEXT},
        "required": ["title", "default"],
    }


@for_all("key", ["properties", "$defs"])
@for_all("name", ["properties", "propertyNames", "anyOf", "title"])
def test_a_field_may_be_called_like_a_word_of_schemas(key, name):
    assert slim({key: {name: {"title": "A", **TEXT}}}) == {key: {name: TEXT}}


@for_all(
    ("part", "slimmed"),
    [
        ({"anyOf": [TEXT, NULL], "description": "A"}, {**TEXT, "description": "A"}),
        ({"anyOf": [TEXT, {"type": "boolean"}, NULL]}, {"anyOf": [TEXT, {"type": "boolean"}]}),
        ({"anyOf": [NULL], "description": "A"}, {"anyOf": [NULL], "description": "A"}),
        ({"anyOf": [TEXT], "description": "A"}, {"anyOf": [TEXT], "description": "A"}),
        (TEXT, TEXT),
    ],
)
def test_a_field_that_may_be_left_out_need_not_say_that_it_may_be_null(part, slimmed):
    assert slim({"properties": {"run": part}}) == {"properties": {"run": slimmed}}
    assert slim({"properties": {"run": part}, "required": ["run"]})["properties"]["run"] == part

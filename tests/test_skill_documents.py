"""The skill and the reference pages name only what exists.

How a page must write things so that these tests can follow it:

* a tool or a field of its answer: `tool`, `tool.field`, `tool.list[].field`, `tool.table[].column`, in code, with []
  where a list or a table is entered
* a call: `tool(argument="value")`, in code, keyword arguments only
* a value of a closed set: `tool.field` = `value`
* a check: its id in code; nothing else on a page is kebab-case in code
* another page: a relative link inside the skill; `ttnn://...` for reference pages
"""

from __future__ import annotations

import ast
import json
import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pytest

from tests.for_all import for_all

if TYPE_CHECKING:
    from collections.abc import Iterator

Schema: TypeAlias = dict[str, Any]

ROOT = Path(__file__).parents[1]
CONTRACTS = ROOT / "tools"
SKILL = ROOT / "skills" / "optimizing-ttnn-models"
REFERENCE = ROOT / "resources"

STEPS = sorted(SKILL.glob("step-*.md"))
PAGES = sorted(SKILL.glob("*.md"))
DOCUMENTS = [*PAGES, *sorted(REFERENCE.rglob("*.md"))]

PATH = re.compile(r"[a-z]\w*(\[\])?(\.[a-z]\w*(\[\])?)+")
KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
LIBRARIES = {"ttnn", "torch", "tracy"}
TABLES = {"buffers", "devices", "operations", "tensors"}  # of a memory report's db.sqlite
SUFFIXES = {"csv", "json", "md", "sqlite", "tracy", "yaml"}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


every_document = for_all("page", DOCUMENTS, ids=name_of)
every_step = for_all("page", STEPS, ids=name_of)


def blocks(page: Path, language: str = "") -> list[str]:
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [body for marked, body in fences if not language or marked == language]


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def inline(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def front_matter(page: Path) -> dict[str, str]:
    _, block, _ = page.read_text("utf-8").split("---\n", 2)
    return dict(line.split(": ", 1) for line in block.splitlines())


def step_of(page: Path) -> int:
    return int(page.name.removeprefix("step-")[:2])


@cache
def contracts() -> dict[str, Schema]:
    found = [json.loads(path.read_text("utf-8")) for path in sorted(CONTRACTS.glob("*.json"))]
    if not found:
        pytest.skip("tools/ holds no contracts yet; generate them first")
    return {contract["name"]: contract for contract in found}


def alternatives(schema: Schema, root: Schema) -> Iterator[Schema]:
    """What a schema may stand for, references followed and unions opened."""
    yield schema
    if "$ref" in schema:
        target = root
        for part in str(schema["$ref"]).removeprefix("#/").split("/"):
            target = target[part]
        yield from alternatives(target, root)
    for union in ("anyOf", "oneOf", "allOf"):
        for member in schema.get(union, ()):
            yield from alternatives(member, root)


def inside(schema: Schema, field: str) -> list[Schema]:
    """The schema of a field, or of any field where the names are free."""
    found: Any = schema.get("properties", {}).get(field, schema.get("additionalProperties"))
    return [cast("Schema", found)] if isinstance(found, dict) else []


def columns_of(schema: Schema) -> list[str]:
    """The columns a table declares beside its field."""
    columns = schema.get("properties", {}).get("columns", {})
    return columns.get("const") or columns.get("items", {}).get("enum", [])


def line_of(table: Schema) -> Schema:
    """A table's line as if it were an object: its columns are fields."""
    return {"properties": {name: {} for name in columns_of(table)}}


def reached(root: Schema, path: list[str]) -> list[Schema]:
    """The schemas a field path leads to, fully opened; none when the path does not exist."""
    here = list(alternatives(root, root))
    for segment in path:
        fields = [found for schema in here for found in inside(schema, segment.removesuffix("[]"))]
        here = [schema for field in fields for schema in alternatives(field, root)]
        if segment.endswith("[]"):
            here = [
                member for schema in here if "items" in schema for member in alternatives(schema["items"], root)
            ] + [line_of(schema) for schema in here if columns_of(schema)]
    return here


def field_exists(tool: str, path: list[str]) -> bool:
    return bool(reached(contracts()[tool].get("outputSchema", {}), path))


def calls(page: Path) -> Iterator[tuple[str, ast.Call]]:
    """Calls of bare names in prose; `ttnn.matmul(...)` has a dotted name and is not one."""
    for code in inline(prose(page)):
        if not re.fullmatch(r"\w+\(.*\)", code, re.DOTALL):
            continue
        call = ast.parse(code, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            yield code, call


@every_document
def test_every_link_resolves(page: Path) -> None:
    broken: list[str] = []
    for target in re.findall(r"\]\(([^)]+)\)", prose(page)):
        file, _, anchor = target.partition("#")
        there = page.parent / file if file else page
        if not there.is_file() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert broken == []


def test_the_skill_links_only_to_itself_so_that_its_folder_can_be_copied() -> None:
    targets = {target for page in PAGES for target in re.findall(r"\]\(([^)#]+)", prose(page))}
    assert {target for target in targets if (SKILL / target).resolve().parent != SKILL.resolve()} == set()


@every_document
def test_every_reference_uri_leads_to_a_page(page: Path) -> None:
    uris = re.findall(r"ttnn://(glossary|formats|hardware/\w+)", page.read_text("utf-8"))
    assert [uri for uri in uris if not (REFERENCE / f"{uri}.md").is_file()] == []


@every_document
def test_every_python_block_compiles(page: Path) -> None:
    for block in blocks(page, "python"):
        compile(block, name_of(page), "exec")


@every_document
def test_every_block_of_code_names_its_language(page: Path) -> None:
    named = [len(blocks(page, language)) for language in ("python", "bash", "yaml", "json", "toml", "nginx")]
    assert len(blocks(page)) == sum(named)


@every_document
def test_removed_interfaces_never_appear_in_code(page: Path) -> None:
    removed = ("enable_async", "synchronize_mesh_device", "MeshType")
    assert [name for name in removed for block in blocks(page) if name in block] == []


def test_the_front_matter_is_simple_scalars() -> None:
    fields = front_matter(SKILL / "SKILL.md")
    assert set(fields) == {"name", "description"}
    assert fields["name"] == SKILL.name
    assert 0 < len(fields["description"]) <= 1024  # what hosts accept for a skill's description
    for value in fields.values():
        assert re.match(r"[A-Za-z]", value)  # no quote, bracket, anchor or block marker
        assert ": " not in value
        assert " #" not in value


@every_document
def test_every_tool_and_field_named_exists(page: Path) -> None:
    tools = contracts()
    unknown: list[str] = []
    for code in inline(prose(page)):
        if PATH.fullmatch(code):
            tool, *path = code.split(".")
            foreign = tool in LIBRARIES | TABLES or path[-1] in SUFFIXES
            if not (field_exists(tool, path) if tool in tools else foreign):
                unknown.append(code)
        elif re.fullmatch(r"[a-z]+(_[a-z]+)+", code) and code not in tools:
            unknown += [code for _ in get_close_matches(code, tools, n=1, cutoff=0.9)]  # a misspelled tool
    assert unknown == []


@every_document
def test_every_call_is_one_the_tool_accepts(page: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="checks arguments against input schemas")
    tools = contracts()
    refused: list[str] = []
    for code, call in calls(page):
        assert isinstance(call.func, ast.Name)
        assert not call.args, f"{code}: arguments go by name"
        arguments = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
        if call.func.id not in tools:
            refused.append(code)
            continue
        schema = tools[call.func.id]["inputSchema"]
        refused += [code for name in arguments if name not in schema.get("properties", {})]
        refused += [code for _ in jsonschema.Draft202012Validator(schema).iter_errors(arguments)]
    assert refused == []


@every_document
def test_every_value_named_is_in_the_closed_set_of_its_field(page: Path) -> None:
    tools = contracts()
    impossible: list[tuple[str, str]] = []
    for field, value in re.findall(r"`([a-z_]+(?:\.[\w\[\]]+)+)`\s+=\s+`([^`]+)`", prose(page)):
        tool, *path = field.split(".")
        opened = reached(tools[tool]["outputSchema"], path)
        allowed = [member for schema in opened for member in schema.get("enum", [schema.get("const")])]
        if any(allowed) and value not in allowed:
            impossible.append((field, value))
    assert impossible == []


def test_a_column_is_followed_into_its_table() -> None:
    assert field_exists("list_ops", ["groups[]", "median_gap_us"])
    assert field_exists("sharding_summary", ["shard_specs[]", "tensors"])  # in some answers only
    assert not field_exists("list_ops", ["groups[]", "mean_gap_us"])
    assert not field_exists("list_ops", ["groups[]", "columns"])


def test_every_tool_is_taught_in_the_quick_reference() -> None:
    taught = {call.func.id for _, call in calls(SKILL / "quick-reference.md") if isinstance(call.func, ast.Name)}
    assert set(contracts()) - taught == set(), "run `make fix`: it adds a line to the table of quick-reference.md"


@every_step
def test_a_step_asks_changes_verifies_and_warns(page: Path) -> None:
    headings = re.findall(r"^## (.+)$", prose(page), re.MULTILINE)
    for wanted in ("Ask", "Change", "Checks of this step", "tt-xla and tt-torch", "Verify", "Traps"):
        assert any(heading.startswith(wanted) for heading in headings), wanted
    assert "**Skip it**" in " ".join(prose(page).split())
    assert "PCC" in prose(page).partition("## Verify")[2]
    assert list(calls(page))


@every_document
def test_every_check_named_is_in_the_catalogue(page: Path) -> None:
    from ttnn_mcp.checks import CATALOGUE

    named = {code for code in inline(prose(page)) if KEBAB.fullmatch(code)}
    named |= set(re.findall(r"ttnn://checks/([a-z0-9-]+)", prose(page)))
    assert named - {check.id for check in CATALOGUE} == set()


def test_the_seven_steps_and_their_companions_are_all_there() -> None:
    assert [step_of(page) for page in STEPS] == [1, 2, 3, 4, 5, 6, 7]
    assert {page.name for page in PAGES} - {page.name for page in STEPS} == {
        "SKILL.md",
        "key-concepts.md",
        "quick-reference.md",
    }


def test_the_checklist_has_nine_ticks_and_the_loop_six_steps() -> None:
    text = prose(SKILL / "SKILL.md")
    loop = text.partition("## The feedback loop")[2].partition("\n## ")[0]
    assert len(re.findall(r"^- \[ \] ", text, re.MULTILINE)) == 9
    assert len(re.findall(r"^\d\. ", loop, re.MULTILINE)) == 6

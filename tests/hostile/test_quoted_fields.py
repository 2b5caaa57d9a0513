"""Every field of an answer that carries text of a profile says so in the tool's contract."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any

import pytest

from tests.asking import ask, required, session
from tests.hostile.marked_reports import MARK, marked_run
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.tool import slim
from ttnn_mcp.wire import QUOTED, QUOTING, Columns, Quoted, Quoting, Table, Wire

LEAST = {"codes": 40, "operands": 35, "attributes": 20, "linked": 20, "not linked": 22}  # fields that marks reach
SCHEMAS = {tool.name: tool.output_schema for tool in TOOLS}


class Fields:
    """Walks an answer beside its schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def with_marks(self, answer: Any) -> Iterator[tuple[str, bool]]:
        """(path, whether the schema says that text of a profile stands there) of every marked text."""
        yield from self._walk(answer, [self.schema], "")

    def _options(self, schema: dict[str, Any]) -> list[dict[str, Any]]:
        if "$ref" in schema:
            named = self.schema["$defs"][schema["$ref"].rsplit("/", 1)[1]]
            rest = {name: part for name, part in schema.items() if name != "$ref"}
            return [*self._options(named), rest]
        return [schema, *(each for part in schema.get("anyOf", []) for each in self._options(part))]

    def _walk(self, value: Any, schemas: list[dict[str, Any]], path: str) -> Iterator[tuple[str, bool]]:
        options = [each for schema in schemas for each in self._options(schema)]
        if isinstance(value, str) and MARK.lower() in value.lower():
            yield path, any(says(each) for each in options)
        elif isinstance(value, dict):
            yield from self._entries(value, options, path)
        elif isinstance(value, list):
            inner = [each["items"] for each in options if isinstance(each.get("items"), dict)]
            for part in value:
                yield from self._walk(part, inner, f"{path}[]")

    def _entries(
        self, value: dict[str, Any], options: list[dict[str, Any]], path: str
    ) -> Iterator[tuple[str, bool]]:
        if value.keys() == {"columns", "rows"} and path:
            yield from self._cells(value, options, path)
            return
        for name, part in value.items():
            inner = named = [each["properties"][name] for each in options if name in each.get("properties", {})]
            if not named:
                yield from self._walk(name, [each.get("propertyNames", {}) for each in options], f"{path}{{key}}")
                inner = [more for each in options if isinstance(more := each.get("additionalProperties"), dict)]
            yield from self._walk(part, inner, f"{path}.{name}" if named else f"{path}.{{}}")

    def _cells(self, table: dict[str, Any], options: list[dict[str, Any]], path: str) -> Iterator[tuple[str, bool]]:
        rows = [each["properties"]["rows"] for each in options if "rows" in each.get("properties", {})]
        named = {name for each in rows if says(each) for name in each["description"].partition(": ")[2].split(", ")}
        for row in table["rows"]:
            for column, cell in zip(table["columns"], row, strict=True):
                if isinstance(cell, str) and MARK.lower() in cell.lower():
                    yield f"{path}.{column}", column in named


def says(schema: dict[str, Any]) -> bool:
    return str(schema.get("description", "")).split(":")[0] in (QUOTED, QUOTING)


async def questions(at, made) -> list[tuple[str, dict[str, Any]]]:
    """What is asked of a run: every tool, and those that show more in several ways."""
    await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory), name=MARK)
    ops = await ask(at, "list_ops", run=MARK, limit=200, sort="order")
    lines = [row[0] for row in ops["ops"]["rows"]]
    record = {"action": "record", "change": "x", "pcc": 0.999}
    return [
        *((tool.name, required(tool, MARK, lines[0])) for tool in TOOLS),
        *((tool.name, required(tool, str(made.memory), 5)) for tool in TOOLS if tool.alone is not None),
        *(("list_ops", {"run": MARK, "group_by": key}) for key in ("op_code", "signature", "source_line")),
        *(("op_detail", {"run": MARK, "op": line}) for line in lines[::3]),
        *(("check_setting", {"run": MARK, "op": line, "setting": "math_fidelity"}) for line in lines[::6]),
        *(("memory_summary", {"run": MARK, "operation": number}) for number in (3, 30)),
        ("optimization_check", {"run": MARK, "min_saving_share": 0}),
        ("host_overhead", {"run": MARK, "iteration": "all", "start_signpost": f"begin{MARK}"}),
        ("compare_runs", {"baseline": "demo", "candidate": MARK}),
        ("compare_runs", {"baseline": MARK, "candidate": "demo"}),
        ("experiments", {**record, "baseline": "demo", "candidate": MARK}),
        ("experiments", {**record, "baseline": MARK, "candidate": "demo"}),
        ("experiments", {"baseline": MARK}),
        ("query_run", {"run": MARK, "sql": "SELECT * FROM ops"}),
        ("query_run", {"run": MARK, "sql": f"SELECT name AS name{MARK} FROM operations"}),
    ]


async def fields_reached(folder, kind) -> dict[str, bool]:
    """Where marks came out: tool and field, and whether the contract says so."""
    at, made = session(folder, folder), marked_run(folder, kind)
    places: dict[str, bool] = {}
    for tool, arguments in await questions(at, made):
        with suppress(QuestionRefused):  # some op has no setting to judge
            answer = await ask(at, tool, **arguments)
            places |= {f"{tool}{path}": said for path, said in Fields(SCHEMAS[tool]).with_marks(answer)}
    return places


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("kind", "least"), LEAST.items())
async def test_text_of_a_profile_comes_out_in_fields_marked_as_quoted(tmp_path, kind, least):
    places = await fields_reached(tmp_path, kind)
    unmarked = sorted(path for path, said in places.items() if not said)
    assert not unmarked, f"type these fields Quoted or Quoting, these columns quoted=: {unmarked}"
    assert len(places) >= least  # the marks do reach the answers


def test_the_walk_notices_a_field_that_is_not_marked():
    class Answer(Wire):
        ours: str
        theirs: tuple[Quoted, ...]
        sentence: Quoting | None
        counts: dict[Quoted, int]
        cells: Annotated[Table, Columns("own", "their", quoted=("their",))]

    answer = {
        "ours": MARK,
        "theirs": [MARK],
        "sentence": f"about '{MARK}'",
        "counts": {MARK: 1},
        "cells": {"columns": ["own", "their"], "rows": [[MARK, MARK], ["clean", "clean"]]},
    }
    assert dict(Fields(slim(Answer.model_json_schema(mode="serialization"))).with_marks(answer)) == {
        ".ours": False,
        ".theirs[]": True,
        ".sentence": True,
        ".counts{key}": True,
        ".cells.own": False,
        ".cells.their": True,
    }

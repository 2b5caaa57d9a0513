"""Every tool keeps the rules of the house; what fails says which command or line puts it right."""

import inspect
import re
from pathlib import Path
from typing import Any, get_args

from generate import contracts, listings
from tests.for_all import for_all
from tests.house.tree import PACKAGE, ROOT, TESTS, where
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.budget import LIMIT_BYTES
from ttnn_mcp.tools.tool import About, OfRun, OfWindow, Report
from ttnn_mcp.wire import Columns, Table, Wire

FOLDER = PACKAGE / "tools"
ROOMS = {
    "answering",
    "budget",
    "catalogue",
    "schema",
    "tool",
}  # what all tools share
NAME = re.compile(r"[a-z]+(_[a-z]+)+|experiments|history")

every_tool = for_all("tool", TOOLS, ids=lambda tool: tool.name)


def module_of(tool) -> Path:
    return ROOT / f"{inspect.getmodule(tool.ask).__name__.replace('.', '/')}.py"


def test_the_list_names_every_tool_there_is():
    listed = [module_of(tool) for tool in TOOLS]
    for path in sorted(FOLDER.glob("*.py")):
        if path.stem not in ROOMS | {"__init__"}:
            assert path in listed, (
                f"{where(path)} is not offered: add `{path.stem}.TOOL,` to TOOLS in {where(FOLDER)}/catalogue.py, or "
                "move it to tools/parts/ if it is part of a tool"
            )
    assert len(listed) == len(set(listed)), (
        f"a tool is in TOOLS twice: leave one line in {where(FOLDER)}/catalogue.py"
    )


@every_tool
def test_a_tool_is_named_like_its_module(tool):
    path = module_of(tool)
    assert path.stem == tool.name, f'write name="{path.stem}" in {where(path)}, or rename the module'
    assert NAME.fullmatch(tool.name), f"name {where(path)} by two words or more, in snake_case"
    assert tool.ask.__name__ == tool.name, f"call the function that answers in {where(path)} `{tool.name}`"


@every_tool
def test_a_tool_declares_what_the_door_prepares(tool):
    path = where(module_of(tool))
    assert tool.about in get_args(About), f"write about= as one of {get_args(About)} in {path}"
    assert set(tool.needs) <= set(get_args(Report)), f"write needs= as some of {get_args(Report)} in {path}"
    base = {"run": OfRun, "replay": OfRun, "window": OfWindow}.get(tool.about, object)
    if tool.opens is not None:
        assert tool.about in ("run", "pair"), f"drop opens= in {path}: only runs and pairs are opened in other ways"
        base = object
    assert tool.opens or tool.about != "pair", f"write opens= in {path}: a function that opens both runs"
    if tool.awaited:
        assert inspect.iscoroutinefunction(tool.ask), f"write `async def {tool.name}` in {path}, or drop awaited="
    assert issubclass(tool.arguments, base), f"let Arguments in {path} derive from {base.__name__}"
    if tool.about == "window":
        assert "performance" in tool.needs, f'write needs=("performance",) in {path}: a window has device times'
    if tool.about == "replay":
        assert "memory" in tool.needs, f'write needs=("memory",) in {path}: a replay reads the memory report'
    if tool.alone is not None:
        assert "performance" in tool.needs, f"drop alone= in {path}, or needs= the performance report"
        assert next(iter(inspect.signature(tool.alone).parameters)) == "run", (
            f"{path}: alone takes a {Run.__name__}"
        )


@every_tool
def test_a_budget_names_fields_of_the_answer(tool):
    path, fields = where(module_of(tool)), tool.answer.model_fields
    if tool.budget is not None:
        assert 0 < tool.budget.size <= LIMIT_BYTES, f"choose a budget below {LIMIT_BYTES} bytes in {path}"
        assert tool.budget.cut, f"name in {path} what the budget leaves out: Budget({tool.budget.size}, cut=(...))"
        assert set(tool.budget.cut) <= set(fields), f"cut fields of the answer in {path}: {set(fields)}"
    if tool.warm is not None:
        assert tool.warm in fields, f"write the name of a field of the answer as warm= in {path}"
    for name in tool.narrow:
        assert name in tool.arguments.model_fields, f"{name} in narrow= is no argument of {path}"


@every_tool
def test_a_tool_is_documented_where_the_assistant_reads_it(tool):
    path = where(module_of(tool))
    assert tool.title, f"write title= in {path}"
    assert 20 < len(tool.description) < 700, (
        f"{path}: the docstring of {tool.name} is the description, 20 to 700 characters"
    )
    assert tool.search_hint or tool.always_loaded, f"write search_hint= in {path}: hosts find deferred tools by it"


@every_tool
def test_a_tool_has_a_test_of_its_own(tool):
    test = TESTS / "tools" / f"test_{tool.name}.py"
    assert test.is_file(), f"write {where(test)}"


def test_no_test_of_a_tool_is_left_without_it():
    names = {tool.name for tool in TOOLS}
    for path in FOLDER.glob("*.py"):
        assert path.stem in names | ROOMS | {"__init__"}
    for golden in (TESTS / "golden").iterdir():
        assert golden.stem in names, f"remove {where(golden)}: there is no such tool"


@every_tool
def test_a_tool_has_its_contract(tool):
    path = contracts.FOLDER / f"{tool.name}.json"
    assert path.is_file(), f"run `make fix` for {where(path)}"


@for_all("path", listings.LISTINGS, ids=lambda path: path.name)
def test_the_lists_are_up_to_date(path):
    text = path.read_text(encoding="utf-8")
    assert listings.LISTINGS[path](text) == text, (
        f"run `make fix`: {where(path)} lists other tools or checks than there are"
    )


def tables_of(model: type[Wire], path: str) -> list[tuple[str, bool]]:
    """(path, whether its columns are declared) of every table in an answer."""
    tables: list[tuple[str, bool]] = []
    for name, field in model.model_fields.items():
        tables += tables_in(field.annotation, f"{path}.{name}", declared=declares(field.metadata))
    return tables


def tables_in(annotation: Any, path: str, *, declared: bool) -> list[tuple[str, bool]]:
    if annotation is Table:
        return [(path, declared)]
    if isinstance(annotation, type) and issubclass(annotation, Wire):
        return tables_of(annotation, path)
    declared = declared or declares(getattr(annotation, "__metadata__", ()))
    return [each for part in get_args(annotation) for each in tables_in(part, path, declared=declared)]


def declares(metadata: Any) -> bool:
    return any(isinstance(each, Columns) for each in metadata)


def test_every_table_names_its_columns():
    tables = dict(each for tool in TOOLS for each in tables_of(tool.answer, tool.name))
    assert len(tables) > 20
    for path, declared in tables.items():
        assert declared, f"declare the columns of {path} beside its field: Annotated[Table, Columns(...)]"

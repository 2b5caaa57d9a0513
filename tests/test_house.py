"""The rules of the house that no linter knows."""

import ast
import inspect
import json
import re
from pathlib import Path

import pytest

import ttnn_mcp
from generate.readme import EXCERPT, excerpt
from ttnn_mcp.served import documents, pages
from ttnn_mcp.server import prompts
from ttnn_mcp.tools import TOOLS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ttnn_mcp"
MODULES = sorted(PACKAGE.rglob("*.py"))
WRITTEN = [
    *MODULES,
    *sorted((ROOT / "tests").rglob("*.py")),
    *sorted((ROOT / "benchmarks").rglob("*.py")),
    *sorted(path for path in (ROOT / "clients").iterdir() if path.suffix),
    *sorted(path for folder in ("skills", "resources", "tools") for path in (ROOT / folder).rglob("*.*")),
    *[
        ROOT / name
        for name in ("README.md", "CHANGELOG.md", "AGENTS.md", "Makefile", "pyproject.toml", "server.json")
    ],
    *[ROOT / ".ci" / "run", ROOT / "constraints.txt"],
]
ORDER = (
    "optimization_check", "list_runs", "open_run", "list_ops", "op_detail", "sharding_summary", "reshard_detect",
    "host_overhead", "tensor_formats", "memory_summary", "check_setting", "device_balance", "compare_runs",
    "experiments", "query_run", "skill_step",
)  # fmt: skip
LONGEST_MODULE = 350  # lines; what a reader takes in one sitting
NO_NAMES = {"data", "info", "manager", "helper", "helpers", "utils", "util", "handler", "process", "common", "misc"}
NO_ADDRESS = re.compile(
    r"://[\w.-]*(?:py|npm|registry|mirror)[\w.-]*/|-{2}(?:extra-)?index-url|-{2}find-links|/root/|"
    + re.escape(f"{ROOT.parent}/")
)
NAMES_THEM = {Path(__file__), ROOT / "tests" / "made" / "pins.py"}  # the files that look for what they name


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_is_read_in_one_sitting_and_its_name_says_what_it_is(module):
    assert len(module.read_text(encoding="utf-8").splitlines()) <= LONGEST_MODULE
    assert module.stem not in NO_NAMES
    assert module.stem.rpartition("_")[2] not in NO_NAMES - {"data"}
    source = ast.parse(module.read_text(encoding="utf-8"))
    if source.body:
        assert ast.get_docstring(source), "say in a docstring what this module is for"


def test_most_modules_are_short():
    lengths = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES)
    assert lengths[len(lengths) // 2] <= 120


def test_one_file_per_tool_named_like_the_tool():
    folder = PACKAGE / "tools"
    for tool in TOOLS:
        assert inspect.getmodule(tool.ask).__name__ == f"ttnn_mcp.tools.{tool.name}"
        assert (folder / f"{tool.name}.py").is_file()


def test_the_tools_stand_in_the_order_of_the_surface():
    assert [tool.name for tool in TOOLS] == list(ORDER)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_documented_where_the_assistant_reads_it(tool):
    assert tool.title
    assert 20 < len(tool.description) < 700
    assert tool.description == tool.description.strip()
    for name, field in tool.arguments.model_fields.items():
        assert field.description or field.is_required() or name, f"{tool.name}.{name}"


def test_prompts_and_instructions_name_only_tools_there_are():
    text = prompts.INSTRUCTIONS + "".join(
        prompt.text({one.name: "7" for one in prompt.arguments}) + prompt.description for prompt in prompts.PROMPTS
    )
    named = set(re.findall(r"\b([a-z]+_[a-z]+)\(", text)) | set(re.findall(r"`([a-z]+_[a-z]+)`", text))
    fields = {"wall_ms", "noise_share", "read_next", "cannot_tell"}
    assert named - fields <= set(ORDER)
    assert named & set(ORDER)
    for tool in ("open_run", "optimization_check", "check_setting", "compare_runs", "experiments"):
        assert tool in prompts.INSTRUCTIONS


def test_prompts_name_only_arguments_the_tools_take():
    arguments = {tool.name: tool.arguments.model_fields for tool in TOOLS}
    for prompt in prompts.PROMPTS:
        for text in (
            prompt.text({one.name: "7" for one in prompt.arguments}),
            prompt.text({"op": "7"} if prompt.name == "explain_op" else {}),
        ):
            for name, inside in re.findall(r"`([a-z]+_?[a-z]+)\(([^`]*)\)`", text):
                accepted = arguments[name]
                for argument in re.findall(r"(\w+)=", inside):
                    assert argument in accepted, f"{prompt.name}: {name}({argument}=...)"


def test_every_tool_and_page_that_a_page_links_to_exists():
    for page in pages.catalogue().values():
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.text):
            if "://" not in target:
                top = page.uri.rpartition("/")[0]
                assert f"{top}/{target}" in pages.catalogue(), f"{page.uri} links to {target}"


def test_the_versions_agree_everywhere():
    version = ttnn_mcp.__version__
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    published = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    assert published["version"] == version
    assert {package["version"] for package in published["packages"]} == {version}
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest.group(1) == version


def test_what_server_json_promises_the_readme_confirms():
    published = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    assert len(published["description"]) <= 100
    assert f"mcp-name: {published['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_file_names_a_download_address_or_a_place_on_one_machine(path):
    if path in NAMES_THEM or path.suffix in (".sqlite", ".png") or path.is_dir():
        return
    found = NO_ADDRESS.search(path.read_text(encoding="utf-8"))
    assert found is None, f"{found.group(0)!r}"


def test_the_guide_for_agents_stays_short():
    assert len((ROOT / "AGENTS.md").read_text(encoding="utf-8").splitlines()) < 60


def test_the_readme_names_every_tool_and_every_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for tool in ORDER:
        assert f"`{tool}`" in readme, tool
    for command in ("make demo", "make test", "make check", "make fix", "ttnn-mcp doctor", "ttnn-mcp call"):
        assert command in readme


def test_the_readme_shows_what_the_demo_says():
    shown = EXCERPT.search((ROOT / "README.md").read_text(encoding="utf-8")).group(0)
    assert shown == excerpt(), "run `make fix` (python -m generate.readme)"


def test_the_skill_has_its_ten_pages():
    assert documents.skill_pages()[:1] == ("SKILL",)
    assert len([page for page in documents.skill_pages() if page.startswith("step-")]) == 7
    assert {"key-concepts", "quick-reference"} <= set(documents.skill_pages())

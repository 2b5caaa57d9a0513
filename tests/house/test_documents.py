"""What README, AGENTS.md, prompts, pages and server.json say agrees with the code."""

import json
import re

import ttnn_mcp
from generate.readme import EXCERPT, excerpt
from tests.house.tree import ROOT
from ttnn_mcp.served import documents, pages
from ttnn_mcp.server import prompts
from ttnn_mcp.tools import TOOLS

NAMES = {tool.name for tool in TOOLS}


def test_prompts_and_instructions_name_only_tools_there_are():
    text = prompts.INSTRUCTIONS + "".join(
        prompt.text({one.name: "7" for one in prompt.arguments}) + prompt.description for prompt in prompts.PROMPTS
    )
    named = set(re.findall(r"\b([a-z]+_[a-z]+)\(", text)) | set(re.findall(r"`([a-z]+_[a-z]+)`", text))
    fields = {"wall_ms", "noise_share", "read_next", "cannot_tell"}
    assert named - fields <= NAMES
    assert named & NAMES
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
    for bundle in (".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "mcpb/manifest.json"):
        assert json.loads((ROOT / bundle).read_text(encoding="utf-8"))["version"] == version
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest.group(1) == version


def test_both_marketplaces_offer_the_plugin_of_this_folder():
    claude, codex = (
        json.loads((ROOT / place).read_text(encoding="utf-8"))
        for place in (".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json")
    )
    assert [claude["plugins"][0]["source"], codex["plugins"][0]["source"]["path"]] == ["./", "./"]
    manifests = [
        json.loads((ROOT / f".{of}-plugin/plugin.json").read_text(encoding="utf-8")) for of in ("claude", "codex")
    ]
    for name in ("name", "description"):
        assert manifests[0][name] == manifests[1][name]
    assert claude["plugins"][0]["name"] == codex["plugins"][0]["name"] == manifests[0]["name"]
    servers = json.loads((ROOT / manifests[1]["mcpServers"]).read_text(encoding="utf-8"))["mcpServers"]
    assert servers.keys() == manifests[0]["mcpServers"].keys()
    assert (ROOT / manifests[1]["skills"] / "optimizing-ttnn-models" / "SKILL.md").is_file()


def test_what_server_json_promises_the_readme_confirms():
    published = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    assert len(published["description"]) <= 100
    assert f"mcp-name: {published['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_names_every_tool_and_every_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for tool in NAMES:
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


def test_our_own_words_are_few_and_each_is_in_the_glossary():
    about = (ROOT / "AGENTS.md").read_text(encoding="utf-8").partition("## Our words")[2].partition("\n## ")[0]
    words = [word.lower() for word in re.findall(r"\*\*(\w+)\*\*", about)]
    glossary = (ROOT / "resources" / "glossary.md").read_text(encoding="utf-8")
    terms = {
        term.strip() for line in re.findall(r"^\| (.+?) \|", glossary, re.MULTILINE) for term in line.split(",")
    }
    assert 0 < len(words) <= 15, "use one of our words, or a plain one, before you make another"
    assert [word for word in words if word not in terms] == [], "say it in resources/glossary.md too"

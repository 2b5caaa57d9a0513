"""A call loads its own tool, and not what only others need."""

import subprocess
import sys

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.shell.call_arguments import tool_alone
from ttnn_mcp.tools import TOOLS


@for_all("tool", TOOLS, ids=lambda tool: tool.name)
def test_each_tool_is_found_by_its_name(tool):
    assert tool_alone(tool.name).name == tool.name


@for_all("name", [tool.name for tool in TOOLS if tool.name != "open_run"])  # it needs the others
def test_the_list_of_all_is_not_asked_for_one(name, monkeypatch):
    monkeypatch.setattr("ttnn_mcp.tools.answering.tool_named", None)
    assert tool_alone(name).name == name


@for_all("name", ["answering", "parts", "list_op", "", ".", "os", "a b", "TOOLS", "__init__"])
def test_what_is_no_tool_is_refused(name):
    with pytest.raises(ArgumentsInvalid, match="no tool"):
        tool_alone(name)


def test_a_call_does_not_load_other_tools():
    code = "import sys; from ttnn_mcp.shell.call_arguments import tool_alone; tool_alone('list_ops'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "ttnn_mcp.tools.list_ops" in loaded
    assert not {"ttnn_mcp.tools.experiments", "ttnn_mcp.analyses.settings", "pandas"} & set(loaded)

"""Code as it is printed, at three widths and through a pipe: pasted, it runs, and nothing is missing that was not named."""

import ast
import asyncio
import re
from unittest.mock import MagicMock

import pytest

from tests.asking import session
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.asking import all_findings
from ttnn_mcp.shell.check_report import check_report
from ttnn_mcp.shell.questions import answer_spoken_here

pytestmark = pytest.mark.usefixtures("opened_once")

PRINTED = re.compile(r"^   fix\n\n(.*?)\n\n   verify", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"\b([A-Z_]+): ")


def test_the_code_of_every_finding_runs_as_it_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("COLUMNS", raising=False)
    assert cli.main(["check", "demo", "--all"]) == 0
    through_a_pipe = capsys.readouterr().out
    answer = answer_spoken_here(asyncio.run(all_findings(session(tmp_path), {"run": "demo"})))
    printed = [through_a_pipe, *(check_report(answer, run="demo", width=width) for width in (60, 80, 120))]
    first, *others = [[*map(ran, PRINTED.findall(text))] for text in printed]
    assert len(first) >= 8
    assert others == [first] * 3


def ran(block):
    """A block, run beside stand-ins for TTNN and for what its first comment tells the reader to fill in."""
    words = " ".join(line.removeprefix("# ") for line in block.splitlines() if line.startswith("# "))
    filled = re.search(r"fill in (\w+(?:, \w+)*)", words)
    names = [*(filled[1].split(", ") if filled else []), *NAMED.findall(words)]
    program = ast.parse(block)
    stand_ins = {name: MagicMock() for name in ("ttnn", "torch", *names)}
    exec(compile(program, "pasted", "exec"), {**stand_ins, "REST": {}})  # noqa: S102 - ours, and printed to be run
    return ast.unparse(program)

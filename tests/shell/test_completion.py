"""Completion as bash asks for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ASK = r"""
PATH={bin}:$PATH
eval "$(ttnn-mcp completion bash)"
complete -p ttnn-mcp >&2
while IFS= read -r line; do
    COMP_LINE=$line COMP_POINT=${{#line}} COMP_TYPE=9
    read -ra COMP_WORDS <<< "$line"; [[ $line == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) COMPREPLY=()
    _python_argcomplete ttnn-mcp "${{COMP_WORDS[COMP_CWORD]}}" ""
    echo "$line|${{COMPREPLY[*]}}"
done
"""
EXPECTED = {
    "ttnn-mcp call optimization_c": "optimization_check",
    "ttnn-mcp call list_ops group_b": "group_by=",
    "ttnn-mcp ops dem": "demo",
    "ttnn-mcp skill step-04": "step-04-metal-trace",
    "ttnn-mcp report dem": "demo",
    "ttnn-mcp report demo --against dem": "demo",
    "ttnn-mcp baseline main dem": "demo",
}


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_commands_tools_arguments_runs_and_pages(tmp_path):
    asked = "\n".join(EXPECTED) + "\n"
    script = tmp_path / "ask.sh"
    script.write_text(ASK.format(bin=Path(sys.executable).parent))
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    ran = subprocess.run(
        ["bash", str(script)], input=asked, capture_output=True, text=True, check=True, env=env, cwd=tmp_path
    )
    answers = dict(line.split("|", 1) for line in ran.stdout.splitlines())
    assert {line: words.strip() for line, words in answers.items()} == EXPECTED
    assert "ttnn-mcp" in ran.stderr


@pytest.mark.parametrize(("shell", "sign"), [("zsh", "#compdef ttnn-mcp"), ("fish", "complete --command ttnn-mcp")])
def test_other_shells_get_a_script_of_their_own(capsys, shell, sign):
    from ttnn_mcp.shell import cli

    assert cli.main(["completion", shell]) == 0
    assert sign in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
@pytest.mark.parametrize(
    ("line", "word"), [("call list_ops group_by=op", "group_by=op_code"), ("check dem", "demo")]
)
def test_fish_completes_values_and_runs(tmp_path, line, word):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ask = f"ttnn-mcp completion fish | source; complete -C 'ttnn-mcp {line}'"
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "PATH": path}
    ran = subprocess.run(["fish", "-c", ask], capture_output=True, text=True, check=True, env=env, cwd=tmp_path)
    assert ran.stdout.split() == [word]

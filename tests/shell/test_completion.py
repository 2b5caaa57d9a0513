"""Completion as bash, zsh and fish ask for it."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.shell import completion
from ttnn_mcp.shell.command_line import command_line
from ttnn_mcp.tools import TOOLS

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
EXPECTED = {  # a process for each; what is completed where is tested below
    "ttnn-mcp call optimization_c": "optimization_check",
    "ttnn-mcp call list_ops limit=5 --root . --cache-mb 7 group_b": "group_by=",
    "ttnn-mcp profile -- --memo": "",
    "ttnn-mcp report demo --against dem": "demo",
}


@pytest.fixture
def bash(tmp_path):
    """What bash completes of each line."""

    def answers(lines):
        script = tmp_path / "ask.sh"
        script.write_text(ASK.format(bin=Path(sys.executable).parent))
        env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
        asked = "\n".join(lines) + "\n"
        ran = subprocess.run(
            ["bash", str(script)], input=asked, capture_output=True, text=True, check=True, env=env, cwd=tmp_path
        )
        assert "ttnn-mcp" in ran.stderr
        return {line: words.strip() for line, words in (each.split("|", 1) for each in ran.stdout.splitlines())}

    return answers


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_commands_tools_arguments_runs_and_pages(bash):
    assert bash(EXPECTED) == EXPECTED


COMMANDS = [each for each in completion.commands(command_line()) if each.prog.count(" ")]


def completed(line):
    *words, prefix = line.split(" ")
    parser = command_line()
    completion.complete_values(parser)
    return [word.strip() for word in completion.finder(parser)._get_completions(words, prefix, "", None)]


@for_all("command", COMMANDS, ids=lambda command: command.prog, sampled=4)
def test_every_option_of_every_command_is_completed(command):
    options = {option for option in command._option_string_actions if option.startswith("--")}
    assert "--help" in options
    assert set(completed(f"{command.prog} --")) == options


@for_all(
    ("line", "word"),
    [
        ("call optimization_c", "optimization_check"),
        ("call list_ops group_b", "group_by="),
        ("call list_ops --root . gr", "group_by="),
        ("ops dem", "demo"),
        ("report demo --against dem", "demo"),
        ("--root . call --state . list_ops --root . run=dem", "run=demo"),
        ("ops demo --json --run dem", "demo"),
        ("report dem", "demo"),
        ("baseline main dem", "demo"),
        ("skill step-04", "step-04-metal-trace"),
        ("ops demo --json group_by=cat", "group_by=category"),
        ("archive add --jobs 2 x.csv --da", "--dask"),
        ("call compare_runs --cache-mb 0 baseline=dem", "baseline=demo"),
    ],
)
def test_names_and_values_are_completed_also_behind_an_option(line, word, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert completed(f"ttnn-mcp {line}") == [word]


def test_arguments_are_those_of_the_tool_that_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert completed("ttnn-mcp call list_ops gro") == ["group_by="]
    assert completed("ttnn-mcp call list_opps gro") == []
    assert set(completed("ttnn-mcp call ")) == {tool.name for tool in TOOLS}


def test_a_tab_behind_a_tool_waits_for_no_other_tool(monkeypatch):
    monkeypatch.setattr("ttnn_mcp.tools.catalogue.TOOLS", None)
    assert completed("ttnn-mcp call list_ops group_b") == ["group_by="]


def test_the_words_of_somebody_elses_command_are_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_model.py").touch()
    assert completed("ttnn-mcp profile -- pytest test_") == ["test_model.py"]
    assert completed("ttnn-mcp profile -- --memo") == []


def test_a_shell_is_not_offered_images(capsys):
    from ttnn_mcp.shell import cli

    assert completed("ttnn-mcp call time_budget pi") == []
    assert cli.main(["call", "time_budget", "--help"]) == 0
    assert "picture" not in capsys.readouterr().out
    assert cli.main(["call", "time_budget", "run=demo", "picture=cores"]) == 1
    assert "ttnn-mcp report" in capsys.readouterr().err


@for_all(
    ("words", "ordered"),
    [
        ("call list_ops --root X gr", "call --root X list_ops gr"),
        ("call list_ops limit=5 --root", "call list_ops limit=5 --root"),
        ("--run demo ops --json A --state X", "--run demo ops --json --state X A"),
        ("archive add A --to B C", "archive add --to B A C"),
        ("check A --root=X B", "check --root=X A B"),
        ("", ""),
    ],
)
def test_options_are_read_before_the_other_words(words, ordered):
    assert completion.options_first(words.split(), command_line()) == ordered.split()


@for_all(("shell", "sign"), [("zsh", "#compdef ttnn-mcp"), ("fish", "complete --command ttnn-mcp")])
def test_other_shells_get_a_script_of_their_own(capsys, shell, sign):
    from ttnn_mcp.shell import cli

    assert cli.main(["completion", shell]) == 0
    assert sign in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("call list_ops group_by=op", "group_by=op_code"),
        ("check dem", "demo"),
    ],
)
def test_fish_completes_values_and_runs(tmp_path, line, word):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ask = f"ttnn-mcp completion fish | source; complete -C 'ttnn-mcp {line}'"
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "PATH": path}
    ran = subprocess.run(["fish", "-c", ask], capture_output=True, text=True, check=True, env=env, cwd=tmp_path)
    assert [line.split("\t")[0] for line in ran.stdout.splitlines()] == [word]


ZSH = """
PS1=; bindkey -e; setopt no_beep
autoload -Uz compinit && compinit -u -d {home}/dump
eval "$(ttnn-mcp completion zsh)"
told() {{ print -r -- "$BUFFER" >> {home}/told; BUFFER=; zle -I; }}
zle -N told && bindkey '^X' told
print -r -- ready >> {home}/told
"""


def typed(lines, home):
    """What the line reads after a tab, in a zsh that has a terminal."""
    env = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home), "ZDOTDIR": str(home), "TERM": "dumb"}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    (home / ".zshrc").write_text(ZSH.format(home=home))
    told = home / "told"
    master, slave = pty.openpty()
    zsh = subprocess.Popen(
        ["zsh", "-d", "-i"], stdin=slave, stdout=slave, stderr=slave, env=env, cwd=home, start_new_session=True
    )
    os.close(slave)
    shown = b""

    def wait_for(count):
        nonlocal shown
        deadline = time.monotonic() + 60
        while not (told.exists() and len(told.read_text().splitlines()) >= count):
            assert time.monotonic() < deadline, shown.decode(errors="replace")
            if select.select([master], [], [], 0.05)[0]:
                shown += os.read(master, 4096)

    try:
        wait_for(1)
        for place, line in enumerate(lines, start=2):
            os.write(master, f"{line}\t\x18".encode())
            wait_for(place)
    finally:
        zsh.kill()
        zsh.wait()
        os.close(master)
    return told.read_text().splitlines()[1:]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here")
def test_zsh_completes_commands_tools_arguments_runs_and_pages(tmp_path):
    asked = ("call optimization_c", "call list_ops group_b", "skill step-04", "report demo --against dem")
    words = ("optimization_check", "group_by=", "step-04-metal-trace", "demo")
    completed_lines = [each.rstrip() for each in typed([f"ttnn-mcp {line}" for line in asked], tmp_path)]
    assert completed_lines == [
        f"ttnn-mcp {line.rpartition(' ')[0]} {word}" for line, word in zip(asked, words, strict=True)
    ]

"""What the parser takes, what it refuses, and what it says of it."""

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.session.settings import ARCHIVE_VARIABLE, Settings
from ttnn_mcp.shell.command_line import command_line, http_door, option_meant

OPTIONS = ("--cache-mb", "--archive-mb")


def all_commands(parser):
    [commands] = [action.choices for action in parser._actions if action.dest == "command"]
    return commands


@for_all("option", OPTIONS)
@for_all("written", ["0", "1000000"])
def test_a_bound_may_be_nothing_and_a_terabyte(option, written):
    options = command_line().parse_args(["doctor", option, written])
    assert (options.cache_mb, options.archive_mb).count(int(written)) == 1


@for_all("option", OPTIONS)
@for_all("wrong", ["-1", "+1", "1_0", "many", "1.5", "1000001", "9" * 5000, "\u0663", ""])
def test_anything_else_is_no_bound(option, wrong, capsys):
    with pytest.raises(SystemExit):
        command_line().parse_args(["doctor", f"{option}={wrong}"])
    assert f"argument {option}: wants a whole number from 0 to 1000000" in capsys.readouterr().err


def test_the_help_names_the_bounds_that_are_used_without_options(tmp_path, monkeypatch):
    monkeypatch.delenv(ARCHIVE_VARIABLE, raising=False)
    usual = Settings(state=tmp_path)
    text = " ".join(command_line().format_help().split())
    assert f"take there (default {usual.cache_mb}; 0: none)" in text
    assert f"takes there (default ${ARCHIVE_VARIABLE} or {usual.archive_at_most_mb}; 0: none)" in text


@for_all(
    ("word", "says"),
    [
        ("chek", "There is no command 'chek'. Did you mean check"),
        ("zzz", "There is no command 'zzz'. There is: serve, call, "),
        ("list_ops", "There is no command 'list_ops'. It is a tool: ttnn-mcp call list_ops"),
    ],
)
def test_a_wrong_command_is_answered_with_the_right_one(word, says, capsys):
    with pytest.raises(SystemExit):
        command_line().parse_args(["--root", ".", word])
    assert says in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command_line(word).parse_args([word])
    assert says in capsys.readouterr().err


@for_all("name", sorted(all_commands(command_line())), sampled=4)
def test_a_command_that_comes_first_is_parsed_alone_like_among_all(name):
    alone, among = all_commands(command_line(name)), all_commands(command_line())
    assert [*alone] == [name]
    assert alone[name].format_help() == among[name].format_help()
    assert alone[name].get_default("parser") in (None, alone[name])


@for_all(
    ("command", "unread", "meant"),
    [
        ("report", ["demo", "--otput=x"], " Did you mean --output?"),
        ("doctor", ["--hh"], " Did you mean --help?"),
        ("doctor", ["--quite-another"], ""),
        ("doctor", ["word", "-x"], ""),
        (None, ["--versoin"], " Did you mean --version?"),
    ],
)
def test_the_option_that_was_meant_is_one_of_the_command(command, unread, meant):
    assert option_meant(command_line(), command, unread) == meant


def test_http_is_served_where_it_is_asked_for():
    def door(*words):
        return http_door(command_line().parse_args([*words]))

    assert door() is None
    assert door("serve") is None
    assert door("serve", "--http", "127.0.0.1:8765").port == 8765
    for words in (["--token-file", "x"], ["--allow-host", "x"], ["--allow-origin", "https://x"]):
        with pytest.raises(ArgumentsInvalid, match="go with --http HOST:PORT"):
            door("serve", *words)

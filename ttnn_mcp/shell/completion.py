"""Completion in bash, zsh and fish: commands, options, tools, their arguments, pages, and the runs that are there."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable
from typing import Any, cast

from argcomplete.completers import FilesCompleter
from argcomplete.finders import CompletionFinder
from argcomplete.shell_integration import shellcode

from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.session.session import Session
from ttnn_mcp.shell.call_arguments import PICTURE
from ttnn_mcp.shell.questions import QUESTIONS

RUNS = frozenset({"run", "baseline", "candidate", "repeat", "subject", "against"})


def script(shell: str) -> str:
    """What a shell evaluates to complete our commands."""
    return shellcode(["ttnn-mcp"], shell=shell)


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks for completions, and exit."""
    complete_values(parser)
    finder(parser)(parser, always_complete_options=False)


def complete_values(parser: argparse.ArgumentParser) -> None:
    """Tell each argument of the commands where its values come from."""
    for command in commands(parser):
        for action in command._actions:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            completer = {"tool": _tools, "pairs": _pairs, "words": _words, "page": _pages}.get(action.dest)
            if action.dest in RUNS or (action.dest, action.metavar) == ("path", "RUN"):
                completer = _runs
            cast("Any", action).completer = completer


class _Finder(CompletionFinder):
    """Completes names and values behind options too, where argparse takes the list of them for ended."""

    def _get_completions(
        self, comp_words: list[str], cword_prefix: str, cword_prequote: str, last_wordbreak_pos: int | None
    ) -> list[str]:
        if "--" in comp_words:  # the words behind it are somebody else's command
            files = list(FilesCompleter()(cword_prefix))
            return self.quote_completions(files, cword_prequote, last_wordbreak_pos)
        words = [comp_words[0], *options_first(comp_words[1:], cast("argparse.ArgumentParser", self._parser))]
        rest = (cword_prefix, cword_prequote, last_wordbreak_pos)
        return super()._get_completions(words, *rest)  # pyright: ignore[reportUnknownMemberType]


def finder(parser: argparse.ArgumentParser) -> CompletionFinder:
    """What finds the completions of a line of our commands."""
    return _Finder(parser, always_complete_options=False)


def options_first(words: list[str], parser: argparse.ArgumentParser) -> list[str]:
    """The words with the options of each command before its other words; one that awaits its value stays at the end."""
    options: list[str] = []
    others: list[str] = []
    pending: list[str] = []
    commands = _subcommands(parser)
    place = 0
    while place < len(words):
        word = words[place]
        if word in commands:
            return [*options, *others, word, *options_first(words[place + 1 :], commands[word])]
        action = parser._option_string_actions.get(word)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        if action is not None and action.nargs != 0:
            taken = words[place : place + 2]
            (options if len(taken) == 2 else pending).extend(taken)
            place += 2
            continue
        (options if word.startswith("-") else others).append(word)
        place += 1
    return [*options, *others, *pending]


def commands(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The parser, and those of all commands below it."""
    below = [each for command in _subcommands(parser).values() for each in commands(command)]
    return [parser, *below]


def _subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            return dict(cast("Any", action).choices)
    return {}


def _tools(**_asked: Any) -> list[str]:
    from ttnn_mcp.tools import TOOLS  # noqa: PLC0415

    return [tool.name for tool in TOOLS]


def _pages(**_asked: Any) -> Iterable[str]:
    from ttnn_mcp.served.documents import skill_pages  # noqa: PLC0415

    return skill_pages()


def _runs(parsed_args: argparse.Namespace, **_asked: Any) -> list[str]:
    from ttnn_mcp.session.session import Session, Settings  # noqa: PLC0415

    roots = (*parsed_args.roots, *getattr(parsed_args, "more_roots", ()))
    return asyncio.run(_names(Session(Settings(roots=roots, state=parsed_args.state))))


async def _names(session: Session) -> list[str]:
    """Runs by name: those under the roots (without reading them) and those opened before."""
    known = [*await session.runs_under_roots(0), *await session.registry.all()]
    return list(dict.fromkeys([*(run.name for run in known), "demo"]))


def _pairs(prefix: str, parsed_args: argparse.Namespace, **_asked: Any) -> list[str]:
    return _arguments(parsed_args.tool, prefix, parsed_args)


def _words(prefix: str, parsed_args: argparse.Namespace, **_asked: Any) -> list[str]:
    return [*_runs(parsed_args), *_arguments(QUESTIONS[parsed_args.command].tool, prefix, parsed_args)]


def _arguments(tool_name: str | None, prefix: str, parsed_args: argparse.Namespace) -> list[str]:
    """`name=` of each argument; behind one that takes runs or a few values, those."""
    from ttnn_mcp.shell.call_arguments import tool_alone  # noqa: PLC0415

    try:
        known = tool_alone(tool_name or "").input_schema.get("properties", {})
    except ArgumentsInvalid:
        return []
    name, equals, _value = prefix.partition("=")
    if not equals:
        return [f"{argument}=" for argument in known if argument != PICTURE]
    values = _runs(parsed_args) if name in RUNS else known.get(name, {}).get("enum", ())
    return [f"{name}={value}" for value in values]

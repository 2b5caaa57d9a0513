"""Completion in bash, zsh and fish: commands, options, tools, their arguments, pages, and the runs that are there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import argcomplete
from argcomplete.shell_integration import shellcode

from ttnn_mcp.shell.questions import QUESTIONS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from ttnn_mcp.session.session import Session

RUNS = frozenset({"run", "baseline", "candidate", "repeat", "subject", "against"})


def script(shell: str) -> str:
    """What a shell evaluates to complete our commands."""
    return shellcode(["ttnn-mcp"], shell=shell)


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks for completions, and exit."""
    for command in _commands(parser):
        for action in command._actions:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            completer = {"tool": _tools, "pairs": _pairs, "words": _words, "page": _pages}.get(action.dest)
            if action.dest in RUNS or (action.dest, action.metavar) == ("path", "RUN"):
                completer = _runs
            if completer is not None:
                cast("Any", action).completer = completer
    argcomplete.autocomplete(parser, always_complete_options=False)


def _commands(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    chosen = [action for action in parser._actions if action.dest == "command"]  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return [parser, *cast("dict[str, argparse.ArgumentParser]", chosen[0].choices).values()]


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


def _arguments(tool_name: str, prefix: str, parsed_args: argparse.Namespace) -> list[str]:
    """`name=` of each argument; behind one that takes runs or a few values, those."""
    from ttnn_mcp.tools import TOOLS  # noqa: PLC0415

    schemas = {tool.name: tool.input_schema.get("properties", {}) for tool in TOOLS}
    known = schemas.get(tool_name, {})
    name, equals, _value = prefix.partition("=")
    if not equals:
        return [f"{argument}=" for argument in known]
    values = _runs(parsed_args) if name in RUNS else known.get(name, {}).get("enum", ())
    return [f"{name}={value}" for value in values]

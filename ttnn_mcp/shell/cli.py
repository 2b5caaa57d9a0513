"""The shell's door: serve, one tool call, the demo, a look at this machine.

Nothing heavy is imported before it is needed: `call` must not wait for MCP, nor `--help` for pandas.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.shell.command_line import command_line, loopback

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ttnn_mcp.session.session import Session

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
PIPE_CLOSED = 141  # 128 + SIGPIPE
FAILED = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is returned."""
    gc.disable()  # a command makes hundreds of thousands of objects and ends before any of them is garbage
    try:
        status = _command(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    finally:
        gc.freeze()  # nor shall Python look through them all once more when it leaves: a quarter of a call's time
        gc.enable()
    return status


def _command(argv: list[str]) -> int:
    parser = command_line()
    asked, rest = parser.parse_known_args(argv)
    pairs = [*getattr(asked, "pairs", []), *rest]  # argparse gives up on name=value behind an option; we do not
    if rest and (asked.command != "call" or any(word.startswith("-") for word in rest)):
        parser.error(f"unknown argument: {' '.join(rest)}")
    try:
        if asked.command == "call":
            return _call(asked, pairs)
        return {"serve": _serve, "demo": _demo, "doctor": _doctor}[asked.command or "serve"](asked)
    except TtnnMcpError as refusal:
        print(refusal, file=sys.stderr)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception:  # noqa: BLE001 - the shell's last line of defence, as the server has one
        import traceback  # noqa: PLC0415

        from ttnn_mcp.tools.answering import unforeseen  # noqa: PLC0415

        traceback.print_exc()
        print(unforeseen(getattr(asked, "tool", None) or asked.command or "serve"), file=sys.stderr)
    return FAILED


def _session(asked: argparse.Namespace, *, confined: bool = False) -> Session:
    from ttnn_mcp.session.session import Session, Settings  # noqa: PLC0415

    return Session(
        Settings(
            roots=(*asked.roots, *getattr(asked, "more_roots", ())),
            run=asked.run,
            performance=asked.performance,
            memory=asked.memory,
            confined=confined,
            state=asked.state,
        )
    )


def _serve(asked: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415

    http = getattr(asked, "http", None)
    address = loopback(http) if http else None
    from ttnn_mcp.server import transports  # noqa: PLC0415

    gc.freeze()  # what was imported stays; from here on a long life begins
    gc.enable()
    if address is None:
        if sys.stdin.isatty():
            print("Waiting for an MCP client on stdin. See --help for more; Ctrl-C ends.", file=sys.stderr)
        asyncio.run(transports.over_stdio(_session(asked)))
    else:
        asyncio.run(transports.over_http(_session(asked, confined=True), *address))
    return 0


def _call(asked: argparse.Namespace, pairs: list[str]) -> int:
    import asyncio  # noqa: PLC0415

    if asked.tool is None and asked.help:
        asked.parser.print_help()
        return 0
    from ttnn_mcp.shell import call_arguments  # noqa: PLC0415
    from ttnn_mcp.tools import TOOLS, answering  # noqa: PLC0415

    if asked.tool is None:
        print(call_arguments.listing(TOOLS))
        return 0
    tool = answering.tool_named(asked.tool, TOOLS)
    if asked.help:
        print(call_arguments.usage(tool))
        return 0
    given = call_arguments.arguments(tool, pairs)
    _structured, text = asyncio.run(answering.answer(_session(asked), tool, given))
    print(text)
    return 0


def _demo(asked: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415

    from ttnn_mcp.shell import check_report  # noqa: PLC0415
    from ttnn_mcp.tools import TOOLS, answering  # noqa: PLC0415

    tool = answering.tool_named("optimization_check", TOOLS)

    async def whole() -> dict[str, Any]:
        """All pages as one: a person has more patience than an assistant has tokens."""
        session = _session(asked)
        first, _ = await answering.answer(session, tool, {"run": "demo"})
        following = first.pop("next_cursor", None)
        while following is not None:
            page, _ = await answering.answer(session, tool, {"run": "demo", "cursor": following})
            first["findings"] += page["findings"]
            following = page.get("next_cursor")
        return first

    print(check_report.check_report(asyncio.run(whole()), run="demo", colour=sys.stdout.isatty()), end="")
    return 0


def _doctor(asked: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415

    from ttnn_mcp.shell import doctor  # noqa: PLC0415

    print(asyncio.run(doctor.report(_session(asked))), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

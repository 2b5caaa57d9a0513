"""The commands of the shell: serve, call one tool, the demo, and the doctor.

Nothing heavy is imported before it is needed: `call` must not wait for MCP, and `--help` must not wait for pandas.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.session.settings import CACHE_MB
from ttnn_mcp.shell.command_line import command_line, loopback

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ttnn_mcp.server.front_desk import Heard
    from ttnn_mcp.session.session import Session

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
PIPE_CLOSED = 141  # 128 + SIGPIPE
FAILED = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    gc.disable()  # a command makes hundreds of thousands of objects and ends before they are garbage
    try:
        status = _command(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # a reader such as `head` stopped reading
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    finally:
        gc.freeze()  # skips the final collection at exit: a quarter of a call's time
        gc.enable()
    return status


def _command(argv: list[str]) -> int:
    parser = command_line()
    options, unread = parser.parse_known_args(argv)
    pairs = [*getattr(options, "pairs", []), *unread]  # argparse does not read name=value after an option
    if unread and (options.command != "call" or any(word.startswith("-") for word in unread)):
        parser.error(f"unknown argument: {' '.join(unread)}")
    try:
        if options.command == "call":
            return _call(options, pairs)
        commands = {"serve": _serve, "demo": _demo, "doctor": _doctor, "gate": _gate, "baseline": _baseline}
        return commands[options.command or "serve"](options)
    except TtnnMcpError as refusal:
        print(refusal, file=sys.stderr)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception:  # noqa: BLE001 - a bug of ours: log it, and print our own sentence, as the server does
        import traceback  # noqa: PLC0415

        from ttnn_mcp.tools.answering import unforeseen  # noqa: PLC0415

        traceback.print_exc()
        print(unforeseen(getattr(options, "tool", None) or options.command or "serve"), file=sys.stderr)
    return FAILED


def _session(options: argparse.Namespace, *, confined: bool = False) -> Session:
    from ttnn_mcp.session.session import Session, Settings  # noqa: PLC0415

    return Session(
        Settings(
            roots=(*options.roots, *getattr(options, "more_roots", ())),
            run=options.run,
            performance=options.performance,
            memory=options.memory,
            confined=confined,
            state=options.state,
            cache_mb=CACHE_MB if options.cache_mb is None else options.cache_mb,
        )
    )


def _serve(options: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415

    http = getattr(options, "http", None)
    address = loopback(http) if http else None
    heard = None if address or sys.stdin.isatty() else _first_answers()
    if heard is not None and heard.ended:
        return 0
    from ttnn_mcp.server import transports  # noqa: PLC0415

    gc.freeze()  # imported modules stay for good: later collections need not look at them
    gc.enable()
    if address is None:
        if sys.stdin.isatty():
            print("Waiting for an MCP client on stdin. See --help for more; Ctrl-C ends.", file=sys.stderr)
        asyncio.run(transports.over_stdio(_session(options), heard))
    else:
        asyncio.run(transports.over_http(_session(options, confined=True), *address))
    return 0


def _first_answers() -> Heard | None:
    """Answer what every client asks first; None where the SDK has to do that too."""
    import signal  # noqa: PLC0415

    from ttnn_mcp.server.front_desk import attend, leave, opened  # noqa: PLC0415

    signal.signal(signal.SIGINT, leave)  # an interrupt while the SDK is imported could get lost in it
    desk = None if sys.platform == "win32" else opened()  # pipes of Windows cannot be waited for
    return attend(desk, sys.stdin.fileno(), sys.stdout.fileno()) if desk else None


def _call(options: argparse.Namespace, pairs: list[str]) -> int:
    import asyncio  # noqa: PLC0415

    if options.tool is None and options.help:
        options.parser.print_help()
        return 0
    from ttnn_mcp.shell import call_arguments, one_tool  # noqa: PLC0415
    from ttnn_mcp.tools import answering  # noqa: PLC0415

    if options.tool is None:
        from ttnn_mcp.tools import TOOLS  # noqa: PLC0415

        print(call_arguments.listing(TOOLS))
        return 0
    tool = one_tool.tool_alone(options.tool)
    if options.help:
        print(call_arguments.usage(tool))
        return 0
    arguments = call_arguments.arguments(tool, pairs)
    _structured, text = asyncio.run(answering.answer(_session(options), tool, arguments))
    print(text)
    return 0


def _demo(options: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415

    from ttnn_mcp.shell import check_report  # noqa: PLC0415
    from ttnn_mcp.tools import TOOLS, answering  # noqa: PLC0415

    tool = answering.tool_named("optimization_check", TOOLS)

    async def all_pages() -> dict[str, Any]:
        """All pages of findings in one answer."""
        session = _session(options)
        answer_so_far, _ = await answering.answer(session, tool, {"run": "demo"})
        following = answer_so_far.pop("next_cursor", None)
        while following is not None:
            page, _ = await answering.answer(session, tool, {"run": "demo", "cursor": following})
            answer_so_far["findings"] += page["findings"]
            following = page.get("next_cursor")
        return answer_so_far

    print(check_report.check_report(asyncio.run(all_pages()), run="demo", colour=sys.stdout.isatty()), end="")
    return 0


def _gate(options: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415

    from ttnn_mcp.shell.gate_command import gate  # noqa: PLC0415

    text, status = asyncio.run(gate(_session(options), options))
    print(text, end="")
    return status


def _baseline(options: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415

    from ttnn_mcp.shell.gate_command import baseline  # noqa: PLC0415

    print(asyncio.run(baseline(_session(options), options.name, options.path)), end="")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415

    from ttnn_mcp.shell import doctor  # noqa: PLC0415

    print(asyncio.run(doctor.report(_session(options))), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

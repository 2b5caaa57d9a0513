"""The shell's door: serve, one tool call, the demo, a look at this machine.

Nothing heavy is imported before it is needed: `call` must not wait for MCP, nor `--help` for pandas.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttnn_mcp import __version__
from ttnn_mcp.errors import ArgumentsInvalid, TtnnMcpError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.session.session import Session

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
PIPE_CLOSED = 141  # 128 + SIGPIPE
FAILED = 1

EPILOG = """\
examples:
  ttnn-mcp                                          serve one assistant over stdin and stdout
  ttnn-mcp serve --http 127.0.0.1:8765              serve several over HTTP, at /mcp
  ttnn-mcp demo                                     what the server finds in a bundled profile
  ttnn-mcp call                                     list the tools
  ttnn-mcp call open_run performance=path/to/report
  ttnn-mcp call list_ops group_by=op_code limit=5
  ttnn-mcp doctor                                   what this machine has

Reports are looked for under --root, else $TT_METAL_HOME/generated, else ./generated.
"""
CALL_EPILOG = """\
Values parse as JSON where they can, else they are strings: limit=5, steps=[1,4], op_code=Matmul.
The structured answer is printed as JSON; where there is none, the reason is on stderr and the exit status is 1.

examples:
  ttnn-mcp call                               list the tools
  ttnn-mcp call op_detail --help              the arguments of one
  ttnn-mcp call optimization_check run=demo
"""


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
    parser = _parser()
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


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "ttnn-mcp",
        description="Ask a TTNN profile why it is slow. Without a command: serve MCP over stdin and stdout.",
        epilog=EPILOG,
        formatter_class=raw,
    )
    parser.add_argument("--version", action="version", version=f"ttnn-mcp {__version__}")
    _add_choices(parser)
    shared = argparse.ArgumentParser(add_help=False)
    _add_choices(shared, default=argparse.SUPPRESS)  # so that a command does not undo what stood before it
    commands = parser.add_subparsers(dest="command", metavar="command")
    serve = commands.add_parser(
        "serve", parents=[shared], help="serve MCP", description="Serve MCP over stdin and stdout, or over HTTP."
    )
    serve.add_argument(
        "--http",
        metavar="HOST:PORT",
        help="serve streamable HTTP at /mcp on this loopback address; only reports under the roots may be opened",
    )
    call = commands.add_parser(
        "call",
        parents=[shared],
        add_help=False,
        formatter_class=raw,
        help="call one tool, print its answer as JSON",
        description="Call one tool without a server and print its structured answer as JSON.",
        epilog=CALL_EPILOG,
    )
    call.add_argument("tool", nargs="?", help="a tool's name; without one, the tools are listed")
    call.add_argument("pairs", nargs="*", metavar="name=value", help="its arguments")
    call.add_argument("-h", "--help", action="store_true", help="show this help, or the arguments of TOOL")
    call.set_defaults(parser=call)
    for name, says in (("demo", "what is found in a bundled profile"), ("doctor", "what this machine has")):
        commands.add_parser(name, parents=[shared], help=says, description=f"Print {says}.")
    return parser


def _add_choices(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    group = parser.add_argument_group("which run")
    group.add_argument(
        "--root",
        action="append",
        type=Path,
        default=[],
        dest="more_roots" if default else "roots",  # argparse would forget the roots before the command
        metavar="DIR",
        help="where reports lie (repeatable)",
    )
    group.add_argument("--run", default=default, help="the run to use by default: id, path or 'demo'")
    group.add_argument("--performance", default=default, metavar="PATH", help="or its performance report")
    group.add_argument("--memory", default=default, metavar="PATH", help="and its memory report")
    group.add_argument(
        "--state", type=Path, default=default, metavar="DIR", help="where opened runs and experiments are kept"
    )


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
    address = _loopback(http) if http else None
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


def _loopback(address: str) -> tuple[str, int]:
    """Host and port of `address`, where nobody but this machine can reach them."""
    from ipaddress import ip_address  # noqa: PLC0415

    host, _, port = address.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    try:
        local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        local = False
    if not port.isdigit() or int(port) > 65535:
        raise ArgumentsInvalid(f"--http wants HOST:PORT, such as 127.0.0.1:8765, not '{shown(address)}'.")
    if not local:
        raise ArgumentsInvalid(
            f"'{shown(host)}' is not this machine alone: the server has no login. "
            "Serve on 127.0.0.1 and forward the port with ssh -L."
        )
    return host, int(port)


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

"""The commands of the shell: serve, call one tool, the demo, and the doctor.

Nothing heavy is imported before it is needed: `call` must not wait for MCP, and `--help` must not wait for pandas.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.session.settings import CACHE_MB
from ttnn_mcp.shell.command_line import command_line, http_door, option_meant
from ttnn_mcp.shell.command_options import PEOPLE, RUNNING
from ttnn_mcp.shell.gate_status import FAILED, USAGE, status_of_failure, status_of_usage
from ttnn_mcp.shell.lean_start import lean_start
from ttnn_mcp.shell.terminal import awaited, is_of_stdout, mute_stdout, open_closed_streams, speak_any_locale

if TYPE_CHECKING:
    from ttnn_mcp.server.front_desk import Heard
    from ttnn_mcp.session.session import Session

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
PIPE_CLOSED = 141  # 128 + SIGPIPE
REINSTALL = "install ttnn-mcp there, or in a checkout start .venv/bin/ttnn-mcp (make demo sets it up)."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    gc.disable()  # a command makes hundreds of thousands of objects and ends before they are garbage
    open_closed_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    options = argparse.Namespace(command=None)  # filled while it is read: a failure asks which command it was
    try:
        try:
            return _command(words, options)
        finally:
            sys.stdout.flush()  # after --help and --version too, which exit
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # a reader such as `head` stopped reading
        mute_stdout()
        return PIPE_CLOSED
    except OSError as fault:  # `_command` lets no other pass
        mute_stdout()
        print(f"The answer cannot be written to stdout: {fault.strerror}.", file=sys.stderr)
        return status_of_failure(options.command, words)
    finally:
        if "duckdb" not in sys.modules:  # it complains on stderr of what a final collection would have freed
            gc.freeze()  # skips this collection: a quarter of a call's time
        gc.enable()


def _read(argv: list[str], options: argparse.Namespace) -> list[str]:
    """Fill in the options of a command; returns the words that belong to no option."""
    parser = command_line(*argv[:1])
    if "_ARGCOMPLETE" in os.environ:
        from ttnn_mcp.shell.completion import complete  # noqa: PLC0415

        complete(parser)
    speak_any_locale()
    divide = argv.index("--") if "--" in argv and RUNNING & {*argv[: argv.index("--")]} else len(argv)
    _options, unread = parser.parse_known_args(argv[:divide], options)
    options.behind = argv[divide + 1 :]
    before: list[str] | None = getattr(options, "pairs", getattr(options, "words", None))
    words = [*(before or []), *unread]  # argparse does not read name=value after an option
    if unread and (before is None or any(word.startswith("-") for word in unread)):
        parser.error(f"unknown argument: {' '.join(unread)}.{option_meant(parser, options.command, unread)}")
    return words


def _command(argv: list[str], options: argparse.Namespace) -> int:
    try:
        words = _read(argv, options)
    except SystemExit as ended:  # --help and --version end so too
        raise SystemExit(status_of_usage(argv) if ended.code == USAGE else ended.code) from None
    if options.command not in RUNNING:  # the user's own program may multiply matrices
        lean_start()
    try:
        if options.command == "call":
            return _call(options, words)
        if options.command in PEOPLE:
            from ttnn_mcp.shell import people  # noqa: PLC0415

            return people.answered(options, words, _session(options))
        return COMMANDS[options.command or "serve"](options)
    except TtnnMcpError as refusal:
        print(_told(refusal, options.command), file=sys.stderr)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as fault:
        if is_of_stdout(fault):
            raise
        if isinstance(fault, ModuleNotFoundError) and fault.name and not fault.name.startswith("ttnn_mcp"):
            print(f"{sys.executable} lacks the package {fault.name}: {REINSTALL}", file=sys.stderr)
            return status_of_failure(options.command, argv)
        import traceback  # noqa: PLC0415

        from ttnn_mcp.tools.answering import unforeseen  # noqa: PLC0415

        traceback.print_exc()
        print(unforeseen(getattr(options, "tool", None) or options.command or "serve"), file=sys.stderr)
    return status_of_failure(options.command, argv)


def _told(refusal: TtnnMcpError, command: str | None) -> str:
    """A refusal in the words of the door: tools where tools are called, else commands."""
    if command in ("call", "serve", None):
        return str(refusal)
    from ttnn_mcp.shell.questions import spoken_here  # noqa: PLC0415 - only a mistake waits for it

    return spoken_here(str(refusal))


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
            archive_mb=options.archive_mb,
            ttnn=options.ttnn,
        )
    )


def _serve(options: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415

    door = http_door(options)
    heard = None if door or sys.stdin.isatty() else _first_answers()
    if heard is not None and heard.ended:
        return 0
    import logging  # noqa: PLC0415

    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    if door is None:
        from ttnn_mcp.server.stdio import over_stdio  # noqa: PLC0415

        if sys.stdin.isatty():
            print("Waiting for an MCP client on stdin. See --help for more; Ctrl-C ends.", file=sys.stderr)
        serving = over_stdio(_session(options), heard)
    else:
        from ttnn_mcp.server.http.serving import over_http  # noqa: PLC0415

        serving = over_http(_session(options, confined=True), door)
    gc.freeze()  # imported modules stay for good: later collections need not look at them
    gc.enable()
    asyncio.run(serving)
    return 0


def _first_answers() -> Heard | None:
    """Answer what every client asks first; None where the SDK has to do that too."""
    import signal  # noqa: PLC0415

    from ttnn_mcp.server.front_desk import attend, leave, opened  # noqa: PLC0415

    signal.signal(signal.SIGINT, leave)  # an interrupt while the SDK is imported could get lost in it
    desk = None if sys.platform == "win32" else opened()  # pipes of Windows cannot be waited for
    return attend(desk, sys.stdin.fileno(), sys.stdout.fileno()) if desk else None


def _call(options: argparse.Namespace, pairs: list[str]) -> int:
    if options.tool is None and options.help:
        options.parser.print_help()
        return 0
    from ttnn_mcp.shell import call_arguments  # noqa: PLC0415
    from ttnn_mcp.tools import answering  # noqa: PLC0415

    if options.tool is None:
        from ttnn_mcp.tools import TOOLS  # noqa: PLC0415

        print(call_arguments.listing(TOOLS))
        return 0
    tool = call_arguments.tool_alone(options.tool)
    if options.help:
        print(call_arguments.usage(tool))
        return 0
    arguments = call_arguments.arguments(tool, pairs)
    _structured, text = awaited(answering.answer(_session(options), tool, arguments), tool.name)
    print(text)
    return 0


def _gate(options: argparse.Namespace) -> int:
    from ttnn_mcp.shell.gate_command import gate  # noqa: PLC0415

    text, status = awaited(gate(_session(options), options), "gate")
    print(text, end="")
    return status


def _baseline(options: argparse.Namespace) -> int:
    from ttnn_mcp.shell.gate_command import baseline  # noqa: PLC0415

    print(awaited(baseline(_session(options), options.name, options.path), "baseline"), end="")
    return 0


def _report(options: argparse.Namespace) -> int:
    from ttnn_mcp.shell.report_command import report  # noqa: PLC0415

    sys.stdout.buffer.write(report(_session(options), options))
    return 0


def _archive(options: argparse.Namespace) -> int:
    from ttnn_mcp.shell.archive_command import archive  # noqa: PLC0415

    return archive(options, _session(options).settings)


def _history(options: argparse.Namespace) -> int:
    from ttnn_mcp.shell.history_command import history  # noqa: PLC0415

    print(awaited(history(_session(options), options), "history"), end="")
    return 0


def _join(options: argparse.Namespace) -> int:
    from ttnn_mcp.shell.join_command import join  # noqa: PLC0415

    text, note = join(options.times, options.report)
    if note:
        print(note, file=sys.stderr)
    print(text, end="")
    return 0


def _doctor(options: argparse.Namespace) -> int:
    from ttnn_mcp.shell import doctor  # noqa: PLC0415

    text, sound = awaited(doctor.report(_session(options)), "doctor")
    print(text, end="")
    return 0 if sound else FAILED


COMMANDS = {
    "serve": _serve,
    "doctor": _doctor,
    "gate": _gate,
    "baseline": _baseline,
    "report": _report,
    "archive": _archive,
    "history": _history,
    "join": _join,
}


if __name__ == "__main__":
    sys.exit(main())

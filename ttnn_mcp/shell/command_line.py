"""The parser of the command line: commands, their options, and the help texts."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ttnn_mcp import __version__
from ttnn_mcp.errors import ArgumentsInvalid, shown, suggestion
from ttnn_mcp.session.settings import ARCHIVE_MB, ARCHIVE_VARIABLE, CACHE_MB
from ttnn_mcp.shell.command_options import add_archive, add_history, add_people, add_report, added, whole

if TYPE_CHECKING:
    from ttnn_mcp.server.http.door import Door

MOST_MB = 1_000_000  # a terabyte
EPILOG = """\
examples:
  ttnn-mcp                                          serve one assistant over stdin and stdout
  ttnn-mcp serve --http 127.0.0.1:8765              serve several over HTTP, at /mcp
  ttnn-mcp serve --http 0.0.0.0:8765 --token-file t serve a lab: each person has a token
  ttnn-mcp demo                                     what the server finds in a bundled profile
  ttnn-mcp profile -- pytest tests/test_my_model.py run it under Tracy, then say what is slow
  ttnn-mcp capture --arch n150 -- python model.py   does it fit L1? on a mock device, without hardware
  ttnn-mcp check                                    what to change first in your newest run
  ttnn-mcp ops path/to/report group_by=op_code      where its time goes
  ttnn-mcp compare before after                     whether a change helped
  ttnn-mcp open performance=CSV memory=FOLDER       two reports as one run
  ttnn-mcp call                                     list the tools; their answers are JSON
  ttnn-mcp gate --baseline main --worse 3%          fail a build that made a model slower
  ttnn-mcp archive add '/nightly/**/ops_perf*.csv'  keep what many runs measured
  ttnn-mcp history                                  since when is the newest run's model slower?
  ttnn-mcp join streamed.csv report.csv > both.csv  name what the streaming profiler timed
  ttnn-mcp doctor                                   what this machine has

Reports are looked for under --root, else $TT_METAL_HOME/generated, else ./generated.
"""
CALL = "call one tool, print its answer as JSON"
CALL_EPILOG = """\
Values parse as JSON where they can, else they are strings: limit=5, steps=[1,4], op_code=Matmul.
The structured answer is printed as JSON; where there is none, the reason is on stderr and the exit status is 1.

examples:
  ttnn-mcp call                               list the tools
  ttnn-mcp call op_detail --help              the arguments of one
  ttnn-mcp call optimization_check run=demo
"""
GATE = "fail a build that made a model slower"
GATE_EPILOG = """\
Prints Markdown for a pull request. Exit status: 0 no regression, 1 regression, 2 cannot judge (125 with --bisect).
A regression is slower than both the limit and the noise of the measurement.

examples:
  ttnn-mcp baseline main generated/profiler/reports/2026_11_20
  ttnn-mcp gate --baseline main --candidate generated/profiler/reports/2026_11_21 --worse 2% > comment.md
  git bisect run sh -c './profile.sh || exit 125; ttnn-mcp gate --baseline main --bisect'
"""
DOCTOR = "what this machine has"
JOIN = "the streaming profiler's ops CSV with the names of another run, as one CSV"
BASELINE = "name a run, or list the names"


class _Parser(argparse.ArgumentParser):
    """A parser whose refusal of a command names the one that was probably meant."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            from ttnn_mcp.tools import TOOLS  # noqa: PLC0415 - only a mistake waits for them

            if value in [tool.name for tool in TOOLS]:
                close = f" It is a tool: ttnn-mcp call {value}"
            else:
                commands = [str(choice) for choice in action.choices]
                close = suggestion(str(value), commands) or f" There is: {', '.join(commands)}."
            raise argparse.ArgumentError(None, f"There is no command '{shown(value)}'.{close}")


class _Unasked:
    """Stands for the parser of a command that nobody gave, whatever it is told."""

    def __getattr__(self, _name: str) -> Any:
        return self

    def __call__(self, *_words: object, **_named: object) -> Any:
        return self


class _Only:
    """Adds the parser of one command."""

    def __init__(self, commands: Any, name: str) -> None:
        self.commands, self.name = commands, name

    def add_parser(self, name: str, **named: Any) -> Any:
        return self.commands.add_parser(name, **named) if name == self.name else _Unasked()


def command_line(first: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands; of one alone where it is the `first` word: all of them take ten times as long."""
    parser = _Parser(
        "ttnn-mcp",
        description="Ask a TTNN profile why it is slow. Without a command: serve MCP over stdin and stdout.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ttnn-mcp {__version__}")
    _add_choices(parser)
    shared = argparse.ArgumentParser(add_help=False)
    _add_choices(shared, default=argparse.SUPPRESS)  # a command must not reset the options in front of it
    parsers = parser.add_subparsers(dest="command", metavar="command", parser_class=argparse.ArgumentParser)
    commands: Any = parsers if first is None else _Only(parsers, first)
    serve = added(
        commands, shared, "serve", "serve MCP", description="Serve MCP over stdin and stdout, or over HTTP."
    )
    _add_http(serve)
    about = "Call one tool without a server and print its structured answer as JSON."
    call = added(commands, shared, "call", CALL, CALL_EPILOG, add_help=False, description=about)
    call.add_argument("tool", nargs="?", help="a tool's name; without one, the tools are listed")
    call.add_argument("pairs", nargs="*", metavar="name=value", help="its arguments")
    call.add_argument("-h", "--help", action="store_true", help="show this help, or the arguments of TOOL")
    call.set_defaults(parser=call)
    _add_gate(added(commands, shared, "gate", GATE, GATE_EPILOG))
    baseline = added(commands, shared, "baseline", BASELINE)
    baseline.add_argument("name", nargs="?", help="a name for the run; without one, the names are listed")
    baseline.add_argument(
        "path", nargs="?", metavar="RUN", help="its name, id or path; default: the run that --run or --root names"
    )
    add_people(commands, shared)
    add_report(commands, shared)
    add_archive(commands, shared)
    add_history(commands, shared)
    join = added(commands, shared, "join", JOIN, description=f"Print {JOIN}.")
    join.add_argument("times", type=Path, metavar="STREAMED", help="what TT_METAL_STREAMING_PROFILER_OPS_CSV names")
    join.add_argument("report", type=Path, metavar="CSV", help="the ops_perf_results CSV of the same script")
    added(commands, shared, "doctor", DOCTOR, description=f"Print {DOCTOR}.")
    return parser if parsers.choices else command_line()


def option_meant(parser: argparse.ArgumentParser, command: str | None, unread: list[str]) -> str:
    """' Did you mean --x?' for an option that the command does not have; '' if none is alike."""
    [commands] = [action.choices for action in parser._actions if action.dest == "command"]  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    chosen = cast("dict[str, argparse.ArgumentParser]", commands).get(command or "", parser)
    known = [name for action in chosen._actions for name in action.option_strings if name.startswith("--")]  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    wrong = next((word.partition("=")[0] for word in unread if word.startswith("--")), "")
    return suggestion(wrong, known, limit=1) if wrong else ""


def _add_gate(gate: argparse.ArgumentParser) -> None:
    gate.add_argument("--baseline", required=True, metavar="RUN", help="run before the change: name, id or path")
    gate.add_argument("--candidate", metavar="RUN", help="run after it (default: the newest under the roots)")
    gate.add_argument("--worse", default="3%", metavar="SHARE", help="how much slower is allowed (default 3%%)")
    gate.add_argument(
        "--repeat", action="append", default=[], metavar="RUN", help="more runs of the baseline, for the noise"
    )
    gate.add_argument("--start-signpost", metavar="NAME", help="compare from this signpost on")
    gate.add_argument("--end-signpost", metavar="NAME", help="to this one")
    gate.add_argument(
        "--bisect", action="store_true", help="exit with 125 instead of 2: git bisect skips the commit"
    )
    gate.add_argument("--json", action="store_true", help="print JSON instead of Markdown")


def _add_http(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--http",
        metavar="HOST:PORT",
        help="serve streamable HTTP at /mcp on this address; only reports under the roots may be opened",
    )
    serve.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="answer only who sends a token of this file, one 'NAME TOKEN' per line; read again when it changes",
    )
    serve.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="a name under which a proxy serves this"
    )
    serve.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="URL",
        help="a web page that may ask, as https://HOST",
    )


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
    group.add_argument(
        "--cache-mb",
        type=partial(whole, least=0, most=MOST_MB),
        default=default,
        metavar="MB",
        help=f"most that copies of large reports take there (default {CACHE_MB}; 0: none)",
    )
    group.add_argument(
        "--archive-mb",
        type=partial(whole, least=0, most=MOST_MB),
        default=default,
        metavar="MB",
        help=f"most that the archive of runs takes there (default ${ARCHIVE_VARIABLE} or {ARCHIVE_MB}; 0: none)",
    )
    group.add_argument(
        "--ttnn",
        type=Path,
        default=default,
        metavar="PYTHON",
        help="a Python with your TTNN, to prove with on mock devices (over HTTP: allows to); see doctor",
    )


def http_door(options: argparse.Namespace) -> Door | None:
    """Where HTTP is to be served, and for whom; None where the options ask for stdin and stdout.

    Raises:
        ArgumentsInvalid: the options do not go together.
    """
    from ttnn_mcp.server.http.door import door  # noqa: PLC0415 - `call` needs none

    address = getattr(options, "http", None)
    if address is None:
        if any(getattr(options, name, None) for name in ("token_file", "allow_host", "allow_origin")):
            raise ArgumentsInvalid("--token-file, --allow-host and --allow-origin go with --http HOST:PORT.")
        return None
    return door(address, options.token_file, options.allow_host, options.allow_origin)

"""Options and help of commands, apart from them: the parser must not wait for what the commands need."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from ttnn_mcp.replay.mock_chips import KINDS
from ttnn_mcp.shell.questions import QUESTIONS

RUNNING = frozenset({"profile", "capture"})  # what stands behind -- is a command of the user's
PEOPLE = frozenset({*QUESTIONS, *RUNNING, "accuracy", "demo", "skill", "completion"})
MOST = 10_000  # minutes, a week; gigabytes, more than any machine of a lab has
DEMO = "what is found in a bundled profile"
NEWEST = "RUN is a name, an id or a path; default: the newest report found."
SKILL = "a page of the optimisation skill"
PROFILE = "run a command under Tracy, then say what is slow"
PROFILE_EPILOG = """\
Write --tracy=OPTION with the equals sign. The exit status is that of COMMAND; 1 if that went well and no report came
of it.

examples:
  ttnn-mcp profile -- pytest tests/test_my_model.py::test_perf
  ttnn-mcp profile --memory -- python model.py --batch 8
  ttnn-mcp profile --tracy=--op-support-count=10000 -- pytest tests/test_my_model.py
"""
CAPTURE = "run a command on a mock device: does it fit L1, before there is hardware"
CAPTURE_EPILOG = """\
No kernel runs, so there are no times and no results; shapes, buffers and refusals are real. NAME is one of {names}, or
a cluster_descriptor.yaml. The exit status is that of COMMAND; 1 if that went well and no report came of it.

The Python is --ttnn, else $TTNN_MCP_TTNN, else that of COMMAND; where that has no TTNN, $TT_METAL_HOME/python_env.

examples:
  ttnn-mcp capture --arch n150 -- python model.py
  ttnn-mcp capture --arch t3000 --minutes 60 -- pytest tests/test_my_model.py
"""
ACCURACY = "a script that finds the op and the layer which lose accuracy"
ACCURACY_AT_LENGTH = (
    "Print a Python script that runs a model on a device while TTNN compares the most suspect ops of RUN with torch, "
    "alone and accumulated: ttnn-mcp accuracy > accuracy_check.py; python accuracy_check.py -- model.py. Its JSON "
    "names the first layer that drifts; experiments(accuracy=...) takes it."
)
COMPLETION = "the completion script of a shell"
COMPLETION_EPILOG = """\
examples:
  eval "$(ttnn-mcp completion bash)"                in ~/.bashrc
  eval "$(ttnn-mcp completion zsh)"                 in ~/.zshrc, after compinit
  ttnn-mcp completion fish | source                 in ~/.config/fish/config.fish
"""
ARCHIVE = "keep what was measured in many runs"
ARCHIVE_EPILOG = """\
An archive is a folder of Parquet files, or a bucket (s3://BUCKET/FOLDER, with the extra 's3'). It holds shapes,
settings and times of ops, and no paths, source lines or names. Without --to or --in it is the one in the state folder.

examples:
  ttnn-mcp archive add generated/profiler/reports
  ttnn-mcp archive add '/nightly/**/ops_perf_results*.csv' --to /shared/archive --label resnet50
  ttnn-mcp archive add '/nightly/2026-11-*' --to s3://lab/archive --dask tcp://head:8786
  ttnn-mcp archive list --in /shared/archive
  ttnn-mcp archive forget 78d181aa --in /shared/archive
"""
ADD_EPILOG = """\
Reports that the archive holds already are not read again. Reports that cannot be read are listed.
Exit status: 0 all reports are in the archive, 3 some could not be read (the others are in), 1 nothing could be done.
After an interruption the same command goes on where it stopped.
"""
MOST_JOBS = 256
HISTORY = "a model's or an op's time over the runs that were seen, and where it turned"
HISTORY_EPILOG = """\
RUN is a run by id, path or name, or what `archive list` calls one. Runs are of the same model if 70% of their ops are
alike, whatever their files are called.

examples:
  ttnn-mcp history generated/profiler/reports/2026_11_21
  ttnn-mcp history resnet50 --in /shared/archive
  ttnn-mcp history --op 61
"""
HELP = "write a run as one page to attach to a pull request"
EPILOG = """\
The page holds verdict, budget, findings with their evidence, and pictures; it needs no network.

examples:
  ttnn-mcp report demo --output report.html
  ttnn-mcp report NEW --against OLD --output report.html
  ttnn-mcp report NEW --against OLD --markdown > comment.md
  ttnn-mcp report NEW --perfetto --output run.pftrace     then open it in Perfetto
"""


def whole(written: str, least: int = 1, most: int = MOST) -> int:
    """The number, where it is a whole one in these bounds."""
    if not (written.isascii() and written.isdigit()) or not least <= int(written[:10]) <= most:
        raise argparse.ArgumentTypeError(f"wants a whole number from {least} to {most}")
    return int(written)


def added(
    commands: Any, shared: argparse.ArgumentParser, name: str, about: str, epilog: str = "", **named: Any
) -> Any:
    """The parser of a command, with the options that all share; an epilog keeps its lines."""
    raw = {"epilog": epilog, "formatter_class": argparse.RawDescriptionHelpFormatter} if epilog else {}
    usual = {"parents": [shared], "help": about, "description": f"{about}.", **raw}
    return commands.add_parser(name, **{**usual, **named})


def add_report(commands: Any, shared: argparse.ArgumentParser) -> None:
    """The command and its options, for the parser of the command line."""
    report = added(commands, shared, "report", HELP, EPILOG)
    report.add_argument("subject", nargs="?", metavar="RUN", help="name, id or path (default: the newest)")
    report.add_argument("--against", metavar="BASE", help="the run before the change")
    report.add_argument("--output", type=Path, metavar="FILE", help="where to write (default: standard output)")
    kind = report.add_mutually_exclusive_group()
    kind.add_argument("--html", dest="kind", action="store_const", const="html", help="one page (default)")
    kind.add_argument("--markdown", dest="kind", action="store_const", const="markdown", help="a comment")
    kind.add_argument(
        "--perfetto", dest="kind", action="store_const", const="perfetto", help="a trace for Perfetto"
    )
    report.set_defaults(kind="html")


def add_history(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command `history` to the commands of the shell."""
    history = added(commands, shared, "history", HISTORY, HISTORY_EPILOG, description=f"Print {HISTORY}.")
    history.add_argument(
        "subject", nargs="?", metavar="RUN", help="the newest run of the history (default: the newest there is)"
    )
    history.add_argument("--op", type=int, metavar="LINE", help="only the op at this line of its CSV")
    history.add_argument("--in", dest="folder", metavar="FOLDER|URL", help="another archive than this machine's")
    history.add_argument("--json", action="store_true", help="print JSON")


def add_archive(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command `archive` to the commands of the shell."""
    archive = added(commands, shared, "archive", ARCHIVE, ARCHIVE_EPILOG, parents=[])
    actions = archive.add_subparsers(dest="action", metavar="action", required=True)
    add = added(actions, shared, "add", "read reports into an archive", ADD_EPILOG)
    add.add_argument("patterns", nargs="+", metavar="PATTERN", help="files, folders, or wildcards in quotes")
    add.add_argument("--to", dest="folder", metavar="FOLDER|URL", help="the archive")
    add.add_argument(
        "--dask", metavar="ADDRESS", help="read with the workers of this Dask scheduler (tcp://HOST:PORT)"
    )
    add.add_argument(
        "--jobs",
        type=partial(whole, most=MOST_JOBS),
        metavar="N",
        help="read with N processes here (default: one per core)",
    )
    add.add_argument("--label", type=_word, help="what to call these runs: a model, a nightly job")
    add.add_argument("--build", type=_word, help="version of TTNN that was measured")
    add.add_argument("--commit", type=_word, help="commit that was measured")
    add.add_argument(
        "--most-mb",
        type=partial(whole, most=1_000_000_000),
        metavar="MB",
        help="most it may take; the oldest runs leave first",
    )
    add.add_argument("--json", action="store_true", help="print JSON, and no progress")
    listing = added(actions, shared, "list", "list the runs of an archive")
    listing.add_argument("--label", type=_word, help="only runs called so")
    listing.add_argument(
        "--limit",
        type=partial(whole, most=1_000_000),
        default=20,
        metavar="N",
        help="the N recorded last (default 20)",
    )
    forget = added(actions, shared, "forget", "remove runs from an archive")
    forget.add_argument(
        "runs", nargs="+", metavar="RUN", help="keys as `archive list` prints them, or their beginnings"
    )
    for parser in (listing, forget):
        parser.add_argument("--in", dest="folder", metavar="FOLDER|URL", help="the archive")
        parser.add_argument("--json", action="store_true", help="print JSON")


def _word(written: str) -> str:
    """A label; a path in it would be stored for others to read."""
    if not written.strip() or len(written) > 80 or any(not char.isprintable() or char in "/\\" for char in written):
        raise argparse.ArgumentTypeError("wants 1 to 80 printable characters, and no slash")
    return written.strip()


def add_people(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add these commands to the others."""
    for name, question in QUESTIONS.items():
        runs = {"run": "[RUN]", "baseline": "A", "candidate": "[B]", "op": "LINE"}
        places = " ".join(runs[place] for place in question.runs)
        asking = added(
            commands,
            shared,
            name,
            question.about,
            description=f"{question.about[0].upper()}{question.about[1:]}. {NEWEST if question.runs else ''}",
            usage=f"ttnn-mcp {name} {places}{' ' if places else ''}[name=value ...] [--json | --markdown]",
            epilog=f"Arguments: ttnn-mcp call {question.tool} --help",
            formatter_class=argparse.HelpFormatter,
        )
        asking.add_argument("words", nargs="*", metavar="RUN | name=value", help="runs, and arguments of the tool")
        if name in OPTIONS:
            OPTIONS[name](asking)
        asking.add_argument("--explain", metavar="WORD", help="what a word of the answer means, and nothing else")
        form = asking.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print the answer as JSON")
        form.add_argument("--markdown", action="store_true", help="print it as Markdown")
    _add_profile(commands, shared)
    _add_capture(commands, shared)
    accuracy = added(commands, shared, "accuracy", ACCURACY, description=ACCURACY_AT_LENGTH)
    accuracy.add_argument("of_run", nargs="?", metavar="RUN", help="default: the newest report found")
    accuracy.add_argument("--worst", type=whole, default=5, help="kinds of ops, the worst first (default 5)")
    added(commands, shared, "demo", DEMO, description=f"Print {DEMO}.")
    skill = added(commands, shared, "skill", SKILL, description=f"{SKILL}, as Markdown.")
    skill.add_argument(
        "page", nargs="?", default="SKILL", help="such as step-04-metal-trace (default: the contents)"
    )
    completion = added(commands, shared, "completion", COMPLETION, COMPLETION_EPILOG, parents=[], description=None)
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))


def _add_check(check: argparse.ArgumentParser) -> None:
    more = check.add_mutually_exclusive_group()
    more.add_argument(
        "--details", metavar="N", help="all of edit N of the plan: evidence, code, how to verify; its name does too"
    )
    more.add_argument("--all", action="store_true", help="all edits with all findings, and the seven steps")
    check.add_argument("--wall-ms", metavar="MS", help="wall time of one iteration, measured with the profiler off")


def _add_ops(ops: argparse.ArgumentParser) -> None:
    ops.add_argument("--each", action="store_true", help="each op, not one row for all ops of a kind")
    ops.add_argument(
        "--format", choices=("tt-perf-report",), help="a CSV with the columns of tt-perf-report 1.4.1, on stdout"
    )


OPTIONS = {"check": _add_check, "ops": _add_ops}


def _add_profile(commands: Any, shared: argparse.ArgumentParser) -> None:
    usage = "ttnn-mcp profile [--memory] [--tracy=OPTION] -- COMMAND"
    profile = added(commands, shared, "profile", PROFILE, PROFILE_EPILOG, parents=[], usage=usage)
    profile.add_argument(
        "--memory", action="store_true", dest="with_memory", help="run it again for a memory report"
    )
    profile.add_argument(
        "--tracy", action="append", default=[], metavar="OPTION", help="an option of python -m tracy (repeatable)"
    )


def _add_capture(commands: Any, shared: argparse.ArgumentParser) -> None:
    capture = added(
        commands,
        shared,
        "capture",
        CAPTURE,
        CAPTURE_EPILOG.format(names=", ".join(KINDS)),
        description=f"{CAPTURE[0].upper()}{CAPTURE[1:]}.",
        usage="ttnn-mcp capture --arch NAME [--ttnn PYTHON] [--minutes N] [--memory-gb N] [--json] -- COMMAND",
    )
    capture.add_argument("--arch", required=True, metavar="NAME", help="the chips that COMMAND shall see")
    capture.add_argument("--minutes", type=whole, default=30, help="end COMMAND after so long (default 30)")
    capture.add_argument(
        "--memory-gb", type=whole, help="refuse it more memory (default: three quarters of the machine's)"
    )
    capture.add_argument("--json", action="store_true", help="print the answers as JSON")

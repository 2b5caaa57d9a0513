"""The options and help texts of the commands for people."""

from __future__ import annotations

import argparse
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


def add_people(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add these commands to the others."""
    for name, question in QUESTIONS.items():
        runs = {"run": "[RUN]", "baseline": "A", "candidate": "[B]", "op": "LINE"}
        places = " ".join(runs[place] for place in question.runs)
        asking = commands.add_parser(
            name,
            parents=[shared],
            help=question.about,
            description=f"{question.about[0].upper()}{question.about[1:]}. {NEWEST if question.runs else ''}",
            usage=f"ttnn-mcp {name} {places}{' ' if places else ''}[name=value ...] [--json | --markdown]",
            epilog=f"Arguments: ttnn-mcp call {question.tool} --help",
        )
        asking.add_argument("words", nargs="*", metavar="RUN | name=value", help="runs, and arguments of the tool")
        if name in OPTIONS:
            OPTIONS[name](asking)
        asking.add_argument("--explain", metavar="WORD", help="what a word of the answer means, and nothing else")
        form = asking.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print the answer as JSON")
        form.add_argument("--markdown", action="store_true", help="print it as Markdown")
    _add_profile(commands)
    _add_capture(commands, shared)
    accuracy = commands.add_parser("accuracy", parents=[shared], help=ACCURACY, description=ACCURACY_AT_LENGTH)
    accuracy.add_argument("of_run", nargs="?", metavar="RUN", help="default: the newest report found")
    accuracy.add_argument("--worst", type=_count, default=5, help="kinds of ops, the worst first (default 5)")
    commands.add_parser("demo", parents=[shared], help=DEMO, description=f"Print {DEMO}.")
    skill = commands.add_parser("skill", parents=[shared], help=SKILL, description=f"{SKILL}, as Markdown.")
    skill.add_argument(
        "page", nargs="?", default="SKILL", help="such as step-04-metal-trace (default: the contents)"
    )
    completion = commands.add_parser(
        "completion",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        help=COMPLETION,
        epilog=COMPLETION_EPILOG,
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))


def _add_check(check: argparse.ArgumentParser) -> None:
    more = check.add_mutually_exclusive_group()
    more.add_argument(
        "--details", metavar="N", help="all of edit N of the plan: evidence, code, how to verify; its name does too"
    )
    more.add_argument("--all", action="store_true", help="all edits with all findings, and the seven steps")


def _add_ops(ops: argparse.ArgumentParser) -> None:
    ops.add_argument("--each", action="store_true", help="each op, not one row for all ops of a kind")
    ops.add_argument(
        "--format", choices=("tt-perf-report",), help="a CSV with the columns of tt-perf-report 1.4.1, on stdout"
    )


OPTIONS = {"check": _add_check, "ops": _add_ops}


def _add_profile(commands: Any) -> None:
    profile = commands.add_parser(
        "profile",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        help=PROFILE,
        description=f"{PROFILE}.",
        usage="ttnn-mcp profile [--memory] [--tracy=OPTION] -- COMMAND",
        epilog=PROFILE_EPILOG,
    )
    profile.add_argument(
        "--memory", action="store_true", dest="with_memory", help="run it again for a memory report"
    )
    profile.add_argument(
        "--tracy", action="append", default=[], metavar="OPTION", help="an option of python -m tracy (repeatable)"
    )


def _add_capture(commands: Any, shared: argparse.ArgumentParser) -> None:
    capture = commands.add_parser(
        "capture",
        parents=[shared],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        help=CAPTURE,
        description=f"{CAPTURE[0].upper()}{CAPTURE[1:]}.",
        usage="ttnn-mcp capture --arch NAME [--ttnn PYTHON] [--minutes N] [--memory-gb N] [--json] -- COMMAND",
        epilog=CAPTURE_EPILOG.format(names=", ".join(KINDS)),
    )
    capture.add_argument("--arch", required=True, metavar="NAME", help="the chips that COMMAND shall see")
    capture.add_argument("--minutes", type=_count, default=30, help="end COMMAND after so long (default 30)")
    capture.add_argument(
        "--memory-gb", type=_count, help="refuse it more memory (default: three quarters of the machine's)"
    )
    capture.add_argument("--json", action="store_true", help="print the answers as JSON")


def _count(written: str) -> int:
    if not (written.isascii() and written.isdigit()) or not 0 < int(written[:10]) <= MOST:
        raise argparse.ArgumentTypeError(f"wants a whole number from 1 to {MOST}")
    return int(written)

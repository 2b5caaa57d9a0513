"""Executes fixes on a mock device: what they construct is constructed, and given to the op they speak of.

    PYTHON -m tests.real.rig.advice FILE FIRST KIND        within the environment

FILE holds the jobs that `claims.jobs` collected. Prints one line of JSON per job from number FIRST on, for one kind of
device: {"job", "ran", "words", "refused"}. `words` are calls that leave something to the reader (an ellipsis, a name).
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

from tests.real.rig.devices import first_line, imported, opened
from tests.real.rig.fixed_op import Ops

CALL = re.compile(r"ttnn(?:\.\w+)+\(")
CONSTRUCTED = re.compile(r"\.(\w*(Config|Spec|Grid|WithParam|CoreRange\w*)|init_device_compute_kernel_config)$")
ELSEWHERE = re.compile(r"_trace|_event|open_|fabric|Mesh|copy_host")  # the pages' blocks run these


def calls(fix: str) -> list[str]:
    """The outermost calls of `ttnn` in a text."""
    found, at = [], 0
    while match := CALL.search(fix, at):
        depth, at = 1, match.end()
        while depth and at < len(fix):
            depth += {"(": 1, ")": -1}.get(fix[at], 0)
            at += 1
        if not depth:
            found.append(fix[match.start() : at])
    return found


class Bound:
    """Evaluates a call with the op's tensors for its names."""

    def __init__(self, ops: Ops) -> None:
        self.ops = ops

    def evaluated(self, node: ast.expr) -> Any:
        """The value of one argument."""
        names = {"ttnn": self.ops.ttnn, "device": self.ops.device}
        return eval(compile(ast.Expression(node), "fix", "eval"), names, self.ops.tensors())  # noqa: S307 - ours

    def keywords(self, call: ast.Call) -> dict[str, Any]:
        """Its keyword arguments; what an ellipsis stands for stays as the op had it."""
        given = [word for word in call.keywords if word.arg and not _leaves_out(word.value)]
        return {str(word.arg): self.evaluated(word.value) for word in given}

    def execute(self, text: str) -> bool:
        """Run one call; False where it leaves something to the reader."""
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call):
            return False
        name = ast.unparse(call.func)
        again = {"ttnn.linear": self.ops.linear, "ttnn.matmul": self.ops.linear, "ttnn.conv2d": self.ops.conv}
        if name in again:
            return again[name](**self.keywords(call))
        if name == "ttnn.Conv2dConfig":
            return self.ops.conv(conv=self.keywords(call))
        if _leaves_out(call) or ELSEWHERE.search(name):
            return False
        value = self.evaluated(call)
        return self.ops.given(value) if CONSTRUCTED.search(name) else True


def _leaves_out(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(node))


def tried(ops: Ops, fix: str) -> dict[str, list[str]]:
    """What became of each call of a fix."""
    became: dict[str, list[str]] = {"ran": [], "words": [], "refused": []}
    for text in calls(fix):
        how, told = _outcome(ops, text)
        became[how].append(told)
    return became


def _outcome(ops: Ops, text: str) -> tuple[str, str]:
    try:
        return ("ran" if Bound(ops).execute(text) else "words"), text
    except (NameError, SyntaxError):
        return "words", text
    except Exception as raised:  # noqa: BLE001 - every refusal is told, then the next call is tried
        return "refused", f"{text}: {first_line(raised)}"


def main(file: Path, first: int, kind: str) -> None:
    """Try the jobs of one kind of device."""
    jobs = json.loads(file.read_text())
    ttnn = imported(kind)
    device = opened(ttnn)
    for number, job in enumerate(jobs):
        if number >= first and job["kind"] == kind:
            sys.stdout.write(json.dumps({"start": number}) + "\n")
            sys.stdout.flush()
            sys.stdout.write(json.dumps({"job": number, **tried(Ops(ttnn, device, job), job["fix"])}) + "\n")
            sys.stdout.flush()
    ttnn.close_device(device)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3])

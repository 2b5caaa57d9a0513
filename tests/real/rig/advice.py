"""Executes fixes on a mock device: what they construct is constructed, and given to the op they speak of.

    PYTHON -m tests.real.rig.advice FILE FIRST KIND        within the environment

FILE holds the jobs that `claims.jobs` collected. Prints one line of JSON per job from number FIRST on, for one kind of
device: {"job", "ran", "words", "refused", "cores", "now", ...}. `words` are calls that leave something to the reader (an
ellipsis, a name); what `fixed_call` judges of it stands beside.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.real.rig.calls import calls
from tests.real.rig.devices import first_line, imported, meshed, opened
from tests.real.rig.examples import Examples
from tests.real.rig.fixed_call import JUDGED, Fixed
from tests.real.rig.fixed_op import Ops
from tests.real.rig.program_buffers import executed
from tests.real.rig.signatures import asked_of, unrunnable

if TYPE_CHECKING:
    from collections.abc import Callable

MESH = "t3000"
COUNTED = ("Matmul", "Conv2d")  # ops whose cores a fix may change
CONSTRUCTED = re.compile(r"\.(\w*(Config|Spec|Grid|WithParam|CoreRange\w*)|init_device_compute_kernel_config)$")
# what a fix leaves to its reader: `name=<words>`, `name=CAPITALS`, `<words>`, `tensor 7`, an ellipsis behind keywords
# or in a list
LEFT = (
    (r"\bfused_activation=AS_NOW", "fused_activation=None"),
    (r"\[\.\.\., ", "["),
    (r", \.\.\.\]", "]"),
    (r"=[A-Z][A-Z_]+(?=[,)])", "=..."),
    (r"\*\*[A-Z]+", "_=..."),
    (r"=<[^<>]*>", "=..."),
    (r"<[^<>]*>", "_=..."),
    (r"\btensor \d+", "x"),
    (r", \.\.\.\)", ", _=...)"),
)


class Bound:
    """Evaluates a call with the op's tensors for its names, and ordinary operands where the fix leaves them out."""

    def __init__(self, ops: Ops) -> None:
        self.ops = ops
        self.examples = Examples(ops.ttnn, ops.device)

    def evaluated(self, node: ast.expr) -> Any:
        """The value of one argument."""
        names = {"ttnn": self.ops.ttnn, "device": self.ops.device, "mesh_device": self.ops.device}
        return eval(compile(ast.Expression(node), "fix", "eval"), names, self.ops.tensors(self.examples))  # noqa: S307 - ours

    def keywords(self, call: ast.Call) -> dict[str, Any]:
        """Its keyword arguments; what an ellipsis stands for stays as the op had it."""
        given = [word for word in call.keywords if word.arg and not _leaves_out(word.value)]
        return {str(word.arg): self.evaluated(word.value) for word in given}

    def execute(self, text: str) -> bool:
        """Run one call; False where nobody knows what it leaves to the reader."""
        for left, filled in LEFT:
            text = re.sub(left, filled, text)
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call):
            return False
        name = ast.unparse(call.func)
        if unrunnable(name):
            asked_of(self.ops.ttnn, name)(*call.args, **{str(word.arg): word.value for word in call.keywords})
            return True
        if name == "ttnn.Conv2dConfig":
            config = self.keywords(call)
            return self.ops.conv(conv=config) or self.given(self.ops.ttnn.Conv2dConfig(**config))
        again = {
            **dict.fromkeys(("ttnn.linear", "ttnn.matmul"), self.ops.linear),
            "ttnn.experimental.minimal_matmul": self.ops.minimal,
            "ttnn.conv2d": self.ops.conv,
        }
        if name in again and again[name](**self.keywords(call)):
            return True
        return self._plain(name, call) if name not in again else self.examples.run(name, self.keywords(call))

    def _plain(self, name: str, call: ast.Call) -> bool:
        on_host = name == "ttnn.from_torch" and not ast.unparse(call.args[0]).startswith("torch_")
        if on_host:
            return self.examples.run(name, self.keywords(call))
        if _leaves_out(call):
            keywords = self.keywords(call)
            return self.examples.run(name, keywords, *self._first(call, keywords))
        try:
            value = self.evaluated(call)
        except NameError:
            return self.examples.run(name, self.keywords(call))
        return self.given(value) if CONSTRUCTED.search(name) else True

    def _first(self, call: ast.Call, keywords: dict[str, Any]) -> list[Any]:
        """The operands in front, where a keyword names another one of the same op: their shapes must agree."""
        with_tensor = any(isinstance(value, self.ops.ttnn.Tensor) for value in keywords.values())
        if not with_tensor or any(map(_leaves_out, call.args)):
            return []
        try:
            return [self.evaluated(operand) for operand in call.args]
        except NameError:
            return []

    def given(self, value: Any) -> bool:
        """Give a configuration to the op of the fix, or to an ordinary one that takes it."""
        return self.ops.given(value) or self.examples.given(value)


def _leaves_out(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(node))


def tried(ops: Ops, fix: str) -> dict[str, list[str]]:
    """What became of each call of a fix, as it is pasted from what is printed of it."""
    became: dict[str, list[str]] = {"ran": [], "words": [], "refused": [], "cores": [], "same": [], "changed": []}
    now, texts = ops.as_now(), list(calls(f"{ops.job['as_now']} {ops.job['pasted'] or fix}"))
    before = _dry(ops, now.again) if now and texts else []  # the op as it is may be what TTNN dies of
    became["now"] = [str(each[1]) for each in _counted(before)]
    for text in texts:
        cores = max((each[1] for each in _counted(_dry(ops, partial(_outcome, ops, text)))), default=0)
        how, told = _outcome(ops, text)
        became[how].append(told)
        if how == "ran" and cores:
            became["cores"].append(str(cores))
        then = _dry(ops, partial(Bound(now).execute, text)) if now and before and cores else []
        if then:
            same = then == before and not _is_another(ops, now, text)
            became["same" if same else "changed"].append(text)
    return became | (Fixed(ops).judged() if ops.job.get("profiled") else {how: [] for how in JUDGED})


def _is_another(ops: Ops, now: Ops, text: str) -> bool:
    """Whether TTNN makes another program of a fix: no captured argument shows what a program config holds."""
    ops.device.clear_program_cache()
    now.again()
    programs = ops.device.num_program_cache_entries()
    Bound(now).execute(text)
    return ops.device.num_program_cache_entries() > programs


def _counted(ran: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [each for each in ran if any(kind in each[0] for kind in COUNTED)]


def _dry(ops: Ops, run: Callable[[], Any]) -> list[tuple[Any, ...]]:
    """What TTNN executes, asked dry; what it refuses executes nothing."""
    graph = ops.ttnn.graph
    graph.begin_graph_capture(graph.RunMode.NO_DISPATCH)
    refused = False
    try:
        run()
    except Exception:  # noqa: BLE001 - then there is nothing to compare with
        refused = True
    captured = graph.end_graph_capture()
    return [] if refused else executed(captured)


def _outcome(ops: Ops, text: str) -> tuple[str, str]:
    try:
        return ("ran" if Bound(ops).execute(text) else "words"), text
    except (NameError, SyntaxError) as left:
        return "words", f"{text}: {left}"
    except Exception as raised:  # noqa: BLE001 - every refusal is told, then the next call is tried
        return "refused", f"{text}: {first_line(raised)}"


def main(file: Path, first: int, kind: str) -> None:
    """Try the jobs of one kind of device."""
    jobs = json.loads(file.read_text())
    ttnn = imported(kind)
    device = meshed(ttnn) if kind == MESH else opened(ttnn)
    for number, job in enumerate(jobs):
        if number >= first and job["kind"] == kind:
            sys.stdout.write(json.dumps({"start": number}) + "\n")
            sys.stdout.flush()
            sys.stdout.write(json.dumps({"job": number, **tried(Ops(ttnn, device, job), job["fix"])}) + "\n")
            sys.stdout.flush()
    (ttnn.close_mesh_device if kind == MESH else ttnn.close_device)(device)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3])

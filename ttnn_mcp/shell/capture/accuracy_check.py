"""Which op loses accuracy, and from which layer on: runs a model while TTNN compares its ops with torch.

    python accuracy_check.py [--out accuracy.json] -- -m MODULE [ARGUMENT ...]
    python accuracy_check.py [--out accuracy.json] -- SCRIPT [ARGUMENT ...]

It needs TTNN and torch, a real device, and patience: every op is computed on the host too, without a trace. `alone` is
an op on its own inputs; `accumulated` is all ops so far against torch from the start. Run the model once, eagerly.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from importlib import import_module
from typing import Any

# risk, names of the ttnn operation, and the layer of each call in one pass of the model (None: outside of the layers)
SUSPECTS: list[dict[str, Any]] = []
FORMAT = "ttnn-mcp accuracy"
# without a report's name TTNN 0.81 accumulates nothing; no report is written
COMPARING = {"enable_fast_runtime_mode": False, "enable_comparison_mode": True, "report_name": "accuracy"}
GOOD_ALONE = 0.999  # of one op; what tt-metal's models ask of a module
LAYER_MAY_LOSE = 0.002  # of accumulated PCC; they ask 0.998 of a layer
TIMES_THE_USUAL = 3.0  # a layer that loses so much more than the median layer is not just one more of them
GOOD_MODEL = 0.99
NOTHING = (
    "nothing was compared from the start: did the script call the model, on a device, by the names in `suspects`?"
)
UNKNOWN = "; which op is of which layer is not known, so each op compared counts as one"
MOCK = "TT_METAL_MOCK_CLUSTER_DESC_PATH"
NO_RESULTS = "no kernel runs on a mock device: what it computes agrees with nothing, and says nothing of the model"


class Watch:
    """Notes what TTNN compares of the suspects, and of all ops the last that it compared from the start."""

    def __init__(self, suspects: list[dict[str, Any]]) -> None:
        self.suspects, self.calls, self.within = suspects, [0] * len(suspects), 0
        self.ops: list[dict[str, Any]] = []
        self.last: dict[str, Any] | None = None

    def around(self, compare: Any) -> Any:
        """TTNN's own comparison, heard."""

        def compared(name: str, *arguments: Any, **named: Any) -> Any:
            self.within += 1  # an op with several outputs is compared within its own comparison
            try:
                records: list[Any] = compare(name, *arguments, **named)
            finally:
                self.within -= 1
            if records and not self.within:
                self.note(name, named["level"], min(map(_pcc, records)))
            return records

        return compared

    def note(self, name: str, level: str, pcc: float) -> None:
        """One comparison: `locally` begins an op, `globally` completes it."""
        if level == "globally":
            self.last = {"name": name, "accumulated": pcc}
        for number, suspect in enumerate(self.suspects):
            if name.rpartition(".")[2] not in suspect["names"]:
                continue
            last = next((one for one in reversed(self.ops) if one["suspect"] == number), None)
            if level == "globally" and last is not None and last["accumulated"] is None:
                last["accumulated"] = pcc
                continue
            layers, call = suspect["layers"], self.calls[number]
            layer = layers[call % len(layers)] if layers else None
            one = {
                "suspect": number,
                "name": name,
                "call": call,
                "layer": layer,
                "alone": None,
                "accumulated": None,
            }
            one["accumulated" if level == "globally" else "alone"] = pcc
            self.calls[number] += 1
            self.ops.append(one)

    def verdict(self, ended: str) -> dict[str, Any]:
        """What is known of a program that ended so; the last pass of one that failed is not whole."""
        if not ended:
            self.forget_doubtful_layers()
        return verdict_of(self.ops, self.last, ended)

    def forget_doubtful_layers(self) -> None:
        """Where calls are no whole passes, TTNN left some out or the profile counts others: any may be of any layer."""
        for number, suspect in enumerate(self.suspects):
            if suspect["layers"] and self.calls[number] % len(suspect["layers"]):
                for one in self.ops:
                    one["layer"] = None if one["suspect"] == number else one["layer"]


def _pcc(record: Any) -> float:
    """A record is an object, and in newer builds a dictionary. What is no number agrees with nothing."""
    pcc = float(record["actual_pcc"] if hasattr(record, "keys") else record.actual_pcc)
    return 0.0 if pcc != pcc else pcc  # noqa: PLR0124 - NaN


def _median(figures: list[float]) -> float:
    return sorted(figures)[len(figures) // 2] if figures else 0.0


def verdict_of(ops: list[dict[str, Any]], last: dict[str, Any] | None = None, ended: str = "") -> dict[str, Any]:
    """The layers with their lowest PCCs, the first that drifts, and why. Where no layer is known, an op is one.

    `last` is the last op compared from the start, a suspect or not; `ended` says how a program failed.
    """
    layers: dict[int, dict[str, Any]] = {}
    are_known = any(one["layer"] is not None for one in ops)
    for place, one in enumerate(ops):
        number = one["layer"] if are_known else place + 1
        if number is None:
            continue
        kept = layers.setdefault(number, {"layer": number, "alone": None, "accumulated": None})
        for level in ("alone", "accumulated"):
            known = [pcc for pcc in (kept[level], one[level]) if pcc is not None]
            kept[level] = min(known, default=None)
    in_order = [layers[number] for number in sorted(layers)]
    followed = [one for one in in_order if one["accumulated"] is not None]
    before = [1.0, *(one["accumulated"] for one in followed)]
    lost = [earlier - one["accumulated"] for earlier, one in zip(before, followed)]  # noqa: B905 - Python 3.8
    at, why = None, _none_drifts(ops, last, ended) if followed else NOTHING
    for place, (one, less) in enumerate(zip(followed, lost)):  # noqa: B905
        if less > LAYER_MAY_LOSE and less > TIMES_THE_USUAL * _median(lost[:place] + lost[place + 1 :]):
            alone = one["alone"] is not None and one["alone"] < GOOD_ALONE
            at = one["layer"]
            why = f"loses {less:.4f}: " + (
                "an op is wrong alone" if alone else "its ops are right alone: look before it"
            )
            break
    else:
        low = next((one for one in followed if one["accumulated"] < GOOD_MODEL), None)
        if low is not None:
            at, why = (
                low["layer"],
                f"the first below {GOOD_MODEL}; every layer loses about {_median(lost):.4f}: drift, no single op",
            )
    unknown = "" if are_known or not in_order else UNKNOWN
    return {"layers": in_order, "first_drifting_layer": at, "why": f"{why}{unknown}"}


def _none_drifts(ops: list[dict[str, Any]], last: dict[str, Any] | None, ended: str) -> str:
    """What is true of a model none of whose layers drifts."""
    outside = [one for one in (*ops, last) if one is not None and one["accumulated"] is not None]
    low = next((one for one in outside if one["accumulated"] < GOOD_MODEL), None)
    if low is not None:
        return f"no layer loses much, but {low['name']}, outside of them, is at {low['accumulated']:.4f}"
    if ended:
        return f"no layer loses much as far as the program ran; it ended with {ended}"
    return "no layer loses much, and the model keeps its PCC"


def _ending(failed: BaseException) -> str:
    """How the program failed; empty where it did not."""
    if not isinstance(failed, SystemExit):
        return type(failed).__name__
    return f"status {failed.code}" if failed.code else ""


def main(words: list[str]) -> int:
    """Run the model; its exit status."""
    out, divide = "accuracy.json", words.index("--") if "--" in words else -1
    if "--out" in words[: max(divide, 0)]:
        out = words[words.index("--out") + 1]
    program = words[divide + 1 :]
    if not program or program == ["-m"]:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    former = json.loads(os.environ.get("TTNN_CONFIG_OVERRIDES") or "{}")
    os.environ["TTNN_CONFIG_OVERRIDES"] = json.dumps({**former, **COMPARING})
    watch, decorators = Watch(SUSPECTS), import_module("ttnn.decorators")  # after the variable is set
    comparing: Any = decorators
    comparing.compare_tensors_using_pcc = watch.around(comparing.compare_tensors_using_pcc)
    from_module = program[0] == "-m"
    sys.argv = program[1:] if from_module else program
    sys.path[0] = os.getcwd() if from_module else os.path.dirname(os.path.abspath(program[0]))  # noqa: PTH100, PTH109, PTH120
    ended = ""
    try:
        if from_module:
            runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program[0], run_name="__main__")
    except BaseException as failed:
        ended = _ending(failed)
        raise
    finally:
        verdict: dict[str, Any] = watch.verdict(ended)
        if MOCK in os.environ:
            verdict = {"layers": [], "first_drifting_layer": None, "why": NO_RESULTS}
        with open(out, "w") as file:  # noqa: PTH123
            json.dump(
                {"format": FORMAT, "version": 1, "suspects": SUSPECTS, "ops": watch.ops, **verdict}, file, indent=1
            )
        for one in verdict["layers"]:
            sys.stdout.write(f"layer {one['layer']}: alone {one['alone']}, accumulated {one['accumulated']}\n")
        sys.stdout.write(f"first drifting layer: {verdict['first_drifting_layer']}; {verdict['why']}; see {out}\n")
    return 0 if verdict["layers"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

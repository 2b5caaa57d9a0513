"""The command `accuracy`: a script that checks the ops of a run which are most likely to lose accuracy."""

from __future__ import annotations

import re
from pathlib import Path
from pprint import pformat
from typing import Any

import numpy as np

from ttnn_mcp.analyses.dataflow.tensor_identity import TensorIdentity
from ttnn_mcp.analyses.window_facts import WindowFacts, facts_of
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools.parts.accuracy_suspects import Suspect, layers_of, suspects_of

SCRIPT = Path(__file__).with_name("capture") / "accuracy_check.py"
EMPTY = "SUSPECTS: list[dict[str, Any]] = []"
IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,79}")
NAMES = {  # device op -> the ttnn operations that launch it
    "LayerNorm": ["layer_norm", "rms_norm"],
    "GroupNorm": ["group_norm"],
    "Matmul": ["matmul", "linear"],
    "Conv2d": ["conv2d"],
    "ScaledDotProductAttention": ["scaled_dot_product_attention"],
    "ScaledDotProductAttentionDecode": ["scaled_dot_product_attention_decode"],
    "JointSDPA": ["joint_scaled_dot_product_attention"],
    "RingJointSDPA": ["ring_joint_scaled_dot_product_attention"],
}


async def script(session: Session, run_name: str | None, most: int) -> str:
    """The script for the worst `most` kinds of ops.

    Raises:
        QuestionRefused: no op of the window is suspect, or none has a name in TTNN that is known here.
    """
    run = await session.run(run_name)
    facts = facts_of(run, run.scope())
    kinds: dict[str, list[Suspect]] = {}
    for one in suspects_of(facts):
        kinds.setdefault(one.op_code, []).append(one)
    checked = [_checked(facts, op_code, ones) for op_code, ones in kinds.items()]
    checked = [one for one in checked if one["names"]][:most]
    if not checked:
        raise QuestionRefused(
            f"No op of run {run.id} is suspect by what is known of it: tensor_formats(suspects=true) has the list. "
            "Compare the whole model with its reference instead."
        )
    text = SCRIPT.read_text(encoding="utf-8")
    return text.replace(EMPTY, f"{EMPTY[:-2]}{pformat(checked, width=110, compact=True)}")


def _checked(facts: WindowFacts, op_code: str, suspects: list[Suspect]) -> dict[str, Any]:
    """One kind of op: its calls in order are the ops of that kind on one device."""
    layers = layers_of(facts, np.flatnonzero(facts.named(op_code)))
    names = {*NAMES.get(canonical(op_code), ()), *_linked(facts, suspects)}
    known = layers if any(layer is not None for layer in layers) else []
    return {"risk": "; ".join(one.risk for one in suspects), "names": sorted(names), "layers": known}


def _linked(facts: WindowFacts, suspects: list[Suspect]) -> set[str]:
    """The names of the ttnn operations behind them, as the memory report has them."""
    identity = TensorIdentity.of(facts.run, facts.ops)
    if identity is None:
        return set()
    rows = np.concatenate([one.rows for one in suspects])
    operations = identity.memory.operations
    places = np.flatnonzero(np.isin(operations.ids, identity.operations[rows]))
    names = {str(operations.names[int(place)]).rpartition(".")[2] for place in places}
    return {name for name in names if IDENTIFIER.fullmatch(name)}

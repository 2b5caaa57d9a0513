"""Functions of TTNN in words of torch, for what a result is compared with."""

from __future__ import annotations

from collections.abc import Sequence

ACTIVATIONS = {
    **{name: f"torch.{name}" for name in ("relu", "sigmoid", "tanh", "exp", "sqrt", "rsqrt", "abs", "neg", "log")},
    **{name: f"torch.{name}" for name in ("reciprocal", "square", "sin", "cos")},
    "recip": "torch.reciprocal",
    "gelu": "torch.nn.functional.gelu",
    "relu6": "torch.nn.functional.relu6",
    "silu": "torch.nn.functional.silu",
}


def applied(names: Sequence[str], operand: str) -> str | None:
    """Functions one after the other; None where torch has one of them under no name known here."""
    for name in names:
        if name not in ACTIVATIONS:
            return None
        operand = f"{ACTIVATIONS[name]}({operand})"
    return operand

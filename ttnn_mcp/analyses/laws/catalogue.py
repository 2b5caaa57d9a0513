"""All laws, and the one question to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_mcp.analyses.laws.attention import ATTENTION
from ttnn_mcp.analyses.laws.matmuls import MATMULS
from ttnn_mcp.analyses.laws.moves import MOVES
from ttnn_mcp.analyses.laws.others import OTHERS

if TYPE_CHECKING:
    from ttnn_mcp.analyses.laws.descriptions import Described
    from ttnn_mcp.analyses.laws.law import Expected, Law

LAWS: tuple[Law[Any], ...] = (*MATMULS, *ATTENTION, *OTHERS, *MOVES)
NO_LAW = "no law of such an op"


def expected(op: Described) -> Expected | None:
    """The device kernel time of an op by the first law that speaks of it; None where all are silent."""
    spoken = speaking(op)
    return spoken[1] if spoken else None


def silence(op: Described) -> str:
    """Why no law speaks of an op: what keeps the one from it that is nearest."""
    return min((law.silence(op) for law in LAWS if isinstance(op, law.of)), default=(0, NO_LAW))[1]


def speaking(op: Described) -> tuple[Law[Any], Expected] | None:
    """The first law that speaks of an op, and what it says."""
    answers = ((law, law.expected(op)) for law in LAWS if isinstance(op, law.of))
    return next(((law, answer) for law, answer in answers if answer is not None), None)

"""One kind of change, and of how many ops alike it took hold."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ttnn_mcp.analyses.comparison.aspects import Kind
from ttnn_mcp.analyses.comparison.places import LayersReached
from ttnn_mcp.records import dataclass

EngagedKind: TypeAlias = Kind | Literal["fusion", "added", "trace"]


@dataclass(frozen=True, slots=True)
class Engaged:
    """One kind of change and the ops alike.

    Attributes:
        kind: what kind of setting, or of edit, it is.
        op: the op's canonical name.
        what: the change in words.
        took: how many ops show it.
        of: how many ops are alike.
        layers: in which layers; None where there are none.
        missing: lines of the candidate's file with an op that is alike and does not show it.
        ns: time of the ops alike, in the baseline.
        delta_ns: how much it changed.
    """

    kind: EngagedKind
    op: str
    what: str
    took: int = 0
    of: int = 0
    layers: LayersReached | None = None
    missing: tuple[int, ...] = ()
    ns: int = 0
    delta_ns: int = 0

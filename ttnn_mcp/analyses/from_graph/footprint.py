"""What a program takes of a core's L1 for itself, buffer by buffer."""

from __future__ import annotations

from ttnn_mcp.records import dataclass

Buffers = dict[str, int]
"""Bytes per core of the circular and dataflow buffers and scratchpads that lie on no tensor, by what they hold."""


class AtMost(Buffers):
    """Buffers whose sizes follow from what no graph prints: the most that they can be."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """A program on its fullest core.

    Attributes:
        program: its device op.
        buffers: name and bytes of each, the largest first.
        exact: whether TTNN takes as much to the byte; else the most that it takes.
    """

    program: str
    buffers: tuple[tuple[str, int], ...]
    exact: bool = True

    @property
    def total(self) -> int:
        """Bytes per core."""
        return sum(size for _, size in self.buffers)


def footprint_of(program: str, buffers: Buffers) -> Footprint:
    """The record of what a model tells."""
    held = sorted(((name, int(size)) for name, size in buffers.items() if size), key=lambda named: -named[1])
    return Footprint(program, tuple(held), exact=not isinstance(buffers, AtMost))

"""The nodes of a captured graph as typed records, and the edges between tensors and scopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ttnn_mcp.readers.printed.nesting import whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Node:
    """One node; `at` is its position, `counter` the number that edges use."""

    at: int
    counter: int
    kind: str
    params: Mapping[str, object]
    connections: tuple[int, ...]
    input_tensors: tuple[int, ...]

    def text(self, key: str) -> str:
        """A parameter's text; '' where it is absent."""
        value = self.params.get(key)
        return "" if value is None else str(value)

    def number(self, key: str) -> int | None:
        """A parameter as an integer; None where it is none."""
        return whole(self.text(key))


def node_of(at: int, one: object) -> Node:
    """One element of the JSON list; what is missing or odd is empty."""
    node = cast("dict[str, object]", one) if isinstance(one, dict) else {}
    params = node.get("params")
    counter = node.get("counter")
    return Node(
        at=at,
        counter=counter if isinstance(counter, int) else at,
        kind=str(node.get("node_type", "")),
        params=cast("dict[str, object]", params) if isinstance(params, dict) else {},
        connections=_counters(node.get("connections")),
        input_tensors=_counters(node.get("input_tensors")),
    )


def _counters(value: object) -> tuple[int, ...]:
    return (
        tuple(one for one in cast("list[object]", value) if isinstance(one, int)) if isinstance(value, list) else ()
    )


class TensorEdges:
    """Which tensors go in and out of a scope, as far as the graph shows it."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        tensors = [node for node in self._nodes if node.kind == "tensor"]
        self._id = {node.counter: tensor for node in tensors if (tensor := node.number("tensor_id")) is not None}
        self._into: dict[int, list[int]] = {}
        for node in tensors:
            for counter in node.connections:
                self._into.setdefault(counter, []).append(node.counter)
        ends = (node for node in self._nodes if node.kind == "function_end")
        self._linked = bool(self._into) or any(counter in self._id for end in ends for counter in end.connections)

    def into(self, start: Node) -> tuple[int, ...]:
        """Newest graphs list them on the scope; older ones draw an edge from the tensor to the scope."""
        if not self._linked and not start.input_tensors:
            return self._behind(start)
        return self._ids(start.input_tensors) or self._ids(self._into.get(start.counter, ()))

    def out_of(self, end: Node) -> tuple[int, ...]:
        """The scope's end draws an edge to each result."""
        return self._ids(end.connections) if self._linked else self._behind(end)

    def _ids(self, counters: Iterable[int]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self._id[counter] for counter in counters if counter in self._id))

    def _behind(self, node: Node) -> tuple[int, ...]:
        """Where a graph has no edges: arguments are recorded right behind the start, results behind the end."""
        found: list[int] = []
        for at in range(node.at + 1, len(self._nodes)):
            follower = self._nodes[at]
            if follower.kind != "tensor":
                break
            found.append(follower.counter)
        return self._ids(found)

"""Programs whose buffers the report leaves out, and what other sources tell of them.

Three kinds of programs show no buffers: those from the program cache (TTNN 0.66 on), Metal 2.0 programs in a dispatched
capture (dataflow buffers, 0.78 on), and all programs under slow dispatch. A cached program has the buffers of its first
launch. For the others there may be a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.memory.left_out import LeftOut
from ttnn_mcp.readers.graph.launches import launch_of

if TYPE_CHECKING:
    from ttnn_mcp.analyses.memory.left_out import Models
    from ttnn_mcp.readers.graph.graph_events import GraphMemory, MemoryEvent
    from ttnn_mcp.readers.graph.launches import Launch
    from ttnn_mcp.readers.memory.columns import Tensors


class Programs:
    """The device ops of a run, and those that show no buffers.

    Attributes:
        launched: number of device ops that ended.
        silent: by name, how many of them show no buffers at all.
        unknown: by name, how many of the silent ones have unknown buffers.
        unknown_at: the operations that launched these.
        carried: number of silent ones that take the buffers of their first launch.
        modelled: number of silent ones that take the buffers of a model.
    """

    def __init__(self, tensors: Tensors, models: Models | None) -> None:
        self.launched = 0
        self.silent: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.unknown_at: set[int] = set()
        self.carried = 0
        self.modelled = 0
        self._tensors = tensors
        self._models = models
        self._first: dict[int, int] = {}
        self._launches: dict[int, Launch] = {}

    def left_out(self, graph: GraphMemory, operation: int) -> dict[int, LeftOut]:
        """By device op of the graph, the programs whose buffers it leaves out."""
        left_out: dict[int, LeftOut] = {}
        for number, device_op in enumerate(graph.device_ops):
            self.launched += device_op.completed
            if device_op.buffers or not device_op.completed:
                continue
            self.silent[device_op.name] += 1
            known = self._first.get(device_op.call) if device_op.cached is not False else None
            launch = self._launch(graph, number) if known is None and self._models is not None else None
            left_out[number] = LeftOut(device_op.name, operation, known, launch, self._models)
        return left_out

    def _launch(self, graph: GraphMemory, number: int) -> Launch:
        """What the graph prints of a device op; parsed once for all launches that print the same."""
        call = graph.device_ops[number].call
        if call not in self._launches:
            launch = launch_of(graph, number, self._tensors)
            if not call or "unsupported type" in launch.attributes:
                return launch  # launches without attributes look the same
            self._launches[call] = launch
        return self._launches[call]

    def count(self, programs: Iterable[LeftOut]) -> None:
        """Count what was found for programs that were left out."""
        for program in programs:
            if program.bytes_found is None:
                self.unknown[program.name] += 1
                self.unknown_at.add(program.operation)
            elif program.carried is None:
                self.modelled += 1
            else:
                self.carried += 1

    def learn(self, graph: GraphMemory, loads: Mapping[int, int]) -> None:
        """Remember the bytes of a graph's programs on the fullest core; for several equal programs the most."""
        for number, launch in enumerate(graph.device_ops):
            if launch.buffers and launch.call:
                self._first[launch.call] = max(self._first.get(launch.call, 0), loads.get(number, 0))


def ran(graph: GraphMemory) -> Sequence[MemoryEvent]:
    """The events of a graph without the buffers of refused programs: these were requested, but never allocated.

    A program was refused where the operation failed and the device op neither ended nor was put on the queue. An
    operation that was cut off without an exception was running: its buffers count.
    """
    if not graph.aborted and not graph.errors:
        return graph.events
    refused = {
        number for number, launch in enumerate(graph.device_ops) if not launch.completed and not launch.executed
    }
    return [event for event in graph.events if event.kind != "circular" or event.device_op not in refused]

"""Whether one device op really reads the tensor of another, by the tensor ids of a linked memory report."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.link import NOT_LINKED
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.run import Run


@dataclass(frozen=True)
class TensorIdentity:
    """The ttnn operation of each row, and its tensors.

    Attributes:
        operations: per row, the id of the ttnn operation that launched it; NOT_LINKED where unknown.
        memory: the memory report with the tensors.
    """

    operations: Integers
    memory: MemoryReport

    @classmethod
    def of(cls, run: Run, ops: OpTable) -> TensorIdentity | None:
        """The identities for these ops; None where the run has no linked memory report."""
        if run.memory is None or run.linked is None or run.linked.link.status != "linked":
            return None
        operation_at = run.linked.operation_at
        return cls(
            np.array([operation_at.get(int(line), NOT_LINKED) for line in ops.lines], dtype=np.int64), run.memory
        )

    def passed_on(self, maker: int, reader: int) -> tuple[int, ...] | None:
        """Ids of the tensors that one row's operation made and the other's reads.

        None where that is unknown: a row is not linked, or one operation launched both.
        """
        making, reading = int(self.operations[maker]), int(self.operations[reader])
        if NOT_LINKED in (making, reading) or making == reading:
            return None
        return tuple(set(self.memory.outputs.of(making)) & set(self.memory.inputs.of(reading)))

    def times_read(self, row: int) -> int | None:
        """How often operations read the tensors that the row's operation made; None where it is not linked.

        Freeing a tensor does not count.
        """
        operation = int(self.operations[row])
        if operation == NOT_LINKED:
            return None
        return sum(self._readers(tensor) for tensor in self.memory.outputs.of(operation))

    def read_once(self, tensor: int) -> bool:
        """Whether exactly one operation reads the tensor."""
        return self._readers(tensor) == 1

    def _readers(self, tensor: int) -> int:
        start, stop = np.searchsorted(self._taken, [tensor, tensor + 1])
        return int(stop - start)

    @cached_property
    def _taken(self) -> Integers:
        """Tensor ids, once per operation that reads them, sorted."""
        names, links = self.memory.operations, self.memory.inputs
        frees = [int(names.ids[row]) for row, name in enumerate(names.names) if "deallocate" in name]
        pairs = np.unique(np.stack((links.tensors, links.operations)), axis=1)
        return pairs[0][~np.isin(pairs[1], frees)]


def passed_on_alone(run: Run, ops: OpTable, makers: Integers, readers: Integers) -> Booleans | None:
    """Pairs of which the second surely reads what the first made, and nobody else does.

    None without a linked memory report to prove it.
    """
    identity = TensorIdentity.of(run, ops)
    if identity is None:
        return None
    pairs = zip(makers.tolist(), readers.tolist(), strict=True)
    passed = [identity.passed_on(maker, reader) or () for maker, reader in pairs]
    return np.array([bool(tensors) and all(map(identity.read_once, tensors)) for tensors in passed], dtype=np.bool_)

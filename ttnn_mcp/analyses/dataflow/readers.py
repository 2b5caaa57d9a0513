"""Which op reads whose output, also where a row shows the operands of another op (`borrowed_rows`).

If the hash of a program leaves shapes out, later rows of the program repeat the operands of its first row: an add of
8x256x256 in SegFormer is written as 16384x256 and takes a sixth of the time. Rows with the same description but other
times are doubtful. A doubtful op is assumed to read what the op before it wrote, and to write what the op after it
reads. All other joins are those of `likely_producers`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, Flow, flow_of
from ttnn_mcp.analyses.roofline.borrowed_rows import borrowed
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable

SHAPELESS_PROGRAMS = ("eltwise", "softmax")  # families whose program hash leaves shapes out: five real reports
SAME_WORK = 1.3  # times the quickest op of the same record: times of equal work in one report differ by less
MEASURABLE_NS = 500.0  # smaller differences are noise
FILLS_ITS_INPUT = frozenset(  # INPUT_1 of these is the tensor they write into, not one they read
    ("InterleavedToSharded", "InterleavedToShardedPartial", "Reshard", "Move", "Copy", "Clone")
)


@dataclass(frozen=True)
class Joins:
    """Joins between the ops of one device, in the order they ran; positions are rows of `flow.ops`."""

    flow: Flow

    @property
    def ops(self) -> OpTable:
        """The ops."""
        return self.flow.ops

    @cached_property
    def doubtful(self) -> Booleans:
        """Mask of the ops whose operands may be those of another call: `borrowed`, or equal rows took other times."""
        ops, kernel = self.ops, self.ops.numbers("kernel_ns")
        if not len(ops):
            return np.zeros(0, dtype=np.bool_)
        place = numbered(len(ops), [signatures(ops), ops.texts("attributes").codes])
        quickest = np.full(place.max() + 1, np.inf)
        slowest = np.zeros(place.max() + 1)
        np.minimum.at(quickest, place, kernel)
        np.maximum.at(slowest, place, kernel)
        spread = (slowest > SAME_WORK * quickest) & (slowest - quickest > MEASURABLE_NS)
        shapeless = ops.of_family(*SHAPELESS_PROGRAMS)
        return (spread[place] & shapeless) | borrowed(ops)

    @cached_property
    def makers(self) -> Integers:
        """Per row, the row that made INPUT_0; NOBODY where no op of the window did."""
        return self.by_input[0] if self.by_input else np.full(len(self.ops), NOBODY, dtype=np.int64)

    @cached_property
    def by_input(self) -> tuple[Integers, ...]:
        """Per input, the row that made it; NOBODY where no op of the window did."""
        previous = np.arange(len(self.ops)) - 1
        producers = self.flow.producers
        if not producers:
            return ()
        fills = self.ops.named(*FILLS_ITS_INPUT)
        after_doubtful = np.zeros(len(previous), dtype=np.bool_)
        after_doubtful[1:] = self.doubtful[:-1]
        after_doubtful &= ~np.any([made_by == previous for made_by in producers], axis=0)
        first, *others = self._told_apart
        maker_of_first = np.where(self.doubtful | after_doubtful, previous, first)
        return (maker_of_first, *(np.where(self.doubtful | fills, NOBODY, made_by) for made_by in others))

    @cached_property
    def _told_apart(self) -> tuple[Integers, ...]:
        """The likely producers; of two alike operands the first is the output before, if nobody else reads that.

        gate = silu(a); up = linear(x); gate * up: both operands look like `up`, and `gate` would be read by nobody.
        """
        producers = self.flow.producers
        if len(producers) < len(("left", "right")):
            return producers
        left, right = np.array(producers[0]), producers[1]
        rows = np.flatnonzero(self.ops.named("Binary") & (left == right) & (left != NOBODY))
        if not len(rows):
            return producers
        before = self.flow.output_before(left[rows])
        read = np.zeros(len(self.ops), dtype=np.bool_)  # its last place is NOBODY's, too: no op reads the last op
        for made_by in producers:
            read[made_by] = True
        unread = ~read[before]
        left[rows[unread]] = before[unread]
        return (left, *producers[1:])

    @cached_property
    def edges(self) -> tuple[Integers, Integers]:
        """(makers, readers), each pair once, sorted by maker, then by reader."""
        rows = np.arange(len(self.ops))
        span = len(rows)
        pairs = [made_by[made_by != NOBODY] * span + rows[made_by != NOBODY] for made_by in self.by_input]
        joined = np.unique(np.concatenate(pairs)) if pairs else np.zeros(0, dtype=np.int64)
        return joined // span, joined % span

    @cached_property
    def reader_counts(self) -> Integers:
        """Per row, how many ops read what it made."""
        return np.bincount(self.edges[0], minlength=len(self.ops))

    def readers(self, row: int) -> tuple[int, ...]:
        """The ops that read what `row` made, in order."""
        start, stop = np.searchsorted(self.edges[0], [row, row + 1])
        return tuple(int(reader) for reader in self.edges[1][start:stop])

    def chain(self, row: int, among: Booleans) -> list[int]:
        """The row and the ops of `among` that follow it, each the only reader of the one before."""
        followed = [row]
        while len(readers := self.readers(followed[-1])) == 1 and among[readers[0]]:
            followed.append(readers[0])
        return followed

    def maker_behind(self, row: int, among: Booleans, most: int) -> int:
        """What made INPUT_0 of `row`, behind at most so many ops of `among`; NOBODY where no op of the window did."""
        maker = int(self.makers[row])
        for _ in range(most):
            if maker == NOBODY or not among[maker]:
                break
            maker = int(self.makers[maker])
        return maker

    def read_only_by(self, among: Booleans) -> Booleans:
        """Mask of the ops that ops of `among` read, and no others."""
        makers, readers = self.edges
        others = np.zeros(len(self.ops), dtype=np.bool_)
        others[makers[~among[readers]]] = True
        return (self.reader_counts > 0) & ~others

    def readers_among(self, bits: Integers) -> Integers:
        """Per row, the bitwise or of the bits of all its readers."""
        together = np.zeros(len(self.ops), dtype=np.int64)
        makers, readers = self.edges
        np.bitwise_or.at(together, makers, bits[readers])
        return together


@artefact
def joins_of(ops: OpTable) -> Joins:
    """The joins between a device's ops; computed once per table."""
    return Joins(flow_of(ops))

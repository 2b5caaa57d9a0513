"""The facts about one window that checks and tools share: its ops on the critical device, and results computed once.

Functions marked `artefact` keep their result with the table of ops; this object gives these results plain names.
"""

from __future__ import annotations

from functools import cached_property
from threading import RLock

import numpy as np

from ttnn_mcp.analyses.attribute_columns import AttributeColumns, attributes_of
from ttnn_mcp.analyses.dataflow.likely_producers import Flow, flow_of
from ttnn_mcp.analyses.dataflow.readers import Joins, joins_of
from ttnn_mcp.analyses.devices.balance import Balance, balance_of
from ttnn_mcp.analyses.devices.collectives import Collectives, collectives_of
from ttnn_mcp.analyses.devices.host_gaps import Timeline, gaps_of_wall, timeline_of, timelines_of
from ttnn_mcp.analyses.devices.waits import Waits, waits_for_host
from ttnn_mcp.analyses.devices.working_device import led_by_work
from ttnn_mcp.analyses.layers.layering import Layering, layering_of
from ttnn_mcp.analyses.memory.l1_limit import L1Limit, l1_limit
from ttnn_mcp.analyses.memory.replay import replayed
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.analyses.moves.moves import Moves, moves_of
from ttnn_mcp.analyses.op_kinds.attention_chains import AttentionChain, attention_chains
from ttnn_mcp.analyses.op_kinds.convs import Convs, convs_of
from ttnn_mcp.analyses.op_kinds.matmul_choice import MatmulChoice, matmul_choice
from ttnn_mcp.analyses.roofline.beyond_peak import doubted_by_work
from ttnn_mcp.analyses.roofline.roofline import Roofline, roofline_of
from ttnn_mcp.analyses.time_budget.least_times import LeastTimes, least_times_of
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.run.chip import Chip
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand
from ttnn_mcp.run.ops.texts import Texts
from ttnn_mcp.run.run import Run
from ttnn_mcp.run.window import Scope
from ttnn_mcp.wire import Evidence


class WindowFacts:
    """One window of one run. `ops` are those of the critical device, in execution order.

    Attributes:
        run: the run.
        ops: the ops of the device that works longest: the others wait for it.
        wall_ns: what a pass takes with the profiler off; None where nobody has measured it.
        outcomes: the answer of each check about this window; filled by the diagnosis.
        lock: held while an outcome is computed.
    """

    def __init__(self, run: Run, scope: Scope, wall_ns: float | None = None) -> None:
        self.run = run
        self.wall_ns = wall_ns
        self._of_wall: WindowFacts | None = None
        self._scope = scope = led_by_work(scope, run.chip)
        self.ops: OpTable = scope.critical
        self.outcomes: dict[str, object] = {}
        self.lock = RLock()

    def __len__(self) -> int:
        return len(self.ops)

    @cached_property
    def scope(self) -> Scope:
        """The window with the ops of all devices, and all doubts about them."""
        return doubted_by_work(self._scope, self.roofline)

    @cached_property
    def chip(self) -> Chip:
        """The chip: this device's clock, cores, bandwidth, and which of these were inferred."""
        return self.run.chip.on(self._scope.critical_device)

    @property
    def compiled(self) -> bool:
        """Whether a compiler front end (tt-xla, tt-torch) wrote the program."""
        return self.run.performance_report.csv.compiler

    @property
    def l1_limit(self) -> L1Limit | None:
        """L1 of a core that tensors and circular buffers share; None for an unknown chip."""
        return l1_limit(self.run)

    @property
    def safe_l1_bytes(self) -> int:
        """The largest predicted use of a core's L1 that still counts as safe; 0 for an unknown chip."""
        return self.l1_limit.safe_bytes if self.l1_limit else 0

    @property
    def replay(self) -> Replayed | None:
        """The replay of the memory report; None if the run has none or it was not requested."""
        return replayed(self.run)

    @cached_property
    def kernel_ns(self) -> Floats:
        """Kernel time per op."""
        return self.ops.numbers("kernel_ns")

    @cached_property
    def total_ns(self) -> float:
        """Kernel time of the window on this device: the whole of which shares are taken."""
        return float(self.kernel_ns.sum())

    @property
    def timeline(self) -> Timeline:
        """Kernels and gaps of this device over the window."""
        return timeline_of(self.ops, self.chip.clock_ghz)

    @property
    def gap_ns(self) -> float:
        """Time between this device's ops in the window; in a cold window this is compile and load time."""
        return self.timeline.gap_ns

    @cached_property
    def idle_ns(self) -> Floats:
        """Per op, the time before it in which nothing ran; zeros in a cold window, whose gaps are not the model's.

        Together they are no more than the wall time leaves them, where it is known.
        """
        line = self.timeline
        if not self.scope.window.warm:
            return np.zeros(len(self))
        return line.idle_ns if self.wall_ns is None else gaps_of_wall(line.idle_ns, self.wall_ns - line.busy_ns)

    @cached_property
    def whole_ns(self) -> float:
        """Kernels, and gaps of a warm window: the whole of which a plan and its claims tell shares."""
        return float(self.timeline.spent_ns.sum() + self.idle_ns.sum())

    @cached_property
    def names(self) -> Texts:
        """OP CODE per op."""
        return self.ops.texts("op_code")

    @property
    def flow(self) -> Flow:
        """The likely makers of inputs and readers of outputs, by size, type and placement."""
        return flow_of(self.ops)

    @property
    def joins(self) -> Joins:
        """The same with doubtful joins marked, and edges that can be walked."""
        return joins_of(self.ops)

    @property
    def roofline(self) -> Roofline:
        """Lower bounds of each op."""
        return roofline_of(self.ops, self.chip)

    @property
    def least_times(self) -> LeastTimes:
        """The least time of each op, step by step."""
        return least_times_of(self.ops, self.chip, self.flow, len(self.balance.devices))

    @cached_property
    def modelled_share(self) -> float:
        """Share of the kernel time on ops whose least time leaves out no known cost."""
        known = self.least_times.complete & self.least_times.bounded  # unmoved: no complete bound is known to be 0
        return self.share(np.flatnonzero(known))

    @property
    def layering(self) -> Layering | None:
        """The layers of `scope.ops` (all devices); None if nothing names them and no block of ops repeats."""
        return layering_of(self.scope.ops, self.run.performance_report.signposts)

    @cached_property
    def layering_here(self) -> Layering | None:
        """The layers of `ops`."""
        here = self.scope.ops.numbers("device") == self.scope.critical_device
        return self.layering and self.layering.take(np.flatnonzero(here))

    @property
    def attributes_of_ops(self) -> AttributeColumns:
        """The ATTRIBUTES of all ops, by column."""
        return attributes_of(self.ops)

    @property
    def moves(self) -> Moves:
        """Changes of placement."""
        return moves_of(self.ops, self.run)

    @property
    def balance(self) -> Balance:
        """The devices of the window in comparison."""
        return balance_of(self.scope.ops, encodes_device=self.run.performance_report.encodes_device)

    @property
    def convs(self) -> Convs:
        """The Conv2d ops and their blocks."""
        return convs_of(self.ops)

    @property
    def matmuls(self) -> MatmulChoice:
        """The Matmul ops and the program configs they ran with."""
        return matmul_choice(self.ops)

    @property
    def attentions(self) -> list[AttentionChain]:
        """Attentions written out as single ops."""
        return attention_chains(self.ops, self.flow)

    @property
    def collectives(self) -> Collectives:
        """The collectives of the critical device."""
        return collectives_of(self.ops, len(self.balance.devices))

    @property
    def waits(self) -> Waits:
        """How much of the kernels may be waiting for other chips that the host feeds late.

        Nothing under a trace: its replay needs no host.
        """
        ops, chip = self.scope.ops, self.run.chip
        if self.run.performance_report.traced:
            lines = timelines_of(ops, chip)
            return Waits({line.device: np.zeros(len(line.spent_ns)) for line in lines}, bounded=True)
        return waits_for_host(ops, self.balance, chip)

    @property
    def alone(self) -> bool:
        """Whether the window holds one device: what others do is not known, or there are none."""
        return len(self.ops) == len(self._scope.ops)

    @cached_property
    def working_ns(self) -> float:
        """Time in which kernels ran that did not wait for the host, on the device that works longest.

        No pass of this program takes less.
        """
        lines = timelines_of(self.scope.ops, self.run.chip)
        return max(line.busy_ns - float(self.waits.by_device[line.device].sum()) for line in lines)

    @property
    def roofline_of_devices(self) -> Roofline:
        """Lower bounds of each op in `scope.ops`: all devices."""
        return roofline_of(self.scope.ops, self.run.chip.at_fastest)

    def of_wall(self, wall_ns: float | None) -> WindowFacts:
        """The same window with its wall time; the last one asked for is kept, for the next page of its answer."""
        if wall_ns == self.wall_ns:
            return self
        facts = self._of_wall
        if facts is None or facts.wall_ns != wall_ns:
            facts = self._of_wall = WindowFacts(self.run, self._scope, wall_ns)
        return facts

    def attributes(self, row: int) -> Attributes:
        """The attributes of one op."""
        return attributes_of(self.ops).row(row)

    def named(self, *canonical_names: str) -> Booleans:
        """Mask of the ops with one of these canonical names (`Conv2d`, `Tilize`)."""
        return self.ops.named(*canonical_names)

    def of_family(self, *families: str) -> Booleans:
        """Mask of the ops of these families (`matmul`, `conv`, `layout`, ...)."""
        return self.ops.of_family(*families)

    def input(self, number: int) -> Operand | None:
        """INPUT_n of every op; None if no op has so many."""
        return self.ops.inputs[number] if number < len(self.ops.inputs) else None

    def output(self, number: int = 0) -> Operand | None:
        """OUTPUT_n of every op; None if no op has so many."""
        return self.ops.outputs[number] if number < len(self.ops.outputs) else None

    def share(self, rows: Integers) -> float:
        """Share of the window's kernel time on these ops; an op that is named twice counts once."""
        return float(self.kernel_ns[_once(rows)].sum() / self.total_ns) if self.total_ns else 0.0

    def share_of_whole(self, rows: Integers) -> float:
        """Share of kernels and gaps on these ops; an op that is named twice counts once."""
        return float(self.timeline.spent_ns[_once(rows)].sum() / self.whole_ns) if self.whole_ns else 0.0

    def us(self, rows: Integers) -> float:
        """Kernel time on these ops, in microseconds; an op that is named twice counts once."""
        return float(self.kernel_ns[_once(rows)].sum()) / 1e3

    def heaviest(self, rows: Integers, most: int = 3, weigh_ns: Floats | None = None) -> list[int]:
        """The `most` costliest of these ops, costliest first, different signatures before repeats.

        `weigh_ns` is what each of them costs, where that is more than its own time.
        """
        ranked = rows[np.argsort(-(self.kernel_ns[rows] if weigh_ns is None else weigh_ns), kind="stable")]
        ranked = ranked[: 50 * most]
        each_once = ranked[np.sort(np.unique(signatures(self.ops)[ranked], return_index=True)[1])]
        by_kind: dict[tuple[object, ...], int] = {}
        for row in each_once:
            by_kind.setdefault((self.names[int(row)], self.shapes(int(row))), int(row))
            if len(by_kind) == most:
                break
        return list(by_kind.values())

    def shapes(self, row: int) -> str:
        """`1x1x32[19]x1280 * 1280x5120 -> ...` of the op's operands."""
        return self.ops.shapes(row)

    def cite(self, row: int, *names: str) -> tuple[Evidence, ...]:
        """Cells of the op behind a claim; `kernel_ns` if none are named."""
        return tuple(self.ops.cite(row, name) for name in names or ("kernel_ns",))

    def line(self, row: int) -> int:
        """The op's line in its file: the user's name of it."""
        return int(self.ops.lines[row])


def _once(rows: Integers) -> Integers:
    return rows if bool((np.diff(rows) > 0).all()) else np.unique(rows)


def facts_of(run: Run, scope: Scope) -> WindowFacts:
    """The facts of a window; one object per run and window."""
    stored = run.kept.get(WindowFacts, scope)
    return run.kept.store(WindowFacts(run, scope), scope) if stored is None else stored

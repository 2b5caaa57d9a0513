"""The needs of checks: if a run does not meet one, the check cannot tell and says what to capture."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.devices.collectives import payload_gb_s
from ttnn_mcp.analyses.memory.death import death_of
from ttnn_mcp.analyses.op_kinds.convs import convs_of
from ttnn_mcp.analyses.op_kinds.formats import phases
from ttnn_mcp.analyses.op_kinds.matmul_choice import matmul_choice
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.arrays import Booleans
from ttnn_mcp.records import dataclass

AS_WRITTEN = "give the CSV as the profiler wrote it (`python -m tracy -r -p`)"
DEVICE_SIDE = "profile with device-side profiling on"
SINCE_2025 = "profile with a tt-metal of 2025 or later"


@dataclass(frozen=True, slots=True)
class Need:
    """Evidence that a check must have.

    Attributes:
        name: one word for a list.
        met: whether the window has it, by the mask of the check's ops.
        lacking: the answer if it is missing: what is missing and what to capture.
        of_run: whether it is a need of the whole run, tested before the check's ops are known.
    """

    name: str
    met: Callable[[WindowFacts, Booleans], bool]
    lacking: str | Callable[[WindowFacts], str]
    of_run: bool = False

    def why(self, facts: WindowFacts) -> str:
        """The answer if the window lacks it."""
        return self.lacking if isinstance(self.lacking, str) else self.lacking(facts)


def _operands(facts: WindowFacts, inputs: int) -> bool:
    return len(facts.ops.inputs) >= inputs and bool(facts.ops.outputs)


def _replayed(facts: WindowFacts) -> bool:
    return facts.replay is not None and len(facts.replay.operations) > 0


def _compute_config(facts: WindowFacts, about: Booleans) -> bool:
    said_cores = attributes_of(facts.ops).numbers(
        np.flatnonzero(about), lambda attributes: float(attributes.struct("compute_kernel_config") is not None)
    )
    return bool((said_cores > 0).any())


def _other_ops(facts: WindowFacts) -> str:
    counts = facts.balance.ops
    ran = f" ({counts.min()} to {counts.max()} each)" if counts.min() != counts.max() else ""
    return (
        f"devices ran different ops{ran}: rows dropped (profile fewer ops, larger --op-support-count) or a pipeline by "
        "design"
    )


def _same_ops(facts: WindowFacts) -> bool:
    return facts.balance.matched != "not_matched" and len(set(facts.balance.ops.tolist())) == 1


MEMORY = Need("memory", lambda facts, _: facts.run.memory is not None, "needs a memory report", of_run=True)
REPLAY = Need(
    "replay",
    lambda facts, _: _replayed(facts),
    "the memory report was not replayed; ask memory_summary",
    of_run=True,
)
ENDED = Need(
    "a run that ended",
    lambda facts, _: facts.run.memory is None or death_of(facts.run.memory) is None,
    "the run died before its end: memory_summary tells why; capture again once it runs through",
    of_run=True,
)
CAPACITY = Need(
    "capacity",
    lambda facts, _: facts.replay is not None and bool(facts.replay.capacity_bytes),
    "no devices table and no known architecture: L1 capacity unknown; profile with DEVICE ARCH",
    of_run=True,
)
CAPTURES = Need(
    "captures",
    lambda facts, _: facts.replay is not None and facts.replay.floor_because != "no_graphs",
    "no captured graphs: the L1 peak is not known; capture with ttnn.graph.full_graph_capture (from 0.69.0)",
    of_run=True,
)
OPERANDS = Need(
    "operands", lambda facts, _: _operands(facts, 1), f"no INPUT_n and OUTPUT_n columns in the report; {AS_WRITTEN}"
)
TWO_OPERANDS = Need(
    "operands", lambda facts, _: _operands(facts, 2), f"no INPUT_n and OUTPUT_n columns in the report; {AS_WRITTEN}"
)
PLACEMENTS = Need(
    "placements",
    lambda facts, _: (
        _operands(facts, 1) and any(operand.memory.distinct for operand in (*facts.ops.inputs, *facts.ops.outputs))
    ),
    f"no INPUT_n_MEMORY and OUTPUT_n_MEMORY columns in the report; {AS_WRITTEN}",
)
LOGICAL_SHAPES = Need(
    "logical shapes",
    lambda facts, _: facts.run.performance_report.csv.logical_shapes,
    "this report writes padded shapes only; profile with a tt-metal of 2025-09 or later",
)
CORES = Need(
    "cores",
    lambda facts, _: bool(np.isfinite(facts.ops.numbers("cores")).any()),
    f"no CORE COUNT in the report; {AS_WRITTEN}",
)
FIDELITY = Need(
    "fidelity",
    lambda facts, about: not bool(np.isnan(phases(facts.ops)[about]).all()),
    f"MATH FIDELITY is empty on every matmul and conv; {DEVICE_SIDE}",
)
COMPUTE_CONFIG = Need("compute config", _compute_config, f"ATTRIBUTES hold no compute_kernel_config; {SINCE_2025}")
ATTRIBUTES = Need(
    "attributes",
    lambda facts, about: bool((facts.ops.texts("attributes").codes[about] >= 0).any()),
    f"the ops carry no ATTRIBUTES; {SINCE_2025}",
)
PROGRAM_CONFIG = Need(
    "program config",
    lambda facts, _: bool(matmul_choice(facts.ops).has_config.any()),
    f"matmuls without program_config in ATTRIBUTES; {SINCE_2025}",
)
BLOCK_CONFIG = Need(
    "block config",
    lambda facts, _: bool(convs_of(facts.ops).known),
    f"the Conv2d rows carry no block_config in ATTRIBUTES; {SINCE_2025}",
)
ARCHITECTURE = Need(
    "architecture",
    lambda facts, _: facts.chip.architecture is not None,
    "unknown architecture, so no roofline to compare with; profile with DEVICE ARCH",
)
DRAM_BANDWIDTH = Need(
    "DRAM bandwidth",
    lambda facts, _: facts.chip.dram_achievable_gb_s is not None,
    "unknown architecture, so no DRAM bandwidth to compare with; profile with DEVICE ARCH",
)
LINK_RATE = Need(
    "link rate",
    lambda facts, _: payload_gb_s(facts.chip) is not None,
    "no rate is known for this architecture's links between chips",
)
L1_LIMIT = Need(
    "L1 limit",
    lambda facts, _: facts.l1_limit is not None,
    "unknown architecture, so the L1 of a core is not known; profile with DEVICE ARCH, or add the memory report",
)
SAME_OPS = Need(
    "same ops on all devices",
    lambda facts, _: _same_ops(facts),
    _other_ops,
)

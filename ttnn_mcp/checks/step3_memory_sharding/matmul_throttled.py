"""A matmul or conv is held back on purpose, by the throttle level of its compute config.

TTNN puts idle instructions between the multiplications so that a board's current rises more slowly: the levels 1 to 5
leave at most 73, 67, 50, 40 and 33 % of the rate (tt-metal, compute_throttle_utils.hpp). It is for boards that hung.

The line: `throttle_level` is a level in the op's compute config, on more than 48 cores of a Wormhole (TTNN ignores it
on fewer) or any number of a Blackhole, and taking it away could save 1 % of the window. The bound is the rate given
back, never below the roofline: where reading sets the time, nothing is gained.

Silent about TT_MM_THROTTLE_PERF and the throttle of a Blackhole's firmware: neither is in a report.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from ttnn_mcp.checks.arrays import Floats, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import KERNEL_CONFIG
from ttnn_mcp.checks.needs import CORES
from ttnn_mcp.checks.shared.compiled import compute_config_of_compiler
from ttnn_mcp.checks.shared.compute_configs import sets_compute
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.wording import cite_op, cite_setting
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.printed.attributes import Attributes

RATES = {  # of the full one: compute_throttle_utils.hpp
    "LEVEL_1": 0.73,
    "LEVEL_2": 0.67,
    "LEVEL_3": 0.5,
    "LEVEL_4": 0.4,
    "LEVEL_5": 0.33,
}
LEVEL = re.compile("|".join(RATES))
SETS = sets_compute(throttle_level="ttnn.ThrottleLevel.NO_THROTTLE")
UNTHROTTLED_CORES = 48  # of a Wormhole: WH_B0_MM_MAX_CORES_NO_THROTTLE, same file


@check(
    title="matmuls held back on purpose",
    lever=KERNEL_CONFIG,
    of=ops_of_family("no matmul or conv ops", "matmul", "conv"),
    needs=(CORES,),
    worth=Worth(saving=USUAL),
    compiled=compute_config_of_compiler("throttle_level=NO_THROTTLE"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that are held back."""
    able = np.flatnonzero(facts.of_family("matmul", "conv"))
    if facts.chip.arch == "wormhole_b0":
        able = able[facts.ops.numbers("cores")[able] > UNTHROTTLED_CORES]
    rates = _rates(facts, able)
    rows, rates = able[rates < 1], rates[rates < 1]
    took = facts.kernel_ns[rows]
    saved = took - np.maximum(took * rates, least_ns(facts)[rows])
    yield Problem(rows, saved, sets=SETS, tell=partial(_tell, rates))


def _tell(rates: Floats, ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    return Words(
        claim=(
            f"{ops.kinds} ({ops.time}) held back by throttle_level, the heaviest "
            f"at {figure(rates[ops.at], '.0%')} of the rate: "
            f"{ops.example}"
        ),
        assumption="time falls with the rate given back, down to the roofline; no gain where reading sets the time",
        evidence=(cite_setting(facts, row, "compute_kernel_config", "throttle_level"), *cite_op(facts, row)),
        fix=ops.with_only(SETS).compute_text,
        verify=f"re-profile; op_detail(op={ops.line}).kernel_us falls; a long run that does not hang",
        caveat="somebody may have set it because this board hung under load: ask before, and run long",
    )


def _rates(facts: WindowFacts, rows: Rows) -> Floats:
    """Per row the share of the full rate that its level leaves; 1 without a level."""

    def rate(attributes: Attributes) -> float:
        config = attributes.struct("compute_kernel_config")
        level = LEVEL.search((config and config.text_of("throttle_level")) or "")
        return RATES[level.group()] if level else 1.0

    return facts.attributes_of_ops.numbers(rows, rate)

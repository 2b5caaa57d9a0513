"""Fused attention over a long sequence works in chunks of 32.

SDPA holds a chunk of Q and streams K and V past it in chunks. In chunks of 32 it pays the softmax's
bookkeeping for every tile: up to 3.75 times the time of chunks of 128 to 512 (4.256 -> 1.218 ms at 16k in
tt-metal #51911, closed in September 2026). 32 was the default without a program config on builds before that.

The line: ScaledDotProductAttention or a joint or ring form of it, Q of 2048 rows and more, program_config
absent or q_chunk_size or k_chunk_size at 32 and below, 1 % of the window to save. The bound is what was
measured, or the arithmetic at 75 % of the engine (where SDPA saturates: #55758), whichever is more.

Silent about decode forms (one row of Q), shorter sequences, and ops that use the engine well already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.checks.check import Check, Claim, Claims, Floats, Rows, Subject, WindowFacts
from ttnn_mcp.checks.needs import ATTRIBUTES, OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    from ttnn_mcp.readers.printed.attributes import Attributes

SMALL_CHUNK = 32  # rows: the default before tt-metal #51911 was closed
LONG = 2048  # rows of Q: below it small chunks cost little (domain practice)
FASTER_AT_MOST = 3.75  # measured: tt-metal #51911
SATURATES = 0.75  # of the matrix engine: tt-metal #55758
FIX = (
    "program_config=ttnn.SDPAProgramConfig(compute_with_storage_grid_size=device.compute_with_storage_grid_size(), "
    "q_chunk_size=128, k_chunk_size=128, exp_approx_mode=False); then try 256 and 512"
)


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all fused attentions in small chunks."""
    rows = np.flatnonzero(facts.names.where(_streams))
    chunks = attributes_of(facts.ops).numbers(rows, _smallest_chunk)
    small = (chunks <= SMALL_CHUNK) & (facts.ops.inputs[0].logical[rows, 2] >= LONG)
    rows, chunks = rows[small], chunks[small]
    at_most = _at_most(facts, rows)
    if not len(rows):
        return
    examples = facts.heaviest(rows)
    row = examples[0]
    given = chunks[np.flatnonzero(rows == row)[0]] > 0
    yield Claim(
        claim=(
            f"{len(rows)} fused attentions over {facts.ops.inputs[0].logical[row, 2]} rows "
            f"{'work in chunks of 32' if given else 'have no program config'} ({time_of(facts, rows)}): "
            f"{example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=at_most,
        assumption="at best 3.75x as fast (measured, tt-metal #51911), never above 75 % of the engine",
        evidence=tuple(one for n in examples for one in (*cite_op(facts, n), *facts.cite(n, "attributes")))[:4],
        fix=FIX,
        verify=f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls; PCC >= 0.99",
        caveat="builds since September 2026 choose larger chunks themselves: check the version; they need L1",
    )


def _streams(op_code: str) -> bool:
    name = canonical(op_code)
    return family(op_code) == "attention" and "Decode" not in name and "MLA" not in name


def _smallest_chunk(said: Attributes) -> float:
    """Rows of the smaller chunk; 0 where no program config was given."""
    config = said.call("program_config")
    chunks = [config.number(key) for key in ("q_chunk_size", "k_chunk_size")] if config else []
    return float(min((chunk for chunk in chunks if chunk), default=0))


def _at_most(facts: WindowFacts, rows: Rows) -> Floats:
    took = facts.kernel_ns[rows]
    engine = np.nan_to_num(facts.roofline.compute_ns[rows]) / SATURATES
    best = np.maximum(np.maximum(engine, achievable_ns(facts)[rows]), took / FASTER_AT_MOST)
    return np.maximum(took - best, 0)


CHECK = Check(
    id="sdpa-small-chunks",
    title="fused attention in chunks of 32",
    step=3,
    look=look,
    of=Subject(lambda facts: facts.names.where(_streams), "no prefill SDPA ops"),
    needs=(OPERANDS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses SDPA chunks on builds since September 2026"),
)

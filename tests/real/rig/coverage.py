"""Which checks' fixes were executed: a check whose fix nobody ran is told, unless its fix holds no call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.checks import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Container

IN_WORDS = {
    "all-reduce-untried": "one call over a buffer and a semaphore of the model's mesh; `names` holds the op",
    "batch-norm-unfolded": "arithmetic in PyTorch; the page of step 6 runs it",
    "cast-before-attention": "drops a call",
    "columns-permuted-every-call": "reorders weights in PyTorch",
    "copies-before-halo": "lets another op write what a copy writes, with the config of that copy",
    "dead-result": "deletes a call",
    "device-imbalance": "deals the work out anew",
    "duplicate-gather": "drops a call",
    "faster-elsewhere": "copies the config of another op of the run",
    "float32-between-bfloat16": "drops two calls",
    "host-calls-inside": "moves calls of the model; `names` holds that what it names exists",
    "matmul-beside-exchange": "names fused ops, whose semaphores and buffers are the model's; `names` holds them",
    "pcc-below-bound": "takes the last change back",
    "repeated-small-ops": "joins calls of the model",
    "results-in-dram": "one argument of the model's own call; `names` holds its value",
    "rotary-as-prefill": "another mode of the call, on operands in shards of the model; `names` holds the op",
    "rows-not-read": "slices what a call reads",
    "scaled-after-matmul": "multiplies weights in PyTorch",
    "shape-round-trip": "drops two calls",
    "sharded-after-writing": "gives the model's own call the config of another one",
    "shard-for-one-matmul": "drops a call",
    "tensor-through-host": "names the ops that do it on the device; `names` holds them",
    "tile-padding-waste": "orders the model's dimensions anew",
    "tiny-row-reshape": "orders the model's dimensions anew",
}


def gaps(ran: Container[str], words: Container[str] = IN_WORDS) -> list[str]:
    """One sentence per check whose fix is neither executed nor known to hold no call, and per reason that is stale."""
    forgotten = [
        f"NOT COVERED {check.id}: no call of its fix ran; make a test of tests/checks bring it about on a program "
        "with an architecture, or say in coverage.py why its fix holds no call"
        for check in CATALOGUE
        if check.id not in ran and check.id not in words
    ]
    stale = [f"STALE {check.id}: a call of its fix ran, but coverage.py says that it holds none"
             for check in CATALOGUE if check.id in ran and check.id in words]  # fmt: skip
    return [*forgotten, *stale]

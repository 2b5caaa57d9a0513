"""Which checks' fixes were executed: a check whose fix nobody ran is told, unless its fix holds no call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from ttnn_mcp.checks.check import Check

# functions whose calls in a fix are held to no op of a report, and why; where one of theirs stands around, they are
NOT_JUDGED = {
    **dict.fromkeys(
        ("ttnn.from_torch", "ttnn.to_device", "ttnn.to_layout", "ttnn.to_memory_config", "ttnn.reshard", "ttnn.concat",
         "ttnn.zeros", "ttnn.pad", "ttnn.reshape", "ttnn.narrow", "ttnn.allocate_tensor_on_device", "ttnn.deallocate",
         "ttnn.prepare_grid_sample_grid", "ttnn.prepare_conv_weights", "ttnn.copy_host_to_device_tensor",
         "ttnn.all_gather", "ttnn.experimental.all_gather_async"),
        "makes, moves, cuts or frees a tensor that the words tell",
    ),
    **dict.fromkeys(
        ("ttnn.open_device", "ttnn.set_fabric_config", "ttnn.FabricRouterConfig", "ttnn.record_event",
         "ttnn.wait_for_event", "ttnn.begin_trace_capture", "ttnn.end_trace_capture", "ttnn.execute_trace",
         "ttnn.MemoryConfig", "ttnn.UnaryWithParam"),
        "no op",
    ),
    **dict.fromkeys(
        ("ttnn.transformer.scaled_dot_product_attention", "ttnn.transformer.scaled_dot_product_attention_decode",
         "ttnn.transformer.split_query_key_value_and_split_heads", "ttnn.experimental.nlp_concat_heads",
         "ttnn.experimental.nlp_create_qkv_heads_decode", "ttnn.experimental.nlp_concat_heads_decode",
         "ttnn.experimental.deepseek_grouped_gate", "ttnn.sparse_matmul", "ttnn.argmax", "ttnn.upsample",
         "ttnn.update_cache", "ttnn.unary_chain", "ttnn.experimental.paged_fill_cache", "ttnn.group_norm",
         "ttnn.experimental.dit_minimal_matmul_addcmul_fused"),
        "reads other tensors, or in another form, than the ops in whose place it stands: the words tell which",
    ),
    "ttnn.all_reduce": "stands for ops of a whole mesh, of which a row tells one chip's part",
    "ttnn.typecast": "narrows what an exchange is to send, where the words tell",
    **dict.fromkeys(
        ("ttnn.linear", "ttnn.mul", "ttnn.add"), "an example of a call; which one, the model knows",
    ),
}  # fmt: skip

IN_WORDS = {
    "all-reduce-untried": "one call over a buffer and a semaphore of the model's mesh; `names` holds the op",
    "batch-norm-unfolded": "arithmetic in PyTorch; the page of step 6 runs it",
    "batches-through-dram": "a loop around the model's own calls; `names` holds what they take",
    "cast-before-attention": "drops a call",
    "chain-of-small-ops": "a kernel that the reader writes; `names` holds the calls that take it",
    "columns-permuted-every-call": "reorders weights in PyTorch",
    "copy-without-change": "drops a call",
    "copies-before-halo": "lets another op write what a copy writes, with the config of that copy",
    "dead-result": "deletes a call",
    "device-imbalance": "deals the work out anew",
    "duplicate-gather": "drops a call",
    "faster-elsewhere": "copies the config of another op of the run",
    "float32-between-bfloat16": "drops two calls",
    "host-calls-inside": "moves calls of the model; `names` holds that what it names exists",
    "matmul-beside-exchange": "names fused ops, whose semaphores and buffers are the model's; `names` holds them",
    "norm-in-three-ops": "one call over semaphores of the model's mesh; `names` holds the op",
    "pcc-below-bound": "takes the last change back",
    "repeated-small-ops": "joins calls of the model",
    "results-in-dram": "one argument of the model's own call; `names` holds its value",
    "rotary-as-prefill": "another mode of the call, on operands in shards of the model; `names` holds the op",
    "rows-in-pieces": "drops calls: one on all rows stays",
    "rows-not-read": "slices what a call reads",
    "scaled-after-matmul": "multiplies weights in PyTorch",
    "shape-round-trip": "drops two calls",
    "sharded-after-writing": "gives the model's own call the config of another one",
    "shard-for-one-matmul": "drops a call",
    "tensor-through-host": "names the ops that do it on the device; `names` holds them",
    "tile-padding-waste": "orders the model's dimensions anew",
    "tiny-row-reshape": "orders the model's dimensions anew",
}

OTHER_FUNCTIONS = {  # checks whose fix applies another function, as it says
    "gelu-exact": "tanh in the place of erf",
    "gelu-written-out": "GELU in the place of its formula",
}


def gaps(ran: Container[str], catalogue: Sequence[Check], words: Container[str] = IN_WORDS) -> list[str]:
    """One sentence per check whose fix is neither executed nor known to hold no call, and per reason that is stale."""
    forgotten = [
        f"NOT COVERED {check.id}: no call of its fix ran; make a test of tests/checks bring it about on a program "
        "with an architecture, or say in coverage.py why its fix holds no call"
        for check in catalogue
        if check.id not in ran and check.id not in words
    ]
    stale = [f"STALE {check.id}: a call of its fix ran, but coverage.py says that it holds none"
             for check in catalogue if check.id in ran and check.id in words]  # fmt: skip
    return [*forgotten, *stale]

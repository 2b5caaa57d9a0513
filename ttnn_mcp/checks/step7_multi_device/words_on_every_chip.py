"""Every chip of a mesh scores all words, where each could score a part of them.

The weights of a language model's head are its largest: 262,144 words of 3840 channels are 2 GB in BFLOAT16. On four
chips that all read all of them, a quarter on each chip and a gather of the scores saved 3.8 of 5.2 ms a token (Gemma 4
12B), and 4.3 of 6.4 (Qwen3.6 27B; both of the public log aweditya/tt-model-bringup).

The line: a matmul on weights with 128,000 columns and more, among exchanges of so many chips that they would hold more
than twice the largest vocabulary; 1 % of the window to save. The bound is what the other chips could take. Of a mesh
where only groups exchange (2 chips work on the same tokens, 4 such groups have users of their own), a group counts.

Silent without exchanges: then each chip may serve users of its own (data parallel), and its words are its own.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import reads_weights
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import BALANCE
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES
from ttnn_mcp.checks.worth import USUAL, Worth

WORDS = 128_000  # fewer may be a part: Llama 3 has 128,256 and newer models more (ours)
MOST_WORDS = 262_144  # the largest vocabulary of models in tt-metal: Gemma's
GROUPS = "ShardTensor2dMesh(mesh_device, mesh_shape=tuple(mesh_device.shape), dims=(None, -1))"


@check(
    title="all words scored on every chip",
    lever=BALANCE,
    of=DEVICES,
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the heads that are not split over the chips."""
    chips = int(facts.collectives.devices.max(initial=1))
    columns = facts.ops.outputs[0].logical[:, 3]
    whole = (columns >= WORDS) & (columns * chips > 2 * MOST_WORDS)
    heads = reads_weights(facts.ops, facts.flow) & whole & ~facts.roofline.impossible
    rows = np.flatnonzero(heads)
    yield Problem(rows, facts.kernel_ns[rows] * (1 - 1 / chips), tell=partial(_tell, chips))


def _tell(chips: int, ops: Affected) -> Words:
    columns = int(ops.facts.ops.outputs[0].logical[ops.row, 3])
    whole = chips == len(ops.facts.balance.devices)
    mapper = "ShardTensorToMesh(mesh_device, dim=-1)" if whole else GROUPS
    return Words(
        claim=(
            f"{ops.many('head')} {ops.verb('score')} all {columns} words on each of {chips} chips ({ops.time}): "
            f"{ops.example}"
        ),
        assumption=f"{-(-columns // chips)} columns take 1/{chips} of the time; the gather of the scores is left out",
        cells=((ops.facts.ops.inputs[1], "MEMORY"),),
        fix=(
            "w = ttnn.from_torch(torch_w, layout=ttnn.TILE_LAYOUT, device=mesh_device, "
            f"mesh_mapper=ttnn.{mapper}); then ttnn.all_gather(scores, dim=3), or each chip's own ttnn.topk, plus its "
            "first word, and a gather of those"
        ),
        verify="re-profile: the matmul's columns are a part of the words; same tokens",
        caveat="only where all chips work on the same tokens; with users of its own on each chip it is right as it is",
    )

"""FLUX.2's block on a Wormhole Galaxy: eight chips of a ring share the columns, four such rings the rows.

1024 x 1024 pixels: 1024 rows of the image and 512 of the prompt on a chip; weights in BFLOAT16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block, chunks, minimal
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, LOFI, MINIMAL_BLOCKS

if TYPE_CHECKING:
    from tests.profiles import Tensor

FOLDER = f"{TT_METAL}/e9c2a1d0edb774ba0e66ea118f2612015b86a2ee/models/tt_dit/docs"
SWEEP = f"{FOLDER}/flux2_wh_glx_matmul_sweep_results.md"
SUMMARY = f"{FOLDER}/flux2_wh_glx_optimization_summary.md"
LATER = f"{TT_METAL}/732b11462f20536be9e034bd68b42b3c8a07c550/models/tt_dit/models/Flux2_wh_galaxy_optimization.md"
GRID = (8, 9)


def both_streams() -> Block:
    """A block of image and prompt, then the steps around the blocks."""
    block = Block("wormhole_b0", devices=8, grid=GRID)
    plain = minimal((8, 8, 8), (2, 2), GRID)

    def project(role: str, x: Tensor, n: int, us: float, name: str = "MinimalMatmul") -> Tensor:
        more = {} if name == "MinimalMatmul" else {"num_links": 4, "ring_size": 8, "topology": "Topology::Ring"}
        config = plain if name == "MinimalMatmul" else minimal((8, 3, 8), (2, 2), (8, 8))
        cores = 72 if name == "MinimalMatmul" else 64
        return block.minimal(role, x, n, us, config=config, cores=cores, name=name, **more)

    streams = {"image": 1024, "prompt": 512}
    halves = {name: block.tensor([1, 1, rows, 768]) for name, rows in streams.items()}
    queries = []
    for name, x in halves.items():
        gathered = block.collective(f"weights_{name}", "AllGatherAsync", block.tensor([1, 1, 1536, 4608]), 4608, 380, ring=4, links=4)  # fmt: skip
        normed = block.norm(f"norm_{name}", x, 60, cores=32 if name == "image" else 16, kind="LAYERNORM")
        weighted = project(f"qkv_{name}", normed, 4608, 761, "AllGatherMinimalMatmulAsync")
        q, k, v = block.split_heads(f"heads_{name}", weighted, 70, heads=6, kv=6, size=128, rows=streams[name])
        queries.append((q, k, v, gathered))
    joined = [block.concat(f"join_{role}", (queries[1][n], queries[0][n]), [1, 6, 1536, 128], 2, 45) for n, role in enumerate("qkv")]  # fmt: skip
    attended = block.op(
        "sdpa", "RingJointSDPA", joined, block.tensor([1, 6, 1536, 128]), 2_400, cores=64, fidelity="HiFi2",
        compute_kernel_config=block.kernel("HiFi2"), is_causal=False, joint_strategy="rear", logical_n=4608,
        program_config=chunks(128, 512, (8, 8)), ring_size=4, scale="0.08838834764",
    )  # fmt: skip
    flat = block.join_heads("joined", attended, 60)
    for name, rows in streams.items():
        part = block.slice(f"part_{name}", flat, (0, 0, 0, 0), (1, 1, rows, 768), 25)
        out = project(f"out_{name}", part, 768, 761, "AllGatherMinimalMatmulAsync")
        x = block.binary(f"sum_{name}", "ADD", halves[name], out, 22)
        normed = block.norm(f"norm_feed_{name}", x, 60, cores=32 if name == "image" else 16, kind="LAYERNORM")
        whole = block.collective(f"gather_{name}", "AllGatherAsync", normed, 6144, 240, ring=8, links=4)
        hidden = project(f"ff1_{name}", whole, 2304, 870 if name == "image" else 710)
        hidden = block.unary(f"silu_{name}", "SILU", hidden, 40)
        us = 1_332 if name == "image" else 894
        down = block.op(f"ff2_{name}", "MinimalMatmulStridedReduceScatterAsync", (hidden, block.weight(2304, 6144, "BFLOAT16")), block.tensor([1, 1, rows, 768]), us, cores=64, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), config=minimal((8, 8, 8), (2, 2), (8, 7)), num_links=4, ring_size=8, topology="Topology::Ring")  # fmt: skip
        halves[name] = block.binary(f"fed_{name}", "ADD", x, down, 22)
    wide = block.collective("gather_last", "AllGatherAsync", halves["image"], 6144, 240, ring=8, links=4)
    project("proj_out", wide, 128, 305)
    project("context", block.tensor([1, 1, 512, 15_360]), 768, 375)
    return block


FLUX2 = (
    laid(
        "flux2-block", SWEEP, "one block of image and prompt, minimal_matmul at default blocks",
        both_streams,
        (
            gain("ff1-image", "blocks of 4x6x10 tiles for ff1 of the image", 419, "ff1_image", MINIMAL_BLOCKS, "about 870 -> 451 us"),
            gain("ff1-prompt", "blocks of 2x8x5 tiles for ff1 of the prompt", 318, "ff1_prompt", MINIMAL_BLOCKS, "about 710 -> 392 us"),
            gain("proj-out", "blocks of 2x12x1 tiles for the last projection", 135, "proj_out", MINIMAL_BLOCKS, "about 305 -> 170 us"),
            gain("context", "blocks of 3x10x3 tiles for the prompt's embedder", 18, "context", MINIMAL_BLOCKS, "about 375 -> 357 us"),
            gain("ff2-image", "blocks of 12x6x8 tiles for ff2 and its scatter, image", 379, "ff2_image", MINIMAL_BLOCKS, "1332 -> 953 us", SUMMARY),
            gain("ff2-prompt", "blocks of 10x8x8 tiles for ff2 and its scatter, prompt", 232, "ff2_prompt", MINIMAL_BLOCKS, "894 -> 662 us", SUMMARY),
            gain("gathered", "own blocks for the gathering matmuls", None, "qkv_* out_*", MINIMAL_BLOCKS, "132 to 355 us after; before, only their mean of 761 us is told"),
            gain("chunks", "q chunks of 256 instead of 128", None, "sdpa", r"chunk", "0.48 s of a picture of 50 steps", LATER),
            gain("narrow-gather", "the weights gathered in BFLOAT8_B", None, "weights_*", BFP8, "1.06 s of a picture of 50 steps", LATER),
            dead("lofi", "LoFi for the matmuls", "qkv_* out_* ff1_* ff2_* proj_out context", LOFI, "about 2 %, then a deadlock: reverted", LATER),
            dead("larger-chunks", "q chunks of 320 or more, k chunks of 768 or more", "sdpa", r"q_chunk\w*\W{0,4}(320|384|512|640)|k_chunk\w*\W{0,4}(768|1024)", "refused: beyond L1", LATER),
        ),
        "attention, norms, gathers, adds, heads and which ops stand between; blocks as printed before; that all stand in one pass",
    ),
)  # fmt: skip

"""MoonViT of LocateAnything 3B (boxes for a question about a picture) on one Blackhole chip: a block of 27.

A picture is 24 x 44 = 1056 patches, padded to 1152 with a mask; 1152 channels, 16 heads of 72 padded to 96, a feed-forward
of 4304; BFLOAT16 in HiFi4 with fp32 sums, all in DRAM. The log tells the traced tower's time per change, one after the other.
"""

from __future__ import annotations

from tests.frozen.build import Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import IN_L1, MINIMAL, SDPA_CHUNKS

LOG = "https://github.com/changh95/tt-locate-anything/blob/5c4c78e03cc15f62ae9c96a5c1c8f4ebde7cf35b/DEVICE_VALIDATION.md"
GRID, CORES, ROWS, HIDDEN, HEADS, SIZE, WIDE = (11, 10), 110, 1152, 1152, 16, 96, 4304
BLOCKS = 27


def tower_block() -> Block:
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    more = {"fidelity": "HiFi4", "fp32": True, "cores": CORES, "bias": True}
    x = block.tensor([1, 1, ROWS, HIDDEN])
    y = block.norm("norm", x, 26, cores=36, kind="LAYERNORM")
    qkv = block.linear("qkv", y, 3 * HEADS * SIZE, 290, **more)
    q, k, v = block.split_heads("heads", qkv, 34, heads=HEADS, kv=HEADS, size=SIZE, rows=ROWS, cores=36)
    turned = []
    for role, one in (("q", q), ("k", k)):
        inputs = (one, *(block.tensor([1, 1, ROWS, SIZE]) for _ in range(2)), block.tensor([1, 1, 32, 32]))
        turned.append(block.op(f"turn_{role}", "RotaryEmbeddingLlama", inputs, block.tensor(one.shape), 24, cores=CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=False))  # fmt: skip
    mask = block.tensor([1, 1, ROWS, ROWS])
    y = block.op("sdpa", "SDPAOperation", (*turned, v, mask), block.tensor(q.shape), 420, cores=CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_causal=False, program_config=None, scale="0.11785113")  # fmt: skip
    y = block.join_heads("join", y, 18, cores=36)
    y = block.linear("proj", y, HIDDEN, 105, **more)
    x = block.binary("add", "ADD", x, y, 16, cores=CORES)
    y = block.norm("norm_feed", x, 26, cores=36, kind="LAYERNORM")
    y = block.linear("fc1", y, WIDE, 270, **more)
    y = block.unary("gelu", "GELU", y, 62, cores=CORES)
    y = block.linear("fc2", y, HIDDEN, 276, **more)
    block.binary("add_feed", "ADD", x, y, 16, cores=CORES)
    return block


def each(ms: float) -> float:
    return round(1e3 * ms / BLOCKS, 1)


FEWER = r"(without|no|drop|skip|remov).{0,40}mask|attn_mask=None|unpadded|tile.aligned|(without|no|less|fewer).{0,40}pad|1056"
OF_LINEARS = "qkv proj add fc1 fc2 add_feed"
MOONVIT = (
    laid(
        "moonvit-block", LOG, "a block of the tower: a 27th of 43.4 ms, replayed from a trace", tower_block,
        (
            gain("rows", "1056 rows, as many as there are patches, and no mask", each(6.6), "*", FEWER, "43.4 -> 36.8 ms of the traced tower"),
            gain("chunks", "SDPA with chunks of 96 and 352, and the exact exponential", each(6.3), "sdpa", SDPA_CHUNKS, "36.8 -> 30.5 ms after the rows; the exact exponential costs nothing and is more precise"),
            dead("minimal", "minimal_matmul, with the sum of the stream in it where there is one", OF_LINEARS, rf"{MINIMAL}|addcmul", "30.5 -> 27.1 ms, and PCC of the whole model 0.98997, below the gate of 0.99", faster=True),
            dead("l1", "the tower's working set in L1", "norm* qkv heads turn_* join proj add* fc1 gelu fc2", IN_L1, "27.1 -> 24.9 ms; with linears PCC of the whole model 0.98952, below the gate of 0.99", faster=True),
            dead("tanh", "GELU by tanh", "gelu", r"tanh|approx|fast_and_approximate", "27.1 -> 26.7 ms with minimal_matmul, and lower PCC on both pictures", faster=True),
            dead("one-chunk", "SDPA with all 1056 keys in one chunk", "sdpa", r"k_chunk_size=1056|(one|single) (k )?chunk", "27.1 -> 26.7 ms alone; refused next to the language model: 1.87 MB of circular buffers"),
        ),
        "how the block's ops share its time, but for what the changes saved; the patch embedding and the projector, which are left out; core counts; that GELU is an op of its own; gaps",
        pass_us=43_400 / BLOCKS,
    ),
)  # fmt: skip

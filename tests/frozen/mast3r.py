"""DUSt3R and MASt3R (points of a scene from two pictures) on one Blackhole chip: blocks of the encoder and decoder.

Two pictures of 512 x 512 as 1024 tokens each. The encoder (24 blocks, 1024 channels, 16 heads of 64) takes both at once,
the decoder (12 blocks a picture, 768 channels, 12 heads of 64) one after the other, with self and cross attention. One
block of each is a 24th of either part. The log tells both parts apart and, replayed from a trace, the whole per change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, FUSED_SUM, HIFI2, IN_L1, LOFI, MINIMAL, PACKER, SDPA_CHUNKS

if TYPE_CHECKING:
    from tests.profiles import Tensor

HOME = "https://github.com/changh95/tt-mast3r/blob"
LOG = f"{HOME}/076d8eadf3bd8d9a633b8707a8fb8695f689a42b/DEVICE_VALIDATION.md"
README = f"{HOME}/3c3c74f904defcac3d7ba4a0d9db6c91d230c356/README.md"
GRID, CORES, TOKENS, SIZE = (11, 10), 110, 1024, 64
ENCODER_US, DECODER_US = 21_100 / 24, 29_600 / 24
LLAMA = {"is_decode_mode": False}


def rotated(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    tables = [block.tensor([1, 1, TOKENS, SIZE]) for _ in range(2)]
    inputs = (x, *tables, block.tensor([1, 1, 32, 32]))
    return block.op(role, "RotaryEmbeddingLlama", inputs, block.tensor(x.shape), us, cores=CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), **LLAMA)  # fmt: skip


def attended(block: Block, name: str, q: Tensor, k: Tensor, v: Tensor, us: float) -> Tensor:  # noqa: PLR0917
    return block.attend(f"{name}_sdpa", q, k, v, us, config=None, cores=CORES, causal=False)


def linear(block: Block, role: str, x: Tensor, n: int, us: float, act: str | None = None) -> Tensor:  # noqa: PLR0917  # fmt: skip
    return block.linear(role, x, n, us, cores=CORES, bias=True, act=act)


def normed(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.norm(role, x, us, cores=x.shape[0] * x.shape[-2] // 32, kind="LAYERNORM")


def fed(block: Block, name: str, x: Tensor, us: tuple[float, float, float, float]) -> Tensor:
    hidden = x.shape[-1]
    y = normed(block, f"{name}_norm_feed", x, us[0])
    y = linear(block, f"{name}_fc1", y, 4 * hidden, us[1], "GELU")
    y = linear(block, f"{name}_fc2", y, hidden, us[2])
    return block.binary(f"{name}_add_feed", "ADD", x, y, us[3], cores=CORES)


def itself(block: Block, name: str, x: Tensor, us: tuple[float, ...]) -> Tensor:
    """Self attention: norm, one projection, heads, their turns, attention, and its sum with the stream."""
    batch, hidden = x.shape[0], x.shape[-1]
    norm, project, split, turn, attend, join, out, add = us
    qkv = linear(block, f"{name}_qkv", normed(block, f"{name}_norm", x, norm), 3 * hidden, project)
    heads = hidden // SIZE
    q, k, v = block.split_heads(f"{name}_heads", qkv, split, heads=heads, kv=heads, size=SIZE, rows=TOKENS, batch=batch, cores=CORES)  # fmt: skip
    q, k = (rotated(block, f"{name}_turn_{role}", one, turn) for role, one in (("q", q), ("k", k)))
    y = block.join_heads(f"{name}_join", attended(block, name, q, k, v, attend), join, cores=CORES)
    y = linear(block, f"{name}_proj", y, hidden, out)
    return block.binary(f"{name}_add", "ADD", x, y, add, cores=CORES)


def across(block: Block, name: str, x: Tensor, other: Tensor, us: tuple[float, ...]) -> Tensor:
    hidden, heads = x.shape[-1], x.shape[-1] // SIZE
    norm, ask, know, split, turn, attend, join, out, add = us
    seen = normed(block, f"{name}_norm_other", other, norm)
    q = linear(block, f"{name}_q", normed(block, f"{name}_norm", x, norm), hidden, ask)
    kv = linear(block, f"{name}_kv", seen, 2 * hidden, know)
    q = block.moved(f"{name}_heads_q", "NlpCreateHeads", q, split, shape=[1, heads, TOKENS, SIZE], cores=CORES)
    k, v = (block.tensor([1, heads, TOKENS, SIZE]) for _ in range(2))
    block.op(f"{name}_heads_kv", "NlpCreateHeads", (kv,), (k, v), split * 1.5, cores=CORES, head_dim=SIZE, num_q_heads=heads, num_kv_heads=heads)  # fmt: skip
    q, k = (rotated(block, f"{name}_turn_{role}", one, turn) for role, one in (("q", q), ("k", k)))
    y = block.join_heads(f"{name}_join", attended(block, name, q, k, v, attend), join, cores=CORES)
    y = linear(block, f"{name}_proj", y, hidden, out)
    return block.binary(f"{name}_add", "ADD", x, y, add, cores=CORES)


def pair() -> Block:
    """A block of the encoder on both pictures, and one of the decoder on one of them."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    x = itself(block, "enc", block.tensor([2, 1, TOKENS, 1024]), (28, 79, 42, 28, 370, 23, 37, 23))
    fed(block, "enc", x, (28, 88, 83, 22))
    y = block.tensor([1, 1, TOKENS, 768])
    y = itself(block, "dec", y, (26, 79, 42, 26, 190, 26, 42, 19))
    y = across(block, "cross", y, block.tensor(y.shape), (26, 37, 58, 30, 26, 190, 26, 42, 19))
    fed(block, "dec", y, (26, 95, 116, 19))
    return block


def legacy() -> Block:
    """The turn of an encoder's queries and keys as ten ops each, as it was before, and their attention."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    qkv = block.tensor([2, 1, TOKENS, 3 * 1024])
    q, k, v = block.split_heads("heads", qkv, 28, heads=16, kv=16, size=SIZE, rows=TOKENS, batch=2, cores=CORES)
    done: list[Tensor] = []
    for role, x in (("q", q), ("k", k)):
        quarters = [block.slice(f"turn_{role}_cut{n}", x, (0, 0, 0, 16 * n), (2, 16, TOKENS, 16 * (n + 1)), 14) for n in range(4)]  # fmt: skip
        turned = [block.unary(f"turn_{role}_neg{n}", "NEG", quarters[2 * n + 1], 12, cores=CORES) for n in range(2)]
        parts = (turned[0], quarters[0], turned[1], quarters[2])
        other = block.concat(f"turn_{role}_concat", parts, [2, 16, TOKENS, SIZE], 3, 40)
        cos, sin = (block.tensor([1, 1, TOKENS, SIZE]) for _ in range(2))
        one = block.binary(f"turn_{role}_cos", "MUL", x, cos, 22, cores=CORES)
        two = block.binary(f"turn_{role}_sin", "MUL", other, sin, 22, cores=CORES)
        done.append(block.binary(f"turn_{role}_sum", "ADD", one, two, 24, cores=CORES))
    attended(block, "enc", *done, v, 370)
    return block


ROTARY = r"rotary_embedding"
WEIGHTS = "*_qkv *_proj *_fc1 *_fc2 cross_q cross_kv"
MAST3R = (
    laid(
        "mast3r-blocks", LOG, "a block of the encoder and one of the decoder: a 24th of 21.1 and 29.6 ms", pair,
        (
            gain("chunks", "SDPA with chunks of 128 and 256 for all 72 calls", 600, "*_sdpa", SDPA_CHUNKS, "14.4 ms of the traced whole, of which this is a 24th; 128 and 128 is 1.6 ms slower"),
            gain("sum", "the sum with the stream in the matmul before it (120 linears)", 208, "*_proj *_fc2 *_add *_add_feed", FUSED_SUM, "5.0 ms of the traced whole alone, 6.4 after the chunks; a 24th of 5.0"),
            dead("minimal", "minimal_matmul for qkv, fc1 and the cross attention's projections", "*_qkv *_fc1 cross_q cross_kv", MINIMAL, "90.89 ms, and 88.71 without it; GELU then is an op of its own"),
            dead("bfp8", "weights in BFLOAT8_B", WEIGHTS, BFP8, "230 ms with them and with BFLOAT16; the poses are worse", README),
            dead("lofi", "LoFi for the linears", WEIGHTS, LOFI, "no less time, and PCC below 0.99", README),
            dead("packer", "packer_l1_acc for the linears", WEIGHTS, PACKER, "no less time", README),
            dead("hifi2", "HiFi2 with fp32_dest_acc_en for the linears", WEIGHTS, rf"fp32_dest_acc_en|{HIFI2}", "tried, and lower PCC", README),
            dead("l1", "what the blocks make in L1", "*_norm* *_fc1 *_fc2 *_add* *_qkv *_proj", IN_L1, "230 -> 294 ms: the 8 MB between the feed-forward's linears are too many", README),
            dead("hifi4", "SDPA in HiFi4", "*_sdpa", r"HiFi4", "less precise than what it replaced", README),
        ),
        "how a block's ops share its time, but for what the changes saved; core counts; default fidelity; gaps",
        pass_us=ENCODER_US + DECODER_US,
    ),
    laid(
        "mast3r-rope", LOG, "the turns of a block of the encoder, before: 20 ops, and its attention", legacy,
        (gain("rotary", "one op for all of a turn, with weights whose channels are permuted", None, "turn_*", ROTARY, "the eager encoder takes 55.9 -> 21.1 ms, the decoder 85.4 -> 29.6: much of it dispatch, so no figure for the device"),),
        "all times; core counts; gaps",
    ),
)  # fmt: skip

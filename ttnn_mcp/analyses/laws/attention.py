"""Laws of attention: of prefill by chunks, of decode by the cache that is read."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Literal

from ttnn_mcp.analyses.laws.descriptions import Described, stored_bytes, tiles
from ttnn_mcp.analyses.laws.law import Law
from ttnn_mcp.hardware import ARCHITECTURES, FIDELITY_PHASES
from ttnn_mcp.records import dataclass

DECODE_CYCLES = 250  # per tile of keys and values on the core that works on it: 4-bit caches are no faster (#57161)
# At most, of one user's heads of one key head: TTNN's max_cores_per_head_batch, where it is not told.
CORES_PER_GROUP = 16


@dataclass(frozen=True, slots=True)
class AttentionDescription(Described):
    """Attention of queries (batch x heads x queries x head_size) over `keys` positions of kv_heads.

    Of prefill many queries; of decode one per user, and `keys` is the position. Chunks are positions.
    """

    mode: Literal["prefill", "decode"] = "prefill"
    batch: int = 1
    heads: int = 1
    kv_heads: int = 1
    queries: int = 1
    keys: int = 0
    head_size: int = 0
    causal: bool = False
    q_chunk: int | None = None
    k_chunk: int | None = None
    kv_dtype: str = ""

    @property
    def users(self) -> int:
        """Heads of all users."""
        return self.batch * self.heads

    @property
    def key_columns(self) -> int:
        """Tiles of a row of keys and of values."""
        return 2 * tiles(self.head_size)

    @property
    def dram_bytes(self) -> float:
        """Of decode: keys and values up to the position."""
        count = self.batch * self.kv_heads * tiles(self.keys) * self.key_columns
        return stored_bytes(count, self.kv_dtype) if self.mode == "decode" else 0.0

    @property
    def products(self) -> float:
        """Of prefill: queries by keys, and scores by values; half of them where causal."""
        scores = self.users * tiles(self.queries) * tiles(self.keys) * (0.5 if self.causal else 1.0)
        return scores * self.key_columns if self.mode == "prefill" else 0.0


def steps(op: AttentionDescription, q_chunk: int, k_chunk: int, cores: int) -> tuple[float, float]:
    """Pairs of a query chunk and a key chunk: of the busiest core, and of all.

    Cores get whole query chunks; causal ones in pairs of an early and a late one, which see as many keys as any
    other pair (tt-metal's sdpa_program_factory.cpp; #55766).
    """
    chunks = ceil(op.queries / q_chunk)
    if not op.causal:
        across = ceil(op.keys / k_chunk)
        return ceil(op.users * chunks / cores) * across, op.users * chunks * across
    head, pairs = sum(ceil((number + 1) * q_chunk / k_chunk) for number in range(chunks)), ceil(chunks / 2)
    return ceil(op.users * pairs / cores) * head / pairs, op.users * head


def prefill(op: AttentionDescription) -> tuple[float, ...] | None:
    """Each core computes its pairs of chunks; all of them fetch keys and values from DRAM again for each."""
    if op.mode != "prefill" or not op.q_chunk or not op.k_chunk or not op.usable_cores:
        return None
    if op.fidelity not in FIDELITY_PHASES:
        return None
    of_core, of_all = steps(op, op.q_chunk, op.k_chunk, op.usable_cores)
    scores = of_core * tiles(op.q_chunk) * tiles(op.k_chunk)
    # at the rate of the chip, whatever its card: errors on left-out sources are 12.0 % so, 14.1 % at that of a p100
    of_chip = replace(op, card_gb_s=None)
    fetched = of_chip.dram_us(stored_bytes(of_all * tiles(op.k_chunk) * op.key_columns, op.kv_dtype))
    return (
        1.0,
        op.engine_us(scores * op.key_columns),
        scores / 1e3 / op.clock_ghz,
        fetched / ARCHITECTURES[op.chip].dram_achievable_share,
    )


def decode(op: AttentionDescription) -> tuple[float, ...] | None:
    """Each user's heads start one after the other on a core; the cache is read once, by cores that work on it."""
    if op.mode != "decode" or not op.kv_dtype or not op.usable_cores:
        return None
    count, groups = op.batch * op.kv_heads * tiles(op.keys) * op.key_columns, op.batch * op.kv_heads
    cores = min(op.usable_cores, groups * CORES_PER_GROUP)
    read = op.dram_us(op.dram_bytes) / ARCHITECTURES[op.chip].dram_achievable_share
    worked = count * ceil(op.heads / op.kv_heads / 32) / cores * DECODE_CYCLES / 1e3 / op.clock_ghz
    return max(1.0, ceil(op.batch * op.kv_heads / op.usable_cores)), max(read, worked)


ATTENTION = (
    Law(
        name="attention, prefill",
        formula="a start; of the busiest core's pairs of chunks the two products at their fidelity, and each tile of "
        "scores; fetching keys and values, for each query chunk again",
        of=AttentionDescription,
        terms=("us", "multiplying at peak", "1000 cycles per tile of scores", "fetching at what DRAM achieves"),
        factors=prefill,
        sizes=("keys", "head_size", "users", "q_chunk", "k_chunk", "usable_cores"),
        alike=("kv_dtype", "fidelity"),
        pooled=True,
    ),
    Law(
        name="attention, decode",
        formula="a start for each of a core's users, and the longer of reading keys and values up to the position at "
        "what DRAM achieves and of working on them (250 cycles per tile)",
        of=AttentionDescription,
        terms=("us per user of a core", "reading or working"),
        factors=decode,
        sizes=("keys", "head_size", "users"),
        alike=("kv_dtype",),
        pooled=True,
    ),
)

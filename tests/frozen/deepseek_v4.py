"""DeepSeek V4 Flash on four Blackhole chips in a line: the projections and exchanges of one layer's attention, decode of one user.

Hidden 4096; queries by way of 1024 numbers to 64 heads of 512, one latent of 512 for keys and values, an output in eight
groups of 4096 by way of 1024 each. The four chips share the heads and the groups. All matmuls are an own op whose
weights lie in L1, BFLOAT4_B, a part on each of its cores. The log tells the time of this path after each change, and of some
of its ops; attention itself is not among them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import L1, Block
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import PACKED, RING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

LOG = f"{TT_METAL}/e58a1600924235ef283a7af61cca8eabbbc47ce1/models/experimental/deepseek_v4_flash/tools/ATTENTION_TP_OPTIMIZATION.md"
GRID, CHIPS, HIDDEN, RANK, LATENT, GROUP = (11, 10), 4, 4096, 1024, 512, 4096


@dataclass(frozen=True)
class How:
    """Of the first projections: cores, and us of the whole or of each. Of the groups: cores, and us of all or of each."""

    first: str = "apart"  # or "shared": in one over the chips; or "whole": in one on each chip
    first_us: tuple[float, ...] = (14.2, 9.97)
    first_cores: int = 16
    by_rows: bool = False  # the last projection adds up parts instead of gathering columns
    groups: tuple[float, ...] = (98.98,)
    group_cores: int = 32
    cuts: bool = False  # slices and a concat count, too


def matmul(block: Block, role: str, x: Tensor, n: int, us: float, cores: int, groups: int = 1) -> Tensor:  # noqa: PLR0917
    """The own op; each core holds a part of the weights and gets all of the input."""
    k = x.shape[-1]
    weight = block.tensor([1, groups, k, n], "BFLOAT4_B", block.across(groups * k, n, cores))
    out = block.tensor([1, groups, 32, n], place=block.across(32 * groups, n, cores))
    return block.op(role, "MatmulDecode", (x, weight), out, us, cores=cores, fidelity="LoFi", compute_kernel_config=block.kernel("LoFi"), output_mem_config=out.placement)  # fmt: skip


def gathered(block: Block, role: str, x: Tensor, n: int, us: float) -> Tensor:
    out = block.tensor([*x.shape[:-1], n], place=L1)
    return block.op(role, "AllGatherAsync", (x,), out, us, cores=8, cluster_axis=1, dim=3, num_links=2, num_workers_per_link=None, output_mem_config=L1, ring_size=CHIPS, topology="Topology::Linear")  # fmt: skip


def path(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.0)
        x = block.tensor([1, 1, 32, HIDDEN], place=L1)
        if how.first == "apart":
            q = matmul(block, "q_a", x, RANK // 4, how.first_us[0], 8)
            kv = matmul(block, "kv", x, LATENT // 4, how.first_us[1], 4)
            q = gathered(block, "gather_q", q, RANK, 25.0)
            gathered(block, "gather_kv", kv, LATENT, 24.9)
        else:
            width = (RANK + LATENT) // (4 if how.first == "shared" else 1)
            both = matmul(block, "first", x, width, how.first_us[0], how.first_cores)
            if how.first == "shared":
                both = gathered(block, "gather_first", both, RANK + LATENT, 25.0)
            q = block.tensor([1, 1, 32, RANK], place=L1)  # cut out of both, which counts in the last stage only
            if how.cuts:
                q = block.slice("cut_q", both, (0, 0, 0, 0), (1, 1, 32, RANK), 2.2, L1)
                block.slice("cut_kv", both, (0, 0, 0, RANK), (1, 1, 32, RANK + LATENT), 2.0, L1)
        heads = matmul(block, "q_b", q, 8192, 25.3, 64)
        wide = block.view(heads, [1, 2, 32, GROUP])
        if len(how.groups) == 1:
            made = block.view(
                matmul(block, "o_a", wide, RANK, how.groups[0], how.group_cores, 2), [1, 1, 32, 2 * RANK]
            )
        else:
            some: list[Tensor] = []
            for n, us in enumerate(how.groups):
                own = block.slice(f"cut_{n}", wide, (0, n, 0, 0), (1, n + 1, 32, GROUP), 1.3, L1)
                some.append(matmul(block, f"o_a_{n}", own, RANK, us, how.group_cores))
            made = block.concat("joined", some, [1, 1, 32, 2 * RANK], 3, 1.92)
        if how.by_rows:
            out = matmul(block, "o_b", made, HIDDEN, 16.31, 64)
            summed = block.tensor(out.shape, place=L1)
            block.op("all_reduce", "AllReduceAsync", (out,), summed, 45.7, cores=16, fidelity="HiFi4", cluster_axis=1, num_links=2, output_mem_config=L1, ring_size=CHIPS, topology="Topology::Linear")  # fmt: skip
        else:
            whole = gathered(block, "gather_groups", made, 8 * RANK, 25.0)
            out = matmul(block, "o_b", whole, HIDDEN // 4, 35.11, 32)
            gathered(block, "gather_out", out, HIDDEN, 25.0)
        return block

    return build


APART = How()
SHARED = How("shared", (12.3,), 12)
WHOLE = How("whole", (34.38,), 12)
ROWS = replace(WHOLE, by_rows=True)
WIDER = replace(ROWS, first_us=(16.0,), first_cores=48, groups=(111.22,))
LAST = replace(WIDER, groups=(18.32, 18.32), cuts=True)
CORES = r"cores|receiver|grid"
REPLICATED = r"replicat|whole on each|(without|no|drop).{0,30}gather|redundant"
BY_ROWS = r"row.parallel|all.?reduce|reduce.scatter|by rows|K.{0,20}shard|partial"
APART_GROUPS = r"unbatch|(two|separate|sequential|per.group|each group|ordinary).{0,60}matmul|matmul.{0,60}(per group|each group|separate)|cores"
MADE_UP = "times of single ops but those the log tells, so that a stage takes what it took; cores of all but those told; links; what attention itself leaves; gaps"
PATH = "of the path"
DEEPSEEK_V4 = (
    laid(
        "dsv4-apart", LOG, "queries' and keys' first projections by columns over the chips: 283.49 us", path(APART),
        (
            gain("packed", "one matmul and one gather for both first projections", 36.81, "q_a kv gather_q gather_kv", PACKED, f"283.49 -> 246.68 us {PATH}"),
            dead("dedicated", "the first projection of queries on one chip, of keys on another, both sent to all", "q_a kv gather_q gather_kv", r"point.to.point|p2p|broadcast|one chip|dedicated|own chip", f"283.49 -> about 454 us {PATH}: six transfers take 158"),
        ),
        MADE_UP, 283.49,
    ),
    laid(
        "dsv4-shared", LOG, "both first projections in one over the chips: 246.68 us", path(SHARED),
        (
            gain("replicated", "both first projections whole on each chip, without a gather", 2.89, "first gather_first", REPLICATED, f"246.68 -> 243.79 us {PATH}"),
            dead("payload", "packets of 8 KiB between chips", "gather_first gather_groups gather_out", r"payload|packet", f"246.68 -> 254.89 us {PATH}"),
        ),
        MADE_UP, 246.68,
    ),
    laid(
        "dsv4-whole", LOG, "both first projections in one on each chip: 243.79 us", path(WHOLE),
        (gain("rows", "the last projection by rows with one all-reduce, not by columns with two gathers", 23.12, "gather_groups o_b gather_out", BY_ROWS, f"243.79 -> 220.67 us {PATH}; 35.11 -> 16.31 of the matmul"),),
        MADE_UP, 243.79,
    ),
    laid(
        "dsv4-rows", LOG, "with the last projection by rows: 220.67 us", path(ROWS),
        (
            gain("cores-24", "the first projections on 24 cores", 14.74, "first", CORES, "34.38 -> 19.64 us"),
            gain("cores-48", "the first projections on 48 cores", 18.38, "first", CORES, "34.38 -> about 16.0 us"),
            dead("groups-16", "the groups' matmul on 16 cores instead of 32", "o_a", r"(?<!\d)16 (cores|receiver|blocks)|num_(blocks|cores)\D{0,6}16\b", f"220.67 -> 235.10 us {PATH}"),
            dead("ring", "a ring for the all-reduce", "all_reduce", RING, "refused: the chips lie in a line, the first has no way to the last"),
        ),
        MADE_UP, 220.67,
    ),
    laid(
        "dsv4-batched", LOG, "with the first projections on 48 cores, the groups in one batched matmul: 214.53 us", path(WIDER),
        (gain("groups", "two ordinary matmuls on 32 cores for both groups", 74.58, "o_a", APART_GROUPS, f"214.53 -> 139.95 us {PATH}"),),
        MADE_UP, 214.53,
    ),
    laid(
        "dsv4-last", LOG, "with a matmul for each group: 148.67 us, slices and a concat among them", path(LAST),
        (
            dead("prefetch", "weights that a prefetcher brings from DRAM", "first q_b o_a_* o_b", r"prefetch|global_cb|global circular", "148.67 -> 153.54 us: matmuls 4.42 us less, exchanges more"),
            dead("groups-16", "16 cores for each group", "o_a_*", r"(?<!\d)16 (cores|receiver)", "18.32 -> 20.92 us each"),
        ),
        MADE_UP, 148.67,
    ),
)  # fmt: skip

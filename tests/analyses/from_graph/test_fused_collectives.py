"""Collectives beside other work, against dry captures of TTNN 0.81.1 on eight mock devices."""

from dataclasses import replace

from tests.analyses.from_graph.programs import WORMHOLE, modelled, sharded, tensor
from tests.for_all import for_all

BLACKHOLE = replace(WORMHOLE, arch="blackhole", grid=(12, 10))

CONFIG = (
    "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=8-4,in0_block_w=1,out_subblock_h=1,"
    "out_subblock_w=1,out_block_h=1,out_block_w={0},per_core_M=1,per_core_N={0},transpose_mcast=0,fuse_batch=1)"
)


@for_all(("dtype", "measured"), [("bf", 12_672), ("b8", 13_440)])
def test_parts_are_exchanged_in_three_packets(dtype, measured):
    x = tensor(1, 1, 256, 512, dtype=dtype)
    assert modelled("AllToAllAsyncGenericDeviceOperation", [x], x) == measured
    assert modelled("AllToAllAsyncGenericDeviceOperation", [x], x, machine=BLACKHOLE) is None


WIDE = [(1024, 32, (8, 4), None, 66_304), (2048, 128, (8, 2), 1, 131_840), (2048, 128, (8, 2), 2, 66_304),
        (3584, 64, (8, 7), 2, 115_456)]  # fmt: skip


@for_all(("columns", "shard", "cores", "links", "measured"), WIDE)
def test_a_core_per_link_sends_its_part_of_the_tensor(columns, shard, cores, links, measured):
    x = sharded(1, 1, 32, columns, layout="WIDTH", shard=(32, shard), cores=cores)
    asked = {} if links is None else {"num_links": str(links)}
    assert modelled("AllReduceAsyncDeviceOperation", [x, x], x, **asked) == measured
    assert modelled("AllReduceAsyncDeviceOperation", [tensor(1, 1, 32, columns)] * 2, x) is None
    assert modelled("AllReduceAsyncDeviceOperation", [x, x], x, machine=BLACKHOLE, **asked) is None
    rows = replace(x, tiled=False)
    assert modelled("AllReduceAsyncDeviceOperation", [rows, rows], rows, **asked) is None


@for_all(("dtype", "k", "n", "measured"), [("bf", 1024, 1024, 28_672), ("b8", 2048, 512, 13_056)])
def test_what_gathers_and_what_multiplies_share_no_core(dtype, k, n, measured):
    part, weights = tensor(1, 1, 128, k // 8, dtype=dtype), tensor(1, 1, k, n, dtype=dtype)
    whole, product = tensor(1, 1, 128, k, dtype=dtype), tensor(1, 1, 128, n, dtype=dtype)
    attributes, config = "fp32_dest_acc_en=0,packer_l1_acc=1", CONFIG.format(n // 32 // 8)
    name, asked = "AllGatherMatmulAsyncDeviceOperation", {"attributes": attributes, "program_config": config}
    assert modelled(name, [part, weights, whole], (whole, product), **asked) == measured
    assert modelled(name, [part, weights], (whole, product), **asked) is None
    assert modelled(name, [part, weights, whole], product, **asked) is None
    unknown = {**asked, "program_config": config.replace("MultiCast", "Other")}
    assert modelled(name, [part, weights, whole], (whole, product), **unknown) is None

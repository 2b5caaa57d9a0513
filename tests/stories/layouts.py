"""Stories about norms, shapes, layouts and element-wise ops."""

from __future__ import annotations

from tests.profiles import Program
from tests.profiles.ops import kernel_config
from tests.stories.story import SHAPE, SPLIT, Story, run_op


def group_norm(program, x, us, *, cores, blocks=10, layout="TILE", welford=0):
    config = (
        f"GroupNormMultiCoreProgramConfig(compute_with_storage_grid_size=(x=4,y={max(1, cores // 4)}),inplace=0,"
        f"num_out_blocks={blocks},use_welford={welford})"
    )
    return run_op(
        program, "GroupNorm", (x,), program.tensor(x.shape, layout=layout), us, cores=cores, fidelity="HiFi4",
        attributes={"num_groups": 32, "program_config": config, "use_welford": bool(welford)},
    )  # fmt: skip


def norms_on_a_small_grid():
    program = Program()
    for _ in range(3):
        group_norm(program, program.tensor([1, 1, 16_384, 320]), 1_000, cores=16)
    return program


def norm_without_welford():
    program = Program("blackhole", grid=(11, 10))
    group_norm(program, program.tensor([1, 1, 16_384, 320]), 557, cores=80, blocks=4)
    return program


def norm_between_layouts():
    """The conversions take 28 % of the window and the norm in rows 25: together the 52.8 % that the guide tells."""
    program = Program()
    x = program.tensor([1, 1, 65_536, 128])
    rows = run_op(program, "Untilize", (x,), program.tensor(x.shape, layout="ROW_MAJOR"), 140)
    normed = group_norm(program, rows, 248, cores=64, layout="ROW_MAJOR")
    run_op(program, "Tilize", (normed,), program.tensor(x.shape), 140)
    other, out = (program.tensor([1, 1, 32, 64], "UINT16") for _ in range(2))
    run_op(program, "MadeUpOfNoFamily", (other,), out, 472)
    return program


def layer_norm(rows, width, us, *, arch, cores, fidelity="HiFi4"):
    def build():
        program = Program(arch, **({"grid": (11, 10)} if arch == "blackhole" else {}))
        x, out = program.tensor([1, 1, rows, width]), program.tensor([1, 1, rows, width])
        weights = [program.tensor([1, 1, 1, width]) for _ in range(2)]
        attributes = {
            "compute_kernel_config": kernel_config(fidelity, fp32=True, packer=True),
            "norm_type": "LayerNormType::LAYERNORM",
            "program_config": "LayerNormDefaultProgramConfig(legacy_reduction=0,legacy_rsqrt=0,use_welford=0)",
        }
        run_op(program, "LayerNorm", (x, *weights), out, us, cores=cores, fidelity=fidelity, attributes=attributes)
        return program

    return build


def distributed_norm():
    program = Program(devices=4)
    x = program.tensor([1, 1, 32, 2048])
    statistics = run_op(
        program, "LayerNormPreAllGather", (x,), program.tensor([1, 1, 32, 32]), 25, cores=1, fidelity="HiFi4"
    )
    gathered = run_op(
        program, "AllGatherAsync", (statistics,), program.tensor([1, 1, 32, 128]), 30, cores=8,
        attributes={"dim": 3, "num_links": 1, "ring_size": 4, "topology": "Topology::Linear"},
    )  # fmt: skip
    weights = program.tensor([1, 1, 1, 2048])
    run_op(
        program, "LayerNormPostAllGather", (x, gathered, weights), program.tensor([1, 1, 32, 2048]), 30, cores=1,
        fidelity="HiFi4",
    )  # fmt: skip
    return program


def unaligned_sum():
    """FillPad, Reduce and Reshape: 20 % of the layer."""
    program = Program()
    x = program.tensor([1, 17, 1, 2048])
    filled = run_op(program, "FillPad", (x,), program.tensor([1, 17, 1, 2048]), 30)
    summed = run_op(program, "Reduce", (filled,), program.tensor([1, 17, 1, 1]), 20, fidelity="HiFi4")
    run_op(program, "ReshapeView", (summed,), program.tensor([1, 1, 17, 1]), 10)
    other, out = (program.tensor([1, 1, 32, 64], "UINT16") for _ in range(2))
    run_op(program, "MadeUpOfNoFamily", (other,), out, 240)
    return program


def permute_and_reshape():
    program = Program("blackhole", grid=(11, 10))
    x = program.tensor([8, 1, 4096, 7168])
    turned = run_op(program, "Permute", (x,), program.tensor([1, 4096, 8, 7168]), 14_073)
    run_op(program, "ReshapeView", (turned,), program.tensor([1, 1, 32_768, 7168]), 10_000)
    return program


def repeated_before_a_product():
    program = Program()
    small, large = program.tensor([1, 1, 1, 4096]), program.tensor([1, 1, 1024, 4096])
    rows = run_op(program, "Untilize", (small,), program.tensor(small.shape, layout="ROW_MAJOR"), 8)
    many = run_op(program, "Repeat", (rows,), program.tensor(large.shape, layout="ROW_MAJOR"), 60)
    tiles = run_op(program, "Tilize", (many,), program.tensor(large.shape), 75)
    attributes = {"binary_op_type": "BinaryOpType::MUL", "subtile_broadcast_type": "SubtileBroadcastType::NONE"}
    run_op(program, "BinaryNg", (large, tiles), program.tensor(large.shape), 110, attributes=attributes)
    return program


def product_in_dram():
    program = Program()
    shape = [1, 1, 1024, 3200]
    a, b = (run_op(program, "Unary", (program.tensor(shape),), program.tensor(shape), 56) for _ in range(2))
    product = run_op(
        program, "BinaryNg", (a, b), program.tensor(shape), 80, attributes={"binary_op_type": "BinaryOpType::MUL"}
    )
    run_op(program, "Unary", (product,), program.tensor(shape), 56)
    return program


def top_k():
    program = Program()
    x, values = program.tensor([1, 1, 32, 25_152]), program.tensor([1, 1, 32, 32])
    attributes = {"k": 32, "dim": 3, "largest": True, "sorted": True}
    run_op(program, "TopK", (x,), values, 14_000, cores=1, fidelity="HiFi4", attributes=attributes)
    return program


def router():
    """Fifty small ops over 256 experts of 32 tokens, as tt-xla wrote them before the fused gate."""
    program = Program("blackhole", grid=(11, 10))
    scores = run_op(program, "Unary", (program.tensor([1, 1, 32, 256]),), program.tensor([1, 1, 32, 256]), 6)
    for step in range(12):
        grouped = run_op(program, "ReshapeView", (scores,), program.tensor([1, 32, 8, 32]), 9)
        best = run_op(program, "TopK", (grouped,), program.tensor([1, 32, 8, 2 + step % 2]), 14, cores=1)
        summed = run_op(program, "Reduce", (best,), program.tensor([1, 32, 8, 1]), 7)
        run_op(program, "BinaryNg", (grouped, summed), program.tensor([1, 32, 8, 32]), 6)
    return program


LAYOUTS = (
    Story(
        "S17", "tt-metal PR#23257, PR#22306", "SDXL GroupNorms in DRAM on a small grid, many num_out_blocks",
        "larger core_grid, fewer num_out_blocks", norms_on_a_small_grid, "named", "named", None, "core_grid|grid_size",
        made_up=f"{SHAPE}, the times",
    ),
    Story(
        "welford", "tt-metal perf_automation guide GL-02", "GroupNorm without use_welford: 557 us",
        "use_welford=True (239 us)", norm_without_welford, "silent", "named", 318, "welford", made_up=SHAPE,
    ),
    Story(
        "vae-layouts", "tt-metal skill tt-dit", "untilize and tilize around GroupNorm, video VAE: 52.8 % of an encoder",
        "compute in the neighbours' layout (1.78x)", norm_between_layouts, "bound wrong", "bound wrong", 438,
        "TILE|ROW_MAJOR|layout", made_up="the times: only shares and the ratio are told",
        unknown="how much of the gain was the norm's own is not told; the conversions alone took 280 us",
    ),
    Story(
        "norm-fidelity", "tt-metal perf_automation guide GL-02", "LayerNorm at HiFi4, BGE-M3 batch 32",
        "HiFi2 (870 us over 24 layers)",
        layer_norm(16_384, 1024, 200, arch="blackhole", cores=110), "silent", "right", 18.1, "HiFi2",
        made_up="the time before",
    ),
    Story(
        "one-core-norm", "tt-metal skill optimization", "norm over a hidden size of 1024 on one core: 17 us",
        "32 cores (2 us)", layer_norm(32, 1024, 17, arch="wormhole_b0", cores=1), "bound wrong", "right", 15, "SHARDED",
        made_up="nothing",
    ),
    Story(
        "S42", "tt-metal PR#13225", "distributed LayerNorm interleaved: 1.3 t/s/u", "sharded (1.6 t/s/u)",
        distributed_norm, "named", "named", None, "[Ss]hard", made_up=f"{SHAPE}, the times",
    ),
    Story(
        "S37", "tt-mlir #6652, #6641, #6896", "FillPad, Reduce, Reshape for an unaligned sum: 20 % of a layer",
        "keep 1x1xBxH", unaligned_sum, "named", "named", None, "1x1x|FillPad|multiple of 32", made_up=f"{SHAPE}, the times",
    ),
    Story(
        "D44", "tt-xla deepseek E44", "permute and reshape in tiles: 24,073 us",
        "none: untilizing first took 24,876 us", permute_and_reshape, "right", "right", denies=r"(?<!not )untilize|to_layout\(x, ttnn.ROW",
        made_up=f"{SHAPE}, {SPLIT}",
    ),
    Story(
        "repeat", "tt-metal skill optimization", "untilize, repeat, tilize before a multiply",
        "broadcast in the multiply", repeated_before_a_product, "other change", "named", None, "broadcast",
        made_up=f"{SHAPE}, the times",
    ),
    Story(
        "eltwise-in-dram", "tt-metal skill optimization", "element-wise op with operands in DRAM: 80 us",
        "in L1 (4 us)", product_in_dram, "right", "right", 76, "L1|sharded_memory_config", made_up=SHAPE,
    ),
    Story(
        "topk-25152", "tt-metal #38509", "TopK over 25152: 14 ms", "pad to 32768 (0.4 ms)", top_k, "right", "right", 13_600,
        "power of two|pad", made_up="32 rows, one core",
    ),
    Story(
        "D38", "tt-xla deepseek E38", "router of about 50 small ops", "deepseek_grouped_gate", router, "other change", "named", None,
        "grouped_gate", made_up=f"{SHAPE}, the times",
    ),
)  # fmt: skip

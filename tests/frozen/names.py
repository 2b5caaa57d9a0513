"""How a fix may name a change; patterns in any case."""

DRAM_SHARDED = r"DRAMSharded|dram.sharded|over the (dram )?banks|width_sharded.{0,40}dram|dram.{0,40}width_sharded"
INTERLEAVED_1D = r"MultiCast1DProgramConfig|\b1D\b"
TWO_D = r"ReuseMultiCastProgramConfig|\b2D\b"
CONFIG = r"program_config|ProgramConfig|core_grid"
BLOCKS = r"in0_block_w|program_config|ProgramConfig"
BLOCK_W = r"in0_block_w"
A_2D = rf"{TWO_D}|{CONFIG}|{BLOCK_W}"
LOFI = r"LoFi"
HIFI2 = r"HiFi2"
BFP8 = r"bfloat8_b|\bBFP8\b"
BFP4 = r"bfloat4_b|\bBFP4\b"
CORES = r"more cores|all (the |of the )?cores|core_grid|compute_with_storage_grid_size|\d+ cores|grid"
SHARDED = r"shard"
IN_L1 = r"L1_MEMORY_CONFIG|in L1|into L1|L1 interleaved|L1_INTERLEAVED|BufferType\.L1"
PACKED = r"one (wider |packed |fused )?(matmul|linear|projection)|pack|concatenat|stack both|(merge|fuse|join).{0,40}(projections|weights|matmuls|linears)"
ACTIVATION_IN_MATMUL = r"fused_activation|activation="
ACTIVATION_IN_BINARY = (
    r"input_tensor_[ab]_activations|lhs_activations|rhs_activations|activations=|fus.{0,60}(multipl|binary|mul\b)"
)
SDPA_CHUNKS = r"chunk"
SDPA_GRID = r"grid|cores"
MINIMAL = r"minimal_matmul"
MINIMAL_BLOCKS = r"MinimalMatmulConfig|M_block|N_block|K_block|block_size"
FUSED_SUM = r"dit_minimal_matmul_addcmul_fused|addcmul|fus.{0,80}(residual|add)|minimal_matmul"
PACKER = r"packer_l1_acc"
COLLECTIVE = r"num_links|num_workers_per_link|workers"
RING = r"Ring\b|FABRIC_1D_RING"


def unbanked(pattern: str) -> str:
    """The pattern in a fix that does not speak of DRAM-sharded matmuls."""
    return rf"(?s)^(?!.*DRAM.?Sharded).*(?:{pattern})"

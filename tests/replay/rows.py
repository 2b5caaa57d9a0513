"""Rows of device ops as they are printed, one of each family: the call that is written of each, and its reference.

Real TTNN takes each of `OPS` on mock devices (`python -m tests.real.rig replays`).
"""

from tests.checks.rows import put
from tests.profiles import Program, block_sharded, height_sharded, width_sharded, write_performance_report
from tests.profiles.model import DeviceOp

X = (1, 1, 64, 64)
HEADS = (1, 8, 64, 64)
KERNEL = "WormholeComputeKernelConfig(math_fidelity=HiFi4,math_approx_mode=0,fp32_dest_acc_en=1)"
OWN = KERNEL.replace("HiFi4", "HiFi3").replace("mode=0", "mode=1")  # of a softmax that is given none, on Wormhole
RELU = "{BasicUnaryWithParam<float; int>(base=BasicUnaryWithParam<float>(op_type=UnaryOpType::RELU;param={}))}"
LEAKY = "{UnaryWithParam(op_type=UnaryOpType::LEAKY_RELU;param={0.1})}"
NORM = {"norm_type": "LayerNormType::LAYERNORM", "eps": "1e-05"}
SDPA = {"is_causal": "true", "scale": "0.125", "program_config": "SDPAProgramConfig(compute_with_storage_grid_size=(x=8;y=8);q_chunk_size=32;k_chunk_size=32;exp_approx_mode=0;max_cores_per_head_batch=16)"}  # fmt: skip
GATHER = {"ring_size": "4", "cluster_axis": "0", "num_links": "1", "topology": "Topology::Linear"}
ROWS = {"layout": "ROW_MAJOR"}
CORES = "{[(x=0;y=0) - (x=3;y=3)]}"
WHOLE = {"dtype": "INT32", "layout": "ROW_MAJOR"}
TALL = height_sharded(64, 64, 8)
WINDOW = "SlidingWindowConfig(batch_size=1; input_hw=({0};{0}); window_hw=(2;2); stride_hw=(2;2); padding=((0; 0); (0; 0)); dilation_hw=(1;1))"  # fmt: skip
GROUPS = "GroupNormMultiCoreProgramConfig(compute_with_storage_grid_size=(x=1;y=1);inplace=0;output_layout=Layout::TILE;num_out_blocks=1)"  # fmt: skip
SPREAD_HEADS = "MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED;buffer_type=BufferType::L1;shard_spec=std::nullopt)"  # fmt: skip
QUERY, CACHE = (1, 4, 8, 64), (4, 2, 128, 64)
DECODE = {"program_config": "SDPAProgramConfig(compute_with_storage_grid_size=(x=8;y=8);q_chunk_size=0;k_chunk_size=32;segmented_accumulation=false)"}  # fmt: skip
SLICE = {"slice_start": "Shape([0; 0; 0; 0])", "slice_end": "Shape([1; 1; 32; 64])", "step": "Shape([1; 1; 1; 1])"}


def op_of(program, code, inputs, output, attributes):
    """The device op; an operand is its shape, or its shape and what else is told of it."""

    def tensor(told):
        shape, kinds = told if isinstance(told[0], tuple) else (told, {})
        return program.tensor(list(shape), **kinds)

    x, y = [tensor(one) for one in inputs], tensor(output)
    cores = len(y.placement.cores) or None
    return DeviceOp(code, x, [y], cores=cores, attributes={"output_mem_config": y.placement, **attributes})


def report_of(folder, rows):
    """One report of all these rows, in their order, from line 2 on."""
    program = Program("wormhole_b0")
    for row in rows:
        put(program, op_of(program, *row))
    return str(write_performance_report(folder, program))


def of_users(users):
    """The heads of a token of each user, joined."""
    x = ((1, users, 32, 64), {"placement": height_sharded(32, 64, 8)})
    y = ((1, 1, 32, 512), {"placement": width_sharded(32, 64, 8)})
    return "NLPConcatHeadsDecodeDeviceOperation", [x], y, {"num_heads": "8"}


OPS = [
    (("BinaryNgDeviceOperation", [X, X], X, {"binary_op_type": "BinaryOpType::ADD"}),
     "ttnn.add(x[0], x[1], dtype=ttnn.bfloat16", "x[0] + x[1]"),
    (("BinaryDeviceOperation", [X], X, {"binary_op_type": "BinaryOpType::MUL", "scalar": "0.5", "activations": RELU}),
     "ttnn.multiply(x[0], 0.5, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)]", "torch.relu(x[0] * 0.5)"),
    (("BinaryNgDeviceOperation", [X, X], X, {"binary_op_type": "BinaryOpType::MUL", "lhs_activations": RELU}),
     "input_tensor_a_activations=[", "torch.relu(x[0]) * x[1]"),
    (("BinaryNgDeviceOperation", [X, X], X, {"binary_op_type": "BinaryOpType::GT"}), "ttnn.gt(x[0], x[1]", None),
    (("UnaryDeviceOperation", [X], X, {"op_chain": RELU}),
     "ttnn.unary_chain(x[0], [ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)]", "torch.relu(x[0])"),
    (("UnaryDeviceOperation", [X], X, {"op_chain": LEAKY}), "ttnn.UnaryOpType.LEAKY_RELU, 0.1)]", None),
    (("TernaryDeviceOperation", [X, X, X], X, {"ternary_op_type": "TernaryOpType::ADDCMUL", "scalar_input_a": "2.0"}),
     "ttnn.addcmul(x[0], x[1], x[2], value=2.0", "x[0] + 2.0 * x[1] * x[2]"),
    (("TernaryDeviceOperation", [X, X, X], X, {"ternary_op_type": "TernaryOpType::WHERE"}), "ttnn.where(x[0], x[1], x[2]", None),
    (("TypecastDeviceOperation", [X], X, {"output_dtype": "DataType::BFLOAT8_B"}), "ttnn.typecast(x[0], ttnn.bfloat8_b", "x[0]"),
    (("LayerNormDeviceOperation", [X, X, (1, 1, 1, 64), (1, 1, 1, 64)], X, {**NORM, "compute_kernel_config": KERNEL}),
     "epsilon=1e-05, weight=x[2], bias=x[3], residual_input_tensor=x[1]", "torch.nn.functional.layer_norm(x[0] + x[1]"),
    (("LayerNormDeviceOperation", [(1, 1, 1, 64)] * 4, (1, 1, 1, 64), NORM), "weight=x[2], bias=x[3], residual_input_tensor=x[1]", "layer_norm(x[0] + x[1]"),
    (("LayerNormDeviceOperation", [(1, 1, 1, 64)] * 2 + [((1, 1, 2, 32), ROWS)], (1, 1, 1, 64), NORM), "weight=x[2], residual_input_tensor=x[1]", "layer_norm(x[0] + x[1]"),
    (("LayerNormDeviceOperation", [X, X, (1, 1, 1, 64)], X, NORM), "weight=x[2], residual_input_tensor=x[1]", "layer_norm(x[0] + x[1]"),
    (("BinaryNgDeviceOperation", [X, X, X], X, {"binary_op_type": "BinaryOpType::ADD"}), "ttnn.add(x[0], x[1], dtype", "x[0] + x[1]"),
    (("LayerNormDeviceOperation", [X, (1, 1, 1, 64)], X, {**NORM, "norm_type": "LayerNormType::RMSNORM"}),
     "ttnn.rms_norm(x[0], epsilon=1e-05, weight=x[1], memory", "torch.rsqrt(x[0].pow(2)"),
    (("LayerNormDeviceOperation", [X], X, {**NORM, "program_config": "LayerNormDefaultProgramConfig(legacy_reduction=0;use_welford=1)"}),
     "ttnn.LayerNormDefaultProgramConfig(use_welford=True)", "layer_norm(x[0], x[0].shape[-1:], eps=1e-05)"),
    (("SoftmaxDeviceOperation", [X], X, {"dim": "3", "numeric_stable": "true", "program_config": "SoftmaxDefaultProgramConfig()"}),
     "ttnn.softmax(x[0], dim=-1, numeric_stable=True", "torch.softmax(x[0], -1)"),
    (("SoftmaxDeviceOperation", [X], X, {"dim": "3", "compute_kernel_config": OWN, "has_explicit_compute_kernel_config": "false"}), "ttnn.softmax(x[0], dim=-1, memory", "torch.softmax(x[0], -1)"),
    (("SoftmaxDeviceOperation", [X], X, {"dim": "3", "compute_kernel_config": KERNEL, "has_explicit_compute_kernel_config": "true"}), "ttnn.softmax(x[0], dim=-1, compute_kernel_config=ttnn.init", "torch.softmax(x[0], -1)"),
    (("SoftmaxDeviceOperation", [X, (1, 1, 32, 64)], X, {"scale": "0.5"}), "ttnn.scale_mask_softmax(x[0], 0.5, x[1]", "x[0] * 0.5 + x[1][..., :1, :], -1)"),
    (("SoftmaxDeviceOperation", [X], X, {"inplace": "true"}), "scale_mask_softmax_in_place(x[0], None, None)", "torch.softmax"),
    (("SDPAOperation", [HEADS, (1, 2, 64, 64), (1, 2, 64, 64)], HEADS, SDPA),
     "is_causal=True, scale=0.125, program_config=ttnn.SDPAProgramConfig(", "x[1].repeat_interleave(4, 1)"),
    (("SDPAOperation", [HEADS] * 3 + [X], HEADS, {**SDPA, "is_causal": "false"}), "attn_mask=x[3], is_causal=False", "x[1], x[2], attn_mask=x[3]"),
    (("TilizeWithValPaddingDeviceOperation", [X], X, {}), "ttnn.tilize_with_val_padding(x[0], [1, 1, 64, 64], 0.0", "x[0]"),
    (("Tilize", [(X, ROWS)], X, {"use_multicore": "true"}), "ttnn.tilize(x[0], dtype=ttnn.bfloat16, memory_config=ttnn.DRAM_MEMORY_CONFIG, use_multicore=True)", "x[0]"),
    (("UntilizeWithUnpaddingDeviceOperation", [X], (1, 1, 60, 64), {}), "ttnn.untilize_with_unpadding(x[0], [0, 0, 59, 63]", "x[0][:1, :1, :60, :64]"),
    (("Untilize", [X], X, {}), "ttnn.untilize(x[0], memory", "x[0]"),
    (("ReshapeViewDeviceOperation", [X], (1, 1, 32, 128), {"logical_output_shape": "Shape([32; 128])"}), "ttnn.reshape(x[0], [32, 128]", "x[0].reshape([32, 128])"),
    (("PermuteDeviceOperation", [X], X, {"dims": "SmallVector([1; 0; 2])"}), "ttnn.permute(x[0], [1, 0, 2]", "x[0].permute([1, 0, 2])"),
    (("TransposeDeviceOperation", [X], X, {"dim": "TransposeOpDim::HC"}), "ttnn.transpose(x[0], 1, 2", "x[0].transpose(1, 2)"),
    (("ConcatDeviceOperation", [X, X], (1, 1, 64, 128), {"groups": "1"}), "ttnn.concat([x[0], x[1]], 3", "torch.cat(x, 3)"),
    (("SliceDeviceOperation", [X], (1, 1, 32, 64), SLICE), "ttnn.slice(x[0], [0, 0, 0, 0], [1, 1, 32, 64], [1, 1, 1, 1]", "x[0][0:1:1, 0:1:1, 0:32:1, 0:64:1]"),
    (("CopyDeviceOperation", [X], X, {}), "ttnn.clone(x[0], dtype=ttnn.bfloat16", "x[0]"),
    (("InterleavedToShardedDeviceOperation", [X], X, {"output_mem_config": block_sharded(32, 32, (2, 2))}),
     "ttnn.to_memory_config(x[0], ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, ttnn.ShardSpec(", "x[0]"),
    *((of_users(users), "ttnn.experimental.nlp_concat_heads_decode(x[0], num_heads=8)", None) for users in (4, 32)),
    (("NLPConcatHeadsDeviceOperation", [HEADS], (1, 1, 64, 512), {}), "ttnn.experimental.nlp_concat_heads(x[0]", "x[0].transpose(1, 2)"),
    (("TopKDeviceOperation", [X], (1, 1, 64, 32), {"k": "32", "dim": "3", "largest": "true", "sorted": "true"}),
     "ttnn.topk(x[0], 32, dim=-1, largest=True, sorted=True", "torch.topk(x[0], 32, -1, True)[0]"),
    (("ArgMaxDeviceOperation", [X], (1, 1, 1, 64), {"dim": "3", "keepdim": "false"}), "ttnn.argmax(x[0], dim=-1, keepdim=False", None),
    (("ArgMaxDeviceOperation", [X], (1, 1, 1, 1), {"dim": "std::nullopt", "keepdim": "false"}), "ttnn.argmax(x[0], keepdim=False", None),
    (("Pool2D", [((1, 1, 1024, 64), ROWS)], ((1, 1, 256, 64), {**ROWS, "placement": height_sharded(32, 64, 8)}),
      {"pool_type_": "Pool2DType::MAX_POOL2D", "sliding_window_config_": WINDOW.format(32)}),
     "ttnn.max_pool2d(x[0], 1, 32, 32, 64, [2, 2], [2, 2], [0, 0, 0, 0], [1, 1], ceil_mode=False, applied_shard_scheme=ttnn.TensorMemoryLayout.HEIGHT_SHARDED)", None),
    (("Pool2D", [((1, 1, 1024, 64), ROWS)], ((1, 1, 256, 64), {**ROWS, "placement": height_sharded(32, 64, 8)}),
      {"pool_type_": "Pool2DType::AVG_POOL2D", "sliding_window_config_": WINDOW.format(31), "count_include_pad_": "false", "output_layout_": "Layout::ROW_MAJOR"}),
     "ttnn.avg_pool2d(x[0], 1, 31, 31, 64, [2, 2], [2, 2], [0, 0, 0, 0], ceil_mode=True, applied_shard_scheme=ttnn.TensorMemoryLayout.HEIGHT_SHARDED, count_include_pad=False, dtype=ttnn.bfloat16, output_layout=ttnn.ROW_MAJOR_LAYOUT)", None),
    (("UpsampleOperation", [((1, 8, 8, 32), ROWS)], ((1, 16, 16, 32), ROWS), {"mode": "nearest", "scale_factor_h": "2", "scale_factor_w": "2"}),
     "ttnn.upsample(x[0], [2, 2], mode='nearest', memory", None),
    (("GridSample", [((1, 8, 8, 32), ROWS), ((1, 4, 4, 6), ROWS)], ((1, 4, 4, 32), ROWS), {"mode": "bilinear", "padding_mode": "zeros", "align_corners": "false", "use_precomputed_grid": "true", "batch_output_channels": "false"}),
     "ttnn.grid_sample(x[0], x[1], align_corners=False, use_precomputed_grid=True, batch_output_channels=False, memory", None),
    (("AccumulationDeviceOperation", [(2, 1, 64, 64)], (2, 1, 64, 64), {"dim": "0", "op": "AccumulationOp::CUMSUM", "flip": "false"}),
     "ttnn.cumsum(x[0], 0, dtype=ttnn.bfloat16, reverse_order=False)", None),
    (("GroupNorm", [(1, 1, 1024, 64), ((1, 1, 2, 32), ROWS), ((1, 1, 2, 32), ROWS), (1, 2, 32, 32)], (1, 1, 1024, 64), {"eps": "1e-05", "num_groups": "2", "program_config": GROUPS}),
     "ttnn.group_norm(x[0], num_groups=2, epsilon=1e-05, input_mask=x[3], weight=x[1], bias=x[2], core_grid=ttnn.CoreGrid(x=1, y=1), inplace=False, num_out_blocks=1, output_layout=ttnn.TILE_LAYOUT, memory", None),
    (("ReduceDeviceOperation", [X], (1, 1, 64, 1), {"dim": "ReduceOpDim::W", "math_op": "ReduceOpMath::SUM", "scaler": "0.5"}),
     "ttnn.sum(x[0], dim=-1, keepdim=True, scalar=0.5, memory", "x[0].sum(-1, keepdim=True) * 0.5"),
    (("ReduceDeviceOperation", [X], (1, 1, 1, 64), {"dim": "ReduceOpDim::H", "math_op": "ReduceOpMath::MAX"}),
     "ttnn.max(x[0], dim=-2, keepdim=True, memory", "x[0].amax(-2, keepdim=True)"),
    (("FastReduceNCDeviceOperation", [(1, 4, 64, 64)], X, {"dim": "1"}), "ttnn.experimental.fast_reduce_nc(x[0], dims=[1], memory", "x[0].sum(1, keepdim=True)"),
    (("RotaryEmbeddingLlamaDeviceOperation", [HEADS, X, X, (1, 1, 32, 32)], HEADS, {"is_decode_mode": "false"}),
     "ttnn.experimental.rotary_embedding_llama(x[0], x[1], x[2], x[3], is_decode_mode=False, memory", None),
    (("EmbeddingsDeviceOperation", [((1, 1, 1, 32), {**WHOLE, "dtype": "UINT32"}), ((1, 1, 128, 64), ROWS)], (1, 1, 32, 64), {"embeddings_type": "EmbeddingsType::GENERIC", "tilized": "true"}),
     "ttnn.embedding(x[0], x[1], layout=ttnn.TILE_LAYOUT, memory", "torch.nn.functional.embedding(x[0], x[1].flatten(0, -2))"),
    (("EmbeddingsDeviceOperation", [((1, 1, 1, 19), {"dtype": "UINT32"}), ((1, 1, 128, 64), ROWS)], ((1, 1, 19, 64), ROWS), {"embeddings_type": "EmbeddingsType::GENERIC", "tilized": "true"}),
     "ttnn.embedding(x[0], x[1], layout=ttnn.TILE_LAYOUT, memory", "torch.nn.functional.embedding(x[0], x[1].flatten(0, -2))"),
    (("UpdateKVCacheOperation", [(1, 1, 128, 64), X], (1, 1, 128, 64), {"op_type": "UpdateCacheOpType::FILL", "batch_idx": "0"}), "ttnn.fill_cache(x[0], x[1], 0)", None),
    (("UpdateKVCacheOperation", [(32, 1, 128, 64), (1, 1, 32, 64)], (32, 1, 128, 64), {"op_type": "UpdateCacheOpType::UPDATE", "update_idx": "7", "batch_offset": "0"}),
     "ttnn.update_cache(x[0], x[1], 7, batch_offset=0)", None),
    (("NlpCreateHeadsDeviceOperation", [(1, 1, 64, 768)], (1, 4, 64, 64), {"num_q_heads": "4", "num_kv_heads": "4", "transpose_k_heads": "false"}),
     "ttnn.experimental.nlp_create_qkv_heads(x[0], num_heads=4, num_kv_heads=4, transpose_k_heads=False, memory", None),
    (("NLPCreateQKVHeadsDecodeDeviceOperation", [(1, 1, 32, 768)], (1, 32, 8, 64), {"num_q_heads": "8", "num_kv_heads": "2", "overlap_qk_coregrid": "true", "output_mem_config": SPREAD_HEADS}),
     "ttnn.experimental.nlp_create_qkv_heads_decode(x[0], num_heads=8, num_kv_heads=2, overlap_qk_coregrid=True, memory", None),
    (("NlpCreateHeadsSegformerDeviceOperation", [X], (1, 2, 64, 32), {}), "ttnn.experimental.nlp_create_qkv_heads_segformer(x[0], memory", None),
    (("PaddedSliceDeviceOperation", [((1, 32, 32, 64), ROWS)], ((1, 1, 512, 64), {**ROWS, "placement": TALL}),
      {"padded_slice_start": "Shape([0; 0; 0; 0])", "padded_slice_end": "Shape([1; 16; 32; 64])", "step": "Shape([1; 1; 1; 1])"}),
     "ttnn.experimental.padded_slice(x[0], [0, 0, 0, 0], [1, 16, 32, 64], [1, 1, 1, 1], memory", None),
    (("SliceWriteDeviceOperation", [((1, 16, 32, 64), ROWS), ((1, 32, 32, 64), ROWS)], ((1, 32, 32, 64), ROWS),
      {"slice_start": "Shape([0; 0; 0; 0])", "slice_end": "Shape([1; 16; 32; 64])", "step": "Shape([1; 1; 1; 1])"}),
     "ttnn.experimental.slice_write(x[0], x[1], [0, 0, 0, 0], [1, 16, 32, 64], [1, 1, 1, 1])", None),
    (("SdpaDecodeDeviceOperation", [QUERY, CACHE, CACHE, ((1, 1, 1, 4), WHOLE)], QUERY, {**DECODE, "scale": "0.5"}),
     "scaled_dot_product_attention_decode(x[0], x[1], x[2], cur_pos_tensor=x[3], scale=0.5", "scaled_dot_product_attention(x[0].permute(1, 2, 0, 3), x[1].repeat_interleave(4, 1), x[2].repeat_interleave(4, 1), scale=0.5).permute(2, 0, 1, 3)"),
    (("SdpaDecodeDeviceOperation", [QUERY, CACHE, CACHE, ((1, 1, 4, 8), WHOLE), ((1, 1, 1, 4), WHOLE)], QUERY, DECODE),
     "paged_scaled_dot_product_attention_decode(x[0], x[1], x[2], page_table_tensor=x[3], cur_pos_tensor=x[4]", "x[1][x[3]].transpose(1, 2).flatten(2, 3).repeat_interleave(4, 1)"),
    (("SdpaDecodeDeviceOperation", [QUERY, (4, 1, 128, 64), ((1, 1, 1, 4), WHOLE)], (1, 4, 8, 32), {**DECODE, "use_mla": "true", "head_dim_v": "32"}),
     "ttnn.transformer.flash_multi_latent_attention_decode(x[0], x[1], head_dim_v=32, cur_pos_tensor=x[2]", None),
    (("BinaryNgDeviceOperation", [((1, 1, 512, 64), {"placement": TALL}), (1, 1, 512, 64)], ((1, 1, 512, 64), {"placement": TALL}), {"binary_op_type": "BinaryOpType::ADD"}),
     "ttnn.add(x[0], x[1], dtype=ttnn.bfloat16, memory", "x[0] + x[1]"),
    (("MatmulDeviceOperation", [((1, 1, 512, 64), {"placement": TALL}), X, (1, 1, 32, 64)], ((1, 1, 512, 64), {"placement": TALL}), {}),
     "ttnn.linear(x[0], x[1], bias=x[2], dtype", "x[0] @ x[1] + x[2]"),
    (("MatmulDeviceOperation", [((1, 1, 128, 256), {"placement": block_sharded(64, 64, (4, 2))}), (1, 1, 256, 256)], ((1, 1, 128, 256), {"placement": block_sharded(64, 64, (4, 2))}), {}),
     "ttnn.matmul(x[0], x[1], dtype", "x[0] @ x[1]"),
    (("AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 256), GATHER), "ttnn.all_gather(x[0], 3, cluster_axis=0, num_links=1, topology=ttnn.Topology.Linear", None),
    (("ReduceScatterMinimalAsyncDeviceOperation", [(1, 1, 64, 256)], X, {"ring_size": "4"}), "ttnn.reduce_scatter(x[0], 3, memory", None),
]  # fmt: skip

NOT_REBUILT = [
    *((of_users(users), "INPUT_0 lies in L1_HEIGHT_SHARDED and no report prints its shards: link the memory report") for users in (12, 33)),
    (("HaloDeviceOperation", [X], X, {}), "within ttnn.conv2d and the pools"),
    (("PadDeviceOperation", [X], X, {}), "no layout op of this name"),
    (("BinaryNgDeviceOperation", [X, X], X, {"binary_op_type": "BinaryOpType::BIAS_GELU"}), "BIAS_GELU"),
    (("BinaryNgDeviceOperation", [X, X], X, {"binary_op_type": "BinaryOpType::ADD", "is_where_op": "true"}), "is_where_op is true"),
    (("BinaryNgDeviceOperation", [X], X, {"binary_op_type": "BinaryOpType::ADD"}), "one operand"),
    (("BinaryNgDeviceOperation", [X, X], X, {}), "prints no binary_op_type"),
    (("UnaryDeviceOperation", [X], X, {}), "prints no op_chain"),
    (("UnaryDeviceOperation", [X], X, {"op_chain": "{()}"}), "prints no function"),
    (("UnaryDeviceOperation", [X], X, {"op_chain": "{UnaryWithParam(op_type=UnaryOpType::RELU;param={x()})}"}), "op_chain"),
    (("TernaryDeviceOperation", [X, X, X], X, {"ternary_op_type": "TernaryOpType::LERP"}), "LERP"),
    (("TernaryDeviceOperation", [X, X, X], X, {"ternary_op_type": "TernaryOpType::ADDCMUL", "ternary_variant": "TernaryVariant::TTS"}), "ternary_variant is"),
    *((("SoftmaxDeviceOperation", [X, X], X, {key: "true"}), f"{key} is true") for key in ("is_causal_mask", "is_scale_causal_mask_hw_dims_softmax")),
    (("GroupNorm", [X], X, {"eps": "1e-05", "num_groups": "2", "program_config": GROUPS, "use_welford": "true"}), "use_welford is true"),
    (("SdpaDecodeDeviceOperation", [QUERY, CACHE, CACHE], QUERY, {**DECODE, "sliding_window_size": "128"}), "sliding_window_size is 128"),
    *((("MinimalMatmulDeviceOperation", [X, X], X, {key: text}), f"{key} is") for key, text in (("fused_activation", RELU), ("fused_ternary_scalar", "1.0"), ("fuse_swiglu", "true"))),
    (("LayerNormDeviceOperation", [X], X, {**NORM, "norm_type": "LayerNormType::OTHER"}), "norm_type OTHER"),
    (("LayerNormDeviceOperation", [X], X, {**NORM, "distributed_norm_stage": "DistributedLayerNormStage::PRE_ALL_GATHER"}), "distributed_norm_stage"),
    (("SoftmaxDeviceOperation", [X], X, {"dim": "2"}), "its dim is 2"),
    (("SDPAOperation", [HEADS, HEADS], HEADS, SDPA), "queries, keys and values"),
    (("SDPAOperation", [HEADS] * 3 + [X], HEADS, SDPA), "fourth operand"),
    *((("SDPAOperation", [HEADS] * 3 + [shape], HEADS, {**SDPA, "is_causal": "false"}), "fourth operand") for shape in ((1, 8, 1, 64), (1, 8, 64, 1))),
    (("SDPAOperation", [HEADS] * 3 + [X, (1, 8, 1, 1)], HEADS, {**SDPA, "is_causal": "false"}), "what its INPUT_4 is for"),
    *((("BinaryNgDeviceOperation", [X, X, *more], X, {"binary_op_type": "BinaryOpType::ADD"}), "what its INPUT_2 is for") for more in ([X, X], [(1, 1, 32, 64)], [(X, {"dtype": "FLOAT32"})])),
    *((("ConcatDeviceOperation", [X, X], (1, 1, 64, 128), {key: CORES}), f"{key} is") for key in ("sub_core_grids", "sub_core_grid")),
    *((("NLPConcatHeadsDecodeDeviceOperation", [HEADS], HEADS, {"num_heads": "8", key: "true"}), f"{key} is true") for key in ("on_subcoregrids", "input_on_subcoregrids")),
    (("MatmulDeviceOperation", [X, X, (1, 1, 32, 64), (1, 1, 32, 64)], X, {}), "what its INPUT_3 is for"),
    (("SDPAOperation", [HEADS] * 3, HEADS, {**SDPA, "use_mla": "true"}), "use_mla"),
    (("PermuteDeviceOperation", [(1, 2, 64, 64)], X, {"dims": "SmallVector([0; 1])"}), "it counts 2 dimensions"),
    (("PermuteDeviceOperation", [(1, 1, 1, 64)], X, {"dims": "SmallVector([0; 1; 2; 3; 4])"}), "it counts 5 dimensions"),
    (("ConcatDeviceOperation", [X, X], (1, 1, 64, 128), {"groups": "2"}), "groups is 2"),
    (("SliceDeviceOperation", [X], (1, 1, 32, 64), {**SLICE, "use_tensor_args": "true"}), "use_tensor_args is true"),
    (("InterleavedToShardedDeviceOperation", [X], X, {"output_mem_config": "elsewhere"}), "where it moves its operand"),
    *((("EmbeddingsDeviceOperation", [((1, 1, 1, 32), WHOLE), ((1, 1, 128, 64), ROWS)], (1, 1, 32, 64), {key: text}), f"{key} is") for key, text in (("embeddings_type", "EmbeddingsType::PADDED"), ("pad_token", "0"))),
    (("NlpCreateHeadsDeviceOperation", [(1, 1, 64, 768)], (1, 4, 64, 64), {"num_q_heads": "4", "kv_tied": "true"}), "kv_tied is true"),
    (("TransposeDeviceOperation", [X], X, {"dim": "TransposeOpDim::XY"}), "its dim"),
    (("ConcatDeviceOperation", [X, X], X, {}), "along which dimension"),
    (("ConcatDeviceOperation", [X], X, {}), "along which dimension"),
    (("SliceDeviceOperation", [X], X, {**SLICE, "slice_end": "Shape([1; 1])"}), "not of one rank"),
    (("SliceDeviceOperation", [X], X, {**SLICE, "slice_end": "Shape([])"}), "slice_end|not of one rank|ends"),
    (("TopKDeviceOperation", [X], X, {"k": "32", "dim": "2"}), "its dim is 2"),
    (("AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 256), {}), "on how many chips"),
    (("AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 256), {"ring_size": "1"}), "on how many chips"),
    (("AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 192), GATHER), "along which dimension"),
    (("AllGatherAsyncDeviceOperation", [X], (1, 1, 0, 0), GATHER), "no other op of this name"),
    (("SdpaDecodeDeviceOperation", [HEADS, HEADS], HEADS, {}), "queries, keys and values"),
    (("SdpaDecodeDeviceOperation", [HEADS], HEADS, {"use_mla": "true"}), "queries, keys and values"),
    (("SdpaDecodeDeviceOperation", [HEADS, HEADS], HEADS, {"use_mla": "true"}), "prints no head_dim_v"),
    (("SdpaDecodeDeviceOperation", [HEADS, HEADS, HEADS, *[((1, 1, 1, 4), WHOLE)] * 3], HEADS, {}), "beside the positions"),
    (("SdpaDecodeDeviceOperation", [HEADS, ((1, 1, 1, 4), WHOLE), HEADS, HEADS], HEADS, {}), "beside the positions"),
    (("MoveDeviceOperation", [X, X], X, {}), "a hole that other tensors left"),
    (("ReduceDeviceOperation", [(1, 1, 1024, 64)], ((1, 1, 2, 64), ROWS), {"dim": "ReduceOpDim::H", "math_op": "ReduceOpMath::SUM"}), "one step of a reduction"),
    (("ReduceDeviceOperation", [((1, 1, 2, 64), ROWS)], (1, 1, 1, 64), {"dim": "ReduceOpDim::H", "math_op": "ReduceOpMath::SUM"}), "one step of a reduction"),
    (("ReduceDeviceOperation", [X], X, {"dim": "ReduceOpDim::H", "math_op": "ReduceOpMath::OTHER"}), "math_op or its dim"),
    (("AccumulationDeviceOperation", [X], X, {"dim": "0", "op": "AccumulationOp::CUMSUM"}), "whose rank"),
    (("AccumulationDeviceOperation", [X], X, {"dim": "0", "op": "AccumulationOp::CUMPROD"}), "op is"),
    (("GroupNorm", [X], X, {"eps": "1e-05", "num_groups": "2"}), "program_config with a grid"),
    (("GroupNorm", [X, X, X], X, {"eps": "1e-05", "num_groups": "2", "program_config": GROUPS}), "beside the weight"),
    (("Pool2D", [X], X, {"pool_type": "Pool2DType::MAX_POOL2D"}), "image, the window and the shards"),
    (("GridSample", [((1, 8, 8, 32), ROWS), ((1, 4, 4, 6), ROWS)], ((1, 4, 4, 32), ROWS), {"mode": "nearest"}), "mode is nearest"),
    (("UpsampleOperation", [X], X, {"mode": "cubic", "scale_factor_h": "2", "scale_factor_w": "2"}), "its mode"),
    (("NLPCreateQKVHeadsDecodeDeviceOperation", [X, X], X, {"num_q_heads": "8"}), "offset whose values"),
    (("ReshardDeviceOperation", [((1, 1, 512, 64), {"placement": TALL})], ((1, 1, 512, 64), {"placement": TALL}), {}), "no report prints its shards"),
    (("BinaryNgDeviceOperation", [((1, 1, 256, 64), {"placement": TALL}), X], ((1, 1, 512, 64), {"placement": TALL}), {"binary_op_type": "BinaryOpType::ADD"}), "no report prints its shards"),
    (("SdpaDecodeDeviceOperation", [HEADS, HEADS, HEADS, X], HEADS, {}), "beside the positions"),
    (("MatmulDeviceOperation", [X], X, {}), "one operand"),
    (("Conv2dDeviceOperation", [X, X], X, {}), "image, the window and the shards"),
]  # fmt: skip

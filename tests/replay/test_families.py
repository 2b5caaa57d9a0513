"""The call behind each kind of device op, by the attributes of its row; and what of a row is not rebuilt."""

import ast
from math import prod

import pytest

from tests.asking import ask, session
from tests.checks.rows import put
from tests.profiles import DRAM, L1, Program, block_sharded, write_performance_report
from tests.profiles.model import DeviceOp
from ttnn_mcp.errors import QuestionRefused

X = (1, 1, 64, 64)
HEADS = (1, 8, 64, 64)
KERNEL = "WormholeComputeKernelConfig(math_fidelity=HiFi4,math_approx_mode=0,fp32_dest_acc_en=1)"
RELU = "{BasicUnaryWithParam<float; int>(base=BasicUnaryWithParam<float>(op_type=UnaryOpType::RELU;param={}))}"
LEAKY = "{UnaryWithParam(op_type=UnaryOpType::LEAKY_RELU;param={0.1})}"
NORM = {"norm_type": "LayerNormType::LAYERNORM", "eps": "1e-05"}
SDPA = {"is_causal": "true", "scale": "0.125", "program_config": "SDPAProgramConfig(compute_with_storage_grid_size=(x=8;y=8);q_chunk_size=32;k_chunk_size=32;exp_approx_mode=0;max_cores_per_head_batch=16)"}  # fmt: skip
GATHER = {"ring_size": "4", "cluster_axis": "0", "num_links": "1", "topology": "Topology::Linear"}
SLICE = {"slice_start": "Shape([0; 0; 0; 0])", "slice_end": "Shape([1; 1; 32; 64])", "step": "Shape([1; 1; 1; 1])"}


def program(code, inputs, output, attributes, **kinds):
    made = Program("wormhole_b0")
    placed = kinds.pop("placement", DRAM)
    dtypes = kinds.pop("dtypes", ["BFLOAT16"] * len(inputs))
    x = [made.tensor(list(shape), dtype, placement=placed) for shape, dtype in zip(inputs, dtypes, strict=True)]
    y = made.tensor(list(output), kinds.pop("out_dtype", "BFLOAT16"))
    put(made, DeviceOp(code, x, [y], attributes={"output_mem_config": y.placement, **attributes}))
    return made


@pytest.fixture
def called(tmp_path):
    async def of(*told, **kinds):
        report = write_performance_report(tmp_path / "perf", program(*told, **kinds))
        path = tmp_path / "script.py"
        answer = await ask(session(tmp_path), "replay_op", run=str(report), op=3, path=str(path), sweep=[])
        tree = ast.parse(path.read_text())
        parts = {getattr(one, "name", ""): ast.unparse(one.body[-1]) for one in tree.body if hasattr(one, "body")}
        return parts["call"], parts.get("reference"), answer

    return of


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
    (("LayerNormDeviceOperation", [X, (1, 1, 1, 64)], X, {**NORM, "norm_type": "LayerNormType::RMSNORM"}),
     "ttnn.rms_norm(x[0], epsilon=1e-05, weight=x[1], memory", "torch.rsqrt(x[0].pow(2)"),
    (("LayerNormDeviceOperation", [X], X, {**NORM, "program_config": "LayerNormDefaultProgramConfig(legacy_reduction=0;use_welford=1)"}),
     "ttnn.LayerNormDefaultProgramConfig(use_welford=True)", "layer_norm(x[0], x[0].shape[-1:], eps=1e-05)"),
    (("SoftmaxDeviceOperation", [X], X, {"dim": "3", "numeric_stable": "true", "program_config": "SoftmaxDefaultProgramConfig()"}),
     "ttnn.softmax(x[0], dim=-1, numeric_stable=True", "torch.softmax(x[0], -1)"),
    (("SoftmaxDeviceOperation", [X, X], X, {"scale": "0.5"}), "ttnn.scale_mask_softmax(x[0], 0.5, x[1]", "x[0] * 0.5 + x[1]"),
    (("SoftmaxDeviceOperation", [X], X, {"inplace": "true"}), "scale_mask_softmax_in_place(x[0], None, None)", "torch.softmax"),
    (("SDPAOperation", [HEADS, (1, 2, 64, 64), (1, 2, 64, 64)], HEADS, SDPA),
     "is_causal=True, scale=0.125, program_config=ttnn.SDPAProgramConfig(", "x[1].repeat_interleave(4, 1)"),
    (("SDPAOperation", [HEADS] * 3 + [X], HEADS, {**SDPA, "is_causal": "false"}), "attn_mask=x[3], is_causal=False", "x[1], x[2], attn_mask=x[3]"),
    (("TilizeWithValPaddingDeviceOperation", [X], X, {}), "ttnn.tilize_with_val_padding(x[0], [1, 1, 64, 64], 0.0", "x[0]"),
    (("Tilize", [X], X, {"use_multicore": "true"}), "ttnn.tilize(x[0], dtype=ttnn.bfloat16, memory_config=ttnn.DRAM_MEMORY_CONFIG, use_multicore=True)", "x[0]"),
    (("UntilizeWithUnpaddingDeviceOperation", [X], (1, 1, 60, 64), {}), "ttnn.untilize_with_unpadding(x[0], [0, 0, 59, 63]", None),
    (("Untilize", [X], X, {}), "ttnn.untilize(x[0], memory", "x[0]"),
    (("ReshapeViewDeviceOperation", [X], (1, 1, 32, 128), {"logical_output_shape": "Shape([32; 128])"}), "ttnn.reshape(x[0], [32, 128]", "x[0].reshape([32, 128])"),
    (("PermuteDeviceOperation", [X], X, {"dims": "SmallVector([1; 0; 2])"}), "ttnn.permute(x[0], [1, 0, 2]", "x[0].permute([1, 0, 2])"),
    (("TransposeDeviceOperation", [X], X, {"dim": "TransposeOpDim::HC"}), "ttnn.transpose(x[0], 1, 2", "x[0].transpose(1, 2)"),
    (("ConcatDeviceOperation", [X, X], (1, 1, 64, 128), {"groups": "1"}), "ttnn.concat([x[0], x[1]], 3", "torch.cat(x, 3)"),
    (("SliceDeviceOperation", [X], (1, 1, 32, 64), SLICE), "ttnn.slice(x[0], [0, 0, 0, 0], [1, 1, 32, 64], [1, 1, 1, 1]", "x[0][0:1:1, 0:1:1, 0:32:1, 0:64:1]"),
    (("CopyDeviceOperation", [X], X, {}), "ttnn.clone(x[0], dtype=ttnn.bfloat16", "x[0]"),
    (("InterleavedToShardedDeviceOperation", [X], X, {"output_mem_config": block_sharded(32, 32, (2, 2))}),
     "ttnn.to_memory_config(x[0], ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, ttnn.ShardSpec(", "x[0]"),
    (("NLPConcatHeadsDeviceOperation", [HEADS], (1, 1, 64, 512), {}), "ttnn.experimental.nlp_concat_heads(x[0]", "x[0].transpose(1, 2)"),
    (("TopKDeviceOperation", [X], (1, 1, 64, 32), {"k": "32", "dim": "3", "largest": "true", "sorted": "true"}),
     "ttnn.topk(x[0], 32, dim=-1, largest=True, sorted=True", "torch.topk(x[0], 32, -1, True)[0]"),
    (("ArgMaxDeviceOperation", [X], (1, 1, 1, 64), {"dim": "3", "keepdim": "false"}), "ttnn.argmax(x[0], dim=-1, keepdim=False", None),
    (("AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 256), GATHER), "ttnn.all_gather(x[0], 3, cluster_axis=0, num_links=1, topology=ttnn.Topology.Linear", None),
    (("ReduceScatterMinimalAsyncDeviceOperation", [(1, 1, 64, 256)], X, {"ring_size": "4"}), "ttnn.reduce_scatter(x[0], 3, memory", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("told", "call", "reference"), OPS, ids=[f"{told[0]}-{at}" for at, (told, *_) in enumerate(OPS)]
)
async def test_an_op_is_called_with_what_its_row_prints(called, told, call, reference):
    wrote, compared, _ = await called(*told)
    assert call in wrote
    assert (reference is None) == (compared is None)
    assert reference is None or reference in compared


NOT_REBUILT = [
    (("HaloDeviceOperation", [X], X, {}), "no movement op of this name"),
    (("BinaryNgDeviceOperation", [X, X], X, {"binary_op_type": "BinaryOpType::BIAS_GELU"}), "BIAS_GELU"),
    (("BinaryNgDeviceOperation", [X, X], X, {"binary_op_type": "BinaryOpType::ADD", "is_where_op": "true"}), "is_where_op is true"),
    (("BinaryNgDeviceOperation", [X], X, {"binary_op_type": "BinaryOpType::ADD"}), "one operand"),
    (("BinaryNgDeviceOperation", [X, X], X, {}), "prints no binary_op_type"),
    (("UnaryDeviceOperation", [X], X, {}), "prints no op_chain"),
    (("UnaryDeviceOperation", [X], X, {"op_chain": "{()}"}), "prints no function"),
    (("UnaryDeviceOperation", [X], X, {"op_chain": "{UnaryWithParam(op_type=UnaryOpType::RELU;param={x()})}"}), "op_chain"),
    (("TernaryDeviceOperation", [X, X, X], X, {"ternary_op_type": "TernaryOpType::LERP"}), "LERP"),
    (("LayerNormDeviceOperation", [X], X, {**NORM, "norm_type": "LayerNormType::OTHER"}), "norm_type OTHER"),
    (("LayerNormDeviceOperation", [X], X, {**NORM, "distributed_norm_stage": "DistributedLayerNormStage::PRE_ALL_GATHER"}), "distributed_norm_stage"),
    (("SoftmaxDeviceOperation", [X], X, {"dim": "2"}), "its dim is 2"),
    (("SDPAOperation", [HEADS, HEADS], HEADS, SDPA), "queries, keys and values"),
    (("SDPAOperation", [HEADS] * 3 + [X], HEADS, SDPA), "fourth operand"),
    (("SDPAOperation", [HEADS] * 3, HEADS, {**SDPA, "use_mla": "true"}), "use_mla"),
    (("PermuteDeviceOperation", [(1, 2, 64, 64)], X, {"dims": "SmallVector([0; 1])"}), "it counts 2 dimensions"),
    (("PermuteDeviceOperation", [X], X, {"dims": "SmallVector([0; 1; 2; 3; 4])"}), "it counts 5 dimensions"),
    (("TransposeDeviceOperation", [X], X, {"dim": "TransposeOpDim::XY"}), "its dim"),
    (("ConcatDeviceOperation", [X, X], X, {}), "along which dimension"),
    (("ConcatDeviceOperation", [X], X, {}), "along which dimension"),
    (("SliceDeviceOperation", [X], X, {**SLICE, "slice_end": "Shape([1; 1])"}), "not of one rank"),
    (("SliceDeviceOperation", [X], X, {**SLICE, "slice_end": "Shape([])"}), "slice_end|not of one rank|ends"),
    (("TopKDeviceOperation", [X], X, {"k": "32", "dim": "2"}), "its dim is 2"),
    (("AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 256), {}), "on how many chips"),
    (("AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 256), {"ring_size": "1"}), "on how many chips"),
    (("AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 192), GATHER), "along which dimension"),
    (("SdpaDecodeDeviceOperation", [HEADS, HEADS], HEADS, {}), "queries, keys and values"),
    (("SdpaDecodeDeviceOperation", [HEADS, HEADS, HEADS, X], HEADS, {}), "beside the positions"),
    (("MatmulDeviceOperation", [X], X, {}), "one operand"),
    (("Conv2dDeviceOperation", [X, X], X, {}), "image, the window and the shards"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("told", "why"), NOT_REBUILT, ids=[f"{told[0]}-{at}" for at, (told, _) in enumerate(NOT_REBUILT)]
)
async def test_what_a_row_does_not_tell_is_said_and_not_made_up(called, told, why):
    with pytest.raises(QuestionRefused, match=f"cannot be replayed from this report: .*({why})"):
        await called(*told)


def decode(*beside):
    shapes = [(1, 4, 8, 64), (4, 2, 128, 64), (4, 2, 128, 64), *beside]
    return ("SdpaDecodeDeviceOperation", shapes, (1, 4, 8, 64), {**SDPA, "scale": "0.5"})


async def test_attention_of_a_token_is_taken_at_its_last_position(called):
    kinds = ["BFLOAT16"] * 3
    call, _, answer = await called(*decode((1, 1, 1, 4)), dtypes=[*kinds, "INT32"])
    assert "scaled_dot_product_attention_decode(x[0], x[1], x[2], cur_pos_tensor=x[3], scale=0.5" in call
    assert answer["assumed"][0] == "the position is not in a report: 127, the last, which takes longest"
    call, _, answer = await called(*decode((1, 1, 4, 8), (1, 1, 1, 4)), dtypes=[*kinds, "INT32", "INT32"])
    assert (
        "paged_scaled_dot_product_attention_decode(x[0], x[1], x[2], page_table_tensor=x[3], cur_pos_tensor=x[4]"
        in call
    )
    assert "1023, the last" in answer["assumed"][0]
    assert prod((8, 128)) == 1024


async def test_an_operand_in_l1_is_made_there(tmp_path):
    told = ("UnaryDeviceOperation", [X], X, {"op_chain": RELU})
    report = write_performance_report(tmp_path / "perf", program(*told, placement=L1))
    path = tmp_path / "s.py"
    await ask(session(tmp_path), "replay_op", run=str(report), op=3, path=str(path))
    assert '"layout": ttnn.TILE_LAYOUT, "memory": ttnn.L1_MEMORY_CONFIG' in path.read_text()

"""A device op of a graph becomes the row that its performance report would have; texts as TTNN 0.81.1 prints them."""

from __future__ import annotations

from dataclasses import replace

from tests.for_all import for_all
from ttnn_mcp.analyses.settings.printed_row import bare_row, row_of
from ttnn_mcp.readers.graph.launches import Launch
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.readers.printed.memory_config import parse_memory_config

KERNEL = (
    "ComputeKernelConfig(math_fidelity=HiFi2,math_approx_mode=0,fp32_dest_acc_en=1,packer_l1_acc=1,"
    "dst_full_sync_en=0,throttle_level=ThrottleLevel::NO_THROTTLE)"
)
DRAM = "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM,shard_spec=std::nullopt)"
SHARDS = (
    "MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED,buffer_type=BufferType::L1,shard_spec=ShardSpec{grid="
    '[{"start":{"x":0,"y":0},"end":{"x":7,"y":7}], shape=[1568, 64], orientation=ShardOrientation::ROW_MAJOR},'
    "nd_shard_spec=std::nullopt)"
)
TAIL = "0, std::nullopt, std::nullopt, {batched}, {first}, {second}, Tile(tile_shape={{32, 32}}), std::nullopt)"
PRODUCT = f"MatmulParams(<variant>, 1, {DRAM}, DataType::BFLOAT8_B, {KERNEL}, {TAIL})"
CONFIG = "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=8-7,in0_block_w=2)"
CONV = (
    "Conv2dParams(SlidingWindowConfig(8, 0, {112, 56}, {3, 5}, {1, 2}, array(1, 1, 2, 2), {0, 0}, {1, 1}, std::nullopt, "
    "1, 1, 64, 1, <CoreRangeSet>, 1, 0, 0, 0, PaddingMode::Zeros), 64, 1, 0, 1, <BasicUnaryWithParam>, "
    "Conv2dParallelizationConfig(<xy_pair>, 60, 1, 1, 49, 2), Conv2dBlockConfig(7, 3, 1, 2), "
    f"{SHARDS}, DataType::BFLOAT8_B, array(8, 112, 56, 16), {KERNEL}, 1, 0, 0, 0, 1, 58368, std::nullopt)"
)


def spec(*shape, dtype="BFLOAT16", tiled=True, where=DRAM):
    return Spec(shape, dtype, tiled, parse_memory_config(where))


def product(second="0", first="0", *, failed=False):
    printed = PRODUCT.format(batched=1, first=first, second=second)
    outputs = () if failed else (spec(1, 1, 100, 512, dtype="BFLOAT8_B"),)
    return Launch("MatmulDeviceOperation", "", printed, (spec(1, 1, 100, 256), spec(256, 512)), outputs)


def attributes_of(launch, **arguments):
    return parse_attributes(row_of(launch, arguments).texts("attributes")[0])


def test_operands_have_their_cells():
    row = row_of(product(), {})
    a, b = row.inputs
    assert (a.padded[0].tolist(), a.logical[0].tolist()) == ([1, 1, 128, 256], [1, 1, 100, 256])
    assert (b.padded[0].tolist(), b.dtype[0], b.layout[0]) == ([1, 1, 256, 512], "BFLOAT16", "TILE")
    assert (a.placement[0], row.outputs[0].dtype[0]) == ("DRAM_INTERLEAVED", "BFLOAT8_B")
    assert (row.texts("op_code")[0], row.texts("fidelity")[0]) == ("MatmulDeviceOperation", "HiFi2")
    assert not row.numbers("kernel_ns")[0] > 0


def test_the_config_of_the_call_is_written_as_a_row_writes_it():
    config = attributes_of(product(), program_config=CONFIG, **{"0": "ttnn.Tensor"}).struct("program_config")
    assert config.fields["compute_with_storage_grid_size"] == "(x=8,y=7)"
    assert config.number("in0_block_w") == 2
    assert attributes_of(product()).struct("compute_kernel_config").number("fp32_dest_acc_en") == 1


def test_a_first_operand_that_is_transposed_is_not_read():
    assert row_of(product(second="1"), {}) is not None
    assert row_of(product(first="1"), {}) is None


LINEAR = PRODUCT.format(batched=0, first=0, second=0).replace(
    "0, std::nullopt, std::nullopt", "0, <xy_pair>, <BasicUnaryWithParam>"
)


def test_a_grid_and_a_function_of_a_matmul_are_named_by_its_call_or_the_op_is_not_read():
    given = {"core_grid": "ttnn.CoreGrid(x=12, y=6)", "activation": "gelu"}
    launch = replace(product(), attributes=LINEAR)
    read = attributes_of(launch, **given)
    assert (read.struct("user_core_coord").number("x"), read.struct("user_core_coord").number("y")) == (12, 6)
    assert read["user_fused_activation"] == "UnaryWithParam(op_type=UnaryOpType::GELU;param={1})"
    for lacking in ({"core_grid": "8"}, {"activation": "UnaryWithParam(op_type=UnaryOpType::GELU)"}):
        assert row_of(launch, {**given, **lacking}) is None
    assert not {"user_core_coord", "user_fused_activation"} & {*attributes_of(product(), **given)}


@for_all(("config", "read"), [("RELU)", "UnaryOpType::RELU;param={}"), ("RELU6)", "UnaryOpType::RELU6;param={}"), ("LEAKY_RELU)", "<BasicUnaryWithParam>"), (None, "<BasicUnaryWithParam>")])  # fmt: skip
def test_a_function_of_a_conv_is_named_by_its_config_where_it_has_no_numbers(config, read):
    x, w = spec(1, 1, 116736, 16, tiled=False, where=SHARDS), spec(1, 1, 144, 64, dtype="BFLOAT8_B")
    named = (
        {"conv_config": f"Conv2dConfig(activation=UnaryWithParam(op_type=UnaryOpType::{config},a=1)"}
        if config
        else {}
    )
    attributes = attributes_of(Launch("Conv2dDeviceOperation", "", CONV, (x, w), ()), **named)
    assert attributes["activation"] == f"UnaryWithParam(op_type={read})"
    plain = Launch("Conv2dDeviceOperation", "", CONV.replace("<BasicUnaryWithParam>", "std::nullopt"), (x, w), ())
    assert "activation" not in attributes_of(plain, **named)


def test_a_softmax_and_a_norm_tell_their_numbers():
    x = spec(1, 8, 512, 64)
    softmax = f"SoftmaxParams(SoftmaxOperationType::ScaleMaskSoftmaxInPlace, 3, 0.125, 1, {DRAM}, <variant>, 0, {KERNEL}, 0, 1, 0)"
    read = attributes_of(Launch("SoftmaxDeviceOperation", "", softmax, (x, x), (x,)))
    assert (read.number("dim"), read["scale"], read.flag("inplace"), read.flag("numeric_stable")) == (
        3,
        "0.125",
        True,
        True,
    )
    flags = ("is_causal_mask", "is_scale_causal_mask_hw_dims_softmax", "has_explicit_compute_kernel_config")
    assert [read.flag(name) for name in flags] == [False] * 3
    older = attributes_of(Launch("SoftmaxDeviceOperation", "", softmax[:-4] + ")", (x, x), (x,)))
    assert (older.flag("numeric_stable"), older.get(flags[2])) == (True, None)
    norm = f"LayerNormParams(LayerNormType::RMSNORM, DistributedLayerNormStage::NOT_DISTRIBUTED, 1e-05, {DRAM}, <variant>, {KERNEL}, std::nullopt, std::nullopt)"
    read = attributes_of(Launch("LayerNormDeviceOperation", "", norm, (x,), (x,)))
    assert (read["norm_type"], read["distributed_norm_stage"], read["eps"]) == (
        "RMSNORM",
        "NOT_DISTRIBUTED",
        "1e-05",
    )
    fused = norm.replace("std::nullopt)", "<BasicUnaryWithParam>)")
    assert row_of(Launch("LayerNormDeviceOperation", "", fused, (x,), (x,)), {}) is None


def test_more_dims_than_a_row_has_are_not_read():
    wide = spec(1, 1, 2, 32, 32)
    assert bare_row(Launch("XDeviceOperation", "", "", (wide,), (wide,))) is None
    assert row_of(Launch("CopyDeviceOperation", "", f"CopyParams({DRAM}", (wide,), (wide,)), {}) is None
    assert bare_row(Launch("XDeviceOperation", "", "", (spec(32, 32),), (spec(32, 32),))).inputs[0].present[0]


def test_what_could_not_be_there_is_no_row():
    """2^21 rows and columns: no chip holds the product of what two of them hold."""
    assert row_of(replace(product(failed=True), inputs=(spec(1 << 21, 32), spec(32, 1 << 21))), {}) is None


def test_what_failed_has_the_output_that_it_would_have_given():
    row = row_of(product(failed=True), {})
    assert (row.outputs[0].logical[0].tolist(), row.outputs[0].dtype[0]) == ([1, 1, 100, 512], "BFLOAT8_B")
    alone = replace(product(failed=True), inputs=(spec(1, 1, 100, 256),))
    assert not row_of(alone, {}).outputs
    x, w = spec(1, 1, 116736, 16, tiled=False, where=SHARDS), spec(1, 1, 144, 64, dtype="BFLOAT8_B")
    conv = row_of(Launch("Conv2dDeviceOperation", "", CONV, (x, w), ()), {})
    assert conv.outputs[0].logical[0].tolist() == [1, 1, 60 * 49 * 32, 64]
    q, printed = (
        spec(1, 8, 512, 64),
        f"SDPAParams(0.125, {DRAM}, std::nullopt, 1, std::nullopt, std::nullopt, {KERNEL}, 0)",
    )
    attention = row_of(Launch("SDPAOperation", "", printed, (q, q, q), ()), {})
    assert attention.outputs[0].logical[0].tolist() == [1, 8, 512, 64]
    assert not row_of(Launch("CopyDeviceOperation", "", f"CopyParams({DRAM}", (q,), ()), {}).outputs


@for_all(("text", "kept"), [("x" * 999, True), ("x" * 1000, False), ("it's", False)])
def test_an_argument_that_is_long_is_a_printed_tensor_and_a_quote_would_end_it(text, kept):
    assert ("odd" in attributes_of(product(), odd=text)) is kept


@for_all(("causal", "start"), [("1", "std::nullopt"), ("0", "256")])
def test_attention_says_whether_it_is_causal_and_where_its_chunk_starts(causal, start):
    printed = f"SDPAParams(0.125, {DRAM}, SDPAProgramConfig(<xy_pair>, std::nullopt, 64, 128, 0, 16), {causal}, {start}, std::nullopt, {KERNEL}, 0)"
    q = spec(1, 8, 512, 64)
    attributes = attributes_of(Launch("SDPAOperation", "", printed, (q, q, q), (q,)))
    assert attributes.flag("is_causal") == (causal == "1")
    assert attributes.number("chunk_start_idx") == (256 if causal == "0" else None)
    assert attributes["scale"] == "0.125"


def test_a_conv_has_its_window_its_cores_its_blocks_and_its_flags():
    x, w = spec(1, 1, 116736, 16, tiled=False, where=SHARDS), spec(1, 1, 144, 64, dtype="BFLOAT8_B")
    attributes = attributes_of(Launch("Conv2dDeviceOperation", "", CONV, (x, w), ()))
    window = attributes.struct("sliding_window_config")
    assert (window.number("batch_size"), window.fields["input_hw"], window.fields["window_hw"]) == (
        8,
        "(112,56)",
        "(3,5)",
    )
    assert (window.fields["stride_hw"], window.fields["padding"]) == ("(1,2)", "((1,1),(2,2))")
    spread, block = attributes.struct("parallelization_config"), attributes.struct("block_config")
    assert (spread.number("num_cores_nhw"), spread.number("per_core_out_matrix_width_ntile")) == (60, 2)
    assert (block.number("act_block_h_ntiles"), block.number("act_block_w_ntiles")) == (7, 3)
    flags = ("enable_act_double_buffer", "enable_weights_double_buffer", "config_tensors_in_dram", "untilize_out")
    assert [attributes.flag(name) for name in flags] == [True, False, True, False]
    assert (attributes.flag("has_bias"), attributes.number("pre_op_l1_allocation_size_bytes")) == (True, 58368)
    assert parse_memory_config(attributes["memory_config"]).shard.ranges == (((0, 0), (7, 7)),)


@for_all("printed", ["unsupported type", PRODUCT.format(batched=1, first=0, second=0).replace("Tile(", "Other(")])
def test_a_form_that_is_not_known_is_not_read(printed):
    assert row_of(Launch("MatmulDeviceOperation", "", printed, (spec(32, 32), spec(32, 32)), ()), {}) is None


EMPTY = "SmallVector([]), SmallVector([]), SmallVector([]), "
FUNCTION = "SmallVector([<BasicUnaryWithParam>])"


@for_all(
    "name, printed, wanted",
    [
        ("BinaryNg", f"operation_attributes_t(BinaryOpType::ADD, {EMPTY}0.5, ", {"binary_op_type": "BinaryOpType::ADD", "scalar": "0.5"}),
        ("BinaryNg", f"operation_attributes_t(BinaryOpType::MUL, {EMPTY}<variant>, ", {"scalar": None}),
        ("Typecast", "TypecastParams(DataType::BFLOAT8_B, DataType::BFLOAT16, ", {"output_dtype": "DataType::BFLOAT16"}),
        ("Transpose", "TransposeParams(TransposeOpDim::HC, ", {"dim": "TransposeOpDim::HC"}),
        ("Permute", "operation_attributes_t(SmallVector([0, 2, 3, 1]), ", {"dims": "[0, 2, 3, 1]"}),
        ("ReshapeView", "ReshapeViewParams(Shape([8, 196]), Shape([8, 224]), ", {"logical_output_shape": "Shape([8, 196])"}),
        ("Slice", "SliceParams(Shape([0, 3]), Shape([1, 16]), Shape([1, 2]), ",
         {"slice_start": "Shape([0, 3])", "slice_end": "Shape([1, 16])", "step": "Shape([1, 2])"}),
        ("Concat", "ConcatParams(3, 2, ", {"groups": "2"}),
        ("Reduce", f"ReduceParams(ReduceOpMath::SUM, ReduceOpDim::H, -1.5e-05, {KERNEL}, ",
         {"math_op": "ReduceOpMath::SUM", "dim": "ReduceOpDim::H", "scaler": "-1.5e-05"}),
        ("RotaryEmbeddingLlama", "RotaryEmbeddingLlamaParams(1, ", {"is_decode_mode": "1"}),
        ("NlpCreateHeads", "operation_attributes_t(16, 8, 64, 1, 0, ", {"num_q_heads": "16", "num_kv_heads": "8", "transpose_k_heads": "1"}),
        ("NLPConcatHeadsDecode", "NlpConcatHeadsDecodeParams(32, 0, ", {"num_heads": "32"}),
        ("Copy", "CopyParams(", {}),
    ],
)  # fmt: skip
def test_ops_without_a_kernel_config_have_the_attributes_that_a_row_has(name, printed, wanted):
    """Printed in the order of the struct, without names."""
    made = attributes_of(Launch(f"{name}DeviceOperation", "", printed + DRAM, (spec(32, 32),), (spec(32, 32),)))
    assert {key: made.get(key) for key in wanted} == wanted
    assert made.get("output_mem_config") == DRAM


@for_all(
    "name, printed",
    [
        (
            "BinaryNg",
            f"operation_attributes_t(BinaryOpType::ADD, {FUNCTION}, SmallVector([]), SmallVector([]), 0.5, ",
        ),
        ("Unary", "operation_attributes_t({<BasicUnaryWithParam>}, DataType::BFLOAT16, "),
        ("NlpCreateHeads", "operation_attributes_t(16, 8, 64, 1, 1, "),
    ],
)
def test_an_op_whose_functions_a_graph_does_not_name_is_not_read(name, printed):
    launch = Launch(f"{name}DeviceOperation", "", printed + DRAM, (spec(32, 32),), (spec(32, 32),))
    assert row_of(launch, {}) is None


def test_a_conv_of_another_form_is_not_read_and_an_op_without_a_place_is():
    x = spec(1, 1, 64, 64)
    assert row_of(Launch("Conv2dDeviceOperation", "", f"Conv2dParams(other, {KERNEL})", (x, x), (x,)), {}) is None
    assert "memory_config" not in attributes_of(Launch("TilizeDeviceOperation", "", "TilizeParams(1)", (x,), (x,)))

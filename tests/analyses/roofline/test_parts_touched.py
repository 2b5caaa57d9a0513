"""Of some operands an op touches a part, or nothing: a bound that counts all of them would be none."""

import numpy as np
import pytest

from tests.analyses.roofline.arithmetic import table
from tests.analyses.roofline.test_traffic import TILE, tiles
from tests.for_all import for_all
from ttnn_mcp.analyses.roofline.matmul_flops import WHY_PACKED
from ttnn_mcp.analyses.roofline.parts_touched import (
    WHY_EXPERTS,
    WHY_LINKS,
    WHY_OTHER,
    WHY_PARTS,
    WHY_SAMPLES,
)
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.analyses.roofline.traffic import touched_of
from ttnn_mcp.analyses.roofline.transformer_parts import WHY_CACHE, WHY_PAGES, WHY_ROWS


def high(count):
    """A tensor of so many tiles, one below the other."""
    return [1, 1, 32 * count, 32]


@pytest.fixture
def moved(tmp_path):
    """(tiles moved, why) of one op."""
    return lambda code, *op: tiles(table(tmp_path, (code, *op)))


@for_all(
    ("code", "inputs", "attributes", "read"),
    [
        ("RotaryEmbedding", [high(2), high(8), high(8)], {"token_idx": None}, 2 + 2 + 2),
        ("RotaryEmbedding", [high(2), high(8), high(8)], {"token_idx": 0}, 2 + 1 + 1),
        ("RotaryEmbedding", [high(2), high(1), high(1)], {}, 2 + 1 + 1),
        ("RotaryEmbeddingLlama", [high(2), high(8), high(8), TILE], {"is_decode_mode": "false"}, 2 + 2 + 2 + 1),
        ("RotaryEmbeddingLlama", [high(2), high(8), high(8), high(4)], {}, 2 + 2 + 2 + 4),
        ("RotaryEmbeddingHf", [high(2), high(8), high(8)], {}, 2 + 2 + 2),
        ("RotaryEmbeddingFusedQK", [high(2), high(2), high(8), high(8)], {}, 2 + 2 + 2 + 2),
        ("RotaryEmbeddingLlamaFusedQK", [high(2), high(4), high(8), high(8), TILE], {}, 2 + 4 + 2 + 2 + 1),
    ],
)
def test_tables_of_angles_are_read_as_far_as_the_sequence_goes(moved, code, inputs, attributes, read):
    assert moved(code, inputs, [high(2)], attributes) == (read + 2, "")


def test_a_report_of_one_input_tells_what_a_rotary_embedding_can_tell(tmp_path):
    ops = table(tmp_path, ("RotaryEmbedding", [TILE, TILE, TILE], [TILE]), without="INPUT_[1-9]")
    assert tiles(ops) == (2, "")


@for_all("code", ["Slice", "PaddedSlice", "InterleavedToShardedPartial", "NlpKVCacheLoadSlice"])
def test_of_a_cache_a_slice_is_read(moved, code):
    assert moved(code, [high(16), TILE], [high(2)]) == (4, "")


@for_all("code", ["NonZeroIndices", "IndexFill", "DramPrefetcher", "BrandNew"])
def test_an_unknown_op_is_taken_to_touch_each_operand_whole(moved, code):
    assert moved(code, [TILE, TILE], [TILE]) == (3, WHY_OTHER)


@for_all(
    ("code", "attributes", "moves"),
    [
        ("MoEGate", {}, (2, WHY_EXPERTS)),
        ("ExpertTopk", {}, (2, WHY_EXPERTS)),
        ("SparseMatmul", {}, (None, WHY_EXPERTS)),
        ("SparseMatmul", {"nnz": 3}, (1 + 3 + 1, "")),
    ],
)
def test_of_experts_only_the_weights_of_active_ones_count(moved, code, attributes, moves):
    assert moved(code, [TILE, [1, 8, 32, 32]], [TILE], attributes) == moves


@for_all("code", ["Sort", "CumSum", "EmbeddingBackward", "PlusOne"])
def test_ops_that_are_told_by_their_operands_count_them(moved, code):
    assert moved(code, [TILE, TILE], [TILE]) == (3, "")


@for_all(
    ("code", "inputs", "counted"),
    [
        ("Full", 1, 1),
        ("Sampling", 7, 6),
        ("TopK", 3, 2),
        ("Accumulation", 2, 2),
        ("Bcast", 4, 3),
        ("RMSAllGather", 4, 2),
    ],
)
def test_preallocated_outputs_are_not_read(moved, code, inputs, counted):
    assert moved(code, [TILE] * inputs, [TILE]) == (counted, "")


def test_a_source_is_scattered_as_far_as_there_are_indices(moved):
    assert moved("Scatter", [high(4), high(2), high(8)], [high(4)]) == (4 + 2 + 2 + 4, "")
    assert moved("Scatter", [high(4), high(2)], [high(4)]) == (4 + 2 + 4, "")


def test_of_what_is_picked_or_exchanged_less_is_read_and_written(moved):
    assert moved("Gather", [high(8), high(2)], [high(2)]) == (2 + 2 + 2, "")
    assert moved("GridSample", [high(8), TILE], [high(2)]) == (1 + 2, WHY_SAMPLES)

    assert moved("AllGatherMatmulAsync", [TILE] * 4, [high(8), high(2)]) == (2 + 2, WHY_LINKS)


def test_a_report_of_two_inputs_tells_what_a_scatter_can_tell(tmp_path):
    ops = table(tmp_path, ("Scatter", [TILE] * 3, [TILE]), without="INPUT_[2-9]")
    assert tiles(ops) == (3, "")


@for_all(
    ("code", "inputs", "counted", "why"),
    [
        ("UpdateKVCache", [8, 2], 4, ""),
        ("FillCache", [8, 2], 4, ""),
        ("PagedUpdateCache", [8, 2], 4, ""),
        ("PagedUpdateCache", [8, 2, 1], 0, WHY_PAGES),
        ("PagedUpdateCache", [8, 2, 1, 1], 0, WHY_PAGES),
        ("PagedFillCache", [8, 2, 1, 1], 2, WHY_PAGES),
        ("UpdateKVCache", [8, 2, 1, 1], 4, ""),
        ("PagedFusedUpdateCache", [8, 2, 8, 2], 6, ""),
        ("PagedFusedUpdateCache", [8, 2, 8, 2, 1, 1], 0, WHY_PAGES),
    ],
)
def test_what_pages_and_positions_may_skip_does_not_count(moved, code, inputs, counted, why):
    assert moved(code, [high(one) for one in inputs], [high(8)] * 2) == (counted, why)


@for_all(
    ("kind", "counted", "why"),
    [("GENERIC", 1 + 2 + 2, ""), ("PADDED", 1 + 2, WHY_ROWS), ("BINARY", 1 + 2, WHY_ROWS), (None, 1 + 2 + 2, "")],
)
def test_rows_that_an_embedding_keeps_on_its_cores_do_not_count(moved, kind, counted, why):
    attributes = {"embeddings_type": kind and f"EmbeddingsType::{kind}"}
    assert moved("Embeddings", [TILE, high(16)], [high(2)], attributes) == (counted, why)


@for_all(
    ("code", "counted"), [("NLPConcatHeadsDecode", 0.5), ("NLPConcatHeads", 3), ("NLPCreateQKVHeadsDecode", 0.5)]
)
def test_decoding_heads_are_moved_without_what_pads_them(moved, code, counted):
    assert moved(code, [[1, 1, 8, 32], TILE], [[1, 1, 8, 32]]) == (counted, "")


def test_a_batch_offset_takes_some_of_the_users(moved):
    assert moved("NLPCreateQKVHeadsDecode", [high(4), TILE], [TILE]) == (2, "")


def test_padding_is_filled_in_place(moved):
    assert moved("FillPad", [[1, 1, 24, 32]], [[1, 1, 24, 32]]) == (0.25, "")
    assert moved("FillPad", [TILE], [TILE]) == (0, "")


@for_all(
    ("code", "moves"),
    [
        ("AllReduceAsync", (3, "")),
        ("StridedAllGatherAsync", (3, "")),
        ("AllBroadcast", (3, "")),
        ("ReduceScatterMinimalAsync", (3, "")),
        ("MeshPartition", (2, "")),
        ("AllToAllDispatch", (3, WHY_PARTS)),
        ("AllReduceCreateQkvHeads", (3, WHY_PARTS)),
        ("AllGatherConcat", (3, WHY_PARTS)),
        ("LlamaReduceScatter", (3, WHY_PARTS)),
        ("DeepseekMoEReduceScatter", (3, WHY_PARTS)),
        ("DeepseekMoeReduceScatter", (3, WHY_PARTS)),
        ("PointToPoint", (3, WHY_PARTS)),
    ],
)
def test_an_uneven_exchange_is_taken_to_send_its_input_whole(moved, code, moves):
    assert moved(code, [high(2), high(5)], [TILE]) == moves


@for_all(
    ("code", "inputs", "attributes", "counted"),
    [
        ("AttnMatmul", [TILE, high(8)], {"num_tokens": 64}, 1 + 2 + 1),
        ("GroupAttnMatmul", [TILE, high(8)], {"num_tokens": 512}, 1 + 8 + 1),
        ("AttnMatmul", [TILE, high(8)], {}, 1 + 8 + 1),
        ("AttnMatmul", [TILE, high(8)], {"num_tokens": 0}, 1 + 8 + 1),
        ("ConcatHeadsMatmulDecode", [[1, 1, 8, 32], TILE], {}, 0.25 + 1 + 1),
    ],
)
def test_a_matmul_reads_the_tokens_and_heads_there_are(moved, code, inputs, attributes, counted):
    assert moved(code, inputs, [TILE], attributes)[0] == counted


@for_all(("code", "read"), [("MinimalMatmul", 2 + 1 + 1 + 2 + 2), ("Matmul", 2 + 1 + 1)])
def test_what_a_minimal_matmul_adds_and_multiplies_is_read(moved, code, read):
    assert moved(code, [high(2), TILE, TILE, high(2), high(2)], [high(2)]) == (read + 2, "")


@for_all("code", ["Matmul_RS", "MatmulWO"])
def test_packed_weights_may_be_those_of_other_layers(tmp_path, code):
    ops = table(tmp_path, (code, [TILE, high(8), TILE], [TILE]))
    assert tiles(ops) == (None, WHY_PACKED)
    touched = touched_of(ops, lambda operand: np.zeros(1), Reasons(1))
    assert touched.reads.sum() == 0  # nothing in DRAM is known to be nothing


def test_a_report_of_one_input_tells_what_a_matmul_can_tell(tmp_path):
    ops = table(tmp_path, ("AttnMatmul", [TILE, TILE], [TILE]), without="INPUT_[1-9]")
    assert tiles(ops)[0] == 2


@for_all(
    ("code", "known"),
    [
        ("WindowedScaledDotProductAttention", False),
        ("ChunkedSDPA", False),
        ("SparseSDPA", False),
        ("JointSDPA", True),
    ],
)
def test_attention_to_a_part_of_the_keys(moved, code, known):
    assert moved(code, [TILE] * 3, [TILE]) == ((4, "") if known else (None, WHY_CACHE))


@for_all(
    ("code", "attributes", "whole"),
    [
        ("SDPA", {}, 1),
        ("SDPA", {"chunk_start_idx": 32}, 0),
        ("SDPA", {"chunk_start_idx_tensor": "Tensor(storage=DeviceStorage())"}, 0),
        ("SDPA", {"is_windowed": True}, 0),
        ("SDPA", {"mode": "WindowedMode::Bidirectional"}, 0),
        ("SDPA", {"mode": "WindowedMode::None"}, 1),
        ("SdpaDecode", {}, 0),
    ],
)
def test_masks_and_page_tables_of_a_cache_do_not_count(tmp_path, code, attributes, whole):
    ops = table(tmp_path, (code, [TILE] * 4, [TILE], attributes))
    touched = touched_of(ops, lambda operand: operand.present.astype(float), Reasons(1))
    assert touched.reads[3].tolist() == [whole]


def test_a_ring_that_shares_out_the_queries_reads_its_share(moved):
    assert moved("RingDistributedSDPA", [high(8), high(8), high(8), TILE], [high(2)]) == (2 + 4 + 4 + 2, "")
    assert moved("RingJointSDPA", [high(8)] * 7, [high(8)] * 3) == (7 * 8, "")
    assert moved("ExpRingJointSDPA", [high(8)] * 7, [high(8)] * 3) == (7 * 8, "")

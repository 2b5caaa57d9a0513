"""Arithmetic of attention by its kinds: each with what tells it from the others."""

from tests.analyses.roofline.arithmetic import counted, table
from tests.for_all import for_all
from ttnn_mcp.analyses.roofline.flops import WHY_ATTENTION, WHY_KEYS, WHY_PLACE, WHY_POSITION, WHY_WINDOWS

Q, K, V, OUT = [1, 4, 128, 64], [1, 4, 256, 64], [1, 4, 256, 32], [1, 4, 128, 32]
EACH = 2 * 4 * (64 + 32)  # per pair of a query and a key, over four heads
PLAIN = ("SDPA", [Q, K, V], [OUT])
RING = {"logical_n": 1024, "ring_size": 4}
CAUSAL = {"is_causal": True}


@for_all(
    ("code", "settings", "pairs", "why"),
    [
        ("SDPA", {}, 128 * 256, ""),
        ("SDPA", CAUSAL, 128 * 256 / 2, ""),
        ("SDPA", {**CAUSAL, "is_balanced": True}, 128 * 256 / 2, ""),
        ("ChunkedSDPA", CAUSAL, None, WHY_POSITION),
        ("ChunkedSDPA", {**CAUSAL, "chunk_start_idx": 64}, 128 * (64 + 128 / 2), ""),
        ("SDPA", {**CAUSAL, "chunk_start_idx_tensor": "Tensor(storage=DeviceStorage())"}, None, WHY_POSITION),
        ("SDPA", {**CAUSAL, "chunk_start_idx_tensor": None}, 128 * 256 / 2, ""),
        ("PagedSDPA", {}, None, WHY_POSITION),
        ("SdpaDecode", CAUSAL, None, WHY_POSITION),
        ("SdpaDecode", {"is_causal": False}, 128 * 256, ""),  # the heads lie in the rows
        ("SdpaDecode", {"is_causal": False, "paged_attention": True}, None, WHY_POSITION),
        ("SdpaDecode", {"is_causal": False, "paged_attention": False}, 128 * 256, ""),
        ("SDPA", {"is_causal": False, "paged_attention": True}, 128 * 256, ""),  # no attribute of TTNN's
        ("SdpaDecode", {}, None, WHY_POSITION),
        ("SDPA", {"is_causal": False}, 128 * 256, ""),
        ("WindowedSDPA", {}, None, WHY_WINDOWS),
        ("WindowedSDPA", CAUSAL, None, WHY_WINDOWS),
        ("SDPA", {"is_causal": False, "is_windowed": True}, None, WHY_WINDOWS),
        ("SDPA", {"is_causal": False, "is_windowed": False}, 128 * 256, ""),
        ("SDPA", {"mode": "WindowedMode::Bidirectional"}, None, WHY_WINDOWS),
        ("SDPA", {**CAUSAL, "mode": "WindowedMode::Causal"}, None, WHY_WINDOWS),
        ("SDPA", {"mode": "WindowedMode::None"}, 128 * 256, ""),
        ("SDPA", {"sliding_window_size": 32}, None, WHY_WINDOWS),
        ("SDPA", {**CAUSAL, "sliding_window_size": 32}, 32 * (128 - 16), ""),
        ("SDPA", {**CAUSAL, "sliding_window_size": 128}, 128 * 256 / 2, ""),
        ("RingSDPA", RING, 128 * 1024, ""),
        ("RingSDPA", {**RING, **CAUSAL}, 128 * 128 / 2, WHY_PLACE),
        ("RingSDPA", {**RING, **CAUSAL, "is_balanced": True}, 128 * 1024 / 2, ""),
        ("RingDistributedSDPA", RING, 128 * 256 / 4, ""),
        ("RingDistributedSDPA", {**RING, **CAUSAL}, 128 * 256 / 2 / 4, ""),
        ("SDPA", {**RING, **CAUSAL}, 128 * 256 / 2, ""),
        ("JointScaledDotProductAttention", {}, 128 * 256, ""),
        ("FlashMLADecode", {}, None, WHY_POSITION),
        ("RingDistributedSdpa", RING, 128 * 256 / 4, ""),
        ("SparseSDPA", {}, None, WHY_ATTENTION),
        ("SparseSDPAMsa", CAUSAL, None, WHY_ATTENTION),
        ("NeighborhoodSDPA", {}, None, WHY_ATTENTION),
    ],
)
def test_pairs_of_queries_and_keys_by_kind(tmp_path, code, settings, pairs, why):
    [(useful, performed, told)] = counted(table(tmp_path, (code, [Q, K, V], [OUT], settings)))
    assert (useful, told) == (None if pairs is None else EACH * pairs, why)
    assert performed == useful


def test_joint_queries_are_queries_and_keys_of_their_own(tmp_path):
    joint = [1, 4, 32, 64]
    op = ("JointSDPA", [Q, K, V, joint, joint, joint], [OUT])
    assert counted(table(tmp_path, op))[0][0] == EACH * (128 + 32) * (256 + 32)
    assert counted(table(tmp_path, op, without="INPUT_[3-9]"))[0][0] == EACH * 128 * 256
    assert counted(table(tmp_path, ("SDPA", [Q, K, V, joint, joint, joint], [OUT])))[0][0] == EACH * 128 * 256


def test_of_five_operands_the_fourth_is_the_gathered_key(tmp_path):
    gathered = ("JointSDPA", [Q, K, V, [1, 4, 1024, 64], [1, 4, 1024, 64]], [OUT])
    joined = ("JointSDPA", [Q, K, V, *[[1, 4, 32, 64]] * 3], [OUT])
    assert [each[0] for each in counted(table(tmp_path, gathered, joined))] == [EACH * 128 * 256, EACH * 160 * 288]


def test_a_length_in_a_tensor_is_no_joint_value(tmp_path):
    """tt-metal's ExpRingJointSDPA without joint operands: gathered keys and values, then the live length."""
    inputs = [Q, K, V, [1, 4, 1024, 64], [1, 4, 1024, 32], [1, 1, 1, 1]]
    [(useful, _, _)] = counted(table(tmp_path, ("ExpRingJointSDPA", inputs, [OUT], RING)))
    assert useful == EACH * 128 * 1024


def test_rows_that_pad_a_tile_are_performed_and_not_asked_for(tmp_path):
    op = ("SDPA", [[1, 4, 120, 64], K, V], [[1, 4, 120, 32]])
    assert counted(table(tmp_path, op)) == [(EACH * 120 * 256, EACH * 128 * 256, "")]


def test_query_key_and_output_are_all_it_takes(tmp_path):
    assert counted(table(tmp_path, PLAIN, without="INPUT_[2-9]"))[0][0] == EACH * 128 * 256


@for_all("without", ["INPUT_[1-9]", "OUTPUT"])
def test_a_report_without_these_columns_shows_no_arithmetic(tmp_path, without):
    assert counted(table(tmp_path, PLAIN, without=without)) == [(None, None, WHY_KEYS)]


@for_all("blank", ["INPUT_0", "INPUT_1", "OUTPUT"])
def test_nor_does_one_whose_cells_are_all_blank(tmp_path, blank):
    assert counted(table(tmp_path, PLAIN, blank=blank)) == [(None, None, WHY_KEYS)]


def test_a_row_without_keys_shows_none(tmp_path):
    found = counted(table(tmp_path, PLAIN, PLAIN, blank="INPUT_1"))
    assert [each[0] for each in found] == [None, EACH * 128 * 256]
    assert found[0][2] == WHY_KEYS

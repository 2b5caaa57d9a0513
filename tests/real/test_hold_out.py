"""A few settings of shapes never tried before, as TTNN 0.81.1 answered on mock devices: one for each rule they taught.

`make real` tries hundreds, others every time; these stay, so that what they taught is not lost.
"""

from __future__ import annotations

from tests.for_all import for_all
from tests.real.trials import outcome

CONV = {
    "b": 1, "h": 10, "cin": 128, "cout": 128, "k": 7, "s": 1, "layout": "BLOCK", "act_block_h_override": 256,
    "act_block_w_div": 1, "enable_act_double_buffer": True, "enable_weights_double_buffer": True,
    "weights_dtype": "bfloat8_b", "fp32_dest_acc_en": True, "packer_l1_acc": False, "output_dtype": "bfloat8_b",
    "bias": True, "output_layout": "TILE",
}  # fmt: skip
SLICED = {
    **CONV, "b": 2, "h": 20, "cin": 480, "cout": 480, "k": 3, "act_block_h_override": 0, "fp32_dest_acc_en": False,
    "enable_act_double_buffer": False, "output_dtype": "bfloat16", "slice": "Height", "slices": 4,
}  # fmt: skip
SDPA = {
    "heads": 4, "batch": 1, "rows": 512, "head": 96, "dtype": "bfloat8_b", "causal": False, "q_chunk_size": 128,
    "k_chunk_size": 128, "fp32": True, "grid": [8, 8], "keys": 512,
}  # fmt: skip
DECODE = {
    "batch": 8, "heads": 32, "kv_heads": 8, "keys": 2048, "head": 64, "dtype": "bfloat16", "q_chunk_size": 32,
    "k_chunk_size": 64,
}  # fmt: skip
FEW_HEADS = {**DECODE, "heads": 8, "kv_heads": 1, "keys": 1024}
BANKED = {
    "m": 32, "k": 4096, "n": 4096, "b": "bfloat8_b", "cores": 32, "banks": 12, "in0_block_w": 4, "per_core_N": 4,
}  # fmt: skip
PAGED = {
    "batch": 8, "heads": 32, "kv_heads": 8, "head": 128, "block": 64, "pages": 33, "dtype": "bfloat16",
    "cache": "bfloat8_b", "k_chunk_size": 128, "grid": [8, 8],
}  # fmt: skip
CHUNK = {
    "batch": 1, "heads": 8, "kv_heads": 1, "rows": 512, "head": 128, "dtype": "bfloat16", "cache": "bfloat8_b",
    "block": 64, "start": 512, "causal": True, "q_chunk_size": 64, "k_chunk_size": 64, "pages": 64, "grid": [8, 8],
}  # fmt: skip
NARROW = {
    "rows": 256, "width": 256, "grid": [8, 1], "block_h": 8, "block_w": 1, "subblock_w": 1, "inplace": True,
    "fp32": False, "beta": False, "residual": False,
}  # fmt: skip
SOFT = {
    "batch": 1, "heads": 8, "rows": 128, "width": 256, "grid": [8, 4], "block_h": 1, "block_w": 8, "subblock_w": 4,
}  # fmt: skip
HELD = [  # op, case, setting, value, L1 before, bytes per core; None where TTNN refused
    ("conv2d", CONV, "act_block_h_override", 256, 16_384, 127_616),  # the rows of BLOCK are doubled too
    ("conv2d", {**CONV, "layout": "HEIGHT", "k": 3}, "output_layout", "ROW_MAJOR", 16_384, None),
    ("conv2d", SLICED, "act_block_h_override", 96, 0, 77_504),  # 20 columns are 32 in a slice; 3 tiles lowered to 2
    ("conv2d", {**SLICED, "slice": "Width"}, "act_block_h_override", 96, 0, None),
    ("sdpa", SDPA, "q_chunk_size", 192, 0, 381_184),  # padded chunks in FLOAT32: a mask of all scores
    ("sdpa", {**SDPA, "heads": 1, "rows": 256, "head": 64, "keys": 77}, "fp32", True, 0, 230_400),
    ("sdpa_decode", DECODE, "k_chunk_size", 32, 0, 77_824),
    ("sdpa_decode", {**FEW_HEADS, "keys": 2048}, "k_chunk_size", 256, 0, 207_872),  # half tiles
    ("sdpa_decode", {**FEW_HEADS, "heads": 32}, "k_chunk_size", 32, 0, 135_168),  # eight cores share a head
    ("sdpa_decode", DECODE, "k_chunk_size", 96, 0, None),
    ("sdpa_decode", {**DECODE, "keys": 512}, "k_chunk_size", 1024, 0, None),
    ("sdpa_decode", {**PAGED, "pages": 32}, "k_chunk_size", 256, 0, 258_240),
    ("sdpa_decode", PAGED, "k_chunk_size", 192, 0, None),
    ("sdpa", CHUNK, "k_chunk_size", 128, 0, 215_296),
    ("sdpa", {**CHUNK, "start": 64}, "k_chunk_size", 128, 0, None),  # a chunk begins where chunks begin
    ("matmul DRAM-sharded", BANKED, "in0_block_w", 16, 8_192, 697_344),  # gathered in a scratchpad
]


@for_all("held", HELD, ids=lambda held: f"{held[0]}-{held[2]}-{held[3]}")
def test_what_ttnn_said_is_what_we_say(held):
    _holds(held, [8, 8])


@for_all(("op", "case"), [("layer_norm", NARROW), ("softmax", SOFT)])
def test_a_chip_with_fewer_rows_refuses_a_grid_beyond_them(op, case):
    _holds((op, case, "grid", [8, 8], 16_384, None), [8, 7])


def _holds(held, grid):
    op, case, setting, value, before, size = held
    accepted = size is not None
    row = {"kind": "n150", "grid": grid, "op": op, "case": case, "setting": setting, "value": value}
    answer = outcome(
        {**row, "l1_tensors_before": before, "circular_bytes_per_core": size, "accepted": accepted, "error": None}
    )
    assert answer.yes == accepted
    if accepted:
        assert answer.own_bytes == size

"""Bytes that ops move, by kind: each with the operands that do not count."""

import numpy as np

from tests.analyses.roofline.arithmetic import table
from tests.analyses.tables import ops_of
from tests.for_all import for_all
from tests.profiles import Program
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.analyses.roofline.traffic import WHY_OPERANDS, dram_bytes_of
from ttnn_mcp.analyses.roofline.transformer_parts import WHY_CACHE

TILE = [1, 1, 32, 32]  # 2048 bytes
FOUR = [TILE] * 4


def tiles(ops):
    """(tiles moved, why) of the first op; None where they are not known."""
    why = Reasons(len(ops))
    moved = dram_bytes_of(ops, why)[0] / 2048
    return None if np.isnan(moved) else moved, why.texts()[0]


@for_all(
    ("code", "moved"),
    [
        ("Copy", 2),  # movement
        ("Tilize", 2),  # layout
        ("Pool2D", 2),
        ("Upsample", 2),
        ("Unary", 2),
        ("Transpose", 2),
        ("Permute", 2),
        ("Reshape", 2),
        ("Repeat", 2),
        ("BinaryNg", 3),
        ("Ternary", 4),
        ("Where", 4),
        ("Conv2d", 4),
        ("LayerNorm", 5),
        ("RotatePool", 5),  # a pool of an unknown kind reads all
        ("AllGather", 2),
        ("Softmax", 5),
    ],
)
def test_operands_behind_those_that_an_op_reads_are_buffers_and_tables(tmp_path, code, moved):
    assert tiles(table(tmp_path, (code, FOUR, [TILE])))[0] == moved


@for_all(("rows", "read"), [(32, True), (33, False)])
def test_a_bias_is_one_tile_high_and_anything_higher_is_an_output(tmp_path, rows, read):
    program = Program()
    x = program.tensor(TILE)
    third = program.tensor([1, 1, rows, 32], layout="ROW_MAJOR")
    program.op("MatmulDeviceOperation", [x, x, third])
    assert tiles(ops_of(tmp_path, program))[0] == 3 + read


def test_an_empty_tensor_has_no_bytes(tmp_path):
    assert tiles(table(tmp_path, ("Softmax", [TILE, [0, 1, 32, 32]], [TILE]))) == (2, "")


@for_all("without", ["INPUT", "OUTPUT"])
def test_a_report_without_inputs_or_outputs_tells_no_bytes(tmp_path, without):
    assert tiles(table(tmp_path, ("Softmax", [TILE], [TILE]), without=without))[0] is None


def test_an_op_without_operands_tells_so(tmp_path):
    assert tiles(table(tmp_path, ("Softmax", [TILE], [TILE]), ("Unary", [TILE], [TILE]), blank="PUT_")) == (
        None,
        WHY_OPERANDS,
    )


@for_all(("code", "moved"), [("UpdateKVCache", 1), ("Embeddings", 2), ("SparseMatmul", 2)])
def test_a_report_of_one_input_tells_what_it_can(tmp_path, code, moved):
    assert tiles(table(tmp_path, (code, [TILE, TILE], [TILE]), without="INPUT_[1-9]"))[0] == moved


@for_all(
    ("code", "settings", "cached"),
    [
        ("SDPA", {}, False),
        ("SDPA", {"is_causal": True, "chunk_start_idx": 32}, True),
        ("SdpaDecode", {"is_causal": False}, True),
    ],
)
def test_how_much_of_a_cache_was_read_is_not_told(tmp_path, code, settings, cached):
    moved, why = tiles(table(tmp_path, (code, [TILE] * 3, [TILE], settings)))
    assert (moved, why) == ((None, WHY_CACHE) if cached else (4, ""))

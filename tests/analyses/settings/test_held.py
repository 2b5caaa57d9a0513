"""What the tensors of an op take of L1 on a core: pages go round the cores, a shard takes its bytes from all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analyses.settings.rows import on_chip, ops_in
from tests.analyses.tables import put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, height_sharded, width_sharded
from tests.profiles.ops import unary
from ttnn_mcp.analyses.settings.held import held_in_l1, results_in_l1

TILES = {"BFLOAT16": 2048, "BFLOAT8_B": 1088}


@pytest.fixture
def op_on(tmp_path):
    """An op that reads one tensor and writes one in DRAM."""

    def of(shape, placement, *, dtype="BFLOAT16", layout="TILE", out=DRAM):
        program = Program("wormhole_b0")
        x = program.tensor(shape, dtype, placement=placement, layout=layout)
        put(program, unary("RELU", x, program.tensor(shape, dtype, placement=out, layout=layout), 9_000))
        return ops_in(tmp_path, program)[0]

    return of


def bounds(op, implied=None):
    held = held_in_l1(op, implied)
    assert held.tensors == {"OPERANDS_IN_L1": held.least}
    assert held.unsure_bytes == held.most - held.least
    return held.least, held.most


@for_all(
    ("tiles", "dtype", "pages"),
    [(64, "BFLOAT16", 1), (65, "BFLOAT16", 2), (128, "BFLOAT8_B", 2), (1, "BFLOAT16", 1)],
)
def test_pages_go_round_the_cores(op_on, tiles, dtype, pages):
    """64 cores: the allocator gives every bank as many pages as the fullest has."""
    size = pages * TILES[dtype]
    assert bounds(op_on([1, 1, 32, 32 * tiles], L1, dtype=dtype)) == (size, size)


def test_a_row_is_a_page_too_and_begins_at_16_bytes(op_on):
    op = op_on([1, 1, 130, 20], L1, layout="ROW_MAJOR")
    assert bounds(op) == (3 * 48, 3 * 48)  # 130 rows of 40 bytes
    assert bounds(on_chip(op, cores=None)) == (130 * 48, 130 * 48)  # all of it on one core, if nobody knows more


def test_dram_takes_none_of_it(op_on):
    assert bounds(op_on([1, 1, 1024, 1024], DRAM)) == (0, 0)


def test_a_shard_that_nobody_tells_lies_on_one_core_or_on_all(op_on):
    op = op_on([1, 1, 32, 4096], width_sharded(32, 1024, 4), out=L1)
    assert bounds(op) == (4096 + 4096, 128 * 2048 + 4096)
    assert results_in_l1(op).most == 4096
    assert bounds(on_chip(op, cores=None)) == (2 * 128 * 2048, 2 * 128 * 2048)


def test_a_shard_that_a_report_tells_takes_its_bytes(op_on):
    op = op_on([1, 1, 32, 4096], width_sharded(32, 1024, 4))
    assert bounds(replace(op, shards={"INPUT_0": (32, 1024)})) == (32 * 2048, 32 * 2048)
    assert bounds(replace(op, shards={"OUTPUT_0": (32, 1024)})) == (4096, 128 * 2048)


def test_rows_of_a_shard_begin_at_16_bytes(op_on):
    op = op_on([1, 1, 100, 20], height_sharded(25, 20, 4), layout="ROW_MAJOR")
    assert bounds(replace(op, shards={"INPUT_0": (25, 20)})) == (25 * 48, 25 * 48)


def test_what_follows_from_the_config_comes_first(op_on):
    op = replace(op_on([1, 1, 32, 4096], width_sharded(32, 1024, 4)), shards={"INPUT_0": (32, 1024)})
    assert bounds(op, {"INPUT_0": (7, 9), "OUTPUT_0": (1, 1)}) == (7, 9)

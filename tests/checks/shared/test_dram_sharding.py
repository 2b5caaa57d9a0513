"""How the weights of a decode matmul stream fastest: what TTNN accepts, what fits L1, and what was measured where."""

from __future__ import annotations

import numpy as np
import pytest

from tests.checks.asking import Asker
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Program, block_sharded
from tests.profiles.ops import matmul
from ttnn_mcp.checks.shared.dram_sharding import (
    banked,
    deeper_in_shards,
    dram_sharded,
    fastest,
    fastest_form,
    fastest_ns,
    multicast,
    sharded_ns,
    two_sided_config,
)


@pytest.fixture
def facts(tmp_path):
    def of(k, n, arch="wormhole_b0", *, grid=None, m=32, dtype="BFLOAT8_B", config=None):
        program = Program(arch, grid=grid)
        x, w, y = program.tensor([1, 1, m, k]), program.tensor([1, 1, k, n], dtype), program.tensor([1, 1, m, n])
        put(program, matmul(x, w, y, 1_000_000, **({"program_config": config} if config else {})))
        return Asker("", tmp_path, iter(range(9))).case(program)

    return of


@for_all(
    ("k", "n", "blocks", "cores"),
    [
        (4096, 4096, "in0_block_w=8, per_core_M=1, per_core_N=8", 16),
        (8192, 1024, "in0_block_w=8, per_core_M=1, per_core_N=1", 32),
        (5120, 1280, "in0_block_w=8, per_core_M=1, per_core_N=2", 20),
        (2240, 1024, "in0_block_w=7, per_core_M=1, per_core_N=4", 10),
        (2048, 16384, "in0_block_w=4, per_core_M=1, per_core_N=32", 16),
        (11008, 2048, "in0_block_w=8, per_core_M=1, per_core_N=2", 43),
        (24576, 1024, "in0_block_w=8, per_core_M=1, per_core_N=1", 32),  # 48 would do too
        (4096, 14976, "in0_block_w=8, per_core_M=1, per_core_N=30", 16),  # 39 columns per bank: 85.5 % of L1
        (4096, 15360, "in0_block_w=4, per_core_M=1, per_core_N=15", 32),  # 40 would take 87.5 %
    ],
)
def test_blocks_are_as_deep_as_k_and_l1_allow_on_about_32_cores(facts, k, n, blocks, cores):
    text = dram_sharded(facts(k, n), 0)
    assert text is not None
    assert f"MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig({blocks})), x so on {cores} cores" in text


@for_all(
    ("k", "n", "how"),
    [
        (1024, 4096, {}),  # loses on Wormhole
        (67 * 32, 4096, {}),  # prime: single tiles, or one core
        (4096, 128_256, {}),  # three copies of a bank's columns do not fit L1
        (4096, 4096, {"m": 64}),  # TTNN asserts one row of tiles
    ],
)
def test_what_does_not_stream_is_not_advised(facts, k, n, how):
    assert dram_sharded(facts(k, n, **how), 0) is None


def test_what_was_measured_decides_by_chip(facts):
    wormhole, short, blackhole = facts(4096, 4096), facts(1024, 4096), facts(4096, 4096, "blackhole")
    found = [fastest(one, 0) for one in (wormhole, short, blackhole)]
    assert [one.gb_s for one in found if one] == [240, 190, 390]
    assert ["DRAMSharded" in one.fix for one in found if one] == [True, False, False]
    size = wormhole.roofline.dram_bytes
    assert fastest_ns(wormhole, wormhole.matmuls.rows) == pytest.approx(size / 240)
    assert fastest_ns(blackhole, blackhole.matmuls.rows) == pytest.approx(size / 390)


def test_the_form_of_the_fastest_call_is_what_a_law_is_asked(facts):
    forms = [fastest_form(of, 0) for of in (facts(4096, 4096), facts(1024, 4096), facts(4096, 4096, "blackhole"))]
    assert [form.in1_place for form in forms] == ["DRAM_WIDTH_SHARDED", "DRAM_INTERLEAVED", "DRAM_INTERLEAVED"]


def test_sharded_weights_stream_no_faster_than_the_banks_cores_compute(facts):
    """2 x 32 x 4096 x 4096 at HiFi2 on 8 cores of 1.35 GHz, 87 % of them used: 55.8 us; 9.7 MB take 20 at 492 GB/s."""
    narrow, wide = (facts(4096, 4096, "blackhole", dtype=dtype) for dtype in ("BFLOAT4_B", "FLOAT32"))
    assert sharded_ns(narrow, narrow.matmuls.rows).least_ns == pytest.approx(2**30 / 2048 / 8 / 1.35 / 0.87)
    assert sharded_ns(wide, wide.matmuls.rows).least_ns == pytest.approx(wide.roofline.dram_bytes / 320)


def test_the_law_tells_what_is_expected_and_bandwidth_where_it_is_silent(facts):
    """Nobody measured BFLOAT16 weights."""
    narrow, wide = (facts(4096, 4096, dtype=dtype) for dtype in ("BFLOAT8_B", "BFLOAT16"))
    assert sharded_ns(narrow, narrow.matmuls.rows).expected_ns == pytest.approx(81_130, rel=1e-3)
    assert sharded_ns(wide, wide.matmuls.rows).expected_ns == pytest.approx(wide.roofline.dram_bytes / 240)


def test_what_has_no_config_has_no_time(facts):
    short, prime = facts(1024, 4096), facts(67 * 32, 4096)
    assert np.isnan(sharded_ns(short, short.matmuls.rows)[:2]).all()
    assert (banked(prime, 0), np.isnan(sharded_ns(prime, prime.matmuls.rows)[:2]).all()) == (None, True)


def test_what_has_no_config_has_no_deeper_block(facts):
    assert deeper_in_shards(facts(4096, 4096), 0, 38) == []


def of_shards(facts, n, per_n, deepest=38):
    given = f"MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=4,per_core_M=1,per_core_N={per_n})"
    return deeper_in_shards(facts(4096, n, config=given), 0, deepest)


def test_deeper_blocks_take_three_quarters_of_l1_at_most(facts):
    """Of 8 tiles by 34 columns of a bank 992 kB of 1325, by 35 1018."""
    assert of_shards(facts, 13_056, 26) == [(8, 16, 26)]
    assert of_shards(facts, 13_440, 27) == []


def test_deeper_blocks_are_held_by_as_many_cores_as_they_let(facts):
    """128 tiles of K: four on each of 32 cores, eight on 16, sixteen on eight, or on the four of now."""
    assert of_shards(facts, 4096, 4) == of_shards(facts, 4096, 4, 16) == [(8, 16, 8), (16, 8, 16)]
    assert of_shards(facts, 4096, 4, 15) == [(8, 16, 8)]
    assert of_shards(facts, 4096, 32)[-1] == (16, 4, 32)


def test_a_chip_nobody_measured_has_no_remedy(facts):
    grayskull = facts(4096, 4096, "grayskull", grid=(12, 9))
    assert (fastest(grayskull, 0), dram_sharded(grayskull, 0)) == (None, None)


def test_a_grid_of_no_known_card_is_left_to_the_device(facts):
    assert "over device.compute_with_storage_grid_size()" in multicast(facts(4096, 4096, grid=(7, 7)), 0)


def test_subblocks_of_whole_rows_go_into_shards_as_high_as_they_are(tmp_path):
    """TTNN 0.81.1 takes several rows of tiles into shards where a subblock has all columns of the core."""
    program = Program("wormhole_b0", grid=(8, 8))
    x, w = program.tensor([1, 1, 2048, 1024]), program.tensor([1, 1, 1024, 512], "BFLOAT8_B")
    y = program.tensor([1, 1, 2048, 512], placement=block_sharded(256, 64, 64))
    put(program, matmul(x, w, y, 1_000_000))
    config = two_sided_config(Asker("", tmp_path, iter(range(9))).case(program), 0)
    assert (config.per_core_n, config.out_subblock_w, config.out_subblock_h) == (2, 2, 4)

"""A report that lost columns is answered with what is missing, never with silence."""

from __future__ import annotations

import pytest

from tests.checks.rows import put, read
from tests.profiles import DRAM, L1, Program, header_of, height_sharded, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import layer_norm, matmul, sharded_to_interleaved
from ttnn_mcp.checks.check import CannotTell
from ttnn_mcp.checks.step3_memory_sharding import (
    hot_operands_in_dram,
    low_core_count,
    matmul_operands_in_l1_interleaved,
    matmul_program_config,
    minimal_matmul_on_few_rows,
    norm_on_few_cores,
    placement_round_trip,
    reshard_chain,
    sdpa_small_chunks,
    unfused_attention,
)

BY_PLACEMENT = (hot_operands_in_dram, matmul_operands_in_l1_interleaved, placement_round_trip, reshard_chain)
BY_CORES = (low_core_count, matmul_operands_in_l1_interleaved, matmul_program_config, norm_on_few_cores)
BY_SHAPE = (minimal_matmul_on_few_rows, norm_on_few_cores, sdpa_small_chunks, unfused_attention, *BY_PLACEMENT)
LOST = {
    "PUT_": BY_SHAPE,
    "_MEMORY": BY_PLACEMENT,
    "CORE COUNT": BY_CORES,
    "ATTRIBUTES": (matmul_operands_in_l1_interleaved, matmul_program_config, sdpa_small_chunks),
    "MATH FIDELITY": (matmul_program_config,),
}


def everything() -> Program:
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, 1024, 1024], placement=where) for where in (L1, DRAM, DRAM))
    put(program, matmul(x, w, y, 100_000, cores=8))
    for name in ("MinimalMatmulOp", "ScaledDotProductAttentionDeviceOperation", "SoftmaxDeviceOperation"):
        put(program, DeviceOp(name, (x, w), (y,), 50_000, attributes={"program_config": None}))
    put(program, layer_norm(x, w, w, y, 50_000))
    shards = program.tensor([1, 1, 1024, 1024], placement=height_sharded(32, 1024, 32))
    put(program, sharded_to_interleaved(shards, y, 10_000))
    return program


@pytest.mark.parametrize(
    ("lost", "check"),
    [(lost, module.CHECK) for lost, modules in LOST.items() for module in modules],
    ids=lambda value: getattr(value, "id", value),
)
def test_what_a_check_cannot_see_it_cannot_tell(tmp_path, lost, check):
    rows = performance_rows(everything())
    kept = [name for name in header_of(rows, "C7") if lost not in name]
    (said,) = check.look(read(write_rows(tmp_path / "ops_perf_results_made.csv", rows, kept)))
    assert isinstance(said, CannotTell)
    assert "report" in said.why or "profile" in said.why

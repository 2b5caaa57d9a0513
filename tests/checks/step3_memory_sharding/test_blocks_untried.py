"""blocks-untried: other blocks of minimal_matmul and of experts, as a trial."""

from __future__ import annotations

import pytest

from tests.checks.matmul_programs import linear, of_sparse, sparse
from tests.checks.step3_memory_sharding.test_minimal_matmul_blocks import of as minimal
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, rewritten, without


def test_experts_get_deeper_blocks_up_to_32_tiles_and_the_deepest(check):
    """Of 224 tiles of K; what the report does not tell of their bytes leaves 40 % of the time."""
    outcome = check.ask(of_sparse(block=8))
    assert "program_config as now with in0_block_w=16 or 28 or 32 or 112" in outcome.claim.fix
    assert outcome.at_most_ns == pytest.approx(0.68 * outcome.took_ns)
    assert "in0_block_w=18 or 24 or 72" in check.ask(of_sparse(block=12, k=2304)).claim.fix
    assert "in0_block_w=56" not in check.ask(of_sparse(block=32)).claim.fix
    fix = check.ask(of_sparse(block=112)).claim.fix
    assert "as now with half or twice of per_core_N=2 on twice or half of the cores" in fix


def test_experts_get_blocks_that_l1_holds_twice(check):
    """112 tiles of both, twice, are 0.95 MB at 2 columns a core, and 1.43 MB at 4; 56 at 8 are 1.2 MB."""

    def deepest(columns, rows=1):
        program = of_sparse(block=8, per_n=columns)
        op = program.calls[-1].ops[0]
        config = str(op.attributes["program_config"]).replace("per_core_M=1", f"per_core_M={rows}")
        op.attributes = {**op.attributes, "program_config": config}
        return check.ask(program).claim.fix.rpartition(" ")[2]

    assert [deepest(columns) for columns in (2, 4, 8)] == ["112", "56", "56"]
    assert [deepest(2, rows) for rows in (4, 8)] == ["56", "32"]


def test_minimal_matmul_gets_other_blocks_in_every_form(check):
    for name in ("MinimalMatmul", "AllGatherMinimalMatmulAsync"):
        fix = check.ask(minimal(name=name, block=(8, 12))).claim.fix
        assert fix == "MinimalMatmulConfig as now with M_block_size=4 or N_block_size=6; now 8 x 8 x 12 tiles"


def test_only_blocks_that_ttnn_takes_and_l1_holds_are_told(check):
    """Subblocks divide a half; K of 16 takes 1.2 MB at 4 x 8, 1.7 MB at 8 x 8 (real TTNN refuses it)."""

    def tries(**how):
        told = "; ".join(claim.fix for claim in check.ask(minimal(**how)).claims)
        return told.partition(" with ")[2].partition(";")[0]

    assert tries(block=(8, 6)) == "M_block_size=4 or N_block_size=3 (subblock_w=1) or K_block_size=16"
    assert tries(block=(6, 16)) == "M_block_size=3 (subblock_h=1) or N_block_size=8"
    assert tries(config="std::nullopt") == "M_block_size=4 or N_block_size=4"
    one = "MinimalMatmulConfig(M_block_size=1,K_block_size={},N_block_size=1,subblock_h=1,subblock_w=1,compute_with_storage_grid_size=(x=8,y=9))"
    assert tries(config=one.format(8)) == "K_block_size=16"
    assert not tries(config=one.format(192))
    assert not tries(config=one.replace("subblock_w=1", "").format(8))


def test_experts_and_minimal_matmul_of_five_microseconds_under_60_percent_are_told(check):
    check.pair(lambda ns: minimal(rows=64, k=32, n=32, ns=ns), silent=4_900, fires=5_100)
    check.pair(lambda rows: minimal(rows=rows), silent=32, fires=33)
    engine = check.case(minimal()).roofline.compute_ns[0]
    check.pair(lambda used: minimal(ns=round(engine / used)), silent=0.61, fires=0.59)


def test_matmuls_beside_them_and_short_experts_are_not_told(check):
    made = minimal()
    linear(made, kernel_ns=400_000)
    assert check.ask(made).claim.claim.startswith("1 matmul (870 us")
    assert check.ask(of_sparse(block=8, k=1024, kernel_ns=4_900)).status == "clean"
    deepest = check.ask(of_sparse(block=72, k=4608)).claim  # 144 tiles: deeper than any measured
    assert "in0_block_w" not in deepest.fix
    assert "in0_block_w=128" in check.ask(of_sparse(block=64, k=4096)).claim.fix
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_without_its_cells_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(rewritten(tmp_path, minimal(), DEVICE_ARCH="later_chip")), "architecture")
    for lost, word in (("PUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")):
        assert_cannot_tell(check.ask(without(tmp_path, (lost,), minimal())), word)


def test_nothing_is_expected_of_it(check, measured):
    measured("blocks-untried")
    assert check.ask(of_sparse(block=8)).claim.expected is None


def test_without_a_printed_config_nothing_is_told_of_experts(check):
    assert check.ask(of_sparse(told=False)).status == "clean"


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(minimal())
    check.assert_sound(of_sparse(block=8))


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(lambda program: sparse(program, block=8), 0.01, of="saving", arch="blackhole")

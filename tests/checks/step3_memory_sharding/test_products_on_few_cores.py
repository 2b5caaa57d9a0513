"""products-on-few-cores: scores and context of an attention, which TTNN gave few cores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import no_such_ops
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.ops import matmul
from ttnn_mcp.analyses.programs.matmul_config import Tiles
from ttnn_mcp.checks.step3_memory_sharding.products_on_few_cores import suggested_products

TILE = 2048
GRID = (11, 10)


def context(
    program,
    *,
    heads=16,
    rows=320,
    keys=320,
    size=32,
    cores=10,
    ns=94_870,
    batches=None,
    config=None,
    of_v=DRAM,
    of_y=DRAM,
    **how,
):
    """RFD3's: 95 us on 10 cores of a Blackhole, 18 on 80."""
    x = program.tensor([1, heads, rows, keys], placement=how.pop("placement", DRAM))
    v = program.tensor([1, heads if batches is None else batches, keys, size], placement=of_v)
    y = program.tensor([1, heads, rows, size], placement=of_y)
    return put(program, matmul(x, v, y, ns, cores=cores, program_config=config, **how))


def of(grid=GRID, **how):
    program = Program("blackhole", grid=grid)
    context(program, **how)
    return program


def test_a_context_on_few_cores_is_told(check):
    """Two rows of tiles to a core: 80 blocks on 110 cores; one row would be 160."""
    outcome = check.ask(of())
    claim = outcome.claim
    assert claim.claim.startswith(
        "1 matmul of batches with batches (95 us, 100.0%): the heaviest on 10 cores where 80 can work by "
        "rows of a product: "
    )
    assert claim.fix.startswith(
        "program_config=ttnn.MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(11, 10), in0_block_w=10, "
        "out_subblock_h=2, out_subblock_w=1, per_core_M=2, per_core_N=1)"
    )
    assert claim.expected.basis.endswith(" measured cases of products-on-few-cores")
    assert outcome.at_most_ns < 94_870


def test_blocks_of_k_take_three_quarters_of_l1(check):
    """Of 288 tiles 72 at once: 96 fit all of it, 48 half of it."""
    assert "in0_block_w=72, " in check.ask(of(keys=288 * 32, ns=5_000_000)).claim.fix


def test_one_core_is_one(check):
    assert ": the heaviest on 1 core where 80 can work by rows " in check.ask(of(cores=1)).claim.claim


def test_more_products_than_cores_go_together(check):
    """300 heads of one row of tiles: three to a core."""
    assert "per_core_M=3, per_core_N=1" in check.ask(of(heads=300, rows=32, keys=128, cores=1)).claim.fix


def test_beyond_half_of_the_cores_it_is_a_trial_down_to_the_roofline(check):
    few, more = (check.ask(of(cores=cores)) for cores in (40, 41))
    assert few.claim.expected
    assert more.claim.expected is None
    assert few.at_most_ns == pytest.approx(94_870 / 2)
    assert more.at_most_ns > 0.9 * 94_870
    on_all = check.assert_sound(of(cores=110))
    assert ": the heaviest on 110 cores where 80 would work by rows of a product" in on_all.claim
    assert on_all.assumption.startswith("a trial: ")
    assert "cores rises" in few.claim.verify
    assert "cores" not in on_all.verify  # they fall


@for_all(
    "how",
    [{"heads": 1}, {"batches": 1}, {"config": "MatmulMultiCoreReuseProgramConfig(in0_block_w=1)"},
     {"placement": height_sharded(5120, 320, 80)}, {"of_v": height_sharded(5120, 32, 80)},
     {"of_y": height_sharded(5120, 32, 80)}, {"placement": L1}, {"ns": 4_999}, {"size": 600 * 32, "ns": 50_000_000},
     {"grid": (9, 10)}],
    ids=str,
)  # fmt: skip
def test_others_are_not_told(check, how):
    """L1 holds no row of 600 tiles; no card has 90 cores."""
    assert not check.ask(of(**how)).fires


def test_five_microseconds_are_worth_a_word(check):
    check.pair(lambda ns: of(ns=ns, heads=4, keys=32, rows=128, cores=1), silent=4_999, fires=5_000)


def test_runs_without_matmuls_are_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(of())


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(context, 0.01, of="saving", arch="blackhole")


def suggested(m=10, k=10, n=1, batch=16, room=1_300_000, **flags):
    return suggested_products(
        Tiles(m, k, n, TILE, TILE, TILE), batch, GRID, room, **{"fp32": False, "packer_l1": False, **flags}
    )


def test_the_fewest_rows_that_leave_no_core_two_blocks():
    assert suggested().per_core_m == 2
    assert suggested(batch=11).per_core_m == 1  # 110 blocks on 110 cores
    assert suggested(batch=12).per_core_m == 2
    assert suggested(batch=220).per_core_m == 20  # two whole products
    assert suggested(m=1, batch=331).per_core_m == 1  # a prime number of them: four in turn, not all on one core


def test_where_one_block_to_a_core_does_not_fit_whole_products_go_in_turn(check):
    """OpenFold3's triangle: 1192 contexts, whose config of a head to a core took 650 us in place of 5145."""
    claim = check.ask(of(heads=1192, ns=5_145_300)).claim
    assert "the heaviest on 10 cores where 110 can work" in claim.claim
    assert "per_core_M=10, per_core_N=1)" in claim.fix
    assert 5_145_300 - 649_800 <= claim.at_most_ns.sum() <= 5_145_300 * (1 - 10 / 110)
    assert not suggested(batch=1192).wrong_values


def test_k_is_as_deep_as_l1_holds():
    deep = suggested()
    needed = sum(deep.buffers.values())
    assert deep.in0_block_w == 10
    assert suggested(room=needed).in0_block_w == 10
    assert suggested(room=needed - 1).in0_block_w == 5
    assert suggested(room=1_000) is None


def test_subblocks_fill_the_destination_register(check):
    assert (suggested(m=8, n=4, batch=12).out_subblock_h, suggested(m=8, n=4, batch=12).out_subblock_w) == (1, 4)
    wide = suggested(m=8, n=2, batch=26, fp32=True)
    assert (wide.per_core_m, wide.out_subblock_h, wide.out_subblock_w) == (2, 2, 2)
    assert suggested(m=8, n=6, batch=26).out_subblock_w == 6
    wide = of(heads=26, rows=256, size=192)
    assert "out_subblock_w=6" in check.ask(wide).claim.fix
    (op,) = wide.device_ops
    op.attributes["compute_kernel_config"] = op.attributes["compute_kernel_config"].replace("acc_en=0", "acc_en=1")
    assert "out_subblock_w=3" in check.ask(wide).claim.fix


def test_a_subblock_is_no_higher_than_one_product():
    """TTNN 0.81.1 refuses another: "out_subblock_h (3) needs to divide M (1) evenly"."""
    plan = suggested(m=1, batch=220)
    assert (plan.per_core_m, plan.out_subblock_h) == (2, 1)
    assert suggested(m=2, batch=220).out_subblock_h == 2
    broken = replace(plan, out_subblock_h=2).rules()
    assert [rule for rule, holds in broken.items() if not holds] == ["out_subblock_h divides the 1 tiles of M"]


@for_all("how", [{"m": 0}, {"k": 0}, {"n": 0}, {"batch": 1 << 40}, {"batch": 1 << 40, "m": 0}, {"m": 1 << 40}])
def test_of_no_whole_tiles_and_of_absurd_sizes_there_is_none(how):
    """A damaged report may tell any; it costs no time."""
    assert suggested(**how) is None

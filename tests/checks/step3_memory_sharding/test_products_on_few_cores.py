"""products-on-few-cores: scores and context of an attention, which TTNN gave few cores."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import no_such_ops
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.ops import matmul


def context(
    program, *, heads=16, rows=320, keys=320, size=32, cores=10, ns=94_870, batches=None, config=None, **how
):
    """RFD3's: 95 us on 10 cores of a Blackhole, 18 on 80."""
    x = program.tensor([1, heads, rows, keys], placement=how.pop("placement", DRAM))
    v = program.tensor([1, heads if batches is None else batches, keys, size])
    y = program.tensor([1, heads, rows, size])
    return put(program, matmul(x, v, y, ns, cores=cores, program_config=config, **how))


def of(**how):
    program = Program("blackhole", grid=(11, 10))
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
    assert claim.expected.basis == "8 measured cases of products-on-few-cores"
    assert outcome.at_most_ns < 94_870


def test_more_products_than_cores_go_together(check):
    """300 heads of one row of tiles: three to a core."""
    assert "per_core_M=3, per_core_N=1" in check.ask(of(heads=300, rows=32, keys=128, cores=1)).claim.fix


def test_beyond_half_of_the_cores_it_is_a_trial_down_to_the_roofline(check):
    few, more = (check.ask(of(cores=cores)) for cores in (40, 41))
    assert few.claim.expected
    assert more.claim.expected is None
    assert few.at_most_ns == pytest.approx(94_870 / 2)
    assert more.at_most_ns > 0.9 * 94_870


@pytest.mark.parametrize(
    "how",
    [{"heads": 1}, {"batches": 1}, {"config": "MatmulMultiCoreReuseProgramConfig(in0_block_w=1)"},
     {"placement": height_sharded(5120, 320, 80)}, {"placement": L1}, {"ns": 4_999}, {"keys": 320 * 64}],
    ids=str,
)  # fmt: skip
def test_others_are_not_told(check, how):
    """Of the last L1 holds no block."""
    assert not check.ask(of(**how)).fires


def test_five_microseconds_are_worth_a_word(check):
    check.pair(lambda ns: of(ns=ns, heads=4, keys=32, rows=128, cores=1), silent=4_999, fires=5_100)


def test_runs_without_matmuls_are_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(of())


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(context, 0.01, of="saving", arch="blackhole")

"""group-norm-welford: norms that ask for the vector unit's statistics."""

from __future__ import annotations

import pytest

from tests.checks.asking import real_case
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.shared_reports import CLIP, OFT

SHAPE = [1, 1, 1024, 640]
MOST = 1 - 179.6 / 2044.2


def norm(program, *, welford=True, kernel_ns=1_930_000, shape=None, name="GroupNorm", where=L1):
    shape = shape or SHAPE
    said = {"eps": 1e-05, "num_groups": 16, **({} if welford is None else {"use_welford": welford})}
    x, y = (program.tensor(shape, placement=where) for _ in range(2))
    put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), kernel_ns, fidelity="HiFi4", attributes=said))


def of_norm(**how):
    program = Program("wormhole_b0")
    norm(program, **how)
    return program


def test_it_may_take_an_eleventh_and_nothing_is_promised(check):
    claim = check.assert_sound(of_norm())
    assert claim.at_most_ns.tolist() == [pytest.approx(1_930_000 * MOST)]
    assert claim.at_least_ns is None
    assert claim.claim.startswith("1 of 1 GroupNorms run with use_welford (1.9 ms, 100.0%)")
    assert "use_welford=False" in claim.fix
    assert [one.column for one in claim.evidence][-1] == "ATTRIBUTES.use_welford"


def test_the_bytes_stay(check):
    """2 x 33.6 MB from DRAM are 233 us at 288 GB/s; what is 7 times as long as that may fall to it."""
    wide = [1, 1, 16_384, 1024]
    claim = check.ask(of_norm(shape=wide, kernel_ns=400_000, where=DRAM)).claim
    assert claim.at_most_ns.tolist() == [pytest.approx(400_000 - 2 * 16_384 * 1024 * 2 / 288)]


def test_groups_narrower_than_a_tile_are_wrong_without_it(check):
    """16 groups of 496 channels have 31 each."""
    check.pair(lambda wide: of_norm(shape=[1, 1, 1024, wide], where=DRAM), silent=496, fires=512)
    assert check.ask(of_norm(shape=[1, 1, 1024, 496], where=height_sharded(32, 496, (8, 4)))).fires


@for_all("welford", [False, None], ids=["off", "older builds do not say"])
def test_norms_without_it_are_left_alone(check, welford):
    assert check.ask(of_norm(welford=welford)).status == "clean"


def test_only_the_norms_with_it_count(check):
    program = of_norm(welford=False)
    norm(program, shape=[1, 1, 1024, 960])
    norm(program, shape=[1, 1, 1024, 1280], kernel_ns=2_500_000)
    outcome = check.ask(program)
    assert outcome.claim.claim.startswith("2 of 3 GroupNorms")
    assert outcome.claim.claim.endswith(f"at line {outcome.case.line(2)}")
    assert len(outcome.claim.rows) == 2


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(norm, 0.01, of="saving")


def test_other_norms_are_not_asked(check):
    assert check.ask(of_norm(name="LayerNorm")).status == "not_applicable"


def test_a_run_of_other_ops_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_without_attributes_it_cannot_tell(check):
    outcome = check.ask(of_norm(), without="ATTRIBUTES")
    assert outcome.status == "cannot_tell"
    assert "ATTRIBUTES" in outcome.why


def test_a_compiler_has_no_option(check):
    assert "no option" in check.ask(of_norm(), generation="tt-torch").claim.fix


def test_39_real_norms_run_without_it(check):
    assert check.ask(real_case(OFT)).status == "clean"
    assert check.ask(real_case(CLIP)).status == "not_applicable"

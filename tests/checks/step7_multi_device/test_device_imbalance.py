"""device-imbalance: more work on some devices than on the mean; waiting in collectives is no work."""

import pytest

from tests.checks.asking import real_case
from tests.checks.mesh_programs import attention, mesh, uneven, with_gather
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective
from tests.shared_reports import DEEPSEEK

RING_ATTENTION = {"is_causal": True, "is_balanced": False, "ring_size": 2}
TWICE = [100_000, 100_000, 200_000, 200_000]


def with_attention(kernel_ns=TWICE, rest_ns=0, **attributes):
    program = mesh()
    attention(program, kernel_ns, **attributes)
    if rest_ns:
        pass_time(program, rest_ns)
    return program


def test_causal_ring_attention_out_of_balance_is_told_to_balance(check):
    claim = check.ask(with_attention(**RING_ATTENTION)).claim
    assert "RingJointSDPA at line 8 takes 0.20 ms on devices 2-3, 0.10 ms on 0-1 (2.00x)" in claim.claim
    assert not claim.claim.endswith("launches")
    assert "is_causal=True, is_balanced=True" in claim.fix
    assert "ring_size=2" in claim.fix
    assert "zigzag" in claim.fix
    assert claim.at_most_ns.tolist() == [50_000]  # above the mean
    assert [(one.row, one.value) for one in claim.evidence] == [(8, 200_000), (6, 100_000)]


@for_all(
    "change",
    [{"is_causal": False}, {"is_balanced": True}, {"is_balanced": None}, {"ring_size": 1}, {"ring_size": None}],
    ids=["not causal", "balanced", "balance not told", "no ring", "ring not told"],
)
def test_other_attention_is_not_told_to_balance(check, change):
    fix = check.ask(with_attention(**{**RING_ATTENTION, **change})).claim.fix
    assert fix.startswith("same shapes, different work")


def test_attention_whose_times_do_not_rise_from_part_to_part_is_not_told_to_balance(check):
    fix = check.ask(with_attention([200_000, 200_000, 100_000, 100_000], **RING_ATTENTION)).claim.fix
    assert fix.startswith("same shapes, different work")


def test_a_device_that_is_slow_at_everything_is_named(check):
    program = with_attention([100_000, 100_000, 100_000, 200_000], **RING_ATTENTION)
    for width, name in enumerate(("Tanh", "Unary", "Softmax", "Permute"), start=1):
        uneven(program, [100_000, 100_000, 100_000, 200_000], 32 * width, name)
    for claim in check.ask(program).claims:
        assert claim.fix.startswith("device 3 is slower in nearly all its ops (2.00x)")


def test_work_that_is_uneven_beside_a_slow_device_is_still_told(check):
    program = with_attention([100_000, 100_000, 1_000_000, 200_000])
    for width, name in enumerate(("Tanh", "Unary", "Softmax", "Permute", "Reduce", "Concat", "Slice"), start=1):
        for _ in range(2):
            uneven(program, [100_000, 100_000, 100_000, 200_000], 32 * width, name)
    fixes = {claim.claim.split()[0]: claim.fix for claim in check.ask(program).claims}
    assert fixes["RingJointSDPA"].startswith("same shapes, different work")


def test_fifteen_percent_over_the_mean_is_the_line(check):
    # 4 s / (300 us + s) = 1.15 at 121.05 us
    check.pair(
        lambda slowest: with_attention([100_000, 100_000, 100_000, slowest], 100_000), silent=120_900, fires=121_200
    )


def test_two_percent_of_the_slowest_device_is_the_line(check):
    alone = [100_000, 100_000, 100_000, 200_000]
    check.pair(lambda share: with_attention(alone, 200_000 / share - 200_000), silent=0.0199, fires=0.0201)


def test_the_spread_of_a_collective_is_waiting_not_work(check):
    assert check.ask(with_gather(kernel_ns=[100_000, 100_000, 100_000, 900_000])).status == "clean"


def test_launches_of_one_kind_are_one_claim_with_the_worst_as_its_example(check):
    program = mesh()
    uneven(program, [100_000, 100_000, 100_000, 300_000])
    uneven(program, [100_000, 500_000, 100_000, 700_000], width=512)
    uneven(program, [150_000, 100_000, 100_000, 100_000], width=1024)  # the critical device is below its mean
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 1, 2]
    assert claim.at_most_ns.tolist() == [150_000, 350_000, 0]
    assert "Unary at line 21 takes 0.60 ms on devices 1, 3, 0.10 ms on 0, 2 (6.00x), in 3 launches" in claim.claim
    assert [(one.row, one.value) for one in claim.evidence] == [(21, 700_000), (18, 100_000)]


def test_the_line_is_that_of_the_device_which_the_plan_counts(check):
    """The one that is slowest in all has the other half of the sequence, one line below the slowest here."""
    program = mesh()
    uneven(program, [100_000, 100_000, 210_000, 200_000])
    uneven(program, [100_000, 100_000, 100_000, 112_000], width=512)
    outcome = check.ask(program)
    line = outcome.case.line(0)
    assert outcome.claim.claim.startswith(f"Unary at line {line} takes ")
    assert [(one.row, one.value) for one in outcome.claim.evidence] == [(line, 200_000), (line - 3, 100_000)]


def test_the_three_heaviest_kinds_are_told(check):
    program = mesh()
    uneven(program, [100_000, 100_000, 100_000, 200_000], 32, "Tanh")
    uneven(program, [100_000, 100_000, 100_000, 500_000], 64, "Unary")
    uneven(program, [100_000, 100_000, 100_000, 300_000], 96, "Softmax")
    uneven(program, [300_000, 300_000, 300_000, 450_000], 128, "Embedding")  # by their slowest device, not the sum
    names = [claim.claim.split()[0] for claim in check.ask(program).claims]
    assert names == ["Unary", "Embedding", "Softmax"]


def test_two_launches_are_counted(check):
    program = mesh()
    uneven(program, [100_000, 100_000, 100_000, 300_000])
    uneven(program, [100_000, 100_000, 100_000, 500_000], width=512)
    assert check.ask(program).claim.claim.endswith("(5.00x), in 2 launches")


def test_an_even_kind_is_not_told_beside_an_uneven_one(check):
    program = with_attention(rest_ns=400_000)
    uneven(program, [100_000] * 4)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_uneven_shards_are_named_as_such(check, tmp_path):
    program = mesh()
    uneven(program, [100_000, 100_000, 100_000, 200_000])
    rows = performance_rows(program, [Iteration()])
    for row in rows[:3]:
        row["INPUT_0_Y_PAD[LOGICAL]"] = "96[96]"
    claim = check.ask(write_rows(tmp_path / "ops_perf_results_1.csv", rows, header_of(rows, "C7"))).claim
    assert claim.fix.startswith("shards differ in shape: pick a shard dimension that the device count divides")


def test_what_another_device_takes_longer_is_waited_for_in_the_next_exchange(check):
    """Chip 0 is the slowest first, chip 3 then: each saves what the others wait for it, and no more."""
    program = mesh()
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 256])
    for kernel_ns, gather_ns in (
        ([900_000, 100_000, 100_000, 100_000], [20_000, 820_000, 820_000, 820_000]),
        ([100_000, 100_000, 100_000, 900_000], [820_000, 820_000, 820_000, 20_000]),
        ([100_000, 100_000, 100_000, 900_000], [320_000, 320_000, 320_000, 20_000]),
        ([100_000, 100_000, 100_000, 300_000], None),  # before no exchange: chip 0 does not wait for it
    ):
        uneven(program, kernel_ns)
        if gather_ns:
            put(program, collective("AllGatherAsync", x, y, gather_ns, ring_size=4))
    put(program, DeviceOp("MadeUpOfNoFamily", (x,), (y,), [15_000_000] + [13_800_000] * 3))  # chip 0 is critical
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 2, 3, 4, 5, 6]
    assert claim.at_most_ns.tolist() == [600_000, 0, 600_000, 0, 300_000, 0]
    assert claim.claim.endswith(", in 4 launches")


def test_devices_that_take_the_same_time_are_balanced(check):
    assert check.ask(with_attention([100_000] * 4)).status == "clean"
    assert check.ask(with_attention([0] * 4)).status == "clean"


def test_devices_that_took_no_time_make_no_ratio(check):
    outcome = check.ask(with_attention([0, 0, 0, 200_000]))
    assert "infx" not in outcome.claim.claim


def test_deepseeks_later_devices_do_twice_the_attention(check):
    outcome = check.ask(real_case(DEEPSEEK))
    claim = outcome.claim
    assert "devices 4-7" in claim.claim
    assert "(1.96x)" in claim.claim
    assert "is_balanced=True" in claim.fix
    assert "zigzag" in claim.fix
    assert outcome.at_most_ns / 1e6 == pytest.approx(1.67 + 0.04, abs=0.01)  # 39 us for a slower one
    assert outcome.at_most_ns / outcome.case.total_ns == pytest.approx(0.147, abs=0.002)

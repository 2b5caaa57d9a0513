"""collective-share: more than a fifth of the critical device's time; the caveat says how much of it is waiting."""

import pytest

from tests.checks.asking import real_case
from tests.checks.mesh_programs import PAYLOAD, Gather, mesh, with_gather
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles.ops import collective
from tests.shared_reports import DEEPSEEK
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

NEEDED_NS = PAYLOAD / (2 * 2 * 48)  # over two links, both ways, at Blackhole's specified 48 GB/s


def test_a_fifth_of_the_kernel_time_is_the_line(check):
    found = check.pair(with_gather, silent=800_000, fires=799_000)
    assert found.at_most_ns == pytest.approx(200_000 - NEEDED_NS)


def test_it_names_the_device_and_its_heaviest_exchange(check):
    claim = check.assert_sound(with_gather(10_000, kernel_ns=[200_000, 200_000, 210_000, 200_000]))
    assert "Collectives take 210 us, 94.8% of kernel time (1x) on device 2" in claim.claim
    assert "heaviest 1024x1024 -> 1024x4096 at line 12" in claim.claim
    assert claim.at_most_ns.tolist() == [pytest.approx(210_000 - NEEDED_NS)]
    assert [one.value for one in claim.evidence] == [210_000]
    assert "bfloat8_b" in claim.fix


def test_the_share_says_how_much_of_it_is_waiting(check):
    claim = check.ask(with_gather(50_000, kernel_ns=[100_000, 100_000, 100_000, 400_000])).claim
    assert "up to 300 us of it on this device is waiting" in claim.caveat


def test_what_the_payload_or_a_launch_needs_is_not_promised(check):
    program = mesh()
    x, out = program.tensor([1, 1, 32, 32]), program.tensor([1, 1, 32, 128])
    put(program, collective("AllGatherAsync", x, out, 9_000, ring_size=4))  # 6 kB: 32 ns of links, and its launch
    put(program, collective("ReduceScatterAsync", out, x, 300, ring_size=4))  # less than any launch takes
    Gather(30_000).put(program)  # less than its payload needs at the rate by specification
    Gather(60_000, links=None).put(program)  # links not told: only the launch is sure
    claim = check.ask(program).claim
    assert claim.at_most_ns.tolist() == [9_000 - LAUNCH_FLOOR_NS, 0, 0, 60_000 - LAUNCH_FLOOR_NS]
    assert "(4x)" in claim.claim
    assert "at line 30" in claim.claim
    assert [(one.row, one.value) for one in claim.evidence] == [(30, 60_000)]


@for_all(("rows", "fused"), [(2047, False), (2048, True)])
def test_the_fused_op_is_named_where_it_can_pay(check, rows, fused):
    program = mesh()
    x, out = program.tensor([1, 1, rows, 1024]), program.tensor([1, 1, rows, 4096])
    put(program, collective("AllGatherAsync", x, out, 500_000, ring_size=4))
    assert ("all_gather_matmul_async" in check.ask(program).claim.fix) is fused


@for_all(("kernel_ns", "fix"), [(436_000, "halve the payload"), (438_000, "have fewer of them")])
def test_an_exchange_that_its_payload_does_not_explain_is_hops_and_set_up(check, kernel_ns, fix):
    """Two links carry it in 131 us, in one direction at 24 GB/s."""
    assert fix in check.assert_sound(with_gather(10_000, kernel_ns=kernel_ns)).fix


@for_all(("kernel_ns", "fix"), [(30_000, "halve the payload"), (29_000, "have fewer of them")])
def test_below_thirty_microseconds_an_exchange_is_hops_and_set_up(check, kernel_ns, fix):
    assert fix in check.assert_sound(with_gather(10_000, kernel_ns=kernel_ns)).fix


def test_deepseeks_collectives_take_less(check):
    assert check.ask(real_case(DEEPSEEK)).status == "clean"


def test_narrower_payloads_are_expected_to_save_their_part_of_what_links_carry(check):
    """In BFLOAT8_B 0.47 of the bytes go; two links carry 6.3 MB in 131 us."""
    expected = check.ask(with_gather(10_000, kernel_ns=160_000)).claim.expected
    assert expected.saved_ns.tolist() == [pytest.approx(0.46875 * PAYLOAD / 48, rel=0.001)]
    assert expected.low_ns[0] / expected.saved_ns[0] == pytest.approx(0.7)
    assert expected.high_ns[0] > expected.saved_ns[0]
    assert check.ask(with_gather(10_000, kernel_ns=265_000)).claim.expected is None
    short = [check.ask(with_gather(10_000, kernel_ns=us * 1000, links=8)).claim.expected for us in (30, 29)]
    assert [one is None for one in short] == [False, True]
    bare = check.ask(with_gather(), without="INPUT_")
    assert bare.status == "clean"
    program = mesh()
    narrow, out = program.tensor([1, 1, 2048, 1024], "BFLOAT8_B"), program.tensor([1, 1, 2048, 4096], "BFLOAT8_B")
    put(program, collective("AllGatherAsync", narrow, out, 160_000, ring_size=4))
    assert check.ask(program).claim.expected is None

"""collective-topology: a line that may be a ring, one link that may be two; at best half the time."""

import pytest

from tests.checks.asking import real_case
from tests.checks.mesh_programs import PAYLOAD, Gather, mesh, with_gather
from tests.for_all import for_all
from tests.shared_reports import DEEPSEEK

NEEDED_NS = PAYLOAD / (2 * 2 * 48)  # over two links, both ways, at Blackhole's specified 48 GB/s


def test_a_line_of_four_may_be_a_ring(check):
    claim = check.assert_sound(with_gather(100_000, persistent=False))
    assert "(1x, 200 us, 66.3% on device 0, 66.7% of all kernels)" in claim.claim
    assert "run Linear, 1 of them without persistent buffers; heaviest at line 10" in claim.claim
    assert claim.fix.startswith("ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D_RING) before opening the mesh")
    assert "topology=ttnn.Topology.Ring in these calls" in claim.fix
    assert "ttnn.all_gather(..., output_tensor=y)" in claim.fix
    assert claim.at_most_ns.tolist() == [100_000]
    assert "wiring is in no report" in claim.caveat
    cells = {one.column: one.value for one in claim.evidence}
    assert cells["ATTRIBUTES.topology"] == "Topology::Linear"
    assert cells["ATTRIBUTES.num_links"] == "2"
    assert cells["ATTRIBUTES.using_persistent_buffers"] == "false"
    assert cells["DEVICE KERNEL DURATION [ns]"] == 200_000
    assert "op_detail(op=10)" in claim.verify


def test_persistent_buffers_are_not_asked_for_twice(check):
    claim = check.ask(with_gather()).claim
    assert "run Linear; heaviest" in claim.claim


def test_one_percent_of_the_window_is_the_line(check):
    check.pair(lambda share: with_gather(100_000 / share - 200_000), silent=0.00995, fires=0.01005)


def test_more_than_two_devices_make_a_ring(check):
    check.pair(lambda devices: with_gather(100_000, ring_size=devices), silent=2, fires=3)


@for_all(
    ("arch", "change"),
    [
        ("blackhole", {"topology": "Ring"}),
        ("wormhole_b0", {"topology": "Ring", "links": 1}),
        ("blackhole", {"kernel_ns": 32_700}),
        ("blackhole", {"topology": "Unknown"}),
    ],
    ids=["a ring", "one link is all n300 and T3000 have", "already at its links", "not told"],
)
def test_collectives_with_nothing_to_gain_are_left_alone(check, arch, change):
    assert check.ask(with_gather(100_000, arch=arch, **change)).status == "clean"


def test_one_link_on_blackhole_may_be_two(check):
    found = check.pair(lambda links: with_gather(topology="Ring", links=links, persistent=False), silent=2, fires=1)
    assert "run on one link, 1 of them without persistent buffers; heaviest" in found.claim.claim
    assert "num_links=2" in found.claim.fix
    assert found.at_most_ns == pytest.approx(
        2.5 * NEEDED_NS
    )  # of 131 us on one link at half of the specified rate, and a quarter more


def test_a_second_link_carries_half_of_the_payload_and_spares_no_hop(check):
    """Two links made a reduction of 164 kB slower (Qwen3 4B)."""
    at_most = [
        check.ask(with_gather(topology="Ring", links=1, kernel_ns=took)).at_most_ns for took in (100_000, 1_000_000)
    ]
    assert at_most == pytest.approx([100_000 / 2, 2.5 * NEEDED_NS])


def test_a_ring_that_has_two_links_is_not_counted_with_one_that_has_not(check):
    for took in (200, 800):  # its payload takes half of it, or less
        program = mesh()
        Gather(400_000, topology="Ring", links=2).put(program)
        Gather(took * 1000, topology="Ring", links=1, kind="AllGatherMinimalAsync").put(program)
        claim = check.ask(program).claim
        assert claim.rows.tolist() == [1]
        assert f"(1x, {took} us" in claim.claim


@for_all("devices", [2, 4])
def test_a_second_link_alone_is_no_question_of_rings(check, devices):
    claim = check.ask(with_gather(topology="Ring", links=1, ring_size=devices)).claim
    assert "Ring" not in claim.fix
    assert "ring" not in claim.assumption
    assert "Linear" not in (claim.caveat or "")


def test_a_line_on_one_link_may_be_both(check):
    claim = check.ask(with_gather(links=1)).claim
    assert "run Linear" in claim.claim
    assert "Topology.Ring and num_links=2" in claim.fix


def test_wormholes_line_of_four_may_be_a_ring_on_its_one_link(check):
    claim = check.ask(with_gather(links=1, arch="wormhole_b0", kernel_ns=900_000)).claim
    assert "num_links=2" not in claim.fix
    assert claim.at_most_ns.tolist() == [450_000]  # 262 us by specification


def test_what_the_payload_needs_is_not_promised(check):
    program = mesh()
    Gather(50_000, kind="AllGather").put(program)  # half would be less than the payload takes
    Gather(30_000, kind="AllGatherAsync").put(program)  # already less
    Gather(90_000, kind="AllGatherMinimalAsync", links=None).put(program)  # links not told: half
    Gather(400_000, kind="AllGatherReplicate", topology="Ring").put(program)  # none of this check's
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 1, 2]
    assert claim.at_most_ns.tolist() == [pytest.approx(50_000 - NEEDED_NS), 0, 45_000]
    assert "heaviest at line 26" in claim.claim


def test_deepseeks_collectives_run_in_a_line_without_persistent_buffers(check):
    claim = check.ask(real_case(DEEPSEEK)).claim
    assert "4 of them without persistent buffers" in claim.claim
    assert "15.3% of all kernels" in claim.claim


def test_a_ring_is_a_trial_whatever_other_rings_brought(check, measured):
    """A decode step on four chips gained nothing from one (Mistral Small 24B)."""
    measured("collective-topology")
    carried = PAYLOAD / (2 * 24)  # over two links, one way, at what they carry so far
    for share in (0.9, 0.29):
        program = mesh()
        Gather(round(carried / share)).put(program)
        assert check.ask(program).claim.expected is None


def test_a_second_link_is_expected_to_halve_a_payload_that_takes_half_of_the_time(check):
    """Two links saved 47 % of dots.ocr's exchanges of 1.2 ms, nothing of those of 29 us."""
    carried = PAYLOAD / 24  # over one link, one way

    def saves(share, **how):
        program = mesh()
        Gather(round(carried / share), links=1, **how).put(program)
        expected = check.ask(program).claim.expected
        return expected and expected.saved_ns[0] * share / carried

    assert saves(0.9) == pytest.approx(0.45, rel=0.01)
    assert saves(1.4) == pytest.approx(0.5, rel=0.01)
    assert saves(0.51) == pytest.approx(0.255, rel=0.01)
    assert saves(0.49) is None
    program = mesh()
    Gather(300_000, links=1).put(program)  # told
    Gather(900_000, links=1, kind="AllGather").put(program)  # hops
    asked = check.ask(program)
    assert [claim.rows.tolist() for claim in asked.claims] == [[0], [1]]
    assert [claim.expected is None for claim in asked.claims] == [False, True]

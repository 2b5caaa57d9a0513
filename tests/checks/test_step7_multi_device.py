"""Step 7: uneven work, and collectives by what their links carry; waiting is never called work."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.checks.rows import ONE_PASS, case_of, claims, pass_time, put, read, the_claim
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective, unary
from ttnn_mcp.checks.check import CannotTell, NotApplicable
from ttnn_mcp.checks.step7_multi_device import (
    collective_bandwidth,
    collective_share,
    collective_topology,
    device_imbalance,
    duplicate_gather,
)

ALL = (device_imbalance, collective_share, collective_bandwidth, duplicate_gather, collective_topology)
RING_ATTENTION = {"is_causal": True, "is_balanced": False, "ring_size": 2}


def attention(program, kernel_ns, **attributes):
    x, y = program.tensor([1, 8, 1024, 64]), program.tensor([1, 8, 1024, 64])
    op = DeviceOp(
        "RingJointSDPADeviceOperation", (x, x, x), (y,), kernel_ns, attributes=attributes, fidelity="HiFi2"
    )
    return put(program, op)


@dataclass
class Gather:
    """All-gather of 0.25 N tensors of 1 MB each over N = 4 devices: 6.3 MB per device."""

    kernel_ns: int = 200_000
    links: int = 2
    topology: str = "Linear"
    persistent: bool = True
    ring_size: int = 4

    def put(self, program, x=None):
        x = x or program.tensor([1, 1, 1024, 1024])
        out = program.tensor([1, 1, 1024, 4096])
        op = collective("AllGatherAsync", x, out, self.kernel_ns, ring_size=self.ring_size, links=self.links)
        op.attributes = {
            **op.attributes,
            "topology": f"Topology::{self.topology}",
            "using_persistent_buffers": self.persistent,
        }
        return put(program, op)


def mesh(arch="blackhole", devices=4):
    return Program(arch, devices=devices)


@pytest.mark.parametrize("module", ALL, ids=lambda module: module.CHECK.id)
def test_one_device_has_nothing_to_balance(module, tmp_path):
    program = mesh(devices=1)
    Gather().put(program)
    (said,) = module.CHECK.look(case_of(tmp_path, program))
    assert said == NotApplicable("one device")


@pytest.mark.parametrize("module", ALL[:3], ids=lambda module: module.CHECK.id)
def test_devices_with_dropped_rows_are_not_compared(module, tmp_path):
    program = mesh()
    pass_time(program, 50_000)
    attention(program, [100_000] * 4)
    rows = performance_rows(program, [Iteration()])
    rows = [row for row in rows if row is not rows[-1]]
    (said,) = module.CHECK.look(read(write_rows(tmp_path / "ops_perf_results_1.csv", rows, header_of(rows, "C7"))))
    assert isinstance(said, CannotTell)
    assert "1 to 2 each" in said.why


# --- device-imbalance


def test_causal_ring_attention_out_of_balance_is_told_to_balance(tmp_path):
    program = mesh()
    attention(program, [100_000, 100_000, 200_000, 200_000], **RING_ATTENTION)
    case = case_of(tmp_path, program)
    claim = the_claim(device_imbalance.CHECK, case)
    assert "0.20 ms on devices 2-3, 0.10 ms on 0-1 (2.00x)" in claim.claim
    assert "is_balanced=True" in claim.fix
    assert claim.at_most_ns.tolist() == [50_000]  # above the mean
    assert {one.value for one in claim.evidence} == {100_000, 200_000}


@pytest.mark.parametrize(("slowest", "fires"), [(121_200, True), (120_900, False)])
def test_fifteen_percent_over_the_mean_is_the_line(tmp_path, slowest, fires):
    program = mesh()
    attention(program, [100_000, 100_000, 100_000, slowest])  # 4 s / (300 us + s) = 1.15 at 121.05 us
    pass_time(program, 100_000)
    assert bool(claims(device_imbalance.CHECK, case_of(tmp_path, program))) is fires


@pytest.mark.parametrize(("longer", "fires"), [(9_700_000, True), (9_900_000, False)])
def test_two_percent_of_the_slowest_device_is_the_line(tmp_path, longer, fires):
    program = mesh()
    attention(program, [100_000, 100_000, 100_000, 200_000])
    pass_time(program, longer)
    assert bool(claims(device_imbalance.CHECK, case_of(tmp_path, program))) is fires


def test_the_spread_of_a_collective_is_waiting_not_work(tmp_path):
    program = mesh()
    Gather([100_000, 100_000, 100_000, 900_000]).put(program)
    assert not claims(device_imbalance.CHECK, case_of(tmp_path, program))


def test_uneven_shards_are_named_as_such(tmp_path):
    program = mesh()
    x, y = program.tensor([1, 1, 128, 256]), program.tensor([1, 1, 128, 256])
    put(program, unary("RELU", x, y, 0))
    program.device_ops[-1].kernel_ns = [100_000, 100_000, 100_000, 200_000]
    rows = performance_rows(program, [Iteration()])
    for row in rows[:3]:
        row["INPUT_0_Y_PAD[LOGICAL]"] = "96[96]"
    case = read(write_rows(tmp_path / "ops_perf_results_1.csv", rows, header_of(rows, "C7")))
    assert "shards differ in shape" in the_claim(device_imbalance.CHECK, case).fix


# --- collective-share


@pytest.mark.parametrize(("rest", "fires"), [(795_000, True), (805_000, False)])
def test_a_fifth_of_the_kernel_time_in_collectives_is_the_line(tmp_path, rest, fires):
    program = mesh()
    Gather(200_000).put(program)
    pass_time(program, rest)
    found = claims(collective_share.CHECK, case_of(tmp_path, program))
    assert bool(found) is fires
    if fires:  # 6.29 MB over 2 links, both ways, at 48 GB/s
        assert found[0].at_most_ns.tolist() == [pytest.approx(200_000 - 6_291_456 / (2 * 2 * 48))]


def test_the_share_says_how_much_of_it_is_waiting(tmp_path):
    program = mesh()
    Gather([100_000, 100_000, 100_000, 400_000]).put(program)
    pass_time(program, 50_000)
    claim = the_claim(collective_share.CHECK, case_of(tmp_path, program))
    assert "300 us" in claim.caveat


# --- collective-bandwidth


@pytest.mark.parametrize(("kernel_ns", "fires"), [(263_000, True), (261_000, False)])
def test_half_of_what_links_have_carried_is_the_line(tmp_path, kernel_ns, fires):
    program = mesh()  # 6.29 MB over 2 links at half of 24 GB/s: 262 us
    Gather(kernel_ns).put(program)
    assert bool(claims(collective_bandwidth.CHECK, case_of(tmp_path, program))) is fires


def test_the_fastest_device_stands_for_the_exchange(tmp_path):
    program = mesh()
    Gather([200_000, 900_000, 900_000, 900_000]).put(program)
    assert not claims(collective_bandwidth.CHECK, case_of(tmp_path, program))


def test_small_exchanges_are_bound_by_latency(tmp_path):
    program = mesh()
    x, out = program.tensor([1, 1, 32, 32]), program.tensor([1, 1, 32, 128])
    put(program, collective("AllGatherAsync", x, out, 29_000, ring_size=4))
    assert not claims(collective_bandwidth.CHECK, case_of(tmp_path, program))
    program.device_ops[-1].kernel_ns = 31_000
    assert claims(collective_bandwidth.CHECK, case_of(tmp_path, program))


# --- collective-topology


def test_a_line_of_four_may_be_a_ring(tmp_path):
    program = mesh()
    Gather(200_000, persistent=False).put(program)
    claim = the_claim(collective_topology.CHECK, case_of(tmp_path, program))
    assert "Linear, 1 of them without persistent buffers" in claim.claim
    assert "Topology.Ring" in claim.fix
    assert claim.at_most_ns.tolist() == [100_000]
    assert "wiring is in no report" in claim.caveat


@pytest.mark.parametrize(
    ("arch", "change"),
    [
        ("blackhole", {"topology": "Ring"}),
        ("blackhole", {"ring_size": 2}),
        ("wormhole_b0", {"topology": "Ring", "links": 1}),
        ("blackhole", {"kernel_ns": 32_700}),
    ],
    ids=["a ring", "two devices are a line", "one link is all n300 and T3000 have", "already at its links"],
)
def test_collectives_with_nothing_to_gain_are_left_alone(tmp_path, arch, change):
    program = mesh(arch)
    Gather(**change).put(program)
    pass_time(program, 100_000)
    assert not claims(collective_topology.CHECK, case_of(tmp_path, program))


def test_one_link_on_blackhole_may_be_two(tmp_path):
    program = mesh()
    Gather(topology="Ring", links=1).put(program)
    claim = the_claim(collective_topology.CHECK, case_of(tmp_path, program))
    assert "on one link" in claim.claim
    assert "num_links=2" in claim.fix


# --- duplicate-gather


def other_ops(program):
    """So many that two gathers in a row are no iterations."""
    for width in range(1, 6):
        x, y = (program.tensor([1, 1, 32, 32 * width]) for _ in range(2))
        put(program, unary("RELU", x, y, 10_000))


@pytest.mark.parametrize("again", [True, False])
def test_the_same_tensor_gathered_twice_is_gathered_once_too_often(tmp_path, again):
    program = mesh()
    x = put(program, unary("RELU", program.tensor([1, 1, 1024, 1024]), program.tensor([1, 1, 1024, 1024]), 10_000))
    Gather().put(program, x)
    if not again:
        x = put(program, unary("RELU", x, program.tensor([1, 1, 1024, 1024]), 10_000))
    Gather().put(program, x)
    other_ops(program)
    found = claims(duplicate_gather.CHECK, case_of(tmp_path, program, ONE_PASS))
    assert [claim.at_most_ns.tolist() for claim in found] == ([[200_000]] if again else [])


def test_gathers_of_weights_are_not_guessed_to_be_one_tensor(tmp_path):
    program = mesh()
    Gather().put(program)
    Gather().put(program)
    other_ops(program)
    assert not claims(duplicate_gather.CHECK, case_of(tmp_path, program, ONE_PASS))

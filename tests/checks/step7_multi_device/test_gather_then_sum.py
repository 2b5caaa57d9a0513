"""gather-then-sum: every device's whole tensor over the links, to be summed on arrival."""

from __future__ import annotations

import pytest

from tests.checks.asking import real_case
from tests.checks.mesh_programs import mesh
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective, unary
from tests.shared_reports import CLIP, DEEPSEEK

ROWS, WIDE = 1024, 1024
BYTES = ROWS * WIDE * 2  # of one device's tensor
RATE = 24.0  # GB/s of a Blackhole link in one direction today: half of 48 (CCL_bandwidth.md)


def payload_ns(devices=4, links=2, rows=ROWS, wide=WIDE):
    """(N-1)/N of N tensors over the links of one direction."""
    return (devices - 1) * rows * wide * 2 / (links * RATE)


def reduced(
    program, *, devices=4, kernel_ns=None, rows=ROWS, wide=WIDE, name="FastReduceNC", kind="AllGatherAsync", links=2,
    also_read=False, sums=True, kept=1,
):  # fmt: skip
    x = put(program, unary("RELU", *(program.tensor([1, 1, rows, wide]) for _ in range(2)), 10_000))
    whole = program.tensor([1, devices, rows, wide])
    took = kernel_ns or round(payload_ns(devices, links or 2, rows, wide) * 1.2)
    op = collective(kind, x, whole, took, ring_size=devices, links=links or 0)
    op.attributes = {**op.attributes, "num_links": links, "topology": "Topology::Linear", "dim": 1}
    put(program, op)
    if sums:
        out = program.tensor([1, kept, rows, wide])
        put(program, DeviceOp(f"{name}DeviceOperation", (whole,), (out,), 40_000, fidelity="HiFi4"))
    if also_read:
        put(program, unary("TANH", whole, program.tensor(whole.shape), 10_000))


def of_reduced(devices=4, **how):
    program = mesh(devices=devices)
    reduced(program, devices=devices, **how)
    return program


def test_half_of_the_gather_and_the_sum_may_go(check):
    claim = check.assert_sound(of_reduced())
    took = round(payload_ns() * 1.2)
    assert claim.at_most_ns.tolist() == [pytest.approx(took / 2), 40_000]
    assert claim.at_least_ns is None
    assert claim.claim.startswith("All-reduces written as all-gather and sum (1x, ")
    assert claim.fix.startswith("x = ttnn.all_reduce(x, cluster_axis=1) on what line ")
    assert [one.value for one in claim.evidence] == [took, 40_000]


def test_a_gather_over_the_whole_mesh_names_no_axis(check):
    program = of_reduced()
    for op in program.device_ops:
        op.attributes = {key: value for key, value in op.attributes.items() if key != "cluster_axis"}
    assert check.ask(program).claim.fix.startswith("x = ttnn.all_reduce(x) on")


def test_eight_devices_keep_a_quarter_of_the_gather(check):
    claim = check.ask(of_reduced(devices=8)).claim
    assert claim.at_most_ns[0] == pytest.approx(round(payload_ns(8) * 1.2) * 0.75)


def test_two_devices_send_the_same_both_ways(check):
    check.pair(lambda devices: of_reduced(devices=devices, rows=768), silent=2, fires=3)


def test_bytes_must_need_half_of_the_gathers_time(check):
    check.pair(
        lambda ns: of_reduced(kernel_ns=ns), silent=round(2 * payload_ns()) + 10, fires=round(2 * payload_ns()) - 10
    )


@for_all("name", ["FastReduceNC", "Reduce", "Sum", "MorehSum"])
def test_any_sum_counts(check, name):
    assert check.ask(of_reduced(name=name)).fires


@for_all(
    "how",
    [
        {"also_read": True},
        {"sums": False},
        {"name": "Tanh"},
        {"kept": 2},
        {"kind": "ReduceScatterMinimalAsync", "kernel_ns": 40_000},
        {"kind": "AllGatherMinimalMatmulAsync"},
    ],
    ids=["read by another op", "not summed", "no sum", "summed in part", "no gather", "a matmul"],
)
def test_what_is_no_all_reduce_is_left_alone(check, how):
    assert check.ask(of_reduced(**how)).status == "clean"


def test_rows_or_columns_must_give_every_device_whole_tiles(check):
    """Four devices: 128 rows or columns each time; 1056 by 1056 cuts tiles."""
    check.pair(lambda size: of_reduced(rows=size, wide=1056), silent=1056, fires=1024)
    check.pair(lambda size: of_reduced(wide=size, rows=1056), silent=1056, fires=1024)


def test_a_gather_that_does_not_say_its_links_is_not_judged(check):
    check.pair(lambda links: of_reduced(links=links), silent=None, fires=2)


def test_one_percent_of_the_window_is_the_line(check):
    def at(share):
        program = of_reduced()
        total = 10_000 + round(payload_ns() * 1.2) + 40_000
        pass_time(program, (round(payload_ns() * 1.2) / 2 + 40_000) / share - total)
        return program

    check.pair(at, silent=0.00995, fires=0.01005)


def test_one_device_is_not_applicable(check):
    assert check.ask(of_reduced(devices=1)).status == "not_applicable"
    assert check.ask(real_case(CLIP)).status == "not_applicable"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("DEVICE ARCH|CYCLE", "links between chips")])
def test_what_it_cannot_see_it_cannot_tell(check, lost, word):
    outcome = check.ask(of_reduced(), without=lost)
    assert outcome.status == "cannot_tell"
    assert word in outcome.why


def test_the_latent_of_a_real_attention_is_gathered_and_summed(check):
    """3200 x 576 over four devices: 576 columns cut tiles, 3200 rows do not.

    In this very run a reduce-scatter and an all-gather of 3200 x 1536 take 206 and 214 us: 158 us for 576 columns,
    where this takes 292 and 49.
    """
    outcome = check.ask(real_case(DEEPSEEK))
    assert [outcome.case.line(int(row)) for row in outcome.claim.rows] == [99, 112]
    assert outcome.at_most_ns == pytest.approx(194_700, rel=0.001)

"""Collectives on one chip of a mesh, beside what captures of TTNN prove."""

from dataclasses import replace

from tests.analyses.from_graph.programs import WORMHOLE, modelled, tensor

X = tensor(1, 1, 128, 2048)


def test_blackhole_gathers_more_packets_at_a_time():
    blackhole = replace(WORMHOLE, arch="blackhole")
    found = [
        modelled("AllGatherDeviceOperation", [X], X, factory="AllGatherMulticastFactory", machine=machine)
        for machine in (WORMHOLE, blackhole)
    ]
    assert found == [36_864, 49_152]


def test_a_gather_that_sends_to_each_chip_holds_as_many_on_either_chip():
    """Twelve packets, as measured on lines of two chips and in 2x4."""
    for machine in (WORMHOLE, replace(WORMHOLE, arch="blackhole")):
        size = modelled("AllGatherDeviceOperation", [X], X, factory="AllGatherUnicastFactory", machine=machine)
        assert size == 49_152


def test_rows_and_large_pages_travel_three_at_a_time():
    rows, large = tensor(1, 1, 32, 1024, rows=True), tensor(1, 1, 32, 4000, rows=True)
    for name, factory in (
        ("AllGatherDeviceOperation", "AllGatherMulticastFactory"),
        ("AllGatherAsyncDeviceOperation", "DefaultMeshWorkloadFactory"),
        ("AllBroadcastDeviceOperation", ""),
    ):
        assert [modelled(name, [x], x, factory=factory) for x in (rows, large)] == [12_288, 24_000]
    assert modelled("AllGatherAsyncDeviceOperation", [X], X, factory="RingFactory") is None
    assert modelled("ReduceScatterDeviceOperation", [X], X, factory="RingFactory") is None
    assert modelled("AllGatherDeviceOperation", [large], large, factory="AllGatherUnicastFactory") is None
    asynchronous = modelled(
        "ReduceScatterMinimalAsyncDeviceOperation", [X], X, factory="LineReduceScatterMeshWorkloadFactory"
    )
    assert asynchronous == 196_608
    assert modelled("MorehSumOperation", [X], X, factory="MorehSumNCFactory") == 10_240
    assert modelled("MorehSumOperation", [X], X, factory="MorehSumHFactory") is None
    assert (
        modelled("MorehSumOperation", [X], X, factory="MorehSumNCFactory", attributes="fp32_dest_acc_en=1") is None
    )

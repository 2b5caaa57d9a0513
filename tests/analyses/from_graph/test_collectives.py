"""Collectives on the chips of a mesh: what one chip takes, and what TTNN's dry captures list."""

from dataclasses import replace

from tests.analyses.from_graph.programs import WORMHOLE, modelled, tensor
from ttnn_mcp.analyses.from_graph.models import TtnnModels
from ttnn_mcp.analyses.memory.left_out import Completing, LeftOut, Room
from ttnn_mcp.readers.graph.launches import Launch

X = tensor(1, 1, 128, 2048)
EIGHT = replace(WORMHOLE, chips=8)
SCATTER = Launch("ReduceScatterDeviceOperation", "ReduceScatterProgram", "", (X,), (X,))


def test_blackhole_gathers_more_packets_at_a_time():
    blackhole = replace(WORMHOLE, arch="blackhole")
    found = [
        modelled("AllGatherDeviceOperation", [X], X, factory="AllGatherMulticastFactory", machine=machine)
        for machine in (WORMHOLE, blackhole)
    ]
    assert found == [36_864, 49_152]


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


def test_a_collective_is_listed_once_for_every_chip():
    models = TtnnModels(EIGHT, {})
    assert [models.times_listed(name) for name in (SCATTER.name, "MatmulDeviceOperation")] == [8, 1]
    assert models.bytes_per_core(SCATTER, 1, Room(0, 0)) == 196_608  # of one chip


def test_the_level_of_one_chip_and_what_is_listed_are_both_kept():
    left_out = {0: LeftOut(SCATTER.name, 1, None, SCATTER, TtnnModels(EIGHT, {}))}
    completing = Completing(left_out, lambda: 1_000_000, 0)
    completing.goes_on(0)
    completing.ends(0, 32_768)
    assert completing.level == 32_768 + 196_608
    assert completing.listed == 32_768 + 8 * 196_608

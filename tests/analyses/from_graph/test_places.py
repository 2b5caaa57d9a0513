"""Sort, argmax, scatter and gather against what dry captures of TTNN 0.81.1 showed on mock devices."""

from dataclasses import replace

import pytest

from tests.analyses.from_graph.programs import WORMHOLE, modelled, tensor

BLACKHOLE = replace(WORMHOLE, grid=(13, 10), arch="blackhole")
PLACES, MANY = (replace(tensor(1, 1, 32, 64), dtype=f"UINT{bits}") for bits in (16, 32))
ONE_CORE, EXCHANGED = "SortProgramFactorySingleRowSingleCore", "SortProgramFactoryCrossCoreDataExchange"


@pytest.mark.parametrize(
    ("width", "factory", "places", "measured"),
    [
        (64, ONE_CORE, PLACES, 33_792),
        (160, ONE_CORE, PLACES, 58_368),  # five tiles are filled up to eight
        (2048, ONE_CORE, PLACES, 287_744),
        (4096, EXCHANGED, PLACES, 47_104),
        (32_768, EXCHANGED, PLACES, 104_448),
        (65_536, EXCHANGED, MANY, 251_904),
        (16_384, "SortProgramFactorySingleRowMultiCore", PLACES, 24_576),
        (16_384, "SortProgramFactoryOther", PLACES, None),
    ],
)
def test_a_sort_keeps_values_and_places(width, factory, places, measured):
    x = tensor(1, 1, 32, width)
    assert modelled("SortDeviceOperation", [x], (x, places), factory=factory) == measured


@pytest.mark.parametrize(
    ("shape", "place", "kept", "machine", "measured"),
    [
        ((32, 4096), "DRAM", True, WORMHOLE, 4256),
        ((32, 32_000), "DRAM", True, WORMHOLE, 5152),
        ((32, 1280), "L1", True, WORMHOLE, 4192),
        ((384, 320), "DRAM", True, WORMHOLE, 1344),
        ((32, 32_000), "DRAM", True, BLACKHOLE, 8864),
        ((32, 32_000), "DRAM", False, WORMHOLE, 14_464),
        ((32, 4096), "DRAM", False, WORMHOLE, 6784),  # fewer cores than could work
        ((32, 4096), "DRAM", False, BLACKHOLE, 6784),
        ((32, 32_768), "DRAM", False, BLACKHOLE, 25_728),
        ((8, 1000), "L1", False, WORMHOLE, 1312),
        ((32, 300), "DRAM", False, WORMHOLE, 3328),
        ((32, 16), "L1", False, WORMHOLE, 576),
    ],
)
def test_argmax_gathers_the_best_of_every_core(shape, place, kept, machine, measured):
    x = tensor(1, *shape, rows=True, place=place)
    out = replace(tensor(1, *((shape[0], 1) if kept else (shape[0],)), rows=True), dtype="UINT32")
    found = modelled("ArgMaxDeviceOperation", [x], out, factory="ArgMaxMultiCoreProgramFactory", machine=machine)
    assert found == measured


def test_argmax_of_tiles_runs_on_one_core():
    x, out = tensor(1, 1, 384, 1536), replace(tensor(1, 384, rows=True), dtype="UINT32")
    assert modelled("ArgMaxDeviceOperation", [x], out, factory="ArgMaxSingleCoreProgramFactory") == 3584
    assert modelled("ArgMaxDeviceOperation", [x], out, factory="ArgMaxMultiCoreProgramFactory") is None
    rows = tensor(1, 1, 384, 1536, rows=True)
    assert modelled("ArgMaxDeviceOperation", [rows], out, factory="ArgMaxOtherProgramFactory") is None


@pytest.mark.parametrize(
    ("width", "few", "dtype", "measured"),
    [
        (1024, 32, "INT32", 4288),
        (640, 8, "UINT16", 2624),
        (64, 32, "INT32", 448),
        (8192, 4096, "INT32", 57_344),
        (32_000, 4096, "INT32", 152_576),
    ],
)
def test_scatter_reads_and_writes_rows(width, few, dtype, measured):
    x, what = tensor(1, 1, 32, width, rows=True), tensor(1, 1, 32, few, rows=True)
    assert modelled("ScatterDeviceOperation", [x, replace(what, dtype=dtype), what], x) == measured
    assert modelled("ScatterDeviceOperation", [x, what], x) is None
    assert modelled("ScatterDeviceOperation", [replace(x, tiled=True), what, what], x) is None


def test_scatter_reads_a_part_of_a_row_that_has_no_room():
    x, few = tensor(1, 1, 32, 100_000, rows=True), tensor(1, 1, 32, 4096, rows=True)
    size = modelled("ScatterDeviceOperation", [x, replace(few, dtype="INT32"), few], x)
    assert 330_624 <= size <= 330_624 + 512


@pytest.mark.parametrize(("width", "places", "measured"), [(1024, PLACES, 75_776), (1280, MANY, 94_208)])
def test_gather_keeps_a_row(width, places, measured):
    x = tensor(1, 1, 32, width)
    assert modelled("GatherCodegenDeviceOperation", [x, places], tensor(*places.shape)) == measured
    assert modelled("GatherCodegenDeviceOperation", [x], x) is None

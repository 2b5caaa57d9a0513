"""Top-k against what dry captures of TTNN 0.81.1 showed on mock devices."""

from dataclasses import replace

import pytest

from tests.analyses.from_graph.programs import WORMHOLE, modelled, tensor

BLACKHOLE = replace(WORMHOLE, grid=(13, 10), arch="blackhole")
NARROW = replace(WORMHOLE, grid=(2, 3))  # cores in one place only
SHORT, LONG = (replace(tensor(1, 1, 32, 32), dtype=f"UINT{bits}") for bits in (16, 32))
ONE, MANY = "TopKSingleCoreProgramFactory", "TopKMultiCoreProgramFactory"


def top_k(width, kept, places=SHORT, *, factory=MANY, dtype="bf", machine=WORMHOLE):
    x = tensor(1, 1, 32, width, dtype=dtype)
    printed = f"TopkParams({kept}, -1, 1, 1, 0, "
    return modelled("TopKDeviceOperation", [x], (x, places), factory=factory, attributes=printed, machine=machine)


@pytest.mark.parametrize(
    ("width", "kept", "places", "measured"),
    [(64, 32, SHORT, 36_864), (64, 64, SHORT, 49_152), (65_536, 32, SHORT, 36_864), (128_256, 32, LONG, 55_296)],
)
def test_one_core_keeps_what_is_kept(width, kept, places, measured):
    assert top_k(width, kept, places, factory=ONE) == measured


@pytest.mark.parametrize(
    ("width", "kept", "machine", "measured"),
    [
        (1024, 32, WORMHOLE, 90_112),
        (1024, 64, WORMHOLE, 155_648),
        (8192, 32, WORMHOLE, 155_648),
        (8192, 64, WORMHOLE, 286_720),
        (16_384, 32, WORMHOLE, 221_184),
        (32_768, 32, WORMHOLE, 352_256),
        (1024, 32, BLACKHOLE, 90_112),
        (8192, 32, BLACKHOLE, 286_720),
        (32_768, 64, BLACKHOLE, 548_864),
    ],
)
def test_many_cores_share_a_row_so_that_none_waits_long(width, kept, machine, measured):
    assert top_k(width, kept, machine=machine) == measured


def test_block_floats_are_sorted_in_bfloat16():
    assert top_k(8192, 32, dtype="b8") == 151_808


def test_where_no_cores_can_share_a_row_nothing_is_told():
    assert top_k(8192, 32, machine=NARROW) is None
    assert top_k(8192, 32, machine=replace(WORMHOLE, bank_bytes=100_000)) is None
    assert top_k(8192, 32, factory="Other") is None
    assert top_k(96, 32) is None  # three tiles: halves of one and two
    assert top_k(1056, 32) is None  # 33 tiles
    assert modelled("TopKDeviceOperation", [SHORT], SHORT, factory=ONE) is None  # nobody prints what is kept


def test_blackhole_takes_long_rows_in_three_programs():
    x, rows = tensor(1, 1, 32, 128_256), tensor(1, 1, 32, 128_256, rows=True)
    assert modelled("TopkRoutePrepDeviceOperation", [x], rows) == 65_536
    assert modelled("TopkLargeIndicesDeviceOperation", [rows], LONG) == 8192
    assert modelled("TopkRouteFinishDeviceOperation", [x, LONG], (x, SHORT)) == 14_336
    assert modelled("TopkRouteFinishDeviceOperation", [x, LONG], (x, LONG)) == 16_384


@pytest.mark.parametrize(("words", "measured"), [(32, 55_680), (256, 113_024), (1024, 309_632)])
def test_sampling_keeps_a_row_and_its_places(words, measured):
    values, places = tensor(1, 1, 32, words), tensor(1, 1, 32, words, rows=True)
    assert modelled("SamplingDeviceOperation", [values, places], tensor(1, 32, rows=True)) == measured
    assert modelled("SamplingDeviceOperation", [values], values) is None
    assert modelled("SamplingDeviceOperation", [tensor(1, 1, 64, words), places], values) is None
    assert modelled("SamplingDeviceOperation", [tensor(1, 1, 32, words, dtype="b8"), places], values) is None

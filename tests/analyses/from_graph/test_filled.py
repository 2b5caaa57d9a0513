"""Ops that fill places and turn images, against dry captures of TTNN 0.81.1 on mock devices."""

from dataclasses import replace

import pytest

from tests.analyses.from_graph.programs import WORMHOLE, modelled, tensor
from ttnn_mcp.readers.graph.specs import Spec

BILINEAR = "BilinearProgramFactory"


def places(count):
    return Spec((1, count), "UINT32", tiled=False, placement=None)


@pytest.mark.parametrize(
    ("width", "dtype", "count", "measured"),
    [(256, "bf", 4, 1_568), (1000, "bf", 4, 6_080), (1000, "f32", 4, 12_032), (100, "bf", 100, 1_088),
     (32, "f32", 40, 544)],
)  # fmt: skip
def test_filling_places_takes_three_rows(width, dtype, count, measured):
    x = tensor(1, 1, 64, width, dtype=dtype, rows=True)
    for name in ("IndexFillOperation", "IndexFillNewOperation"):
        assert modelled(name, [x, places(count)], x) == measured
        assert modelled(name, [x], x) is None
        assert modelled(name, [tensor(1, 1, 64, width), places(count)], x) is None


def test_rows_are_aligned_to_more_on_blackhole():
    x, blackhole = tensor(1, 1, 64, 100, rows=True), replace(WORMHOLE, arch="blackhole")
    assert modelled("IndexFillOperation", [x, places(100)], x, machine=blackhole) == 1_216


@pytest.mark.parametrize(
    ("channels", "dtype", "measured"),
    [(64, "bf", 12_672), (32, "f32", 16_768), (32, "bf", 8_384), (96, "bf", 16_960), (256, "bf", 38_400)],
)
def test_an_image_turned_between_its_points(channels, dtype, measured):
    x = tensor(1, 32, 32, channels, dtype=dtype, rows=True)
    assert modelled("RotateDeviceOperation", [x], x, factory=BILINEAR) == measured
    assert modelled("RotateDeviceOperation", [x], x, factory="NearestProgramFactory") is None
    assert modelled("RotateDeviceOperation", [tensor(1, 32, 32, channels)], x, factory=BILINEAR) is None


def test_dropout_takes_two_tiles_in_and_two_out():
    x = tensor(1, 1, 256, 512)
    assert modelled("DropoutDeviceOperation", [x], x) == 8_192

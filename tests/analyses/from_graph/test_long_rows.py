"""Gather, scatter and sort where rows are long or data types odd: dry captures of TTNN 0.81.1 on mock devices."""

from dataclasses import replace

import pytest

from tests.analyses.from_graph.programs import BANK, WORMHOLE, modelled, tensor
from ttnn_mcp.analyses.from_graph.program import Machine

SMALL = 32_768
MACHINES = {
    "wormhole": replace(WORMHOLE, small_bytes=SMALL),
    "blackhole": Machine((12, 10), "blackhole", 8, 1_428_352, small_bytes=SMALL),
}
PLACES = {bits: replace(tensor(1, 1, 32, 64), dtype=f"UINT{bits}") for bits in (16, 32)}
STREAMED = [  # words, machine, bytes of L1 that tensors leave free (None: all), bits of the places, measured
    (24_000, "wormhole", None, 32, 774_144),
    (32_000, "wormhole", None, 16, 1_028_096),
    (50_257, "wormhole", None, 32, 1_079_296),
    (128_256, "wormhole", None, 32, 1_374_208),  # beside an empty L1_SMALL
    (151_936, "wormhole", None, 32, 1_222_656),
    (112_000, "blackhole", None, 32, 1_439_744),
    (128_256, "blackhole", None, 32, 1_374_208),
    (151_936, "blackhole", None, 32, 1_396_736),
    (32_000, "wormhole", BANK - 192 * 2048, 32, 690_176),
    (50_257, "wormhole", BANK - 192 * 2048, 32, 811_008),
    (60_000, "wormhole", BANK - 200 * 2048, 32, 774_144),
    (32_000, "wormhole", BANK - 128 * 2048, 32, 1_030_144),
]


@pytest.mark.parametrize("case", STREAMED, ids=str)
def test_a_vocabulary_is_gathered_in_equal_parts_that_fit(case):
    words, name, free, bits, measured = case
    machine = MACHINES[name]
    room = machine.bank_bytes if free is None else free
    asked = {"factory": "GatherCodegenProgramFactoryStreaming", "machine": machine, "room": room}
    size = modelled(
        "GatherCodegenDeviceOperation", [tensor(1, 1, 32, words), PLACES[bits]], tensor(1, 1, 32, 64), **asked
    )
    assert size == measured


@pytest.mark.parametrize(("dtype", "bits", "measured"), [("f32", 32, 16_384), ("bf", 16, 8_192)])
def test_other_data_types_are_gathered_tile_by_tile(dtype, bits, measured):
    x, out, name = tensor(1, 1, 32, 50_257, dtype=dtype), tensor(1, 1, 32, 64, dtype=dtype), "GatherDeviceOperation"
    assert modelled(name, [x, PLACES[bits]], out, factory="SingleRowMultiCore") == measured
    assert modelled(name, [x, PLACES[bits]], out, factory="SingleRowSingleCore") is None
    assert modelled(name, [x], out, factory="SingleRowMultiCore") is None


@pytest.mark.parametrize(
    ("rows", "width", "few", "measured"),
    [(32, 256, 32, 2_240), (64, 8192, 64, 65_920), (512, 512, 512, 7_168), (32, 65_536, 64, 524_672)],
)
def test_adding_in_bfloat16_keeps_the_row_in_float32(rows, width, few, measured):
    x, what = tensor(1, 1, rows, width, rows=True), tensor(1, 1, rows, few, rows=True)
    inputs = [x, replace(what, dtype="INT32"), what]
    assert modelled("ScatterDeviceOperation", inputs, x, factory="ScatterReduceBfloat16ProgramFactory") == measured


@pytest.mark.parametrize(
    ("width", "kind", "measured"),
    [
        (1024, "SingleCore", 316_416),
        (64, "SingleCore", 70_656),
        (2048, "SingleCore", 578_560),
        (8192, "MultiCore", 53_248),
    ],
)
def test_small_integers_are_sorted_as_large_ones(width, kind, measured):
    x = replace(tensor(1, 1, 32, width), dtype="UINT16")
    outputs = (x, replace(x, dtype="UINT32"))
    assert modelled("SortDeviceOperation", [x], outputs, factory=f"SortProgramFactorySingleRow{kind}") == measured

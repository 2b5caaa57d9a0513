"""Two readers of a block: from how many bytes on they pay, by the rates that is_split_reader_viable of tt-metal has."""

from __future__ import annotations

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.conv_readers import ReadBlock

# Bytes of one read, of a weight tile, weight tiles; and bytes of the block from which on the second reader is worth
# that weights come later. Computed from the source; its rates of reads in L1 are the module's. For a block that takes no time to tilize: of transfers of
# at most 16 bytes, a little larger, half as large as those of the highest rate, as large, and twice as large.
FETCHED = {
    "blackhole": [
        ((8, 16, 1), 251), ((20, 16, 1), 269), ((2048, 1024, 32), 157_936), ((4096, 2048, 32), 313_308),
        ((8192, 4096, 32), 626_616),
    ],
    "wormhole_b0": [
        ((8, 16, 1), 151), ((20, 16, 1), 170), ((512, 1024, 32), 136_978), ((1024, 2048, 32), 272_413),
        ((2048, 4096, 32), 544_825),
    ],
}  # fmt: skip
# The same by formats in and out, without and with sums in FLOAT32, where the fourth of them takes ten tiles to tilize.
TILIZED = {
    "blackhole": {
        ("FLOAT32", "FLOAT32"): (155_925, 155_925), ("FLOAT32", "BFLOAT16"): (155_925, 217_924),
        ("FLOAT32", "BFLOAT8_B"): (155_925, 221_501), ("BFLOAT16", "FLOAT32"): (188_117, 160_694),
        ("BFLOAT16", "BFLOAT16"): (227_463, 227_463), ("BFLOAT16", "BFLOAT8_B"): (241_770, 241_770),
    },
    "wormhole_b0": {
        ("FLOAT32", "FLOAT32"): (212_835, 201_142), ("FLOAT32", "BFLOAT16"): (231_209, 231_209),
        ("FLOAT32", "BFLOAT8_B"): (231_209, 233_437), ("BFLOAT16", "FLOAT32"): (221_187, 207_267),
        ("BFLOAT16", "BFLOAT16"): (238_448, 234_550), ("BFLOAT16", "BFLOAT8_B"): (250_141, 248_470),
    },
}  # fmt: skip
NEAR = 0.01  # of these bytes


@for_all(("arch", "sizes", "least"), [(arch, *case) for arch, cases in FETCHED.items() for case in cases])
def test_two_readers_pay_where_reading_takes_twice_as_long_as_weights(arch, sizes, least):
    once, weight_bytes, weight_tiles = sizes
    for size, pays in ((least * (1 - NEAR), False), (least * (1 + NEAR), True)):
        block = ReadBlock(0, weight_tiles, weight_bytes, once, size)
        assert block.is_shared(arch, ("BFLOAT16", "BFLOAT16"), fp32=False) is pays, size


@for_all(("arch", "formats", "least"), [(arch, *case) for arch, cases in TILIZED.items() for case in cases.items()])
def test_they_pay_sooner_where_tilizing_takes_part_of_that_time(arch, formats, least):
    (once, weight_bytes, weight_tiles), _ = FETCHED[arch][3]
    for fp32, bytes_of_block in enumerate(least):
        for size, pays in ((bytes_of_block * (1 - NEAR), False), (bytes_of_block * (1 + NEAR), True)):
            block = ReadBlock(10, weight_tiles, weight_bytes, once, size)
            assert block.is_shared(arch, formats, fp32=bool(fp32)) is pays, (fp32, size)


def test_of_other_chips_and_formats_nothing_is_expected_and_nothing_to_read_is_not_shared():
    assert ReadBlock(10, 32, 2048, 1024, 0).is_shared("blackhole", ("BFLOAT16", "BFLOAT16"), fp32=False) is False
    block = ReadBlock(10, 32, 2048, 1024, 1_000_000)
    for arch, formats in (("", ("BFLOAT16", "BFLOAT16")), ("quasar", ("BFLOAT16", "BFLOAT16"))):
        assert block.is_shared(arch, formats, fp32=False) is None
    assert block.is_shared("blackhole", ("BFLOAT16", "BFLOAT4_B"), fp32=False) is None

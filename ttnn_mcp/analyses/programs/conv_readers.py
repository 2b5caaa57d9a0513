"""Whether two readers share the blocks of a Conv2d, by what TTNN expects of them (is_split_reader_viable)."""

from __future__ import annotations

from ttnn_mcp.records import dataclass

ALIGNED = 16  # bytes of L1: channels are filled up to it, and it is the least transfer of the rates below
# conv2d_op_program_factory_common.cpp: per kind of transfer, bytes from which on its rate does not grow, GB/s of the
# least transfer and of such; cycles in which a tile is tilized, by format in and out, with sums in BFLOAT16 and FLOAT32
_RATES = {
    "blackhole": {"local": (4096, 1.124, 80.48), "dram": (2048, 0.671, 80.885), "cast": (65536, 0.182, 57.677)},
    "wormhole_b0": {"local": (1024, 0.868, 27.84), "dram": (2048, 0.436, 28.411), "cast": (65536, 0.318, 25.345)},
}
_TILIZED = {
    ("blackhole", "FLOAT32"): {"FLOAT32": (132, 132), "BFLOAT16": (132, 80), "BFLOAT8_B": (132, 77)},
    ("blackhole", "BFLOAT16"): {"FLOAT32": (105, 128), "BFLOAT16": (72, 72), "BFLOAT8_B": (60, 60)},
    ("wormhole_b0", "FLOAT32"): {"FLOAT32": (107, 128), "BFLOAT16": (74, 74), "BFLOAT8_B": (74, 70)},
    ("wormhole_b0", "BFLOAT16"): {"FLOAT32": (92, 117), "BFLOAT16": (61, 68), "BFLOAT8_B": (40, 43)},
}
_CLOCK_GHZ = {"blackhole": 1.35, "wormhole_b0": 1.0}  # of the rates


@dataclass(frozen=True, slots=True)
class ReadBlock:
    """A block of a height-sharded conv: tiles of it and of its weights, bytes of a weight tile and of one read."""

    tiles: int
    weight_tiles: int
    weight_bytes: int
    once_bytes: int
    read_bytes: int

    def is_shared(self, arch: str, formats: tuple[str, str], *, fp32: bool) -> bool | None:
        """Whether two readers are expected to be done first; None where TTNN has no rates of the chip or formats."""
        cycles = _TILIZED.get((arch, formats[0]), {}).get(formats[1])
        if cycles is None:
            return None
        read = self.read_bytes / _rate(arch, "local", self.once_bytes)
        weights = self.weight_bytes * self.weight_tiles
        fetched = weights * (1 / _rate(arch, "dram", self.weight_bytes) + 1 / _rate(arch, "cast", weights))
        tilized = cycles[fp32] * self.tiles / _CLOCK_GHZ[arch]
        return read / 2 + max(fetched, tilized) < max(read + tilized, fetched)


def _rate(arch: str, kind: str, size: float) -> float:
    """GB/s of transfers of a size."""
    largest, slowest, fastest = _RATES[arch][kind]
    share = (min(max(size, ALIGNED), largest) - ALIGNED) / (largest - ALIGNED)
    return slowest + (fastest - slowest) * share

"""Where a tensor lives: TTNN's printed MemoryConfig, in every spelling since 2024, and the CSV's MEMORY cells."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

from ttnn_mcp.readers.printed.nesting import Call, is_given, parse_call, whole

MemoryLayout = Literal[
    "INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED", "ND_SHARDED", "SINGLE_BANK"
]
BufferType = Literal["DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"]
Core = tuple[int, int]
CoreRange = tuple[Core, Core]

BUFFER_TYPES: tuple[BufferType, ...] = get_args(BufferType)  # in the order of the database's integers
MEMORY_LAYOUTS: tuple[MemoryLayout, ...] = get_args(MemoryLayout)[:5]  # same; ND_SHARDED = 4 is inferred

_RANGE = re.compile(
    r"\(x=(\d{1,6})\s*[,;]\s*y=(\d{1,6})\)\s*-\s*\(x=(\d{1,6})\s*[,;]\s*y=(\d{1,6})\)"  # until 2026
    r"|\[\s*(\d{1,6})-(\d{1,6})\s*-\s*(\d{1,6})-(\d{1,6})\s*\]"  # since
)
_LAYOUT = re.compile("|".join(get_args(MemoryLayout)))
_BUFFER = re.compile("SYSTEM_MEMORY|L1_SMALL|DRAM|L1|TRACE")
_CELL = re.compile(r"\s*(?:DEV_\d+_)?(L1_SMALL|SYSTEM_MEMORY|DRAM|TRACE|L1)_([A-Z_]+)\s*")
_HOST = re.compile(r"\s*(?:StorageType(?:::|\.))?(?:\w*HOST|OWNED|BORROWED)\w*\s*", re.IGNORECASE)
_SIZES = re.compile(r"\d{1,18}")


@dataclass(frozen=True, slots=True)
class ShardSpec:
    """How a sharded tensor is cut. The fields that only some generations print do not count for equality."""

    ranges: tuple[CoreRange, ...] = ()
    """Core ranges, corners inclusive, x before y; banks instead of cores when the buffer is DRAM."""
    shape: tuple[int, ...] = ()
    orientation: str | None = None
    mode: str | None = field(default=None, compare=False)
    physical_shape: tuple[int, ...] | None = field(default=None, compare=False)
    nd_shape: tuple[int, ...] | None = field(default=None, compare=False)
    halo: bool | None = field(default=None, compare=False)

    @property
    def cores(self) -> int:
        """Cores (or DRAM banks) the ranges hold."""
        return sum(width * height for width, height in map(_extent, self.ranges))

    @property
    def grid(self) -> str:
        """'8x6+1': the first range as columns x rows, further ones as what they add."""
        extents = [_extent(one) for one in self.ranges]
        texts = [
            f"{width}x{height}" if height > 1 or not at else f"{width}"
            for at, (width, height) in enumerate(extents)
        ]
        return "+".join(texts)


@dataclass(frozen=True, slots=True)
class Placement:
    """Layout, buffer and shards of a tensor. Equal placements compare equal whatever generation printed them."""

    layout: MemoryLayout
    buffer: BufferType
    shard: ShardSpec | None = None

    @property
    def sharded(self) -> bool:
        """Whether the tensor is cut into shards."""
        return self.layout.endswith("_SHARDED")

    @property
    def cores(self) -> int | None:
        """Cores that hold a shard; None where the report does not say."""
        return self.shard.cores or None if self.shard else None

    def __str__(self) -> str:
        text = f"{self.buffer} {self.layout}"
        if self.shard is None:
            return text
        shape = "x".join(str(size) for size in self.shard.shape)
        where = (
            f"on {self.shard.cores} {'banks' if self.buffer == 'DRAM' else 'cores'}" if self.shard.ranges else ""
        )
        return " ".join(part for part in (text, shape, where) if part)


def parse_memory_config(text: str) -> Placement | None:
    """A printed MemoryConfig; None where the text names no layout or no buffer.

    Separators ',' or ';', enums with '::' or '.'; whatever a shard spec leaves out stays empty.
    """
    config = parse_call(text)
    if config is None:
        return None
    unnamed = " ".join(config.values)
    layout = _layout(config.fields.get("memory_layout", unnamed))
    buffer = buffer_type(config.fields.get("buffer_type", unnamed))
    if layout is None or buffer is None:
        return None
    return Placement(layout, buffer, _shard_spec(config.given("shard_spec"), config.given("nd_shard_spec")))


def parse_memory_cell(cell: str) -> Placement | None:
    """A CSV cell: 'DEV_1_L1_BLOCK_SHARDED' (the number is a device object, not DEVICE ID), or a host storage type.

    Host tensors answer as SYSTEM_MEMORY INTERLEAVED, one contiguous run. None for anything else.
    """
    match = _CELL.fullmatch(cell)
    if match is None:
        return Placement("INTERLEAVED", "SYSTEM_MEMORY") if _HOST.fullmatch(cell) else None
    layout, buffer = _layout(match.group(2)), buffer_type(match.group(1))
    return Placement(layout, buffer) if layout and buffer else None


@lru_cache(maxsize=1024)  # a run repeats a few grids many times
def parse_core_ranges(text: str) -> tuple[CoreRange, ...]:
    """`{[(x=0,y=0) - (x=7,y=5)], [(x=0,y=6) - (x=0,y=6)]}` or `{[0-0 - 7-7]}`."""
    corners = (tuple(int(n) for n in match.groups() if n is not None) for match in _RANGE.finditer(text))
    return tuple(((x0, y0), (x1, y1)) for x0, y0, x1, y1 in corners)


@lru_cache(maxsize=1024)
def buffer_type(value: str | float | None) -> BufferType | None:
    """The database's integer or any spelling of the name; None for what is neither."""
    if isinstance(value, str):
        code = whole(value)
        if code is not None:
            return buffer_type(code)
        match = _BUFFER.search(value)
        return next((one for one in BUFFER_TYPES if match and one == match.group()), None)
    return BUFFER_TYPES[int(value)] if value is not None and value in range(len(BUFFER_TYPES)) else None


def memory_layout(value: int | None) -> MemoryLayout | None:
    """`buffers.buffer_layout` as a name; None outside the enum."""
    return MEMORY_LAYOUTS[value] if value is not None and value in range(len(MEMORY_LAYOUTS)) else None


def _layout(text: str) -> MemoryLayout | None:
    match = _LAYOUT.search(text)
    return next((one for one in get_args(MemoryLayout) if match and one == match.group()), None)


def _shard_spec(plain_text: str | None, nd_text: str | None) -> ShardSpec | None:
    plain = parse_call(plain_text) if plain_text else None
    nd = parse_call(nd_text) if nd_text else None
    spec = plain or nd
    if spec is None:
        return None
    nd_shape = _sizes(nd, "shard_shape") if nd else None
    return ShardSpec(
        ranges=parse_core_ranges(spec.fields.get("grid", "")),
        shape=(_sizes(plain, "shape") if plain else nd_shape) or (),
        orientation=_enum(spec, "orientation"),
        mode=_enum(spec, "mode"),
        physical_shape=_sizes(spec, "physical_shard_shape"),
        nd_shape=nd_shape,
        halo=spec.fields["halo"] not in {"0", "false"} if "halo" in spec.fields else None,
    )


def _sizes(spec: Call, key: str) -> tuple[int, ...] | None:
    text = spec.given(key)
    return tuple(int(size) for size in _SIZES.findall(text)) if text else None


def _enum(spec: Call, key: str) -> str | None:
    text = spec.fields.get(key, "")
    return re.split(r"[.:]", text)[-1].strip() or None if is_given(text) else None


def _extent(one: CoreRange) -> tuple[int, int]:
    (x0, y0), (x1, y1) = one
    return max(x1 - x0 + 1, 0), max(y1 - y0 + 1, 0)

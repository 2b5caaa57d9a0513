"""Where a tensor is placed: TTNN's printed MemoryConfig, in every spelling since 2024, and the CSV's MEMORY cells."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, cast, get_args

from ttnn_mcp.readers.printed.nesting import PrintedStruct, has_value, parse_struct, whole
from ttnn_mcp.records import dataclass

MemoryLayout = Literal[
    "INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED", "ND_SHARDED", "SINGLE_BANK"
]
BufferType = Literal["DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"]
Core = tuple[int, int]
CoreRange = tuple[Core, Core]

BUFFER_TYPES: tuple[BufferType, ...] = get_args(BufferType)  # in the order of the database's integers


_RANGE = re.compile(
    r"\(x=(\d{1,6})\s*[,;]\s*y=(\d{1,6})\)\s*-\s*\(x=(\d{1,6})\s*[,;]\s*y=(\d{1,6})\)"  # until 2026
    r"|\[\s*(\d{1,6})-(\d{1,6})\s*-\s*(\d{1,6})-(\d{1,6})\s*\]"  # since
    r'|"start":\{"x":(\d{1,6}),"y":(\d{1,6})\},"end":\{"x":(\d{1,6}),"y":(\d{1,6})\}'  # in tensors, since 0.66
)
_LAYOUT = re.compile("|".join(get_args(MemoryLayout)))
_BUFFER = re.compile("SYSTEM_MEMORY|L1_SMALL|DRAM|L1|TRACE")
_CELL = re.compile(r"\s*(?:DEV_\d+_)?(L1_SMALL|SYSTEM_MEMORY|DRAM|TRACE|L1)_([A-Z_]+)\s*")
_HOST = re.compile(r"\s*(?:StorageType(?:::|\.))?(?:\w*HOST|OWNED|BORROWED)\w*\s*", re.IGNORECASE)
_SIZES = re.compile(r"\d{1,18}")


@dataclass(frozen=True, slots=True)
class ShardSpec:
    """How a tensor is cut into shards: what all generations print.

    Attributes:
        ranges: core ranges, both corners inclusive, x before y; DRAM banks instead of cores for a buffer in DRAM.
        shape: elements of a shard per dimension: two, or more for an ND shard spec.
        orientation: ROW_MAJOR or COL_MAJOR; None where it is not printed.
    """

    ranges: tuple[CoreRange, ...] = ()
    shape: tuple[int, ...] = ()
    orientation: str | None = None

    @property
    def cores(self) -> int:
        """How many cores (or DRAM banks) the ranges contain."""
        return sum(width * height for width, height in map(_extent, self.ranges))

    @property
    def grid(self) -> str:
        """'8x6+1': the first range as columns x rows, each further range after a plus."""
        extents = [_extent(core_range) for core_range in self.ranges]
        texts = [
            f"{width}x{height}" if height > 1 or not place else f"{width}"
            for place, (width, height) in enumerate(extents)
        ]
        return "+".join(texts)


@dataclass(frozen=True, slots=True)
class Placement:
    """Layout, buffer and shards of a tensor; equal placements compare equal whichever generation printed them."""

    layout: MemoryLayout
    buffer: BufferType
    shard: ShardSpec | None = None

    @property
    def sharded(self) -> bool:
        """Whether the tensor is cut into shards."""
        return self.layout.endswith("_SHARDED")

    @property
    def cores(self) -> int | None:
        """How many cores hold a shard; None where the report does not tell."""
        return self.shard.cores or None if self.shard else None

    def __str__(self) -> str:
        text = f"{self.buffer} {self.layout}"
        if self.shard is None:
            return text
        shape = "x".join(str(size) for size in self.shard.shape)
        location = (
            f"on {self.shard.cores} {'banks' if self.buffer == 'DRAM' else 'cores'}" if self.shard.ranges else ""
        )
        return " ".join(part for part in (text, shape, location) if part)


def parse_memory_config(text: str) -> Placement | None:
    """A printed MemoryConfig; None where the text names no layout or no buffer.

    Separators may be ',' or ';', enums may be written with '::' or '.'. What a shard spec leaves out stays empty.
    """
    config = parse_struct(text)
    if config is None:
        return None
    unnamed = " ".join(config.values)
    layout = _layout(config.fields.get("memory_layout", unnamed))
    buffer = buffer_type(config.fields.get("buffer_type", unnamed))
    if layout is None or buffer is None:
        return None
    return Placement(layout, buffer, _shard_spec(config.text_of("shard_spec"), config.text_of("nd_shard_spec")))


def parse_memory_cell(cell: str) -> Placement | None:
    """A CSV cell: 'DEV_1_L1_BLOCK_SHARDED' (the number is a device object, not DEVICE ID), or a host storage type.

    A host tensor is one contiguous block: SYSTEM_MEMORY INTERLEAVED. None for anything else.
    """
    match = _CELL.fullmatch(cell)
    if match is None:
        return Placement("INTERLEAVED", "SYSTEM_MEMORY") if _HOST.fullmatch(cell) else None
    layout = _layout(match.group(2))
    return Placement(layout, cast("BufferType", match.group(1))) if layout else None


@lru_cache(maxsize=1024)  # a run repeats a few grids many times  # unmoved: what is forgotten is parsed again
def parse_core_ranges(text: str) -> tuple[CoreRange, ...]:
    """`{[(x=0,y=0) - (x=7,y=5)], [(x=0,y=6) - (x=0,y=6)]}`, `{[0-0 - 7-7]}`, or the JSON of a tensor's shards."""
    corners = (tuple(int(n) for n in match.groups() if n is not None) for match in _RANGE.finditer(text))
    return tuple(((x0, y0), (x1, y1)) for x0, y0, x1, y1 in corners)


@lru_cache(maxsize=1024)  # unmoved: the same
def buffer_type(value: str | float | None) -> BufferType | None:
    """The buffer type for the database's integer or any spelling of its name; None for anything else."""
    if isinstance(value, str):
        code = whole(value)
        if code is not None:
            return buffer_type(code)
        match = _BUFFER.search(value)
        return next((name for name in BUFFER_TYPES if match and name == match.group()), None)
    return next((name for code, name in enumerate(BUFFER_TYPES) if code == value), None)


def _layout(text: str) -> MemoryLayout | None:
    match = _LAYOUT.search(text)
    return next((name for name in get_args(MemoryLayout) if match and name == match.group()), None)


def _shard_spec(plain_text: str | None, nd_text: str | None) -> ShardSpec | None:
    plain = parse_struct(plain_text) if plain_text else None
    nd = parse_struct(nd_text) if nd_text else None
    spec = plain or nd
    if spec is None:
        return None
    return ShardSpec(
        ranges=parse_core_ranges(spec.fields.get("grid", "")) or _json_ranges(plain_text, nd_text),
        shape=_sizes(spec, "shape" if plain else "shard_shape"),
        orientation=_enum(spec, "orientation"),
    )


def _json_ranges(*specs: str | None) -> tuple[CoreRange, ...]:
    """The grid of a spec that prints it as JSON: since 0.66 the plain one is a brace short, so its text is searched."""
    return next((ranges for text in specs if text and (ranges := parse_core_ranges(text))), ())


def _sizes(spec: PrintedStruct, key: str) -> tuple[int, ...]:
    """None of a shard without elements, which is damage."""
    sizes = tuple(int(size) for size in _SIZES.findall(spec.text_of(key) or ""))
    return sizes if all(sizes) else ()


def _enum(spec: PrintedStruct, key: str) -> str | None:
    text = spec.fields.get(key, "")
    return re.split(r"[.:]", text)[-1].strip() or None if has_value(text) else None


def _extent(core_range: CoreRange) -> tuple[int, int]:
    (x0, y0), (x1, y1) = core_range
    return max(x1 - x0 + 1, 0), max(y1 - y0 + 1, 0)

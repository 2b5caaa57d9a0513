import csv
import re
from dataclasses import astuple
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_all import for_all
from ttnn_mcp.readers.printed.memory_config import (
    Placement,
    ShardSpec,
    buffer_type,
    parse_core_ranges,
    parse_memory_cell,
    parse_memory_config,
)

REPORTS = Path(__file__).parents[3] / "../shared/data/perf"

GENERATION_2024 = (
    "MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED,buffer_type=BufferType::L1,"
    "shard_spec=ShardSpec(grid={[(x=0,y=0) - (x=7,y=7)]},shape={4096, 16},"
    "orientation=ShardOrientation::ROW_MAJOR,halo=0))"
)
GENERATION_2025 = GENERATION_2024.replace("halo=0", "mode=ShardMode::LOGICAL,physical_shard_shape={4096, 16}")
GENERATION_2025_09 = GENERATION_2025[:-1] + (
    ",nd_shard_spec=NdShardSpec(shard_shape=Shape([4096, 16]),grid={[(x=0,y=0) - (x=7,y=7)]},"
    "orientation=ShardOrientation::ROW_MAJOR,shard_distribution_strategy="
    "ShardDistributionStrategy::ROUND_ROBIN_1D),created_with_nd_shard_spec=0)"
)
GENERATION_2026 = (
    GENERATION_2025_09.replace(",mode=ShardMode::LOGICAL,physical_shard_shape={4096, 16}", "").replace(
        "(x=0,y=0) - (x=7,y=7)", "0-0 - 7-7"
    )[:-1]
    + ",per_core_allocation=0,range_lockstep_allocation=0)"
)
GENERATIONS = [GENERATION_2024, GENERATION_2025, GENERATION_2025_09, GENERATION_2026]


@for_all("text", GENERATIONS)
@for_all("separator", [",", ";"])
@for_all("enum", ["::", "."])
def test_every_generation_and_spelling_means_the_same_placement(text, separator, enum):
    placement = parse_memory_config(text.replace(",", separator).replace("::", enum))
    assert placement == Placement("HEIGHT_SHARDED", "L1", ShardSpec((((0, 0), (7, 7)),), (4096, 16), "ROW_MAJOR"))
    assert placement.cores == 64
    assert str(placement) == "L1 HEIGHT_SHARDED 4096x16 on 64 cores"


def test_an_interleaved_config_has_no_shards():
    text = "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM,shard_spec=std::nullopt)"
    placement = parse_memory_config(text)
    assert placement == Placement("INTERLEAVED", "DRAM")
    assert not placement.sharded
    assert str(placement) == "DRAM INTERLEAVED"


def test_a_sharded_config_without_a_spec_is_still_sharded():
    text = "MemoryConfig(memory_layout=TensorMemoryLayout::BLOCK_SHARDED;buffer_type=BufferType::L1;shard_spec=std::nullopt)"
    placement = parse_memory_config(text)
    assert placement.sharded
    assert placement.cores is None


def test_an_nd_sharded_config_takes_its_shape_and_grid_from_the_nd_spec():
    text = (
        "MemoryConfig(memory_layout=TensorMemoryLayout::ND_SHARDED,buffer_type=BufferType::DRAM,shard_spec=std::nullopt,"
        "nd_shard_spec=NdShardSpec(shard_shape=Shape([1, 1, 32, 64]),grid={[(x=0,y=0) - (x=7,y=0)]},"
        "orientation=ShardOrientation::ROW_MAJOR),created_with_nd_shard_spec=1)"
    )
    placement = parse_memory_config(text)
    assert placement.shard.shape == (1, 1, 32, 64)
    assert str(placement) == "DRAM ND_SHARDED 1x1x32x64 on 8 banks"


def test_a_grid_of_several_ranges_reads_as_what_each_adds():
    ranges = parse_core_ranges("{[(x=0;y=0) - (x=7;y=5)]; [(x=0;y=6) - (x=0;y=6)]}")
    spec = ShardSpec(ranges)
    assert spec.cores == 49
    assert spec.grid == "8x6+1"


@for_all(
    ("cell", "buffer", "layout"),
    [
        ("DEV_1_L1_BLOCK_SHARDED", "L1", "BLOCK_SHARDED"),
        ("DEV_13_DRAM_INTERLEAVED", "DRAM", "INTERLEAVED"),
        ("DEV_0_L1_SMALL_HEIGHT_SHARDED", "L1_SMALL", "HEIGHT_SHARDED"),
        ("DEV_0_DRAM_ND_SHARDED", "DRAM", "ND_SHARDED"),
        ("DEV_0_L1_SINGLE_BANK", "L1", "SINGLE_BANK"),
        ("L1_WIDTH_SHARDED", "L1", "WIDTH_SHARDED"),
        ("HOST", "SYSTEM_MEMORY", "INTERLEAVED"),
        ("StorageType::BORROWED", "SYSTEM_MEMORY", "INTERLEAVED"),
    ],
)
def test_a_csv_cell_names_buffer_and_layout_and_its_device_number_is_ignored(cell, buffer, layout):
    assert parse_memory_cell(cell) == Placement(layout, buffer)


@for_all("cell", ["", "-", "nan", "DEV_1_", "DEV_1_L1_", "DEV_1_L2_INTERLEAVED", "DEV_1_L1_DIAGONAL"])
def test_a_cell_that_names_no_placement_has_none(cell):
    assert parse_memory_cell(cell) is None


def test_buffer_types_are_read_as_integers_and_as_text():
    assert [buffer_type(code) for code in (0, 1, 2, 3, 4)] == ["DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"]
    assert [buffer_type(name) for name in ("DRAM", "BufferType::L1_SMALL", "BufferType.L1", "3")] == [
        "DRAM",
        "L1_SMALL",
        "L1",
        "L1_SMALL",
    ]
    assert [buffer_type(odd) for odd in (None, -1, 9, "", "L2", 0.5)] == [None] * 6


@for_all("length", range(0, len(GENERATION_2025_09), 7))
def test_a_config_cut_anywhere_gives_what_it_says_or_nothing(length):
    placement = parse_memory_config(GENERATION_2025_09[:length])
    assert placement is None or placement.layout == "HEIGHT_SHARDED"


@for_all("text", ["", "None", "std::nullopt", "MemoryConfig()", "Shape([1, 2])", "((((", "}{"])
def test_text_that_is_no_memory_config_has_none(text):
    assert parse_memory_config(text) is None


@given(st.text(max_size=60) | st.text(alphabet="(){}[]<>=,;:.-0aA_ x", max_size=60))
def test_no_text_breaks_the_reader(text):
    parse_memory_config(text)
    parse_memory_config(f"MemoryConfig(memory_layout=INTERLEAVED,buffer_type=L1,shard_spec=ShardSpec({text}))")
    parse_memory_cell(text)
    buffer_type(text)


CORES = st.tuples(st.integers(0, 15), st.integers(0, 15))
RANGES = st.tuples(CORES, CORES).map(lambda pair: (tuple(map(min, *pair)), tuple(map(max, *pair))))
SIZES = st.lists(st.integers(1, 10**6), min_size=2, max_size=2).map(tuple)
SPECS = st.builds(
    ShardSpec,
    ranges=st.lists(RANGES, min_size=1, max_size=3).map(tuple),
    shape=SIZES,
    orientation=st.sampled_from(["ROW_MAJOR", "COL_MAJOR"]),
)
PLACEMENTS = st.builds(
    Placement,
    layout=st.sampled_from(["HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED"]),
    buffer=st.sampled_from(["DRAM", "L1", "L1_SMALL"]),
    shard=SPECS,
)


def render(placement: Placement, core_range: str, mode: str | None, nd_shape: tuple[int, int] | None) -> str:
    shard = placement.shard
    grid = ", ".join(core_range.format(*start, *end) for start, end in shard.ranges)
    fields = [f"grid={{{grid}}}", f"shape={{{shard.shape[0]}, {shard.shape[1]}}}"]
    fields.append(f"orientation=ShardOrientation::{shard.orientation}")
    fields.extend([mode] if mode else [])
    nd = "std::nullopt"
    if nd_shape:
        nd = f"NdShardSpec(shard_shape=Shape([{nd_shape[0]}, {nd_shape[1]}]),grid={{{grid}}})"
    return (
        f"MemoryConfig(memory_layout=TensorMemoryLayout::{placement.layout},buffer_type=BufferType::{placement.buffer},"
        f"shard_spec=ShardSpec({','.join(fields)}),nd_shard_spec={nd},created_with_nd_shard_spec=0)"
    )


@given(
    PLACEMENTS,
    st.sampled_from(["[(x={},y={}) - (x={},y={})]", "[{}-{} - {}-{}]"]),
    st.sampled_from([None, "halo=0", "mode=ShardMode::LOGICAL,physical_shard_shape={64, 32}"]),
    st.none() | SIZES,
    st.tuples(st.booleans(), st.booleans()),
)
def test_a_rendered_placement_reads_back(placement, core_range, mode, nd_shape, spelling):
    in_csv, dotted = spelling
    text = render(placement, core_range, mode, nd_shape)
    text = text.replace(",", ";") if in_csv else text
    text = text.replace("::", ".") if dotted else text
    assert astuple(parse_memory_config(text)) == astuple(placement)


def test_every_memory_config_of_the_real_reports_is_read():
    if not REPORTS.is_dir():
        pytest.skip("the real reports are not here")
    csv.field_size_limit(10**9)
    texts = set()
    for report in REPORTS.glob("*.csv"):
        with report.open(newline="") as lines:
            for row in csv.DictReader(lines):
                texts.update(re.findall(r"MemoryConfig\([^']*\)(?=')", row["ATTRIBUTES"] or ""))
    assert len(texts) > 50
    for text in texts:
        placement = parse_memory_config(text)
        assert placement.layout in text
        assert f"BufferType::{placement.buffer};" in text
        written = re.search(r"shard_spec=ShardSpec\(grid=(\{.*?\});shape=\{(\d+); (\d+)\}", text)
        assert (placement.shard is not None) == (written is not None)
        if written:
            assert placement.shard.shape == (int(written.group(2)), int(written.group(3)))
            assert len(placement.shard.ranges) == written.group(1).count("[(x=")


def test_shard_grids_printed_as_json_are_read():
    """In tensors since 0.66; the plain spec is a brace short there, several ranges follow one another."""
    grid = '[{"start":{"x":0,"y":0},"end":{"x":7,"y":5}, {"start":{"x":0,"y":6},"end":{"x":2,"y":6}]'
    plain = f"ShardSpec{{grid={grid}, shape=[1568, 16], orientation=ShardOrientation::ROW_MAJOR}}"
    text = "MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED,buffer_type=BufferType::L1,shard_spec={})"
    placement = parse_memory_config(text.format(plain))
    assert placement.shard.ranges == (((0, 0), (7, 5)), ((0, 6), (2, 6)))
    assert (placement.shard.grid, placement.shard.shape, placement.cores) == ("8x6+3", (1568, 16), 51)


def test_a_grid_is_columns_by_rows_and_what_further_ranges_add():
    row, square, cores = ((0, 0), (7, 0)), ((0, 1), (1, 2)), ((2, 1), (4, 1))
    assert [ShardSpec(ranges).grid for ranges in ((row,), (square, cores), (row, square), ())] == [
        "8x1",
        "2x2+3",
        "8x1+2x2",
        "",
    ]


def test_a_config_names_layout_and_buffer_or_is_none():
    layout, buffer = "memory_layout=TensorMemoryLayout::INTERLEAVED", "buffer_type=BufferType::L1"
    assert parse_memory_config(f"MemoryConfig({layout},{buffer})") == Placement("INTERLEAVED", "L1")
    assert parse_memory_config(f"MemoryConfig({layout})") is None
    assert parse_memory_config(f"MemoryConfig({buffer})") is None
    assert parse_memory_config("MemoryConfig") is None


def test_what_a_spec_leaves_out_is_not_written():
    sharded = ("HEIGHT_SHARDED", "L1")
    assert str(Placement(*sharded)) == "L1 HEIGHT_SHARDED"
    assert str(Placement(*sharded, ShardSpec())) == "L1 HEIGHT_SHARDED"
    assert str(Placement(*sharded, ShardSpec(shape=(64, 32)))) == "L1 HEIGHT_SHARDED 64x32"
    assert str(Placement("ND_SHARDED", "DRAM", ShardSpec((((0, 0), (7, 0)),)))) == "DRAM ND_SHARDED on 8 banks"
    assert Placement(*sharded).cores is None
    assert Placement(*sharded, ShardSpec()).cores is None


def test_a_buffer_type_is_a_name_a_number_or_none():
    assert [buffer_type(one) for one in (None, 5, -1, 1.5, "", "what", "9", "-1")] == [None] * 8
    assert [buffer_type(one) for one in (0, 1.0, "3", "BufferType::TRACE", "L1_SMALL")] == [
        "DRAM",
        "L1",
        "L1_SMALL",
        "TRACE",
        "L1_SMALL",
    ]


def test_the_first_grid_that_is_printed_is_it():
    spec = 'shard_spec=ShardSpec{shape=[32, 32]},nd_shard_spec=NdShardSpec{grid=[{"start":{"x":0,"y":0},"end":{"x":3,"y":0}}]}'
    told = parse_memory_config(f"MemoryConfig(memory_layout=HEIGHT_SHARDED,buffer_type=L1,{spec})")
    assert (told.shard.ranges, told.shard.shape) == ((((0, 0), (3, 0)),), (32, 32))

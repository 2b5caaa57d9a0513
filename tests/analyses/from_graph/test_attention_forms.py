"""Forms of attention beside the plain one, against what dry captures of TTNN 0.81.1 showed on mock devices."""

from dataclasses import replace

import pytest

from tests.analyses.from_graph.programs import KERNEL, WORMHOLE, modelled, sharded, tensor

BLACKHOLE = replace(WORMHOLE, grid=(13, 10), arch="blackhole")
MEMORY = "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM)"
GRID = "SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),"
SDPA = "SDPAParams(std::nullopt, {}, {}, {}, {}, std::nullopt, {}, 0, std::nullopt, {}, WindowedMode::None, 0)"
DECODE = "SdpaDecodeParams({}, {}, {{}}, 0.1, {}, {}, {}, {}, {}, {}, std::nullopt, std::nullopt)"


def config(q, k, most=16):
    return f"SDPAProgramConfig(<xy_pair>, std::nullopt, {q}, {k}, 0, {most}, 1, std::nullopt, 0)"


def words(*shape):
    return replace(tensor(1, *shape, rows=True), dtype="INT32")


def sdpa(
    q, k, *, rows=1024, head=64, start="std::nullopt", window="std::nullopt", causal=1, also=(), cache=None, **on
):
    x = tensor(1, 8, rows, head)
    printed = SDPA.format(MEMORY, config(q, k), causal, start, KERNEL.format(0, 0), window)
    inputs = [x, cache or x, cache or x, *also]
    return modelled("SDPAOperation", inputs, x, attributes=printed, program_config=GRID, **on)


@pytest.mark.parametrize(
    ("q", "k", "rows", "head", "measured"),
    [(32, 32, 1024, 64, 69_632), (64, 128, 1024, 64, 167_936), (256, 256, 2048, 128, 786_432)],
)
def test_a_window_has_a_mask_for_both_edges(q, k, rows, head, measured):
    assert sdpa(q, k, rows=rows, head=head, window=128) == measured
    assert sdpa(q, k, rows=rows, head=head, window=128, causal=0) is None


def test_keys_are_not_passed_on_within_a_window():
    assert sdpa(128, 128, rows=2048, head=128, window=128, machine=BLACKHOLE) == 385_024


def test_a_sink_is_one_tile_more():
    sink = tensor(1, 8, 1, 1)
    assert sdpa(64, 64, also=[sink]) == 122_880
    assert sdpa(256, 256, rows=2048, head=128, also=[sink]) == 782_336


@pytest.mark.parametrize(("q", "k", "measured"), [(64, 64, 124_928), (128, 256, 440_320)])
def test_a_mask_of_the_caller_is_read_beside_the_keys(q, k, measured):
    assert sdpa(q, k, rows=512, causal=0, also=[tensor(1, 1, 512, 512)]) == measured


@pytest.mark.parametrize("machine", [WORMHOLE, BLACKHOLE])
@pytest.mark.parametrize(
    ("case", "measured"),
    [
        ((128, 128, 512, 128, 64, "b8"), 317_696),
        ((64, 64, 2048, 64, 64, "bf"), 121_088),
        ((128, 128, 128, 128, 32, "bf"), 346_240),
    ],
)
def test_a_chunk_reads_a_paged_cache(machine, case, measured):
    q, k, rows, head, pages, dtype = case
    cache = tensor(pages, 1, 64, head, dtype=dtype)
    found = sdpa(q, k, rows=rows, head=head, start=1024, cache=cache, also=[words(pages)], machine=machine)
    assert found == measured


@pytest.mark.parametrize(
    ("case", "measured"),
    [
        ((64, 64, 10, 1024, 77, 64), 108_800),
        ((128, 128, 8, 512, 128, 128), 339_968),
        ((128, 128, 24, 4096, 512, 128), 372_736),
        ((256, 256, 10, 1024, 77, 64), 516_096),
        ((64, 256, 8, 512, 128, 128), 410_624),
    ],
)
def test_joint_attention_keeps_whole_chunks(case, measured):
    q, k, heads, rows, more, head = case
    x, joint = tensor(1, heads, rows, head), tensor(1, heads, more, head)
    printed = f"JointSDPAParams(rear, 0.125, {MEMORY}, {config(q, k)}, {KERNEL.format(0, 0)})"
    operands = [x] * 3 + [joint] * 3
    name = "JointSDPADeviceOperation"
    assert modelled(name, operands, (x, joint), attributes=printed, program_config=GRID) == measured
    assert modelled(name, operands[:3], (x, joint), attributes=printed, program_config=GRID) is None
    assert modelled(name, operands, (x, joint), attributes=printed) is None  # nobody prints its cores
    for unset in (config(0, k), config(q, 0), config(q, "std::nullopt")):
        attributes = printed.replace(config(q, k), unset)
        assert modelled(name, operands, (x, joint), attributes=attributes, program_config=GRID) is None
    wide = printed.replace("fp32_dest_acc_en=0", "fp32_dest_acc_en=1")
    assert modelled(name, operands, (x, joint), attributes=wide, program_config=GRID) is None


def decode(users, heads, groups, head, chunk, **on):
    paged, causal = on.pop("paged", 0), on.pop("causal", 1)
    dtype, held = on.pop("dtype", "b8"), on.pop("held", False)
    printed = on.pop("config", config(0, chunk))
    q = tensor(1, users, heads, head)
    out = sharded(1, users, heads, head, layout="HEIGHT", shard=(32, head), cores=(8, 1)) if held else q
    cache = tensor(32, groups, paged or 1024, head, dtype=dtype)
    window, mla = on.pop("window", "std::nullopt"), on.pop("mla", "std::nullopt")
    attributes = DECODE.format(
        causal, int(paged > 0), window, MEMORY, printed, KERNEL.format(0, 0), on.pop("told", chunk), mla
    )
    also, asked = on.pop("also", ()), on.pop("asked", GRID)
    return modelled(
        "SdpaDecodeDeviceOperation",
        [q, cache, cache, *also],
        out,
        attributes=attributes,
        program_config=asked,
        **on,
    )


@pytest.mark.parametrize(
    ("asked", "on", "measured"),
    [
        ((32, 32, 8, 64, 128), {"also": [words(32)]}, 108_800),
        ((32, 32, 8, 64, 128), {}, 108_544),
        ((8, 32, 8, 128, 128), {"also": [words(8)]}, 172_096),
        ((1, 32, 8, 128, 128), {"also": [words(1)]}, 258_112),
        ((8, 8, 1, 128, 128), {"also": [words(8)], "held": True}, 160_832),
        ((32, 32, 8, 64, 128), {"also": [words(32), words(32, 32)], "paged": 32}, 108_928),
        ((8, 8, 1, 128, 128), {"also": [words(8), words(8, 64)], "paged": 32, "held": True}, 161_088),
        ((8, 32, 8, 128, 0), {"also": [words(8), words(8, 32)], "paged": 64}, 258_240),
        ((8, 8, 1, 128, 128), {"causal": 0, "also": [tensor(8, 1, 8, 1024)]}, 258_048),
        ((8, 32, 8, 128, 128), {"also": [words(8), tensor(32, 32)]}, 174_144),
        ((8, 8, 1, 128, 128), {"also": [words(8), tensor(32, 32)]}, 170_048),
        ((8, 32, 8, 128, 128), {"also": [words(8)], "window": 256}, 180_288),
        ((8, 32, 8, 128, 128), {"also": [words(8)], "dtype": "bf"}, 233_536),
        ((8, 32, 8, 128, 512), {"also": [words(8)], "machine": BLACKHOLE}, 430_208),
    ],
)
def test_attention_of_a_token_counts_heads_chunks_and_words(asked, on, measured):
    assert decode(*asked, **on) == measured


def test_cores_that_nobody_prints_matter_only_where_they_share_a_head():
    assert (
        decode(8, 8, 1, 64, 32, config=config(32, 32, 1), asked="", also=[words(8), words(8, 64)], paged=64)
        == 42_816
    )
    assert decode(8, 8, 1, 64, 32, asked="") is None
    alone = decode(8, 8, 1, 128, 512, config="std::nullopt", asked="", also=[words(8)])
    assert alone == 402_496  # without a config all cores of the chip


@pytest.mark.parametrize(
    ("heads", "dtype", "measured"),
    [(12, "bf", 231_424), (18, "bf", 321_536), (8, "b8", 310_016), (16, "bf", 231_424)],
)
def test_up_to_sixteen_heads_of_bfloat16_take_half_tiles(heads, dtype, measured):
    q, cache = tensor(1, 8, heads, 128, dtype=dtype), tensor(8, 1, 1024, 128)
    attributes = DECODE.format(
        1, 0, "std::nullopt", MEMORY, config(0, 128), KERNEL.format(0, 0), 128, "std::nullopt"
    )
    inputs = [q, cache, cache, tensor(32, 32)]
    assert modelled("SdpaDecodeDeviceOperation", inputs, q, attributes=attributes, program_config=GRID) == measured


@pytest.mark.parametrize("most", [1, 2])
def test_cores_do_not_matter_where_none_share_a_head(most):
    grids = [f"SDPAProgramConfig(compute_with_storage_grid_size=(x={x},y={y})," for x, y in ((8, 8), (4, 4))]
    found = {decode(4, 8, 1, 128, 128, dtype="bf", config=config(0, 128, most), asked=grid) for grid in grids}
    assert found == {187_392 if most == 1 else 193_536}


def test_latent_attention_is_not_modelled():
    assert decode(8, 8, 1, 128, 128, mla=1) is None
    q = tensor(1, 8, 8, 64)
    attributes = DECODE.format(
        1, 0, "std::nullopt", MEMORY, config(0, 128), KERNEL.format(0, 0), 128, "std::nullopt"
    )
    assert modelled("SdpaDecodeDeviceOperation", [q, q], q, attributes=attributes, program_config=GRID) is None
    assert modelled("SdpaDecodeDeviceOperation", [q, q], q, attributes="SdpaDecodeParams(1") is None


@pytest.mark.parametrize(
    ("machine", "measured"),
    [
        (replace(WORMHOLE, grid=(8, 7)), 366_592),
        (replace(WORMHOLE, grid=(11, 10), arch="blackhole"), 366_688),
    ],
)
def test_latent_attention_reads_values_from_the_keys(machine, measured):
    q, keys, out = tensor(1, 16, 256, 576), tensor(1, 1, 256, 576), tensor(1, 16, 256, 512)
    printed = (
        f"SDPAParams(std::nullopt, {MEMORY}, std::nullopt, 1, std::nullopt, std::nullopt, {KERNEL.format(0, 0)}"
    )
    told = f"{printed}, 1, 512, std::nullopt, WindowedMode::None, 0)"
    assert modelled("SDPAOperation", [q, keys], out, attributes=told, machine=machine) == measured
    plain = f"{printed}, 0, std::nullopt, std::nullopt, WindowedMode::None, 0)"
    assert modelled("SDPAOperation", [q, keys], out, attributes=plain, machine=machine) is None

"""sharding_summary: placements add up to the window; specs come from attributes and tensors."""

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import (
    L1,
    Iteration,
    Program,
    header_of,
    height_sharded,
    performance_rows,
    write_memory_report,
    write_performance_report,
    write_rows,
    write_run,
)
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective, unary
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared

TALL = height_sharded(32, 512, (8, 8))


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


def model() -> Program:
    program = Program("wormhole_b0")
    x, y, z = (
        program.tensor([1, 1, 2048, 512]),
        *(program.tensor([1, 1, 2048, 512], placement=TALL) for _ in range(2)),
    )
    out = program.tensor([1, 1, 2048, 512], placement=L1)
    program.call("ttnn.relu", (x,), (y,), (unary("RELU", x, y, 20_000),))
    program.call("ttnn.gelu", (y,), (z,), (unary("GELU", y, z, 10_000),))
    program.call("ttnn.tanh", (z,), (out,), (unary("TANH", z, out, 30_000),))
    return program


def rows(table):
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


async def test_an_ops_time_counts_where_its_output_lives_and_all_adds_up(at, tmp_path):
    said = await ask(at, "sharding_summary", run=str(write_performance_report(tmp_path, model())))
    there = {(one["layout"], one["buffer"]): one for one in rows(said["distribution"])}
    assert {place: (one["operands"], one["ops"], one["kernel_us"]) for place, one in there.items()} == {
        ("HEIGHT_SHARDED", "L1"): (4, 2, 30),
        ("INTERLEAVED", "L1"): (1, 1, 30),
        ("INTERLEAVED", "DRAM"): (1, 0, 0),
    }
    assert sum(one["share"] for one in there.values()) == pytest.approx(1)


async def test_a_shard_spec_says_its_shape_grid_and_heaviest_op(at, tmp_path):
    said = await ask(at, "sharding_summary", run=str(write_performance_report(tmp_path, model())))
    (spec,) = rows(said["shard_specs"])
    assert (spec["shard"], spec["grid"], spec["cores"], spec["orientation"]) == ("32x512", "8x8", 64, "ROW_MAJOR")
    assert (spec["ops"], spec["kernel_us"]) == (2, 30)
    assert spec["op"] == said["window"]["first_row"]


async def test_a_memory_report_adds_the_tensors_of_a_spec(at, tmp_path):
    written = write_run(tmp_path, model())
    card = await ask(at, "open_run", performance=str(written.performance), memory=str(written.memory))
    (spec,) = rows((await ask(at, "sharding_summary", run=card["id"]))["shard_specs"])
    assert (spec["ops"], spec["tensors"]) == (2, 2)


async def test_a_memory_report_alone_counts_tensors_and_bytes(at, tmp_path):
    said = await ask(at, "sharding_summary", run=str(write_memory_report(tmp_path, model())))
    there = {(one["layout"], one["buffer"]): (one["operands"], one["bytes"]) for one in rows(said["distribution"])}
    assert there["HEIGHT_SHARDED", "L1"] == (2, 2 * 2048 * 512 * 2)
    assert "kernel_us" not in said["distribution"]["columns"]
    assert rows(said["shard_specs"])[0]["tensors"] == 2
    assert "low_core_ops" not in said


@for_all(("cores", "kernel_ns", "listed"), [(31, 20_000, 1), (32, 20_000, 0), (31, 4_900, 0)])
async def test_ops_on_under_half_of_the_cores_are_listed(at, tmp_path, cores, kernel_ns, listed):
    program = model()
    x, y = program.tensor([1, 1, 256, 256]), program.tensor([1, 1, 256, 256])
    program.call("ttnn.made", (x,), (y,), (DeviceOp("UpsampleOperation", (x,), (y,), kernel_ns, cores=cores),))
    program.call("ttnn.gather", (x,), (y,), (collective("AllGatherAsync", x, y, 50_000, ring_size=4),))
    said = await ask(at, "sharding_summary", run=str(write_performance_report(tmp_path, program)))
    assert len(said["low_core_ops"]["rows"]) == said["total"]["low_core_ops"] == listed
    if listed:
        (op,) = rows(said["low_core_ops"])
        assert (op["op_code"], op["cores"], op["count"], op["kernel_us"]) == ("Upsample", 31, 1, 20)


@for_all(("inputs", "length"), [(3, 54), (4, 60)])
async def test_long_shapes_of_an_op_are_cut(at, tmp_path, inputs, length):
    program = Program("wormhole_b0")
    read, out = [program.tensor([1, 384, 1280, 64]) for _ in range(inputs)], program.tensor([1, 384, 1280, 64])
    program.call("ttnn.made", read, (out,), (DeviceOp("UpsampleOperation", tuple(read), (out,), 20_000, cores=2),))
    (op,) = rows((await ask(at, "sharding_summary", run=written(tmp_path, program)))["low_core_ops"])
    assert len(op["shapes"]) == length


def written(folder, program, without=(), blank=()):
    rows = performance_rows(program, [Iteration(cold=True), Iteration()])
    for row in rows:
        row.update(dict.fromkeys(blank, ""))
    header = [name for name in header_of(rows, "C7") if name not in without]
    return str(write_rows(folder / "ops.csv", rows, header))


async def test_a_report_that_names_grid_and_shards_needs_no_caveat(at, tmp_path):
    assert "caveat" not in await ask(at, "sharding_summary", run=written(tmp_path, model()))
    first_alone = performance_rows(model(), [Iteration()])
    first_alone[1]["ATTRIBUTES"] = ""  # of the second op, 10 us
    run = str(write_rows(tmp_path / "first.csv", first_alone, header_of(first_alone, "C7")))
    said = await ask(at, "sharding_summary", run=run)
    assert [row[6] for row in said["shard_specs"]["rows"]] == [1]
    assert said["caveat"] == "1 more op (10 us) wrote shards that ATTRIBUTES do not name: not in shard_specs"
    # matmuls of early 2025 print the layout of their output, not its shards
    old = await ask(at, "sharding_summary", run=str(shared(SEGFORMER)), limit=200)
    assert sum(row[6] for row in old["shard_specs"]["rows"]) + 64 == 204
    assert old["caveat"].endswith(
        "; 64 more ops (350 us) wrote shards that ATTRIBUTES do not name: not in shard_specs"
    )


async def test_nor_does_one_without_sharded_tensors(at, tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 64, 64])])
    assert "caveat" not in await ask(at, "sharding_summary", run=written(tmp_path, program))


@for_all(
    ("without", "blank", "caveat"),
    [
        (("AVAILABLE WORKER CORE COUNT",), (), "the grid is not in the report: 64 is the most cores any op used"),
        (
            ("AVAILABLE WORKER CORE COUNT", "CORE COUNT"),
            (),
            "no CORE COUNT in the report: ops on few cores are not known",
        ),
        (
            (),
            ("ATTRIBUTES",),
            "ATTRIBUTES name no shards: shapes and grids of the sharded operands are not known",
        ),
    ],
)
async def test_what_a_report_leaves_out_is_told(at, tmp_path, without, blank, caveat):
    assert (await ask(at, "sharding_summary", run=written(tmp_path, model(), without, blank)))["caveat"] == caveat


async def test_pages_join_to_the_whole(at):
    run = str(shared(DEEPLAB))
    whole = await ask(at, "sharding_summary", run=run, limit=200)
    specs, few, cursor = [], [], None
    while True:
        page = await ask(at, "sharding_summary", run=run, limit=7, **({"cursor": cursor} if cursor else {}))
        specs += page["shard_specs"]["rows"]
        few += page["low_core_ops"]["rows"]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert specs == whole["shard_specs"]["rows"]
    assert few == whole["low_core_ops"]["rows"]
    assert len(specs) == whole["total"]["shard_specs"]


async def test_real_reports_list_the_ops_that_idle_the_grid(at):
    clip = rows((await ask(at, "sharding_summary", run=str(shared(CLIP))))["low_core_ops"])
    assert [(one["op_code"], one["cores"], one["count"]) for one in clip[:3]] == [
        ("LayerNorm", 1, 65), ("Matmul", 2, 32), ("Matmul", 1, 32)
    ]  # fmt: skip
    (oft,) = rows((await ask(at, "sharding_summary", run=str(shared(OFT))))["low_core_ops"])
    assert (oft["op_code"], oft["cores"]) == ("GroupNorm", 8)
    deeplab = rows((await ask(at, "sharding_summary", run=str(shared(DEEPLAB))))["low_core_ops"])[0]
    assert (deeplab["op_code"], deeplab["cores"], deeplab["kernel_us"]) == (
        "Matmul",
        32,
        pytest.approx(332.8, abs=0.1),
    )


@for_all("name", [CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER])
async def test_shares_of_real_reports_add_up(at, name):
    said = await ask(at, "sharding_summary", run=str(shared(name)))
    assert sum(one["share"] for one in rows(said["distribution"])) == pytest.approx(1, abs=0.0005)


async def test_of_several_devices_the_critical_one_speaks(at):
    said = await ask(at, "sharding_summary", run=str(shared(DEEPSEEK)))
    assert said["device"] == 4
    assert sum(one["ops"] for one in rows(said["distribution"])) == 26

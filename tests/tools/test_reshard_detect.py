"""reshard_detect: every move once, totals over all, and the truth about real reports."""

import json

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import DRAM, Program, height_sharded, write_memory_report, write_performance_report, write_run
from tests.profiles.ops import interleaved_to_sharded, sharded_to_interleaved, unary
from tests.programs import block
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, LINKED, MEMORY, OFT, SEGFORMER, shared
from ttnn_mcp.errors import QuestionRefused

TALL = height_sharded(32, 512, (8, 8))


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


def column(table, name):
    place = table["columns"].index(name)
    return [row[place] for row in table["rows"]]


def round_trips(program, times=1, *, read=False):
    for height in range(1, times + 1):
        shape = [1, 1, 64 * height, 512]
        x, out, copy, back, last = (
            program.tensor(shape, placement=placement) for placement in (TALL, TALL, DRAM, TALL, TALL)
        )
        program.call("ttnn.relu", (x,), (out,), (unary("RELU", x, out, 5_000),))
        program.call("ttnn.sharded_to_interleaved", (out,), (copy,), (sharded_to_interleaved(out, copy, 12_000),))
        if read:
            gelu = program.tensor(shape)
            program.call("ttnn.gelu", (copy,), (gelu,), (unary("GELU", copy, gelu, 5_000),))
        program.call("ttnn.interleaved_to_sharded", (copy,), (back,), (interleaved_to_sharded(copy, back, 10_000),))
        program.call("ttnn.relu", (back,), (last,), (unary("RELU", back, last, 5_000),))


def made(folder, times=1):
    program = Program("wormhole_b0")
    round_trips(program, times)
    return str(write_performance_report(folder, program))


async def test_a_round_trip_is_one_pattern_of_two_moves(at, tmp_path):
    said = await ask(at, "reshard_detect", run=made(tmp_path))
    assert said["count"] == 2
    assert said["total_us"] == 22
    assert said["share"] == pytest.approx(22 / 32, abs=1e-4)
    (pattern,) = said["patterns"]
    assert (pattern["kind"], pattern["count"], pattern["total_us"]) == ("round-trip", 1, 22)
    assert pattern["avoidable_at_most_us"] == 22
    assert column(said["moves"], "avoidable") == ["likely", "likely"]
    assert column(said["moves"], "from") == ["L1_HEIGHT_SHARDED", "DRAM_INTERLEAVED"]
    ops = column(said["moves"], "op")
    assert column(said["moves"], "producer")[1] == f"{ops[0]} ShardedToInterleaved"
    assert column(said["moves"], "consumer")[0] == f"{ops[1]} InterleavedToSharded"
    assert said["window"]["iteration"] == 2


async def test_moves_that_are_alike_are_one_line_and_pages_join_to_the_whole(at, tmp_path):
    run = made(tmp_path, times=6)
    whole = await ask(at, "reshard_detect", run=run)
    assert column(whole["moves"], "count") == [6, 6]
    assert sum(column(whole["moves"], "kernel_us")) == whole["total_us"] == 132
    first = await ask(at, "reshard_detect", run=run, limit=1)
    second = await ask(at, "reshard_detect", run=run, limit=1, cursor=first["next_cursor"])
    assert first["moves"]["rows"] + second["moves"]["rows"] == whole["moves"]["rows"]
    assert "next_cursor" not in second
    assert first["patterns"] == whole["patterns"]
    with pytest.raises(QuestionRefused, match="another question"):
        await ask(at, "reshard_detect", run=run, limit=2, cursor=first["next_cursor"])


async def test_of_many_readers_two_are_named_and_the_others_counted(at, tmp_path):
    program = Program("wormhole_b0")
    x, copy = program.tensor([1, 1, 64, 512], placement=TALL), program.tensor([1, 1, 64, 512], placement=DRAM)
    program.call("ttnn.sharded_to_interleaved", (x,), (copy,), (sharded_to_interleaved(x, copy, 12_000),))
    for kind in ("RELU", "GELU", "TANH"):
        out = program.tensor([1, 1, 64, 512], placement=TALL)
        program.call("ttnn.unary", (copy,), (out,), (unary(kind, copy, out, 5_000),))
    answer = await ask(at, "reshard_detect", run=str(write_performance_report(tmp_path, program)))
    first = answer["window"]["first_row"]
    assert column(answer["moves"], "consumer") == [f"{first + 1} Unary, {first + 2} Unary, +1"]


async def test_a_pattern_names_its_heaviest_moves(at, tmp_path):
    (pattern,) = (await ask(at, "reshard_detect", run=made(tmp_path, times=6)))["patterns"]
    assert (pattern["count"], len(pattern["ops"])) == (6, 3)


async def test_a_memory_report_of_another_program_makes_nothing_certain(at, tmp_path):
    memory = write_memory_report(tmp_path / "memory", block())
    card = await ask(at, "open_run", performance=made(tmp_path), memory=str(memory))
    answer = await ask(at, "reshard_detect", run=card["id"])
    assert "likely, not certain" in answer["caveat"]


async def test_where_nothing_moves_there_is_nothing_to_doubt(at, tmp_path):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 64, 512])])
    answer = await ask(at, "reshard_detect", run=str(write_performance_report(tmp_path, program)))
    assert (answer["count"], answer["moves"]["rows"], answer["patterns"]) == (0, [], [])
    assert "caveat" not in answer


async def test_a_linked_memory_report_makes_it_certain(at, tmp_path):
    program = Program("wormhole_b0")
    round_trips(program)
    written = write_run(tmp_path, program)
    card = await ask(at, "open_run", performance=str(written.performance), memory=str(written.memory))
    said = await ask(at, "reshard_detect", run=card["id"])
    assert column(said["moves"], "avoidable") == ["certain", "certain"]
    assert "caveat" not in said


@for_all(("read", "avoidable"), [(False, ["certain", "certain"]), (True, ["no", "certain"])])
async def test_a_memory_report_alone_names_the_moves_and_times_none(at, tmp_path, read, avoidable):
    program = Program("wormhole_b0")
    round_trips(program, read=read)
    run = str(write_memory_report(tmp_path / "memory", program))
    said = await ask(at, "reshard_detect", run=run)
    assert column(said["moves"], "avoidable") == avoidable
    assert "kernel_us" not in said["moves"]["columns"]
    assert "total_us" not in said
    assert "window" not in said
    assert "nothing is timed" in said["caveat"]
    kinds = {one["kind"]: (one["count"], one["ops"]) for one in said["patterns"]}
    assert sum(count for count, _ in kinds.values()) == 2
    assert sorted(op for _, ops in kinds.values() for op in ops) == column(said["moves"], "op")
    assert 0 not in {count for count, _ in kinds.values()}


async def test_deeplab(at):
    said = await ask(at, "reshard_detect", run=str(shared(DEEPLAB)), limit=200)
    by_kind = {one["kind"]: one for one in said["patterns"]}
    trip = by_kind["round-trip"]
    assert (trip["count"], trip["ops"]) == (1, [112, 111])
    assert trip["total_us"] == pytest.approx(33.6, abs=0.1)
    assert trip["avoidable_at_most_us"] == pytest.approx(15.1, abs=0.1)
    assert "a copy with other readers stays (1 here)" in trip["why"]
    assert "else one `ttnn.reshard(x, cfg)` from" in trip["fix"]
    rows = {row[0]: dict(zip(said["moves"]["columns"], row, strict=True)) for row in said["moves"]["rows"]}
    assert rows[111]["consumer"] == "112 InterleavedToSharded, 117 Matmul"
    assert rows[111]["avoidable"] == "no"
    assert rows[112]["avoidable"] == "partly"


async def test_segformer(at):
    said = await ask(at, "reshard_detect", run=str(shared(SEGFORMER)))
    by_kind = {one["kind"]: one for one in said["patterns"]}
    assert by_kind["eltwise-detour"]["count"] == 24
    assert by_kind["eltwise-detour"]["total_us"] == pytest.approx(245.7, abs=0.1)
    fix = "drop it: `ttnn.multiply(a, 0.176777, memory_config=a.memory_config(), ...)`"
    assert by_kind["eltwise-detour"]["fix"] == fix
    assert said["share"] == pytest.approx(0.2034, abs=0.0001)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", [CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, LINKED, *MEMORY])
@pytest.mark.parametrize("tool", ["reshard_detect", "sharding_summary"])
async def test_a_default_answer_is_small(at, tool, name):
    said = await ask(at, tool, run=str(shared(name)))
    assert len(json.dumps(said, separators=(",", ":"))) <= 4_000

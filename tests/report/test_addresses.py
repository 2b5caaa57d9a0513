"""L1 by address: where each buffer lay, from which operation to which, with DRAM beside it."""

import itertools
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import DRAM, Program, height_sharded, write_memory_report
from tests.real.stored_truth import folder_of
from ttnn_mcp.report import answers
from ttnn_mcp.report.answers import addresses_of

SHARD = height_sharded(256, 32, (8, 8))  # 16,384 bytes per bank
SHAPE = [1, 1, 16384, 32]
BANK = 1_499_136 - 103_712 - 24_576


def program():
    """x in DRAM; a, b and c in L1; b is freed before c is made, so c takes its place; d goes to DRAM."""
    made = Program()
    x = made.tensor(SHAPE, placement=DRAM)
    a = made.op("UnaryDeviceOperation", [x], call="ttnn.relu", placement=SHARD)
    b = made.op("UnaryDeviceOperation", [a], call="ttnn.gelu")
    made.free(b)
    c = made.op("UnaryDeviceOperation", [a], call="ttnn.silu")
    made.op("UnaryDeviceOperation", [c], call="ttnn.exp", placement=DRAM)
    return made


async def told(folder, made, **style):
    path = write_memory_report(folder / "memory", made, **style)
    return await addresses_of(await session(folder).run(str(path)))


async def test_each_buffer_lies_at_its_address_while_it_is_there(tmp_path):
    spans = (await told(tmp_path, program()))["spans"]
    rows = [dict(zip(spans["columns"], row, strict=True)) for row in spans["rows"]]
    top = BANK - 16_384
    assert [(row["address"], row["bytes_per_bank"], row["from"], row["to"]) for row in rows] == [
        (top, 16_384, 0, 5),
        (top - 16_384, 16_384, 1, 3),  # until the operation that frees it is over
        (top - 16_384, 16_384, 3, 5),
    ]
    assert [row["tensor"] for row in rows] == [2, 3, 4]
    assert {row["shape"] for row in rows} == {"1x1x16384x32"}
    assert [row["producer"] for row in rows] == [1, 2, 4]
    assert all(row["line"].startswith("model.py:") for row in rows)


async def test_dram_stands_beside_it(tmp_path):
    answer = await told(tmp_path, program())
    levels = answer["dram_bytes_per_bank"]
    assert (answer["bytes_of_bank"], answer["left_out"], len(levels)) == (BANK, 0, 5)
    assert levels[-1] > levels[0] > 0  # d is there at last


@for_all(("most", "left", "kept"), [(3, 0, [2, 3, 4]), (2, 1, [2, 4]), (1, 2, [2])])
async def test_of_too_many_those_are_kept_that_hold_most_for_longest(tmp_path, monkeypatch, most, left, kept):
    monkeypatch.setattr(answers, "MOST_SPANS", most)
    answer = await told(tmp_path, program())
    assert answer["left_out"] == left
    assert [row[4] for row in answer["spans"]["rows"]] == kept


async def test_twenty_thousand_are_drawn():
    assert answers.MOST_SPANS == 20_000


async def test_where_l1_begins_is_not_guessed(tmp_path):
    path = write_memory_report(tmp_path / "memory", program())
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM devices")
    assert await addresses_of(await session(tmp_path).run(str(path))) is None


async def test_of_many_operations_those_that_are_drawn_are_counted(tmp_path, monkeypatch):
    """Buffers stand over the operations that the levels keep: here the second and the fifth of five."""
    monkeypatch.setattr(answers, "places_of", lambda _: [1, 4])
    answer = await told(tmp_path, program())
    assert len(answer["dram_bytes_per_bank"]) == 2
    assert [(row[2], row[3]) for row in answer["spans"]["rows"]] == [(0, 2), (0, 1), (1, 2)]


async def test_the_hole_of_a_real_run_out_of_l1_is_between_its_buffers(tmp_path):
    answer = await addresses_of(await session(tmp_path).run(str(folder_of("out_of_l1"))))
    there = sorted((row[0], row[1]) for row in answer["spans"]["rows"] if row[2] <= 4 < row[3])
    holes = [after - (at + size) for (at, size), (after, _) in itertools.pairwise(there)]
    assert max(holes) == 196_608  # as TTNN's own message says


@for_all("change", [{"unplaced": True}, {"operations": np.empty(0, dtype=np.int64)}])
async def test_a_dry_capture_and_a_report_without_operations_have_no_addresses(tmp_path, monkeypatch, change):
    run = await session(tmp_path).run(str(write_memory_report(tmp_path / "memory", program())))
    known = await answers.replay_of(run)

    async def changed(_run):
        return replace(known, **change)

    assert await addresses_of(run)
    monkeypatch.setattr(answers, "replay_of", changed)
    assert await addresses_of(run) is None

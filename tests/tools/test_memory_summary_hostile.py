"""Memory reports that are empty, absurd or damaged: a typed answer in little time, and nothing left beside them."""

import json
import sqlite3
import time
from contextlib import closing

import pytest

from tests.asking import memory_summary_of
from tests.for_all import for_all
from tests.profiles import write_memory_report
from tests.profiles.demo_model import demo_program
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.session.session import Session, Settings

MOST_WORK = 20_000  # nodes, which take a second; with a look at all earlier ones at each, 40 s and more
AT_MOST_S = 5


def altered(folder, *statements):
    """A made report after some SQL."""
    path = write_memory_report(folder / "report", demo_program())
    with closing(sqlite3.connect(path)) as connection:
        for sql, *values in statements:
            connection.execute(sql, values)
        connection.commit()
    return path


async def summary(path, operation=None):
    session = Session(Settings(state=path.parents[1] / "state"))
    before = time.process_time()
    answer = await memory_summary_of(session, str(path), operation)
    assert time.process_time() - before < AT_MOST_S
    return answer


def scopes(kind):
    """Scopes that nothing closes, and ends that close nothing."""
    starts = [{"node_type": "function_start", "params": {"name": f"f{n}"}} for n in range(MOST_WORK)]
    ends = [{"node_type": "function_end", "params": {"name": f"g{n}"}} for n in range(MOST_WORK)]
    return [*starts, *ends] if kind == "scopes" else []


def programs(kind):
    """Program buffers without end, with addresses and without."""
    address = (lambda n: 0) if kind == "unplaced" else (lambda n: 103_712 + 16 * n)
    told = {"size": "16", "core_range_set": "{[0-0 - 7-7]}", "globally_allocated": "0"}
    start = {"node_type": "function_start", "params": {"name": "MatmulDeviceOperation"}}
    return [
        start,
        *(
            {"node_type": "circular_buffer_allocate", "params": {**told, "address": str(address(n))}}
            for n in range(MOST_WORK)
        ),
    ]


@for_all("operation", [None, 2], sampled=3)
@for_all("table", ["tensors", "captured_graph", "buffers", "devices"])
async def test_an_empty_table_is_no_obstacle(tmp_path, table, operation):
    answer = await summary(altered(tmp_path, [f"DELETE FROM {table}"]), operation)
    assert answer.l1_peak.bytes_per_bank >= 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize("operation", [None, 2])
@pytest.mark.parametrize("kind", ["scopes", "unplaced", "placed"])
async def test_one_graph_cannot_keep_an_answer_waiting(tmp_path, kind, operation):
    nodes = json.dumps(scopes(kind) or programs(kind))
    path = altered(tmp_path, ["UPDATE captured_graph SET captured_graph = ? WHERE operation_id = 2", nodes])
    answer = await summary(path, operation)
    assert len(json.dumps(answer.spoken())) < 10_000


@pytest.mark.slow
async def test_a_million_devices_are_not_all_read(tmp_path):
    numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 1000000)"
    path = altered(tmp_path, [f"{numbers} INSERT INTO devices (device_id, l1_num_banks) SELECT i + 9, 64 FROM n"])
    assert (await summary(path)).l1_peak.bytes_per_bank == 1_132_800


async def test_a_schema_that_is_no_utf_8_is_refused(tmp_path):
    path = altered(
        tmp_path,
        ["CREATE TABLE t (a)"],
        ["PRAGMA writable_schema = ON"],
        ["UPDATE sqlite_master SET name = CAST(x'74ff' AS TEXT), sql = CAST(x'ff' AS TEXT) WHERE name = 't'"],
    )
    with pytest.raises(ReportBroken):
        await summary(path)


async def test_a_stale_wal_file_leaves_nothing_beside_the_report(tmp_path):
    path = altered(tmp_path)
    path.with_name("db.sqlite-wal").write_bytes(b"a copy of another day")
    there = sorted(one.name for one in path.parent.iterdir())
    await summary(path)
    assert sorted(one.name for one in path.parent.iterdir()) == there

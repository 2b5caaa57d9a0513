"""The made reports themselves: like the real ones, and true to their own arithmetic."""

import csv
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from tests.for_all import for_all
from tests.profiles import (
    CSV_GENERATIONS,
    DATABASE_GENERATIONS,
    DRAM,
    CircularBuffer,
    CsvStyle,
    DatabaseStyle,
    Iteration,
    Program,
    Replay,
    header,
    height_sharded,
    keep_per_device,
    performance_rows,
    timeline,
    write_memory_report,
    write_performance_report,
    write_run,
)
from tests.profiles.big import write_big_database

ROOT = Path(__file__).parents[1]
REAL = ROOT / "../shared/data"


def real(path):
    if not (REAL / path).exists():
        pytest.skip("the real reports are not beside this checkout")
    return REAL / path


def read_only(path):
    return closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True))


def small_program(**options):
    """conv-like: x (8 KiB per bank) -> y, freed late -> z; weights in DRAM. Figures are computed by hand below."""
    program = Program(**options)
    where = height_sharded(64, 64, (7, 7))
    x = program.tensor([1, 1, 3136, 64], placement=where)
    weight = program.weight([1, 1, 64, 64], "BFLOAT8_B")
    y = program.op("UnaryDeviceOperation", [x], call="ttnn.relu", kernel_ns=5_000, gap_ns=2_000)
    z = program.op(
        "MatmulDeviceOperation", [y, weight], call="ttnn.linear", kernel_ns=30_000, gap_ns=4_000, fidelity="LoFi",
        frees=[x], circular_buffers=[CircularBuffer(65_536), CircularBuffer(8_192, over=y)],
    )  # fmt: skip
    program.op(
        "UnaryDeviceOperation", [z], call="ttnn.gelu", kernel_ns=6_000, attributes={"op_chain": "GELU"},
        circular_buffers=[CircularBuffer(4_096)],
    )  # fmt: skip
    program.free(y)
    return program


def csv_rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# Like the real ones


@for_all(
    ("generation", "file", "counters"),
    [
        ("C2", "ops_perf_results_2025_02_16_18_11_10.csv", False),
        ("C4", "ops_perf_results_2025_09_18_11_39_20.csv", False),
        ("C5", "wh_clip_encoder_2.csv", True),
        ("C5", "bh_p100_dlv3.csv", True),
        ("C6", "bh_8xp150_deepseek_v3_d_p.csv", False),
    ],
)
def test_a_header_is_the_one_of_a_real_file_of_its_generation(generation, file, counters):
    with real(f"perf/{file}").open(newline="", encoding="utf-8") as opened:
        names = next(csv.reader(opened))
    groups = {
        side: 1 + max(int(n.split("_")[1]) for n in names if n.startswith(f"{side}_"))
        for side in ("INPUT", "OUTPUT")
    }
    assert header(generation, inputs=groups["INPUT"], outputs=groups["OUTPUT"], counters=counters) == names


def test_the_newest_header_has_every_column_of_the_linked_sample():
    path = next(real("memory/v3_3_perf").rglob("ops_perf_results*.csv"))
    with path.open(newline="", encoding="utf-8") as opened:
        assert set(next(csv.reader(opened))) <= set(header("C7"))


def schema_of(path):
    with read_only(path) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {table: connection.execute(f"PRAGMA table_info({table})").fetchall() for table in tables}
        unique = {
            (table, tuple(c[2] for c in connection.execute(f"PRAGMA index_info({index[1]})")))
            for table in tables
            for index in connection.execute(f"PRAGMA index_list({table})")
        }
    return columns, unique


@for_all(
    ("generation", "file"),
    [
        ("G1", "empty_aa85cd0c.sqlite"),
        ("G2", "empty_ed83773b.sqlite"),
        ("G4", "g2025/db.sqlite"),
        ("2", "v2/db.sqlite"),
        ("2.1", "v2_1/db.sqlite"),
        ("3.3", "v3_3/db.sqlite"),
    ],
)
def test_a_schema_is_the_one_of_a_database_of_its_generation(tmp_path, generation, file):
    path = write_memory_report(tmp_path, small_program(), generation)
    assert schema_of(path) == schema_of(real(f"memory/{file}"))


def test_the_schemas_grow_as_the_writers_did(tmp_path):
    tables = {g: schema_of(write_memory_report(tmp_path / g, small_program(), g))[0] for g in DATABASE_GENERATIONS}
    assert "captured_graph" not in tables["G1"]
    assert "device_tensors" in tables["G3"]
    assert [c[1] for c in tables["G5a"]["errors"]] == [
        "operation_id",
        "error_type",
        "error_message",
        "error_operation",
    ]
    assert len(tables["G5a-first"]["stack_traces"]) == 4
    assert "buffer_pages" in tables["3.0"]
    assert "buffer_pages" not in tables["3.1"]
    assert "buffer_chunks" in tables["3.1"]
    assert "tensor_lifetime" not in tables["3.2"]
    assert "rank" not in [c[1] for c in tables["3.2"]["local_tensor_comparison_records"]]
    assert "rank" in [c[1] for c in tables["3.2"]["operations"]]


# True to their arithmetic


def test_gaps_cycles_and_kernels_agree_on_a_clock_that_is_not_one_gigahertz(tmp_path):
    program = small_program(arch="blackhole", devices=2)
    rows = csv_rows(write_performance_report(tmp_path, program))
    for device in ("0", "1"):
        own = [row for row in rows if row["DEVICE ID"] == device]
        assert own[0]["OP TO OP LATENCY [ns]"] == "0"
        for before, row in pairwise(own):
            passed = int(row["OP TO OP LATENCY [ns]"]) + int(row["DEVICE KERNEL DURATION [ns]"])
            cycles = int(row["DEVICE FW END CYCLE"]) - int(before["DEVICE FW END CYCLE"])
            assert cycles == pytest.approx(passed * 1.35, abs=2)
            assert int(row["DEVICE FW DURATION [ns]"]) >= int(row["DEVICE KERNEL DURATION [ns]"])
    counts = [int(row["GLOBAL CALL COUNT"]) for row in rows]
    assert [count & 1023 for count in counts] == [int(row["DEVICE ID"]) for row in rows]
    assert [count >> 10 for count in counts[::2]] == [1, 2, 3, 4, 5, 6]
    starts = [int(row["HOST START TS"]) for row in rows]
    assert starts == sorted(starts)


def test_only_a_cold_iteration_compiles_and_only_what_it_has_not_seen():
    program = small_program()
    program.op("UnaryDeviceOperation", [program.tensors[0]], kernel_ns=5_000)  # the first op's program again
    rows = timeline(program, [Iteration(cold=True), Iteration(before_ns=1_000_000)])
    assert [row.compiled for row in rows] == [True, True, True, False, *[False] * 4]
    assert all(25_000_000 < row.gap_ns < 450_000_000 for row in rows[1:3])
    assert [row.gap_ns for row in rows[4:]] == [1_000_000, 4_000, 1_500, 1_500]


def test_a_replayed_trace_repeats_call_counts_under_new_sessions():
    passes = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(0, 1)), Iteration(trace=(0, 2))]
    rows = performance_rows(small_program(), passes)
    captured, first, second = rows[3:6], rows[6:9], rows[9:]
    assert all("DEVICE KERNEL DURATION [ns]" not in row for row in captured)
    assert [r["GLOBAL CALL COUNT"] for r in captured] == [r["GLOBAL CALL COUNT"] for r in first]
    assert [r["GLOBAL CALL COUNT"] for r in first] == [r["GLOBAL CALL COUNT"] for r in second]
    assert {r["METAL TRACE REPLAY SESSION ID"] for r in second} == {"2"}


def test_rows_can_be_dropped_per_device_as_a_full_profiler_does():
    rows = performance_rows(small_program(devices=2), [Iteration(signposts=("start", "stop"))])
    assert [row.get("DEVICE ID") for row in keep_per_device(rows, 2)] == [None, "0", "1", "0", "1", None]


@for_all("generation", CSV_GENERATIONS)
def test_every_generation_reads_back_with_any_style(tmp_path, generation):
    style = CsvStyle("\n", quoting="all", float_numbers=True, blank="-")
    passes = [Iteration(signposts=("start", "stop"), host_rows=["(torch) contiguous"])]
    path = write_performance_report(tmp_path, small_program(), passes, generation=generation, style=style)
    assert b"\r" not in path.read_bytes()
    rows = csv_rows(path)
    assert [row["OP TYPE"] for row in rows] == ["signpost", "python_fallback", *["tt_dnn_device"] * 3, "signpost"]
    assert rows[2]["DEVICE KERNEL DURATION [ns]"] == "5000.0"
    assert rows[0]["CORE COUNT"] == "-"


def test_the_true_peak_counts_circular_buffers_and_skips_those_over_tensors():
    replay = Replay(small_program())
    peak = replay.l1_peak()
    assert peak.op.op_code == "MatmulDeviceOperation"
    assert peak.tensors_bytes == 3 * 8_192  # x, y and z: 2 x 2 tiles of 2048 bytes each
    assert peak.circular_buffers_bytes == 65_536
    top = 1_499_136 - 24_576
    assert [replay.addresses[t] for t in replay.program.tensors[:4:2]] == [top - 8_192, top - 2 * 8_192]
    (late,) = replay.late_frees()  # y: read by the matmul, alive during gelu; x goes with its last reader
    assert (late[0].id, late[1].name, late[2].id) == (3, "ttnn.linear", 4)


def test_ids_restart_for_every_rank(tmp_path):
    path = write_memory_report(tmp_path, small_program(), "3.3", other_ranks=[small_program()])
    with read_only(path) as connection:
        rows = connection.execute("SELECT rank, min(operation_id), max(operation_id) FROM operations GROUP BY rank")
        assert rows.fetchall() == [(0, 1, 4), (1, 1, 4)]
        assert connection.execute("SELECT value FROM report_metadata WHERE key = 'rank'").fetchone() == ("1",)


def test_a_schema_may_lack_the_rank_on_some_tables(tmp_path):
    style = DatabaseStyle(unranked=("buffers",))
    columns, _ = schema_of(write_memory_report(tmp_path, small_program(), "3.3", style))
    ranked = {name for name in ("buffers", "operations") if "rank" in [c[1] for c in columns[name]]}
    assert ranked == {"operations"}


def test_what_died_is_an_error_row_and_an_unfinished_operation(tmp_path):
    program = small_program()
    program.call("ttnn.conv2d", program.tensors[:1])
    program.fail("Out of Memory: Not enough space to allocate 1 B L1 buffer")
    for generation, operation in (("G4", 5), ("3.3", 0)):
        with read_only(write_memory_report(tmp_path / generation, program, generation)) as connection:
            assert connection.execute("SELECT operation_id FROM errors").fetchall() == [(operation,)]
            assert connection.execute("SELECT name FROM operations WHERE duration IS NULL").fetchall() == [
                ("ttnn.conv2d",)
            ]


def test_pages_and_chunks_hold_the_same_bytes(tmp_path):
    style = DatabaseStyle(detailed="all")
    with read_only(write_memory_report(tmp_path / "3.0", small_program(), "3.0", style)) as connection:
        pages = connection.execute(
            "SELECT operation_id, address, bank_id, core_x, core_y, min(page_address), sum(page_size), count(*) "
            "FROM buffer_pages GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3"
        ).fetchall()
    with read_only(write_memory_report(tmp_path / "3.1", small_program(), "3.1", style)) as connection:
        chunks = connection.execute(
            "SELECT operation_id, address, bank_id, core_x, core_y, chunk_address, chunk_size, num_pages "
            "FROM buffer_chunks ORDER BY 1, 2, 3"
        ).fetchall()
    assert pages == chunks
    assert len(chunks) == 49 * 9  # x, y | y, z (x freed) | y, z, gelu's | z, gelu's


def test_variants_of_a_generation_differ_where_captures_do(tmp_path):
    style = DatabaseStyle(tensor_sizes=True, text_buffer_types=True, stack_traces=False)
    with read_only(write_memory_report(tmp_path, small_program(), "G4", style)) as connection:
        assert connection.execute("SELECT size, buffer_type FROM tensors").fetchone() == (401_408, "L1")
        assert connection.execute("SELECT count(*) FROM stack_traces").fetchone() == (0,)


def test_a_host_tensor_is_null_in_the_old_writer_and_zero_in_the_importer(tmp_path):
    program = Program()
    host = program.tensor([1, 1, 32, 33], placement=None)
    program.call("ttnn.to_device", [host], [program.tensor([1, 1, 32, 33], placement=DRAM)])
    found = {}
    for generation in ("G1", "2"):
        with read_only(write_memory_report(tmp_path / generation, program, generation)) as connection:
            found[generation] = connection.execute(
                "SELECT shape, memory_config, address, buffer_type FROM tensors"
            ).fetchone()
    assert found["G1"] == ("ttnn.Shape([1, 1, 32, 33[64]])", None, None, None)
    assert found["2"] == ("Shape([1, 1, 32, 33])", None, None, 0)


def test_a_big_database_keeps_its_promises(tmp_path):
    big = write_big_database(tmp_path / "db.sqlite", operations=60, per_operation=5, live=50)
    with read_only(big.path) as connection:
        last = connection.execute(
            "SELECT count(*), sum(max_size_per_bank) FROM buffers WHERE operation_id = 60"
        ).fetchone()
        overlaps = connection.execute(
            "SELECT count(*) FROM buffers GROUP BY operation_id, address HAVING count(*) > 1"
        )
        assert overlaps.fetchall() == []
    assert last == (50, 50 * 16_384)
    assert big.peak_bytes_per_bank == 55 * 16_384 + 262_144
    assert big.peak_operation == 30


def test_the_generator_shares_no_code_with_what_it_tests():
    check = "import sys, tests.profiles.demo, tests.profiles.big, tests.profiles.foreign; sys.exit('ttnn_mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0


def test_a_run_lies_where_tt_metal_writes_it(tmp_path):
    run = write_run(tmp_path, small_program())
    assert run.performance.parent.parent == tmp_path / "generated" / "profiler" / "reports"
    assert run.memory.parent.parent == tmp_path / "generated" / "ttnn" / "reports"
    assert (
        (run.performance.parent / "profile_log_device.csv")
        .read_text()
        .startswith("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000")
    )


def test_rounded_sizes_are_those_of_the_writers():
    tensor = Program().tensor([1, 1, 576, 64], "BFLOAT8_B")
    assert tensor.bank_bytes(12) == 3 * 1088  # 36 tiles over 12 banks

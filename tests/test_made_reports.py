"""The made reports themselves: like the real ones, true to their own arithmetic, and the demo as it is written now."""

import csv
import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from math import ceil, prod
from pathlib import Path

import pytest

from tests.made import (
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
from tests.made.big import write_big_database
from tests.made.demo import FOLDER, planted_lines, write_demo
from tests.made.demo_model import demo_program

ROOT = Path(__file__).parents[1]
REAL = ROOT / "../shared/data"
DEMO_CSV = next((FOLDER / "performance").rglob("ops_perf_results_*.csv"), FOLDER)
PHASES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}
TILE_BYTES = {"BFLOAT16": 2048, "BFLOAT8_B": 1088}


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
        frees=[x], circular_buffers=[CircularBuffer(65_536), CircularBuffer(8_192, shared=y)],
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
        for before, row in zip(own, own[1:], strict=False):
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


@pytest.mark.parametrize("generation", CSV_GENERATIONS)
def test_every_generation_reads_back_with_any_style(tmp_path, generation):
    style = CsvStyle("\n", quoting="all", float_numbers=True, blank="-")
    passes = [Iteration(signposts=("start", "stop"), host_rows=["(torch) contiguous"])]
    path = write_performance_report(tmp_path, small_program(), passes, generation=generation, style=style)
    assert b"\r" not in path.read_bytes()
    rows = csv_rows(path)
    assert [row["OP TYPE"] for row in rows] == ["signpost", "python_fallback", *["tt_dnn_device"] * 3, "signpost"]
    assert rows[2]["DEVICE KERNEL DURATION [ns]"] == "5000.0"
    assert rows[0]["CORE COUNT"] == "-"


def test_the_true_peak_counts_circular_buffers_and_skips_shared_ones():
    replay = Replay(small_program())
    peak = replay.l1_peak()
    assert peak.op.op_code == "MatmulDeviceOperation"
    assert peak.tensors_bytes == 3 * 8_192  # x, y and z: 2 x 2 tiles of 2048 bytes each
    assert peak.circular_buffers_bytes == 65_536
    top = 1_499_136 - 24_576
    assert [replay.addresses[t] for t in replay.program.tensors[:4:2]] == [top - 8_192, top - 2 * 8_192]
    (late,) = replay.late_frees()  # y: read by the matmul, alive during gelu; x goes with its last reader
    assert (late[0].id, late[1].name, late[2].id) == (3, "ttnn.linear", 4)


def replayed(path):
    """{(type, address): bytes per bank} live after each operation, from the graph alone."""
    live, after = {}, {}
    with read_only(path) as connection:
        graphs = connection.execute("SELECT operation_id, captured_graph FROM captured_graph ORDER BY 1").fetchall()
    for operation, text in graphs:
        for node in json.loads(text):
            params = node["params"]
            key = (params.get("type"), params.get("address"))
            if node["node_type"] == "buffer_allocate":
                live[key] = int(params["max_size_per_bank"])
            elif node["node_type"] == "buffer_deallocate":
                del live[key]
        after[operation] = dict(live)
    return after


def snapshots(path):
    """The same from the `buffers` table, weights left out: no graph allocates them."""
    with read_only(path) as connection:
        rows = connection.execute(
            "SELECT operation_id, address, max_size_per_bank, buffer_type FROM buffers WHERE buffer_type = 1 OR "
            "address NOT IN (SELECT address FROM tensors LEFT JOIN output_tensors USING (tensor_id) "
            "WHERE operation_id IS NULL AND buffer_type = 0 AND address NOT NULL)"
        ).fetchall()
    found = {}
    for operation, address, size, buffer in rows:
        found.setdefault(operation, {})["DRAM" if buffer == 0 else "L1", str(address)] = size
    return found


def test_the_demo_s_graph_and_its_buffer_snapshots_tell_the_same_story():
    path = FOLDER / "memory" / "db.sqlite"
    assert snapshots(path) == {operation: live for operation, live in replayed(path).items() if live}


def test_ids_restart_for_every_rank(tmp_path):
    path = write_memory_report(tmp_path, small_program(), "3.3", other_ranks=[small_program()])
    with read_only(path) as connection:
        rows = connection.execute("SELECT rank, min(operation_id), max(operation_id) FROM operations GROUP BY rank")
        assert rows.fetchall() == [(0, 1, 4), (1, 1, 4)]
        assert connection.execute("SELECT value FROM report_metadata WHERE key = 'rank'").fetchone() == ("1",)


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
    check = "import sys, tests.made.demo, tests.made.big, tests.made.foreign; sys.exit('ttnn_mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0


# The bundled demo


def dump(path):
    with read_only(path) as connection:
        return list(connection.iterdump())


def test_the_bundled_demo_is_what_the_generator_writes_now(tmp_path):
    made = write_demo(tmp_path / "demo")
    files = {p.relative_to(made) for p in made.rglob("*") if p.is_file()}
    assert files == {p.relative_to(FOLDER) for p in FOLDER.rglob("*") if p.is_file()}, (
        "run python -m tests.made.demo"
    )
    for name in files:
        ours, theirs = made / name, FOLDER / name
        if name.suffix == ".sqlite":
            assert dump(ours) == dump(theirs), "run python -m tests.made.demo"
        else:
            assert ours.read_bytes() == theirs.read_bytes(), "run python -m tests.made.demo"


def test_the_demo_is_small_enough_to_travel():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 400_000
    assert (FOLDER / "memory" / "db.sqlite").stat().st_size <= 200_000


def test_the_demo_links_name_by_name():
    with read_only(FOLDER / "memory" / "db.sqlite") as connection:
        graphs = connection.execute("SELECT captured_graph FROM captured_graph ORDER BY operation_id").fetchall()
    nodes = [node for (text,) in graphs for node in json.loads(text) if node["node_type"] == "function_start"]
    names = [
        n["params"]["name"] for n in nodes if "::" not in n["params"]["name"] and "ttnn." not in n["params"]["name"]
    ]
    codes = [row["OP CODE"] for row in csv_rows(DEMO_CSV)]
    assert codes == names + names


def operand(row, name):
    """(padded shape, logical shape, bytes, in DRAM) of an operand, from its cells."""
    cells = [re.fullmatch(r"(\d+)\[(\d+)]", row[f"{name}_{axis}_PAD[LOGICAL]"]).groups() for axis in "WZYX"]
    padded, logical = ([int(pair[n]) for pair in cells] for n in (0, 1))
    tile = row[f"{name}_LAYOUT"] == "TILE"
    size = prod(padded) // 1024 * TILE_BYTES[row[f"{name}_DATATYPE"]] if tile else prod(padded) * 2
    return padded, logical, size, "_DRAM_" in row[f"{name}_MEMORY"]


def flops_of(row):
    if row["OP CODE"] == "MatmulDeviceOperation":
        (m, k), n = operand(row, "INPUT_0")[1][2:], operand(row, "INPUT_1")[1][3]
        return 2 * m * k * n
    if row["OP CODE"] == "Conv2dDeviceOperation":
        taps = prod(int(n) for n in re.search(r"window_hw=\((\d+);(\d+)\)", row["ATTRIBUTES"]).groups())
        channels = int(re.search(r"'input_tensor_shape': '\{\d+; \d+; \d+; (\d+)\}'", row["ATTRIBUTES"]).group(1))
        rows, outputs = operand(row, "OUTPUT_0")[1][2:]
        return 2 * rows * outputs * channels * taps
    return 0


def test_no_op_of_the_demo_is_faster_than_the_hardware():
    for row in csv_rows(DEMO_CSV):
        kernel_ns = int(row["DEVICE KERNEL DURATION [ns]"])
        operands = [
            operand(row, name) for name in ("INPUT_0", "INPUT_1", "INPUT_2", "OUTPUT_0") if row[f"{name}_MEMORY"]
        ]
        dram_ns = sum(size for _, _, size, in_dram in operands if in_dram) / 288  # GB/s of an n150
        per_cycle = 4096 / PHASES[row["MATH FIDELITY"] or "LoFi"]
        compute_ns = flops_of(row) / (int(row["CORE COUNT"]) * per_cycle)
        assert kernel_ns >= 1.05 * max(dram_ns, compute_ns), row["OP CODE"]
        assert kernel_ns >= 2_000


def test_the_demo_s_warm_iteration_waits_for_the_host():
    warm = csv_rows(DEMO_CSV)[40:]
    kernel = sum(int(row["DEVICE KERNEL DURATION [ns]"]) for row in warm)
    gaps = sum(int(row["OP TO OP LATENCY [ns]"]) for row in warm[1:])
    assert 0.55 < kernel / (kernel + gaps) < 0.6
    cold = [int(row["OP TO OP LATENCY [ns]"]) for row in csv_rows(DEMO_CSV)[1:40]]
    assert sum(gap > 20_000_000 for gap in cold) >= 20


def test_the_demo_s_faults_are_planted_where_its_readme_says():
    rows, program = csv_rows(DEMO_CSV), demo_program()
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    planted = {entry.fault: [rows[line - 2] for line in lines] for entry, lines, _ in planted_lines(program)}
    assert all(f"| {fault} |" in readme for fault in planted)

    def one(words):
        return next(found for fault, found in planted.items() if words in fault)

    (linear,) = one("DRAM-bound")
    assert (linear["INPUT_1_DATATYPE"], linear["MATH FIDELITY"]) == ("BFLOAT16", "HiFi4")
    assert {(r["INPUT_1_DATATYPE"], r["MATH FIDELITY"]) for r in one("every convolution")} == {
        ("BFLOAT16", "HiFi4")
    }
    assert one("3 channels")[0]["OUTPUT_0_X_PAD[LOGICAL]"] == "32[3]"
    untilized, tilized = one("untilized")
    assert untilized["INPUT_0_Y_PAD[LOGICAL]"] == tilized["OUTPUT_0_Y_PAD[LOGICAL]"]
    left, back = one("back to the same")
    assert left["INPUT_0_MEMORY"] == back["OUTPUT_0_MEMORY"] == "DEV_0_L1_HEIGHT_SHARDED"
    assert left["OUTPUT_0_MEMORY"] == back["INPUT_0_MEMORY"] == "DEV_0_DRAM_INTERLEAVED"
    (trap,) = one("without a program config")
    assert (trap["CORE COUNT"], trap["INPUT_0_MEMORY"]) == ("12", "DEV_0_L1_INTERLEAVED")
    assert "'program_config': 'std::nullopt'" in trap["ATTRIBUTES"]
    assert [r["CORE COUNT"] for r in one("1 core")] == ["1"]
    for row in one("act_block_h"):
        block = int(re.search(r"act_block_h_ntiles=(\d+)", row["ATTRIBUTES"]).group(1))
        assert block < int(re.search(r"per_core_out_matrix_height_ntile=(\d+)", row["ATTRIBUTES"]).group(1))
        assert "'enable_act_double_buffer': 'false'" in row["ATTRIBUTES"]
    assert {"RELU" in r["ATTRIBUTES"] for r in one("RELU")} == {True}
    assert {rows[rows.index(r) - 1]["OP CODE"] for r in one("Move after")} == {"HaloDeviceOperation"}


def test_the_demo_frees_two_tensors_late_and_fills_l1_with_circular_buffers():
    replay = Replay(demo_program())
    assert [(tensor.id, used.id, freed.id) for tensor, used, freed in replay.late_frees()] == [
        (28, 11, 27),
        (39, 22, 29),
    ]
    peak = replay.l1_peak()
    weights, activations, bias = 8 * 18 * 2048 * 3, 2 * 18 * 2048 * 1, 8 * 2048
    assert peak.circular_buffers_bytes == weights + activations + bias
    halo, out, late = 3 * 66 * 192 * 2, 64 * 256 * 2, 32_768 + 16_384
    assert peak.tensors_bytes == halo + out + late
    assert 0.8 < peak.bytes_per_bank / replay.l1_bank_bytes < 0.9


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
    assert tensor.bank_bytes(12) == ceil(36 / 12) * 1088

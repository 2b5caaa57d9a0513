"""The bundled demo run: as it is written now, possible on the hardware, and at fault where its README says."""

import csv
import json
import re
import sqlite3
from contextlib import closing
from math import prod

from tests.profiles import Replay
from tests.profiles.demo import FOLDER, planted_lines, write_demo
from tests.profiles.demo_model import demo_program

DEMO_CSV = next((FOLDER / "performance").rglob("ops_perf_results_*.csv"), FOLDER)
PHASES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}
TILE_BYTES = {"BFLOAT16": 2048, "BFLOAT8_B": 1088}


def read_only(path):
    return closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True))


def csv_rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def dump(path):
    with read_only(path) as connection:
        return list(connection.iterdump())


def test_the_bundled_demo_is_what_the_generator_writes_now(tmp_path):
    made = write_demo(tmp_path / "demo")
    files = {p.relative_to(made) for p in made.rglob("*") if p.is_file()}
    assert files == {p.relative_to(FOLDER) for p in FOLDER.rglob("*") if p.is_file()}, (
        "run python -m tests.profiles.demo"
    )
    for name in files:
        ours, theirs = made / name, FOLDER / name
        if name.suffix == ".sqlite":
            assert dump(ours) == dump(theirs), "run python -m tests.profiles.demo"
        else:
            assert ours.read_bytes() == theirs.read_bytes(), "run python -m tests.profiles.demo"


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

"""The bundled demo run: its made report is as written now, possible on the hardware, and matches what TTNN ran."""

import csv
import json
import re
import sqlite3
import zlib
from contextlib import closing
from math import prod

from tests.profiles.demo import FIGURES, FOLDER, planted_lines, write_demo
from tests.profiles.demo_model import demo_program

DEMO_CSV = next((FOLDER / "performance").rglob("ops_perf_results_*.csv"), FOLDER)
PHASES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}
COMPUTES = {"Conv2dDeviceOperation", "MatmulDeviceOperation", "ReduceDeviceOperation", "LayerNormDeviceOperation"}
TILE_BYTES = {"BFLOAT16": 2048, "BFLOAT8_B": 1088}


def read_only(path):
    return closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True))


def csv_rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_made_half_of_the_demo_is_what_the_generator_writes_now(tmp_path):
    made = write_demo(tmp_path / "demo")
    files = {p.relative_to(made) for p in made.rglob("*") if p.is_file()}
    real = {"model.py", "memory/db.sqlite", "memory/config.json", "memory/cluster_descriptor.yaml"}
    kept = {str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert {str(name) for name in files} | real == kept, "run python -m tests.profiles.demo"
    for name in files:
        assert (made / name).read_bytes() == (FOLDER / name).read_bytes(), "run python -m tests.profiles.demo"


def test_the_demo_is_small_enough_to_travel():
    assert len(zlib.compress((FOLDER / "memory" / "db.sqlite").read_bytes(), 6)) < 100_000
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 1_200_000


def device_ops():
    """(start node, output tensor nodes) of each device op of the memory report, in order."""
    with read_only(FOLDER / "memory" / "db.sqlite") as connection:
        graphs = connection.execute("SELECT captured_graph FROM captured_graph ORDER BY operation_id").fetchall()
    for (text,) in graphs:
        nodes, open_ops = json.loads(text), []
        at = {node["counter"]: node for node in nodes}
        for node in nodes:
            if node["node_type"] == "function_start":
                open_ops.append(node)
            elif node["node_type"] == "function_end":
                start = open_ops.pop()
                if "program_factory_type" in start["params"]:
                    outputs = [at[to] for to in node["connections"] if at[to]["node_type"] == "tensor"]
                    yield start, outputs


def test_the_memory_report_is_ttnn_s_own():
    with read_only(FOLDER / "memory" / "db.sqlite") as connection:
        metadata = dict(connection.execute("SELECT key, value FROM report_metadata"))
        sources = dict(connection.execute("SELECT path, contents FROM source_files"))
        traces = [trace for (trace,) in connection.execute("SELECT stack_trace FROM stack_traces")]
    assert (metadata["version"], metadata["schema_version"]) == ("0.81.1", "3.5")
    assert sources == {"/home/user/demo/model.py": (FOLDER / "model.py").read_text("utf-8")}
    folders = {folder for trace in traces for folder in re.findall(r'File "(/\w+(?:/\w+)?)', trace)}
    assert folders == {"/home/user", "/usr/lib"}


def test_each_made_row_is_of_the_program_that_ttnn_ran():
    rows, ops = csv_rows(DEMO_CSV), list(device_ops())
    names = [start["params"]["name"] for start, _ in ops]
    dry = json.loads(FIGURES.read_text("utf-8"))["device_ops"]  # where nothing is allocated, nothing has to move
    assert [op["name"] for op in dry] == [name for name in names if name != "MoveDeviceOperation"]
    cores = iter([op["cores"] for op in dry])
    assert len(ops) == 40
    for number, (start, outputs) in enumerate(ops):
        name = names[number]
        on = next(cores) if name != "MoveDeviceOperation" else 64
        for row in (rows[number], rows[40 + number]):
            assert (row["OP CODE"], int(row["CORE COUNT"])) == (name, on), number
            (tensor,) = outputs
            logical = operand(row, "OUTPUT_0")[1]
            assert str(logical) == tensor["params"]["shape"].removeprefix("Shape(").removesuffix(")"), name
            assert tensor["params"]["dtype"] == f"DataType::{row['OUTPUT_0_DATATYPE']}"
            assert tensor["params"]["layout"] == f"Layout::{row['OUTPUT_0_LAYOUT']}"
            memory = tensor["params"]["memory_config"]
            layout, buffer = (
                re.search(rf"{part}::(\w+)", memory).group(1) for part in ("MemoryLayout", "BufferType")
            )
            assert row["OUTPUT_0_MEMORY"] == f"DEV_0_{buffer}_{layout}"
            fidelity = re.search(r"math_fidelity=(\w+)", start["arguments"][0])
            if fidelity and name in COMPUTES:
                assert row["MATH FIDELITY"] == fidelity.group(1), name


def test_the_made_convolutions_have_the_blocks_that_ttnn_chose():
    real = [start["arguments"][0] for start, _ in device_ops() if start["params"]["name"].startswith("Conv2d")]
    made = [row["ATTRIBUTES"] for row in csv_rows(DEMO_CSV)[40:] if row["OP CODE"].startswith("Conv2d")]
    assert len(real) == len(made) == 5
    for told, row in zip(real, made, strict=True):
        block = re.search(r"Conv2dBlockConfig\(([\d, ]+)\)", told).group(1).split(", ")
        names = ("act_block_h_ntiles", "act_block_w_ntiles", "out_subblock_h_ntiles", "out_subblock_w_ntiles")
        assert [re.search(rf"{name}=(\d+)", row).group(1) for name in names] == block
        before = re.search(r"(\d+), std::nullopt\)$", told).group(1)
        assert f"'pre_op_l1_allocation_size_bytes': '{before}'" in row


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
    assert (trap["CORE COUNT"], trap["INPUT_0_MEMORY"]) == ("4", "DEV_0_L1_INTERLEAVED")
    assert "'program_config': 'std::nullopt'" in trap["ATTRIBUTES"]
    assert [r["CORE COUNT"] for r in one("1 core")] == ["1"]
    for row in one("act_block_h"):
        block = int(re.search(r"act_block_h_ntiles=(\d+)", row["ATTRIBUTES"]).group(1))
        assert block < int(re.search(r"per_core_out_matrix_height_ntile=(\d+)", row["ATTRIBUTES"]).group(1))
        assert "'enable_act_double_buffer': 'false'" in row["ATTRIBUTES"]
    assert {"RELU" in r["ATTRIBUTES"] for r in one("RELU")} == {True}
    assert {rows[rows.index(r) - 1]["OP CODE"] for r in one("Move after")} == {"HaloDeviceOperation"}

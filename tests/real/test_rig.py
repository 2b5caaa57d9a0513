"""What can be held of the rig without TTNN; `make real` runs the rest."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.for_all import for_all
from tests.real.rig import environment, names
from tests.real.rig.__main__ import _idle
from tests.real.rig.anew import in_order
from tests.real.rig.calls import calls
from tests.real.rig.compiler_stand_in import nothing
from tests.real.rig.coverage import IN_WORDS, gaps
from tests.real.rig.devices import first_line
from tests.real.rig.meaning import Ran, changes
from tests.real.rig.page_names import PAGES
from tests.real.rig.pages import blocks
from tests.real.rig.program_buffers import executed, fullest_core, programs
from tests.real.rig.replays import changed_fields
from tests.real.rig.report_rows import differences
from tests.real.rig.signatures import Asked
from ttnn_mcp.checks import CATALOGUE

SKILL = Path(__file__).parents[2] / "skills" / "optimizing-ttnn-models"


@for_all("page", sorted(SKILL.glob("*.md")), ids=lambda page: page.stem)
def test_every_python_block_of_a_page_gets_its_names(page):
    found = blocks(page)
    prepared = PAGES[page.name].before if found else ("after",)
    assert len(prepared) == len(found) + 1, f"say in page_names.py what {page.name} leaves to its reader"


def test_the_environment_is_pinned_with_hashes():
    text = environment.PINS.read_text("utf-8")
    pinned = re.findall(r"^[\w.-]+==\S+ \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE)
    assert len(pinned) == len(re.findall(r"==", text)) > 20
    assert "ttnn==0.81.1" in text


def test_without_an_interpreter_it_says_so_in_one_sentence(monkeypatch):
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match=r"^make real needs CPython 3\.10 or 3\.12[^.]*: install one of them$"):
        environment.interpreter()


def test_names_are_found_where_they_are_told():
    told = names.told()
    assert "skills/optimizing-ttnn-models/step-06-conv2d-optimization.md" in told["Conv2dL1FullSliceConfig"]
    assert "MathFidelity.HiFi2" in told
    assert names.NAME.findall("see ttnn.graph_report.x, not a/ttnn.y nor my.ttnn.z") == [".graph_report.x"]


def test_keywords_of_a_call_are_told_without_those_within_it():
    assert names.outermost_keywords('x, dim=3, config=ttnn.C(a=1, b=(2, 3)), other="=", layout=L') == [
        "dim", "config", "other", "layout",
    ]  # fmt: skip
    assert ("ttnn.conv2d", "slice_config") in names.keywords_told()


def test_the_outermost_calls_of_a_fix_are_cut_out():
    fix = (
        "x = ttnn.reshard(x, ttnn.MemoryConfig(a(1))); or ttnn.Conv2dConfig(b=2)  # ttnn.add (no call), ttnn.open("
    )
    assert calls(fix) == ["ttnn.reshard(x, ttnn.MemoryConfig(a(1)))", "ttnn.Conv2dConfig(b=2)"]


def test_levels_of_an_allocator_must_occur_in_order():
    ours = [(0, 8), (4, 8), (6, 8), (4, 8), (0, 0)]
    assert in_order([(0, 8), (6, 8), (6, 8), (0, 0)], ours)
    assert not in_order([(6, 8), (0, 8)], ours)
    assert not in_order([(5, 8)], ours)


def test_a_check_whose_fix_nobody_ran_is_told_in_a_sentence():
    every = {check.id for check in CATALOGUE}
    assert set(IN_WORDS) < every
    assert gaps(every - set(IN_WORDS), CATALOGUE) == []
    (forgotten,) = gaps(every - set(IN_WORDS) - {"wide-weights"}, CATALOGUE)
    assert forgotten.startswith("NOT COVERED wide-weights: no call of its fix ran")
    (stale,) = gaps(every - set(IN_WORDS) | {"duplicate-gather"}, CATALOGUE)
    assert stale.startswith("STALE duplicate-gather")


def execute(mesh_device, trace_id):
    r"""execute(mesh_device: Device, trace_id: Id, \*, cq_id: Optional[Id] = None, blocking: bool = True) -> None"""


def test_what_cannot_run_takes_the_names_of_its_signature_only():
    asked = Asked(execute)
    asked(1, 2, cq_id=0, blocking=False)
    with pytest.raises(TypeError):
        asked(1, 2, queue=0)
    with pytest.raises(TypeError):
        asked(1, 2, 0)


def test_a_kernel_that_does_nothing_is_an_executable_for_risc_v():
    elf = nothing()
    assert elf[:4] == b"\x7fELF"
    assert int.from_bytes(elf[18:20], "little") == 243  # EM_RISCV
    sections = int.from_bytes(elf[32:36], "little")
    assert len(elf) == sections + 40 * int.from_bytes(elf[48:50], "little")


def test_ttnns_own_words_come_without_their_backtrace():
    raised = RuntimeError("TT_FATAL @ file.cpp:1: a == b\ninfo:\nKt must be divisible\nbacktrace:\n --- frame")
    assert first_line(raised) == "RuntimeError: Kt must be divisible"


def node(kind, **params):
    return {"node_type": kind, "params": params}


def test_buffers_are_counted_on_the_fullest_core_of_the_last_program():
    graph = [
        node("function_start", name="MatmulDeviceOperation"),
        node("circular_buffer_allocate", size=900, core_range_set="{[0-0 - 0-0]}"),
        node("function_end"),
        node("function_start", name="MatmulDeviceOperation"),
        node("circular_buffer_allocate", size=10, core_range_set="{[0-0 - 1-0]}", globally_allocated="0"),
        node("dataflow_buffer_allocate", size="5", core_range_set="{[1-0 - 1-1]}"),
        node("circular_buffer_allocate", size=70, core_range_set="{[0-0 - 1-1]}", globally_allocated="1"),
        node("scratchpad_allocate", size=3, core_range_set="{[0-0 - 1-1]}"),
        node("function_end"),
        node("circular_buffer_allocate", size=700, core_range_set="{[0-0 - 0-0]}"),
    ]
    assert fullest_core(graph, "Matmul") == 18
    assert fullest_core(graph, "Conv2d") is None


def test_what_is_executed_is_told_without_addresses():
    def graph(address, cores):
        start = node("function_start", name="MatmulDeviceOperation", program_factory_type="Reuse")
        return [
            {**start, "arguments": [f"Tensor({address})"]},
            node("circular_buffer_allocate", size=9, core_range_set=cores),
            node("function_end"),
        ]

    told = executed(graph("0x55c3301611b0", "{[0-0 - 1-0]}"))
    assert told == executed(graph("0x7f", "{[0-0 - 1-0]}")) != executed(graph("0x7f", "{[0-0 - 2-0]}"))
    assert told[0][:2] == ("MatmulDeviceOperation", 2)


@for_all(
    ("check", "answer", "idle"),
    [
        ("some-check", {"same": ["ttnn.linear(x, w)"], "now": ["8"]}, True),
        ("some-check", {"same": ["ttnn.linear(x, w)"], "now": ["9"]}, False),  # not the op of the report
        ("some-check", {"same": ["ttnn.linear(x, w)"], "changed": ["ttnn.matmul(x, w)"]}, False),
        ("check_setting", {"same": ["ttnn.linear(x, w)"]}, False),
        ("low-core-count", {"cores": ["8"]}, True),
        ("low-core-count", {"cores": ["9"]}, False),
        ("some-check", {"cores": ["8"]}, False),
    ],
)
def test_a_fix_that_changes_nothing_is_told(check, answer, idle):
    job = {"check": check, "report": "r", "line": 7, "cores": 8}
    told = [*_idle(job, {"cores": [], "same": [], "changed": [], "now": [], **answer}, "n150")]
    assert [line.startswith(f"CHANGED NOTHING {check}, r line 7, on n150: ") for line in told] == [True] * idle


def test_two_captures_of_one_program_differ_in_times_and_pointers_only(tmp_path):
    def report(name, duration, size):
        path = tmp_path / name
        graph = json.dumps(
            [{"node_type": "buffer", "duration_ns": duration, "params": {"size": size, "at": "0x55c3301611b0"}}]
        )
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE operations (operation_id int, duration float)")
            connection.execute("CREATE TABLE captured_graph (operation_id int, captured_graph text)")
            connection.execute("INSERT INTO operations VALUES (1, ?)", (duration,))
            connection.execute("INSERT INTO captured_graph VALUES (1, ?)", (graph.replace("b0", str(duration)),))
            connection.commit()
        return path

    first = report("a", 10, 64)
    assert differences(first, report("b", 20, 64)) == []
    (line,) = differences(first, report("c", 10, 128))
    assert line.startswith("captured_graph: ")
    assert "128" in line


def test_each_program_of_a_dry_capture_is_told_with_its_cores_and_its_own_bytes():
    def start(name, **params):
        return {"node_type": "function_start", "params": {"name": name, **params}}

    def buffer(kind, size, cores, over):
        return {"node_type": kind, "params": {"size": size, "core_range_set": cores, "globally_allocated": over}}

    two, one = "{[(x=0,y=0) - (x=1,y=0)]}", "{[(x=0,y=0) - (x=0,y=0)]}"
    two, one = (text.replace("x=", "").replace(",y=", "-").replace("(", "").replace(")", "") for text in (two, one))
    graph = [
        start("ttnn.add"),
        start("A", program_factory_type="F"),
        buffer("circular_buffer_allocate", 64, two, 0),
        buffer("dataflow_buffer_allocate", 32, one, 0),
        buffer("circular_buffer_allocate", 4096, two, 1),
        start("B", program_factory_type="F"),
    ]
    assert list(programs(graph)) == [("A", 2, 96), ("B", 0, 0)]


def test_a_field_of_a_row_that_ttnn_captured_otherwise_is_found():
    row = "{'program_config': 'Config(in0_block_w=2;grid=(x=8;y=8);fuse_batch=true)'; 'dim': '-1'; 'is_causal': 'true'}"
    same = "Params(Config(grid=8-8, in0_block_w=2,fuse_batch=1), -1, 1)"
    assert changed_fields(row, same) == []
    assert changed_fields(row, same.replace("w=2", "w=4")) == ["in0_block_w: {'2'}, {'4'}"]
    assert changed_fields(row, same.replace("-1, 1", "-2, 1")) == ["dim: -1"]
    assert changed_fields(row.replace("DRAM", "L1"), "Params(Config(fuse_batch=0), -1, 1)") == [
        "fuse_batch: {'1'}, {'0'}"
    ]


KERNEL = "ComputeKernelConfig(math_fidelity=HiFi2,fp32_dest_acc_en=1)"


def product(*functions, shape="[32, 64]", turned="0", kernel=KERNEL, config="8", name="Matmul", other=()):
    results = [{"shape": shape, "dtype": "BFLOAT16", "placement": "DRAM INTERLEAVED"}]
    printed = f"MatmulParams(<variant>, {config}, MemoryConfig(a=1), {kernel}, 0, 0, 0, 0, 0, 0, {turned})"
    ops = [(f"{name}DeviceOperation", printed), *((f"{one}DeviceOperation", "()") for one in other)]
    configs = {"compute_kernel_config": ("K", {}), "program_config": ("P", {"fuse_batch": config})}
    return Ran(results, ops, functions, configs)


@for_all(
    ("then", "fix", "told"),
    [
        ({}, "", []),
        ({"shape": "[32, 32]"}, "", ["shape of the result: [32, 64], then [32, 32]"]),
        ({"functions": ()}, "", ["GELU(0) is lost"]),
        ({"functions": ("GELU(0)", "ADD")}, "", ["ADD is applied once more"]),
        ({"other": ["Unary"]}, "", ["Unary runs, too"]),
        ({"other": ["Reshard", "Transpose"]}, "", []),
        ({"turned": "1"}, "", ["argument 10 of Matmul: 0, then 1"]),
        ({"turned": "1"}, "w stored as [K, N] (no transpose_b)", []),
        ({"kernel": KERNEL.replace("HiFi2", "LoFi")}, "", ["math_fidelity: HiFi2, then LoFi"]),
        ({"kernel": KERNEL.replace("HiFi2", "LoFi")}, "math_fidelity=ttnn.MathFidelity.LoFi", []),
        ({"config": "4"}, "", ["fuse_batch of program_config: 8, then 4"]),
        ({"config": "4"}, "Config(fuse_batch=False)", []),
        ({"name": "MinimalMatmul", "turned": "1"}, "", []),
        ({"name": "MinimalMatmul", "kernel": "ComputeKernelConfig(math_fidelity=LoFi)"}, "", ["math_fidelity: HiFi2, then LoFi"]),
    ],
)  # fmt: skip
def test_what_a_fix_changes_without_saying_so_is_told(then, fix, told):
    functions = then.get("functions", ("GELU(0)",))
    how = {name: value for name, value in then.items() if name != "functions"}
    assert list(changes(product("GELU(0)"), [], product(*functions, **how), fix)) == told


@for_all(
    ("beside", "fix", "told"),
    [
        ("BFLOAT16", "", []),
        ("BFLOAT8_B", "", ["dtype of the result: BFLOAT8_B, then BFLOAT16"]),
        ("BFLOAT8_B", "dtype=ttnn.bfloat8_b", []),
    ],
)
def test_an_op_in_the_place_of_two_writes_what_the_second_wrote(beside, fix, told):
    """The function of the second is in the first then, and no op of its own."""
    second = Ran([{"shape": "[32, 64]", "dtype": beside}], [("UnaryDeviceOperation", "()")], ["RELU"])
    then = Ran([{"shape": "[32, 64]", "dtype": "BFLOAT16"}], product().ops, ["RELU"])
    assert list(changes(product(), [second], then, fix)) == told

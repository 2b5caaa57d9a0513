"""Write the made half of the bundled demo run: `python -m tests.profiles.demo`. The same bytes every time.

The performance report and the README are made. The memory report is real: tests.real.rig.demo.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .demo_model import demo_program
from .performance_csv import write_performance_report

if TYPE_CHECKING:
    from .model import DeviceOp
    from .program import Program

FOLDER = Path(__file__).parents[2] / "resources" / "demo"
MODEL = FOLDER / "model.py"
FIGURES = Path(__file__).parents[1] / "real" / "demo_figures.json"  # TTNN's own, of the pass that it captured


FULLEST = "m_conv = ttnn.conv2d("
LATE = ("ttnn.deallocate(y)  # last read long ago", "ttnn.deallocate(b)  # last read before m")


@dataclass(frozen=True)
class Planted:
    """A fault: the step of the skill that looks for it, and the ops that show it as (op code, text of the call)."""

    step: int
    fault: str
    ops: tuple[tuple[str, str], ...] = ()


PLANTED = (
    Planted(1, "bfloat16 weights at HiFi4 in a DRAM-bound linear", (("Matmul", 'w["expand"]'),)),
    Planted(1, "bfloat16 weights at HiFi4, conv2d's default, in every convolution", (("Conv2d", "conv2d"),)),
    Planted(2, "3 channels tilized to 32 for two element-wise ops", (
        ("TilizeWithValPadding", "to_layout(x"), ("BinaryNg", "subtract"), ("BinaryNg", "multiply"),
        ("UntilizeWithUnpadding", "x = ttnn.to_layout(t"),
    )),
    Planted(2, "untilized and tilized again with nothing between", (("UntilizeCodegen", "shown = "), ("Tilize", "u = "))),
    Planted(3, "HEIGHT_SHARDED to DRAM and back to the same shards", (
        ("ShardedToInterleaved", "spilled = "), ("InterleavedToSharded", "z = "),
    )),
    Planted(3, "matmul on interleaved L1 without a program config: 4 of 64 cores", (("Matmul", "v = "),)),
    Planted(3, "layer_norm of one row of tiles: 1 core", (("LayerNorm", "layer_norm"),)),
    Planted(4, "static shapes, no trace, the device idle about 0.42 of the warm iteration under the profiler"),
    Planted(5, "nothing: a report cannot show it. The input's upload is the first operation of the memory report"),
    Planted(6, "act_block_h of 1 tile where a core has more, activations not double buffered", (
        ("Conv2d", "y_conv = "), ("Conv2d", "a_conv = "), ("Conv2d", "b_conv = "), ("Conv2d", "m_conv = "),
    )),
    Planted(6, "RELU as an op of its own after a convolution", (("Unary", "relu("),)),
    Planted(6, "Move after Halo", (("Move", "conv2d"),)),
    Planted(7, "nothing: one device"),
)  # fmt: skip


def model_line(code: str) -> int:
    """The line of the model that holds this call."""
    lines = [
        number for number, line in enumerate(MODEL.read_text("utf-8").splitlines(), 1) if line == f"    {code}"
    ]
    (line,) = lines
    return line


def _ops_of(program: Program, planted: Planted) -> list[DeviceOp]:
    found: list[DeviceOp] = []
    for op_code, text in planted.ops:
        matches = [
            op
            for call in program.calls
            for op in call.ops
            if op.op_code == f"{op_code}DeviceOperation" and text in call.code
        ]
        if not matches:
            raise ValueError(f"nothing planted as {op_code} in {text}")
        found += matches
    return found


def planted_lines(program: Program) -> list[tuple[Planted, list[int], list[int]]]:
    """Each fault with its lines in the CSV's warm iteration (header = 1) and in the model."""
    ops = program.device_ops
    line_of = {op: model_line(call.code) for call in program.calls for op in call.ops}
    rows: list[tuple[Planted, list[int], list[int]]] = []
    for planted in PLANTED:
        found = _ops_of(program, planted)
        warm = [2 + len(ops) + ops.index(op) for op in found]
        rows.append((planted, warm, sorted({line_of[op] for op in found})))
    return rows


def readme(program: Program) -> str:
    figures, count = json.loads(FIGURES.read_text("utf-8")), len(program.device_ops)
    kernel_ns = sum(op.kernel_ns for op in program.device_ops if isinstance(op.kernel_ns, int))
    table = [
        f"| {p.step} | {p.fault} | {', '.join(map(str, warm)) or '-'} | {', '.join(map(str, lines)) or '-'} |"
        for p, warm, lines in planted_lines(program)
    ]
    return "\n".join(
        [
            "# The demo run",
            "",
            "A small CNN on one Wormhole n150 (64 worker cores, 1.0 GHz), with intended faults, so that every step of the",
            "skill finds something real.",
            "",
            f"**The memory report is real.** TTNN {figures['ttnn']} wrote it (schema 3.5) while it ran `resources/demo/model.py` on one of",
            "its mock devices: host code, allocators and programs are the real ones, kernels never run. `make real` captures",
            "it again and compares. Only the folders in its stack traces have other names, and no page of a buffer was traced,",
            "to keep it small. Its host times are those of a mock device.",
            "",
            "**The performance report is made**, because a mock device has no clock: `python -m tests.profiles.demo` writes it.",
            "Its ops, shapes, placements, core counts and fidelities are those of the real programs. Its times are possible",
            "(no op is faster than an n150 can be) but not measured.",
            "",
            f"{count} device ops per iteration, {kernel_ns / 1e6:.3f} ms of kernels; a cold iteration that compiles (CSV lines 2 to",
            f"{count + 1}) and a warm one (lines {count + 2} to {2 * count + 1}). The memory report is of one pass and links to both.",
            "",
            "| step | planted | CSV lines, warm iteration | model lines |",
            "|---|---|---|---|",
            *table,
            "",
            f"Memory: TTNN's own peak of this pass is {figures['l1_peak_bytes_per_core']:,} bytes per core, in the convolution of",
            f"line {model_line(FULLEST)}. Two tensors are freed late: `y` (line {model_line(LATE[0])}) and `b` (line {model_line(LATE[1])}).",
            "",
        ]
    )  # fmt: skip


def write_demo(folder: Path = FOLDER) -> Path:
    program = demo_program()
    write_performance_report(folder / "performance", program)
    (folder / "README.md").write_text(readme(program), encoding="utf-8")
    return folder


if __name__ == "__main__":
    write_demo()

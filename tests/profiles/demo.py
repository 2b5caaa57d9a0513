"""Write the bundled demo run to resources/demo: `python -m tests.profiles.demo`. The same bytes every time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .demo_model import demo_program
from .memory_database import write_memory_report
from .memory_rows import DatabaseStyle
from .performance_csv import write_performance_report
from .replay import Replay

if TYPE_CHECKING:
    from .model import DeviceOp
    from .program import Program

FOLDER = Path(__file__).parents[2] / "resources" / "demo"
# Chunks of the fullest operation only, and a graph without what no reader needs: the demo travels with the package.
STYLE = DatabaseStyle(graph="lean", detailed=(24,), page_bytes=512)


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
    Planted(2, "untilized and tilized again with nothing between", (("Untilize", "shown = "), ("Tilize", "u = "))),
    Planted(3, "HEIGHT_SHARDED to DRAM and back to the same shards", (
        ("ShardedToInterleaved", "spilled = "), ("InterleavedToSharded", "z = "),
    )),
    Planted(3, "matmul on interleaved L1 without a program config: 12 of 64 cores", (("Matmul", "v = "),)),
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
    line_of = {op: call.line for call in program.calls for op in call.ops}
    rows: list[tuple[Planted, list[int], list[int]]] = []
    for planted in PLANTED:
        found = _ops_of(program, planted)
        warm = [2 + len(ops) + ops.index(op) for op in found]
        rows.append((planted, warm, sorted({line_of[op] for op in found})))
    return rows


def readme(program: Program) -> str:
    replay, count = Replay(program), len(program.device_ops)
    peak, kernel_ns = (
        replay.l1_peak(),
        sum(op.kernel_ns for op in program.device_ops if isinstance(op.kernel_ns, int)),
    )
    table = [
        f"| {p.step} | {p.fault} | {', '.join(map(str, warm)) or '-'} | {', '.join(map(str, lines)) or '-'} |"
        for p, warm, lines in planted_lines(program)
    ]
    late = [
        f"* tensor {tensor.id} (`{used.code.split(' = ')[-1]}`, line {used.line}, reads it last) is freed at line "
        f"{freed.line if freed else '-'} and holds {replay.bank_bytes(tensor):,} bytes per bank until then"
        for tensor, used, freed in replay.late_frees()
    ]
    return "\n".join(
        [
            "# The demo run",
            "",
            "**A made sample, not a profile of real hardware.** `python -m tests.profiles.demo` writes it, with faults on",
            "purpose, so that every step of the skill has something true to say. Its times are possible (no op is faster",
            "than a Wormhole n150 at best) but nobody measured them.",
            "",
            f"A small CNN on one Wormhole n150 (64 worker cores, 1.0 GHz): {count} device ops per iteration,",
            f"{kernel_ns / 1e6:.3f} ms of kernels; a cold iteration that compiles (CSV lines 2 to {count + 1}) and a warm one",
            f"(lines {count + 2} to {2 * count + 1}). The memory report (schema 3.3) is of one iteration and links to both.",
            "",
            "| step | planted | CSV lines, warm iteration | model lines |",
            "|---|---|---|---|",
            *table,
            "",
            f"Memory: the fullest moment is `{peak.op.op_code}` of line {peak.call.line} (operation {peak.call.id}):",
            f"{peak.bytes_per_bank:,} of {replay.l1_bank_bytes:,} bytes per L1 bank, {peak.circular_buffers_bytes:,} of them",
            f"circular buffers and {peak.tensors_bytes:,} tensors. Two tensors are freed late:",
            "",
            *late,
            "",
            "The model's text is in the database's `source_files`; the line numbers are of that text.",
            "",
        ]
    )  # fmt: skip


def write_demo(folder: Path = FOLDER) -> Path:
    program = demo_program()
    write_performance_report(folder / "performance", program)
    write_memory_report(folder / "memory", program, "3.3", STYLE, name="made_sample")
    (folder / "README.md").write_text(readme(program), encoding="utf-8")
    return folder


if __name__ == "__main__":
    write_demo()

"""The CSV of tt-perf-report 1.4.1: its columns in its order. Advice is ours, by the findings that cite the op."""

from __future__ import annotations

import csv
import re
from io import StringIO
from typing import TYPE_CHECKING

from ttnn_mcp.run.ops.op_names import family
from ttnn_mcp.shell.perf_report.lines import SHARDED, Cells, PerfLine, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttnn_mcp.run.performance import Performance

COLUMNS = (
    *("ID", "Total %", "Bound", "OP Code", "Device", "Device Time", "Op-to-Op Gap", "Cores", "DRAM", "DRAM %"),
    *("FLOPs", "FLOPs %", "Math Fidelity", "Output Datatype", "Input 0 Datatype", "Input 1 Datatype"),
    *("DRAM Sharded", "Input 0 Memory", "Inner Dim Block Size", "Output Subblock H", "Output Subblock W"),
    *("Global Call Count", "Sub Device ID", "Available Cores", "Op Category", "Bound Analysis", "Advice"),
)
NOTHING = "nan"  # how it writes a text that is missing
SHORT = {"BFLOAT16": "BF16", "BFLOAT8_B": "BFP8", "BFLOAT4_B": "BFP4", "FLOAT32": "FP32"}
CATEGORIES = {"layout": "TM", "shape": "TM", "movement": "DM", "collective": "CCL", "other": "Other"}
OTHERS = re.compile(
    r"SDPA|ScaledDotProductAttention|UpdateKVCache|Paged\w*Cache"
)  # neither of its lists names them
BLOCKS = ("in0_block_w", "out_subblock_h", "out_subblock_w")


def perf_report_csv(report: Performance, advice: Mapping[int, str], *, signposts: bool = True) -> str:
    """The table with its devices merged.

    Args:
        report: the performance report.
        advice: by line of the CSV.
        signposts: whether only what is behind the last signpost is shown.
    """
    paper = StringIO()
    writer = csv.writer(paper, lineterminator="\n")
    writer.writerow(COLUMNS)
    cells = Cells(report.rows)
    for line in table_of(report, signposts=signposts, merge=True):
        writer.writerow(_row(cells, line, advice.get(line.id, "")))
    return paper.getvalue()


def _row(cells: Cells, line: PerfLine, advice: str) -> list[object]:
    rows, row = cells.rows, line.row
    output, first, second = (
        operands[place].dtype[row] if len(operands) > place else ""
        for operands, place in ((rows.outputs, 0), (rows.inputs, 0), (rows.inputs, 1))
    )
    full = line.dram is not None and line.flops is not None
    analysis = "full" if full else "flops_only" if line.flops is not None else "dram_only" if line.dram else "none"
    attributes = "" if line.is_signpost else rows.texts("attributes")[row]
    blocks = [block[1] if (block := re.search(rf"{name}=(\d+)", attributes)) else "" for name in BLOCKS]
    return [
        *(line.id, line.share, line.bound, _name(line), line.device, line.time, line.gap, line.cores),
        *(line.dram, line.dram_percent, line.flops, line.flops_percent),
        _fidelity(rows.texts("fidelity")[row], output, first, second, line),
        *(output or NOTHING, first or NOTHING, second or NOTHING, SHARDED in attributes, line.memory),
        *blocks,
        cells.whole("call_count", row),
        rows.texts("sub_device")[row],
        cells.worker_cores,
        "" if line.is_signpost else _category(line.name),
        *(analysis, advice),
    ]


def _name(line: PerfLine) -> str:
    """'Matmul 32 x 1280 x 1280', of several products 'Matmul b={20} x 32 x 64 x 32'."""
    *batches, m, k, n = line.sizes or (1, 0, 0, 0)
    many = f" b={{{batches[0]}}} x" if batches and batches[0] > 1 else ""
    return f"{line.name}{many} {m} x {k} x {n}" if line.sizes else line.name


def _fidelity(fidelity: str, output: str, first: str, second: str, line: PerfLine) -> str:
    """'HiFi4 BF16 x BF16 => BF16' of a product, 'BF16, BF16 => BF16' of another op."""
    if not (output and first):
        return ""
    short = [SHORT.get(dtype, dtype) for dtype in (first, second) if dtype]
    if line.flops is None:
        return f"{', '.join(short)} => {SHORT.get(output, output)}"
    return f"{fidelity} {' x '.join(short)} => {SHORT.get(output, output)}"


def _category(name: str) -> str:
    return "Other" if OTHERS.search(name) else CATEGORIES.get(family(name), "Compute")

"""What tt-perf-report 1.4.1 computes, restated over our op table: the same columns, by its model and not by ours.

Its model in short: padded shapes, one architecture per file (Wormhole where none is named), whole bytes per element by
the digits in the data type's name, three operands of matmuls for DRAM, the cores an op used for the peak.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import numpy as np

from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.performance import Performance

CARDS: dict[
    str, tuple[int, int, float, tuple[float, ...]]
] = {  # worker cores, cores of a DRAM-sharded matmul, DRAM GB/s, TFLOP/s per core at HiFi4, HiFi3, HiFi2, LoFi
    "wormhole": (64, 12, 288, (74 / 72, 74 / 72 * 4 / 3, 148 / 72, 262 / 72)),
    "blackhole": (110, 8, 512, tuple(4096 * 1.35 / 1000 / n for n in (4, 3, 2, 1))),
}
FIDELITIES: tuple[str, ...] = ("HiFi4", "HiFi3", "HiFi2", "LoFi")
SHARDED = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"
MEAN_OVER_DEVICES = ("AllGather", "ReduceScatter", "AllReduce")
CONVS = ("OptimizedConvNew", "Conv2d")
HOST = "(torch)"  # in the name of an op that fell back to the host
HEIGHTS = ("per_core_out_matrix_height_ntile", "act_block_h_ntiles")
FLAGS = {"enable_act_double_buffer": "ADB", "enable_split_reader": "SR"}
WINDOW = {"w": "window_hw", "s": "stride_hw", "p": "padding", "d": "dilation_hw"}
BOUND_FROM = 65  # percent
SIGNPOST = " (signpost)"


@dataclass(frozen=True, slots=True)
class PerfLine:
    """One line of its table. Times in us, rates in GB/s and TFLOP/s, None for a blank.

    Attributes:
        row: the op among the rows of the report.
        size: what stands behind its name: sizes of a product, settings of a convolution or a halo.
    """

    row: int
    id: int
    name: str
    device: int | None
    time: float | None = None
    gap: float | None = None
    cores: int | None = None
    dram: float | None = None
    dram_percent: float | None = None
    flops: float | None = None
    flops_percent: float | None = None
    bound: str = ""
    memory: str = ""
    share: float | None = None
    size: str = ""

    @property
    def is_signpost(self) -> bool:
        """Whether it marks a place, and is no op."""
        return self.name.endswith(SIGNPOST)


def table_of(report: Performance, *, signposts: bool, merge: bool) -> list[PerfLine]:
    """Its table; with `signposts` it looks only behind the first row that is named like the last signpost."""
    rows = report.rows
    cells = Cells(rows)
    order = [int(row) for row in np.argsort(rows.numbers("host_start_ns"), kind="stable")]
    order = [row for row in order if rows.texts("op_code")[row]]
    marks = [row for row in order if cells.signpost(row)]
    if signposts and marks:
        name = cells.name(marks[-1])
        order = order[next(place for place, row in enumerate(order) if cells.name(row) == name) + 1 :]
        order = [row for row in order if not cells.signpost(row)]
    chosen = _merged(cells, order) if merge else [(row, None) for row in order]
    lines: list[PerfLine] = []
    before: int | None = None
    for row, time in chosen:
        lines.append(cells.line(row, before, time))
        before = before if cells.signpost(row) else row
    total = sum((line.time or 0) + (line.gap or 0) for line in lines)
    return [
        line
        if line.time is None and line.gap is None
        else replace(line, share=100 * ((line.time or 0) + (line.gap or 0)) / total)
        for line in lines
    ]


class Cells:
    """What its model reads of a row."""

    def __init__(self, rows: OpTable) -> None:
        self.rows = rows
        architectures = [text.lower() for text in rows.texts("arch").distinct]
        self.worker_cores, self.sharded_cores, self.dram_gb_s, peaks = CARDS[
            "blackhole" if architectures and "blackhole" in architectures[0] else "wormhole"
        ]
        self.worker_cores = int(np.nanmax(rows.numbers("worker_cores"), initial=0)) or self.worker_cores
        self.peaks = dict(zip(FIDELITIES, peaks, strict=True))

    def name(self, row: int) -> str:
        """The op code."""
        return self.rows.texts("op_code")[row]

    def signpost(self, row: int) -> bool:
        """Whether the row is a signpost."""
        return self.rows.texts("op_type")[row] == "signpost"

    def on_device(self, row: int) -> bool:
        """Whether the row is an op of a device."""
        return self.rows.texts("op_type")[row] == "tt_dnn_device" and self.device(row) is not None

    def device(self, row: int) -> int | None:
        """The number of its device."""
        return self.whole("device", row)

    def duration(self, row: int) -> float | None:
        """Kernel time in ns, unless there is none or the gap before shows that it is none."""
        time, gap = self.rows.numbers("kernel_ns")[row], self.rows.numbers("gap_ns")[row]
        if not time >= 0 or (gap < -1e6 and abs(gap) > max(0.5 * time, 1e6)):
            return None
        return float(time)

    def line(self, row: int, before: int | None, mean_time: float | None) -> PerfLine:
        """The line of a row; `mean_time` in ns where it stands for several devices."""
        if self.signpost(row):
            return PerfLine(row, int(self.rows.lines[row]), f"{self.name(row)}{SIGNPOST}", None)
        time = mean_time if mean_time is not None else self.duration(row)
        cores = self.whole("cores", row)
        name, line = self.name(row), PerfLine(row, int(self.rows.lines[row]), self.name(row), self.device(row))
        attributes = self.rows.texts("attributes")[row]
        size, work, moved = "", None, 0.0
        if "Matmul" in name:
            cores = self.sharded_cores if SHARDED in attributes else cores
            size, work, moved = self._matmul(row, attributes)
        elif any(word in name for word in CONVS):
            size, work = self._conv(row, attributes)
        elif "HaloDeviceOperation" in name:
            size = _halo(attributes)
        dram = moved / time if time and moved else None
        flops = work / (time * 1e3) if time and work is not None else None
        peak = self.peaks.get(self.rows.texts("fidelity")[row], 0.0) * (cores or 0)
        dram_percent = dram / self.dram_gb_s * 100 if dram is not None else None
        flops_percent = flops / peak * 100 if flops is not None and peak else None
        return replace(
            line,
            time=None if time is None else time / 1e3,
            gap=self._gap(row, before),
            cores=cores,
            dram=dram,
            dram_percent=dram_percent,
            flops=flops,
            flops_percent=flops_percent,
            bound="HOST" if HOST in name else _bound(dram_percent, flops_percent),
            memory=self.rows.inputs[0].memory[row],
            size=size,
        )

    def _gap(self, row: int, before: int | None) -> float | None:
        gap = float(self.rows.numbers("gap_ns")[row])
        if before is None or not gap >= 0:
            return None
        invalid = self.duration(row) is None or self.duration(before) is None
        return None if invalid and gap > 1e6 else gap / 1e3

    def _matmul(self, row: int, attributes: str) -> tuple[str, float | None, float]:
        """Its size in words; FLOP, None where it is not told how many experts ran; bytes that go to or from DRAM."""
        a, b, out = self.rows.inputs[0], self.rows.inputs[1], self.rows.outputs[0]
        (w0, z0, m, k), (w1, z1, _, n) = a.padded[row].tolist(), b.padded[row].tolist()
        product = f"{m} x {k} x {n}"
        operands = [(one, _element_bytes(one.dtype[row])) for one in (a, b, out) if "DRAM" in one.memory[row]]
        if "SparseMatmul" not in self.name(row):
            moved = sum(float(one.padded[row].prod()) * size for one, size in operands)
            batches = max(w0, w1) * max(z0, z1)
            return f"b={{{batches}}} x {product}" if batches > 1 else product, 2.0 * m * k * n * batches, moved
        settings = parse_attributes(attributes)
        active, dense = settings.number("nnz"), _experts(w0 * z0, w1 * z1, settings)
        size = f"active={'?' if active is None else active}/{dense} x {product}"
        each = sum(size * (m * k, k * n, m * n)[(a, b, out).index(one)] for one, size in operands)
        return size, None if active is None else 2.0 * m * k * n * active, float(each * (active or 0))

    def _conv(self, row: int, attributes: str) -> tuple[str, float | None]:
        """Its size and settings in words, and FLOP; None where the window is not told."""
        window = parse_attributes(attributes).struct("sliding_window_config")
        sides = re.findall(r"\d+", window.fields.get("window_hw", "")) if window else []
        settings = _conv_settings(attributes)
        if len(sides) != 2:
            return f"unknown shape {settings}", None
        height, width = map(int, sides)
        image, weight, out = self.rows.inputs[0], self.rows.inputs[1], self.rows.outputs[0]
        m, k, n = (int(one.padded[row][dim]) for one, dim in ((out, 2), (image, 3), (weight, 3)))
        return f"{m} x {k * height * width} x {n} {settings}", 2.0 * m * k * height * width * n

    def available_cores(self, row: int) -> int:
        """Cores that the op could use; where it does not tell, the most that any op could use."""
        return self.whole("worker_cores", row) or self.worker_cores

    def whole(self, name: str, row: int) -> int | None:
        """A cell as a whole number."""
        value = self.rows.numbers(name)[row]
        return None if np.isnan(value) else int(value)


def _merged(cells: Cells, order: list[int]) -> list[tuple[int, float | None]]:
    """One row per op and all devices, and for collectives the mean time over them."""
    queues: dict[int, list[int]] = defaultdict(list)
    for row in order:
        if cells.on_device(row):
            queues[cells.device(row) or 0].append(row)
    blocks: list[tuple[int, int, float | None]] = [
        (place, row, None) for place, row in enumerate(order) if not cells.on_device(row)
    ]
    place_of = {row: place for place, row in enumerate(order)}
    while queues := {device: rows for device, rows in queues.items() if rows}:
        name = cells.name(queues[min(queues)][0])
        heads = [rows.pop(0) for _, rows in sorted(queues.items()) if cells.name(rows[0]) == name]
        times = [cells.duration(row) for row in heads]
        first = min(place_of[row] for row in heads)
        if any(word in name for word in MEAN_OVER_DEVICES):
            valid = [time for time in times if time is not None]
            blocks.append((first, heads[0], sum(valid) / len(valid) if valid else None))
        else:
            longest = max(range(len(heads)), key=lambda n: _known(times[n]))
            blocks.append((first, heads[longest], None))
    return [(row, time) for _, row, time in sorted(blocks)]


def _experts(first: int, second: int, settings: Attributes) -> int:
    """Products that a sparse matmul would make if none were left out, by the batches of its operands."""
    by_first, by_second = (
        settings.flag("is_input_a_sparse") is True,
        settings.flag("is_input_b_sparse") is not False,
    )
    if by_first and by_second:
        return second
    if by_first:
        return max(1, first // second) * second if second else 0
    return first * second if by_second else max(first, second)


def _conv_settings(attributes: str) -> str:
    """'[ABH=12|4 ADB SR]': tiles of a core's height and of a block's. A flag that is not told counts as set there."""
    settings = parse_attributes(attributes)
    heights = [block[1] if (block := re.search(rf"{name}=(\d+)", attributes)) else "x" for name in HEIGHTS]
    flags = "".join(f" {short}" for name, short in FLAGS.items() if settings.get(name, "true") == "true")
    return f"[ABH={'|'.join(heights)}{flags}]"


def _halo(attributes: str) -> str:
    """'w=(3,3) s=(1,1) p=((1, 1), (1, 1)) d=(1,1) | HEIGHT_SHARDED'."""
    window = parse_attributes(attributes).struct("config")
    sides = [window.fields.get(name, "x").replace(";", ",") if window else "x" for name in WINDOW.values()]
    layout = re.search(r"memory_layout=\w+::(\w+)", attributes)
    sliding = " ".join(f"{short}={side}" for short, side in zip(WINDOW, sides, strict=True))
    return f"{sliding} | {layout[1] if layout else 'x'}"


def _known(time: float | None) -> float:
    return -1.0 if time is None else time


def _bound(dram_percent: float | None, flops_percent: float | None) -> str:
    if dram_percent is None or flops_percent is None:
        return ""
    if dram_percent >= BOUND_FROM:
        return "BOTH" if flops_percent >= BOUND_FROM else "DRAM"
    return "FLOP" if flops_percent >= BOUND_FROM else "SLOW"


def _element_bytes(dtype: str) -> float:
    digits = re.search(r"\d+", dtype)
    return int(digits.group()) / 8 if digits else 4

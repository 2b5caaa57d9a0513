"""Measurements that lie: an honest pair of reports, and one lie told of the candidate (or of the baseline).

Every lie is an edit of CSV rows, so the same lies are told in reports that we made and in copies of real ones.
"""

import csv
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path

from tests.pairs import Model, write

KERNEL = "DEVICE KERNEL DURATION [ns]"
FIRMWARE = "DEVICE FW DURATION [ns]"
GAP = "OP TO OP LATENCY [ns]"
OF_CORES = re.compile(r"PER CORE|RISC\d? KERNEL DURATION")
Row = dict[str, str]
Rows = list[Row]
Lie = Callable[["Honest", Rows], Rows]


@dataclass(frozen=True)
class Honest:
    """A report of two or three passes over a model with layers, and where its wide matmuls are.

    Attributes:
        path: the baseline's file.
        passes: how often the model runs in it.
        wide: the inner width of the layers' widest matmuls: one makes it, one takes it back.
        layer: per row of a pass, its layer from 0; -1 outside.
    """

    path: Path
    passes: int
    wide: str
    layer: tuple[int, ...]

    @property
    def rows(self) -> Rows:
        """The rows of the file, to be changed."""
        return [row.copy() for row in self._rows]

    @cached_property
    def _rows(self) -> Rows:
        with self.path.open(newline="") as file:
            names, *rows = csv.reader(file)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def widens(self, row: Row) -> bool:
        return row["INPUT_1_X_PAD[LOGICAL]"].startswith(f"{self.wide}[") and "atmul" in row["OP CODE"]

    def narrows(self, row: Row) -> bool:
        return row["INPUT_1_Y_PAD[LOGICAL]"].startswith(f"{self.wide}[") and "atmul" in row["OP CODE"]

    def changed(self, gain: float = 0.7) -> Rows:
        """The honest candidate: one matmul per layer with BFLOAT8_B weights and less time; all others as they were."""
        jitter = random.Random(5)  # noqa: S311
        rows = self.rows
        for row in rows:
            scale(row, 1 + jitter.uniform(-5e-4, 5e-4))
            if self.widens(row):
                row["INPUT_1_DATATYPE"] = "BFLOAT8_B"
                scale(row, gain)
        return rows

    def last_pass(self, rows: Rows) -> Rows:
        return rows[-len(rows) // self.passes :]


def scale(row: Row, factor: float) -> None:
    """The kernel, and what its cores took, which is never more; it ends where it did, and the gap before it grows."""
    before = float(row[KERNEL])
    row[KERNEL] = str(max(1, round(before * factor))) if factor else "0"
    if row[GAP]:
        row[GAP] = str(round(float(row[GAP]) + before - float(row[KERNEL])))
    for name in [name for name in row if name.startswith("DEVICE") and OF_CORES.search(name) and row[name]]:
        row[name] = str(min(float(row[name]) * max(factor, 1), float(row[KERNEL])))


def made(folder: Path) -> Honest:
    model = Model(layers=8)
    layer = tuple(row // 10 if row < 80 else -1 for row in range(85))
    return Honest(Path(write(folder, model)), 3, "1024", layer)


@cache
def clip(path: Path) -> Honest:
    """32 layers of 29 ops between 5 ops (embeddings) and 3 (the projection): two passes of 936."""
    layer = tuple((row - 5) // 29 if 5 <= row < 933 else -1 for row in range(936))
    return Honest(path, 2, "5120", layer)


def store(path: Path, rows: Rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(rows[0])
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(map(itemgetter(*names), rows))
    return path


# -- lies: each edits the honest candidate's rows -------------------------------------------------------------


def faster_than_the_chip(honest: Honest, rows: Rows) -> Rows:
    for row in filter(honest.narrows, rows):
        scale(row, 0.01)
    return rows


def no_time_at_all(honest: Honest, rows: Rows) -> Rows:
    """Of one op: where many have lost their times, the report is doubted before the comparison is."""
    scale([row for row in rows if "Softmax" in row["OP CODE"]][-1], 0)
    return rows


def two_layers_captured(honest: Honest, rows: Rows) -> Rows:
    return closed_up([row for number, row in enumerate(rows) if honest.layer[number % len(honest.layer)] < 2])


def closed_up(rows: Rows) -> Rows:
    """Cycles without the time of rows that were taken out: each op begins its gap after the one before."""
    end = int(rows[0]["DEVICE FW START CYCLE"])
    for row in rows:
        cycles = int(row["DEVICE FW END CYCLE"]) - int(row["DEVICE FW START CYCLE"])
        start = end + round(float(row[GAP] or 0))
        end = start + cycles
        row["DEVICE FW START CYCLE"], row["DEVICE FW END CYCLE"] = str(start), str(end)
    return rows


def softmax_gone(honest: Honest, rows: Rows) -> Rows:
    """It did not run, and the device waits for as long."""
    left, waited = [], 0.0
    for row in rows:
        if "Softmax" in row["OP CODE"]:
            waited += float(row[GAP]) + float(row[KERNEL])
        else:
            left.append({**row, GAP: str(round(float(row[GAP]) + waited))})
            waited = 0.0
    return left


def some_rows_lost(honest: Honest, rows: Rows) -> Rows:
    """One op in forty, in no order: a buffer that ran over."""
    lost = random.Random(2)  # noqa: S311
    return [row for row in rows if lost.random() > 1 / 40]


def tail_cut_off(honest: Honest, rows: Rows) -> Rows:
    """The last pass ends in the middle: a file that was not written to its end."""
    return rows[: len(rows) - len(rows) // honest.passes // 2]


def renumbered(rows: Rows) -> Rows:
    """Call counts without a gap, as a capture of less would have them."""
    for number, row in enumerate(rows, start=1):
        row["GLOBAL CALL COUNT"] = str(number << 10)
    return rows


def two_layers_run(honest: Honest, rows: Rows) -> Rows:
    return renumbered(two_layers_captured(honest, rows))


def softmax_skipped(honest: Honest, rows: Rows) -> Rows:
    return renumbered(softmax_gone(honest, rows))


def passes_gone(honest: Honest, rows: Rows) -> Rows:
    return rows[: len(rows) // honest.passes * (honest.passes - 1)]


def the_baseline_again(honest: Honest, rows: Rows) -> Rows:
    return [{**row, "NOTE": "measured today"} for row in honest.rows]


def at_clock(rows: Rows, ghz: float) -> Rows:
    """The same cycles at another clock (both chips here run at 1 GHz)."""
    for row in rows:
        slower = {name: str(round(float(row[name]) / ghz)) if row[name] else "" for name in (FIRMWARE, GAP)}
        scale(row, 1 / ghz)
        row.update(slower)
    return rows


def columns_swapped(honest: Honest, rows: Rows) -> Rows:
    for row in rows:
        row["DEVICE FW START CYCLE"], row["DEVICE FW END CYCLE"] = (
            row["DEVICE FW END CYCLE"],
            row["DEVICE FW START CYCLE"],
        )
    return rows


def a_hotter_chip(honest: Honest, rows: Rows) -> Rows:
    return at_clock(rows, 0.8)


def a_cooler_chip(honest: Honest, rows: Rows) -> Rows:
    """The baseline's cycles at 1.04 of its clock, as fast as a chip may be: nothing was gained."""
    rows = honest.rows
    for number, row in enumerate(rows):
        scale(row, 1 + 1e-3 * (number % 3 - 1))
    return at_clock(rows, 1.04)


def replayed(honest: Honest, rows: Rows) -> Rows:
    for number, row in enumerate(rows):
        row["METAL TRACE ID"], row["METAL TRACE REPLAY SESSION ID"] = (
            "1",
            str(number * honest.passes // len(rows) + 1),
        )
    return rows


def profiled_with_noc_traces(honest: Honest, rows: Rows) -> Rows:
    for row in rows:
        row["NOC UTIL (%)"] = "12.5"
    return rows


def rows_dropped(honest: Honest, rows: Rows) -> Rows:
    """Call counts jump between two passes: what ran there is not in the file."""
    for row in honest.last_pass(rows):
        row["GLOBAL CALL COUNT"] = str(int(row["GLOBAL CALL COUNT"]) + (7 << 10))
    return rows


def faster_where_nothing_changed(honest: Honest, rows: Rows) -> Rows:
    for row in rows:
        if honest.widens(row):
            scale(row, 1 / 0.7)
        if honest.narrows(row):
            scale(row, 0.7)
    return rows


def two_changes(honest: Honest, rows: Rows) -> Rows:
    for row in filter(honest.narrows, rows):
        row["INPUT_1_MEMORY"] = row["INPUT_1_MEMORY"].replace("DRAM_INTERLEAVED", "L1_INTERLEAVED")
        scale(row, 0.8)
    return rows


def barely(honest: Honest, rows: Rows) -> Rows:
    """1.2 % in all: more than iterations inside a file differ by, less than two files may."""
    rows = honest.rows
    total = sum(float(row[KERNEL]) for row in rows)
    wide = sum(float(row[KERNEL]) for row in filter(honest.widens, rows))
    return honest.changed(1 - 0.012 * total / wide)


def without_outputs(honest: Honest, rows: Rows) -> Rows:
    """A report that lost its last columns: what is missing in it would not show."""
    return [{name: cell for name, cell in row.items() if not name.startswith("OUTPUT_")} for row in rows]


LIES: dict[str, tuple[Lie, ...]] = {
    "nothing_aligned": (without_outputs,),
    "below_floor": (faster_than_the_chip,),
    "zero_times": (no_time_at_all,),
    "layers_missing": (two_layers_captured, two_layers_run),
    "ops_missing": (softmax_gone, softmax_skipped),
    "collapsed": (passes_gone,),
    "same_reading": (the_baseline_again,),
    "doubtful_report": (columns_swapped,),
    "other_clock": (a_hotter_chip, a_cooler_chip),
    "trace_on_one_side": (replayed,),
    "profiler_on_one_side": (profiled_with_noc_traces,),
    "dropped_rows": (rows_dropped, some_rows_lost),
    "gain_elsewhere": (faster_where_nothing_changed,),
    "several_changes": (two_changes,),
    "within_file_noise": (barely,),
}

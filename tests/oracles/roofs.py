"""What an op must take by the published rates of its chip, and what changes leave of it: csv cells and arithmetic alone."""

from __future__ import annotations

import csv
from math import ceil, prod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Row = dict[str, str]
    Rows = dict[int, Row]
    Saving = Callable[[Rows, int], float]  # microseconds of the op at a line

KERNEL, GAP = "DEVICE KERNEL DURATION [ns]", "OP TO OP LATENCY [ns]"
LAUNCH_US = 0.37  # of an empty kernel
BITS = {"FLOAT32": 32, "UINT32": 32, "BFLOAT16": 16, "BFLOAT8_B": 8.5, "BFLOAT4_B": 4.5}  # with a block's exponents
PASSES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}
LINK_GB_S = 48  # one way, of 400 Gb/s: 4 KB packets with their headers
MACS = 2_048  # of a core's engine in a cycle and pass: Tensix, both chips
TILE = 32


class Chip(NamedTuple):
    """Cores, clock, and what DRAM reaches in fact: 240 GB/s were measured on a Wormhole of 288, of Blackhole 85 %."""

    cores: int
    ghz: float
    dram_gb_s: float


WORMHOLE, BLACKHOLE = Chip(64, 1.0, 240), Chip(110, 1.35, 0.85 * 512)


def rows_in(report: Path) -> Rows:
    """The device ops of a report by their line."""
    with report.open(newline="", encoding="utf-8") as file:
        return {line: row for line, row in enumerate(csv.DictReader(file), start=2) if row[KERNEL]}


def us(rows: Rows, *lines: int, column: str = KERNEL) -> float:
    return sum(float(rows[line][column]) for line in lines) / 1e3


def sizes(row: Row, operand: str, part: int = 0) -> list[int]:
    """Along W, Z, Y and X, padded (0) or logical (1); early reports have one of both."""
    cells = [row.get(f"{operand}_{axis}_PAD[LOGICAL]") or row.get(f"{operand}_{axis}") or "" for axis in "WZYX"]
    return [int(cell.rstrip("]").split("[")[part]) for cell in cells] if all(cells) else []


def bytes_of(row: Row, operand: str) -> float:
    return prod(sizes(row, operand)) * BITS[row[f"{operand}_DATATYPE"]] / 8


def operands(row: Row) -> list[str]:
    return [each for each in (*(f"INPUT_{number}" for number in range(4)), "OUTPUT_0") if sizes(row, each)]


def dram_bytes(row: Row) -> float:
    """Of all operands there; a slice reads no more than it writes."""
    if row["OP CODE"].startswith("Slice"):
        return 2 * bytes_of(row, "OUTPUT_0")
    return sum(bytes_of(row, each) for each in operands(row) if "DRAM" in row[f"{each}_MEMORY"])


def dram_us(row: Row, chip: Chip) -> float:
    return dram_bytes(row) / chip.dram_gb_s / 1e3


def engine_us(row: Row, chip: Chip) -> float:
    """A matmul's arithmetic on all cores; 0 of other ops."""
    if "Matmul" not in row["OP CODE"]:
        return 0.0
    macs = prod(sizes(row, "OUTPUT_0")) * sizes(row, "INPUT_0")[-1]
    return macs * PASSES[row["MATH FIDELITY"]] / (MACS * chip.cores * chip.ghz * 1e3)


def roof_us(row: Row, chip: Chip, part: float = 1.0) -> float:
    """With a part of its DRAM bytes."""
    return max(engine_us(row, chip), part * dram_us(row, chip), LAUNCH_US)


def in_step(part: float) -> Saving:
    return lambda rows, line: part * us(rows, line)


def all_but(left_us: float) -> Saving:
    return lambda rows, line: us(rows, line) - left_us


def down_to(left_us: Callable[[Row], float]) -> Saving:
    return lambda rows, line: us(rows, line) - left_us(rows[line])


def fewer_bytes(chip: Chip, spared: Callable[[Row], float]) -> Saving:
    """In step with the bytes, of at most twice the time that all of them need, down to the roof of the rest."""

    def saves(rows: Rows, line: int) -> float:
        row, took = rows[line], us(rows, line)
        part = spared(row) / dram_bytes(row)
        in_bytes = min(took, 2 * dram_us(row, chip)) * part
        return max(min(in_bytes, took - roof_us(row, chip, 1 - part)), 0.0)

    return saves


def without_padding(chip: Chip) -> Saving:
    """All above the tiles that all rows as one height would need."""

    def saves(rows: Rows, line: int) -> float:
        row, wasted, total = rows[line], 0.0, 0.0
        for each in operands(row):
            *outer, width = sizes(row, each, 1)
            elements = prod((*outer, width))
            high = ceil(prod(outer) / TILE) * ceil(width / TILE)
            least = ceil(elements / TILE**2) if width < TILE else high
            total += bytes_of(row, each)
            wasted += bytes_of(row, each) * (1 - least * TILE**2 / prod(sizes(row, each)))
        return us(rows, line) - max(dram_us(row, chip) * (1 - wasted / total), LAUNCH_US)

    return saves


def links_us(row: Row) -> float:
    """Of an exchange between four Blackholes over both links of each, both ways at once."""
    whole = bytes_of(row, "INPUT_0" if row["OP CODE"].startswith("ReduceScatter") else "OUTPUT_0")
    return whole * 3 / 4 / (2 * 2 * LINK_GB_S) / 1e3


def saved_together(row: Row, savings: Iterable[float]) -> float:
    """Changes of one op multiply, down to its links or to what the one that saves most leaves."""
    took = float(row[KERNEL]) / 1e3
    lefts = [took - saved for saved in savings]
    least = min(links_us(row), *lefts) if len(lefts) > 1 else 0.0
    return took - max(took * prod(left / took for left in lefts), least)

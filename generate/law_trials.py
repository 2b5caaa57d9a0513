"""Laws that were tried and are not good enough: the page names them, the package does not have them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from generate.law_rows import Measured, cores, shape_of, usable_rows, whole
from ttnn_mcp.analyses.laws.descriptions import Described, tiles
from ttnn_mcp.analyses.laws.law import Law
from ttnn_mcp.hardware import ARCHITECTURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Tried(Described):
    """A row with the factors of the law that was tried on it."""

    law: str = ""
    factors: tuple[float, ...] = ()


def factors(op: Tried, law: str) -> tuple[float, ...] | None:
    return op.factors if op.law == law else None


def largest_values(row: dict[str, str]) -> tuple[float, ...] | None:
    """Cores sort their part of a row; one merges what all kept. Other widths run on few cores (#38487)."""
    width, kept, used = whole(row, "width") or 0, whole(row, "k"), whole(row, "cores")
    if row["op"] != "TopK" or not kept or not used or width & (width - 1):
        return None
    rows = tiles(whole(row, "rows") or 0)
    return 1.0, rows * tiles(width) / used, rows * used * tiles(kept)


def largest_place(row: dict[str, str]) -> tuple[float, ...] | None:
    size = (whole(row, "rows") or 0) * (whole(row, "width") or 0)
    return (1.0, size / 1e3 / (cores(row) or 1)) if row["op"] == "ArgMax" else None


def scatter(row: dict[str, str]) -> tuple[float, ...] | None:
    links, size, devices = whole(row, "links"), float(row["bytes_per_device"] or 0), whole(row, "devices") or 1
    if row["kind"] != "reduce_scatter" or not links or not size:
        return None
    payload = ARCHITECTURES[row["chip"]].ethernet_payload_gb_s or 1.0
    return 1.0, size * (devices - 1) / devices / 1e3 / payload / links


def permute(row: dict[str, str]) -> tuple[float, ...] | None:
    """Rows move whole, or element by element where the last dim moves."""
    dims, order = [int(each) for each in row["shape"].split("x") if each.isdigit()], row["dims"].split(",")
    if row["kind"] != "permute" or row["from_layout"] != "row_major" or len(order) < len(dims):
        return None
    rows = prod(dims[:-1]) / (cores(row) or 1)
    return 1.0, rows, rows * dims[-1] * (order[-1] != str(len(dims) - 1))


READERS: dict[str, tuple[str, Callable[[dict[str, str]], tuple[float, ...] | None], tuple[str, ...]]] = {
    "TopK": ("selection", largest_values, ("us", "us per tile sorted", "us per tile merged")),
    "ArgMax": ("selection", largest_place, ("us", "us per 1000 elements of a core")),
    "reduce-scatter": ("collectives", scatter, ("us", "links at peak")),
    "permute of rows": ("layouts", permute, ("us", "us per row of a core", "us per element of a core")),
}
TRIALS = tuple(
    Law(name=name, formula="", of=Tried, terms=terms, factors=partial(factors, law=name), sizes=())
    for name, (_, _, terms) in READERS.items()
)


def tried() -> Iterator[Measured]:
    """The rows that these laws were tried on."""
    for name, (file, read, _) in READERS.items():
        for row, us in usable_rows(file):
            numbers = read(row)
            if numbers is not None:
                yield Measured(Tried(row["chip"], law=name, factors=numbers), us, row["source"], shape_of(row))

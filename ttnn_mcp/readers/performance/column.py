"""One column of an ops_perf_results CSV: its names, unit and limits."""

from __future__ import annotations

from typing import Literal

from ttnn_mcp.records import dataclass

Kind = Literal["number", "text"]

WHOLE = 2.0**53  # float64 holds every whole number up to here
HOUR_NS = 3.6e12  # no op and no gap takes an hour; sums over millions of such rows still fit into 64 bits
DEVICES = 1 << 10  # GLOBAL CALL COUNT packs the device into ten bits
CORES = 1 << 12  # a core's coordinates have six bits each on the network on chip (NOC_ADDR_NODE_ID_BITS)
AT_MOST = {"ns": HOUR_NS, "cycles": 2.0**63, "cores": float(CORES), "%": 1e9, "": WHOLE}  # by unit


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the op table.

    Attributes:
        name: our name; ends in its unit.
        headers: the names it has had in the files, newest first.
        kind: "number" (float64, NaN = not measured) or "text" (category, missing = blank cell).
        unit: of the values in the file.
        meaning: what it measures, and what is easily misunderstood about it.
        costs: what cannot be told without it, as the end of a sentence; empty where no answer needs it.
        since: the first header generation that writes it, 1 to 7.
        by_compiler: written by tt-torch and tt-xla only.
        counts: whether it holds whole numbers, none below 0.
        at_most: the largest value that can be true; None means the limit of its unit.
    """

    name: str
    headers: tuple[str, ...]
    kind: Kind
    unit: str
    meaning: str
    costs: str = ""
    since: int = 1
    by_compiler: bool = False
    counts: bool = False
    at_most: float | None = None

    @property
    def limit(self) -> float:
        """The largest value that can be true."""
        return AT_MOST[self.unit] if self.at_most is None else self.at_most


def time_ns(name: str, header: str, meaning: str, since: int = 1) -> Column:
    """A time that no answer is lost without."""
    return Column(name, (f"{header} [ns]",), "number", "ns", meaning, since=since)


def utilisation(name: str, header: str, meaning: str, since: int) -> Column:
    """A utilisation that few reports have."""
    return Column(name, (f"{header} (%)",), "number", "%", meaning, since=since)

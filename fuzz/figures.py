"""What a figure may be, by the name it goes by in an answer: a share of a whole, a use of a peak, a time, a count.

A name is read word by word, in fields, in columns of tables, and in what lies inside a field (`busy_share: {before,
after}`), however deep.
"""

from __future__ import annotations

import math

TOLERANCE = 1e-4  # shares are rounded to four decimals
OVER_PEAK = 1.05  # a peak is a clock times a width; beyond 5 % more, shapes or times are not what they say
PARTS = {"share", "shares", "fraction", "busy", "waste", "occupancy", "balance"}
OF_A_PEAK = {"efficiency", "utilization", "utilisation", "roofline", "dram_share", "flop_share"}
PERCENTS = {"pct", "percent"}
RATIOS = {  # of two times, no parts of a whole
    "change_share": (-1.0, math.inf),
    "gain_share": (-math.inf, 1.0),
    "noise_share": (0.0, math.inf),
    "min_share": (-math.inf, math.inf),
    "imbalance": (1.0, math.inf),  # the slowest device over the mean: 1 is even
}
WITH_NAMES = {"roofline"}  # as a field: an object whose figures have names of their own
AMOUNTS = {
    "us",
    "ms",
    "ns",
    "bytes",
    "mb",
    "megabytes",
    "count",
    "ops",
    "cores",
    "gflop",
    "tokens",
    "passes",
    "users",
}
DIFFERENCES = {"delta", "headroom"}
ANY = (-math.inf, math.inf)


def range_of(name):
    """The least and the most that a figure of this name may be, and what kind of flaw it is beyond."""
    words = set(name.lower().split("_"))
    if name in RATIOS:
        return RATIOS[name], "share"
    if name in OF_A_PEAK or words & OF_A_PEAK:
        return (0.0, OVER_PEAK), "over the peak"
    if words & PERCENTS:
        return (0.0, 100 * OVER_PEAK), "over the peak"
    if words & PARTS:
        return (0.0, 1.0), "share"
    if words & AMOUNTS and not words & DIFFERENCES:
        return (0.0, math.inf), "negative"
    return ANY, ""


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def wrong_of(name, value):
    """Pairs of a kind of flaw and a figure, for a value of this name and for the figures right inside it."""
    if name in WITH_NAMES and isinstance(value, dict):
        return
    (least, most), kind = range_of(name)
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else (value,)
    for figure in inside:
        if is_number(figure) and not least - TOLERANCE <= figure <= most + TOLERANCE:
            yield kind, figure


def records(value, where):
    """Every object in an answer, and every row of a table as one, with its path."""
    if isinstance(value, list):
        for inside in value:
            yield from records(inside, where)
    elif isinstance(value, dict):
        yield where, value
        if set(value) >= {"columns", "rows"}:
            for row in value["rows"]:
                yield where, dict(zip(value["columns"], row, strict=False))
        for name, inside in value.items():
            yield from records(inside, f"{where}.{name}")


def crossed(record):
    """Names of lower bounds in a record that lie above their upper bounds."""
    for name, least in record.items():
        most = record.get(name.replace("at_least", "at_most"))
        if "at_least" in name and is_number(least) and is_number(most) and least > most:
            yield name

"""Lies about the figures of a performance report: each edits the rows of an honest one in place.

All contradict something else in the report. Rows are dicts, cell by column; `timed` are those of device ops.
"""

from __future__ import annotations

import re

KERNEL, FIRMWARE = "DEVICE KERNEL DURATION [ns]", "DEVICE FW DURATION [ns]"
START, END, CORES = "DEVICE FW START CYCLE", "DEVICE FW END CYCLE", "CORE COUNT"
DEVICE, GAP, ARCH = "DEVICE ID", "OP TO OP LATENCY [ns]", "DEVICE ARCH"
TIMES = (KERNEL, FIRMWARE)
OF_CORES = re.compile(r"DEVICE.*(PER CORE|RISC\d? KERNEL DURATION)")


def _scaled(rows, names, share):
    for row in rows:
        for name in [name for name in names if row[name]]:
            row[name] = repr(float(row[name]) * share)


def _some(rng, rows):
    """A few of the last rows, which the window holds whatever repeats before them."""
    last = rows[-len(rows) // 4 :]
    return rng.sample(last, rng.randint(1, max(1, len(last) // 3)))


def another_unit(rng, rows):
    _scaled(rows, TIMES, rng.choice((1e-3, 1e-6, 1e3)))


def another_clock(rng, rows):
    _scaled(rows, TIMES, rng.uniform(1 / 3, 0.6))


def swapped(_rng, rows):
    for row in rows:
        row[START], row[END] = row[END], row[START]


def overlapping(rng, rows):
    longest = max(float(row[FIRMWARE]) for row in rows)
    for row in rows:
        row[START] = str(int(float(row[START]) - rng.uniform(0.2, 1.5) * longest))


def at_odds(rng, rows):
    for row in _some(rng, rows):
        row[FIRMWARE] = repr(float(row[FIRMWARE]) * rng.uniform(1.5, 9))


def above_firmware(rng, rows):
    for row in _some(rng, rows):
        row[KERNEL] = repr(float(row[FIRMWARE]) * rng.uniform(1.05, 1.5) + 900)


def too_short(rng, rows):
    for row in _some(rng, rows):
        row[KERNEL] = str(rng.randint(1, 90))


def cores(rng, rows):
    for row in _some(rng, rows):
        row[CORES] = str(rng.choice((0, 141, 500)))


def half_a_counter(_rng, rows):
    first = min(int(row[START]) for row in rows)
    middle = sorted(int(row[START]) for row in rows)[len(rows) * 7 // 8]
    for row in rows:
        for name in (START, END):
            row[name] = str((int(row[name]) - middle) % 2**32 if first else row[name])


def kernels_shifted(_rng, rows):
    _shifted(rows, (KERNEL,))


def times_shifted(_rng, rows):
    _shifted(rows, TIMES)


def _shifted(rows, names):
    cells = [[row[name] for name in names] for row in rows]
    for row, before in zip(rows, cells[-1:] + cells[:-1], strict=True):
        row.update(zip(names, before, strict=True))


def exchanged(_rng, rows):
    for row in rows:
        row[KERNEL], row[FIRMWARE] = row[FIRMWARE], row[KERNEL]


def cycles_scaled(rng, rows):
    share = rng.choice((0.1, 0.25, 3, 10))
    for row in rows:
        for name in (START, END):
            row[name] = str(int(float(row[name]) * share))


def mixed_units(rng, rows):
    _scaled(_many(rng, rows), TIMES, 1e-3)


def thousands(rng, rows):
    """A separator of thousands that was read as a decimal point."""
    _scaled(_many(rng, rows), (KERNEL,), 1e-3)


def last_digits_of_end(_rng, rows):
    for row in rows:
        row[END] = row[END][:-2]


def drifting(_rng, rows):
    for place, row in enumerate(rows):
        _scaled([row], TIMES, 1 - 0.5 * place / len(rows))


def consistently_faster(_rng, rows):
    """Kernel, firmware and END agree; what each core took does not."""
    for row in rows:
        taken = int(row[END]) - int(row[START])
        row[END] = str(int(row[START]) + taken // 2)
        _scaled([row], TIMES, 0.5)


def doubled(_rng, rows):
    half = len(rows) // 2
    for row, other in zip(rows[half:], rows[:half], strict=False):
        row.update(other)


def one_device(_rng, rows):
    for row in rows:
        row[DEVICE] = rows[0][DEVICE]


def devices_swapped(rng, rows):
    for row in _many(rng, rows):
        row[DEVICE] = "1" if row[DEVICE] == "0" else "0"


def another_chip(_rng, rows):
    for row in rows:
        if ARCH in row:
            row[ARCH] = "blackhole" if "worm" in row[ARCH].lower() else "wormhole_b0"


def gaps_of_another_unit(_rng, rows):
    _scaled([row for row in rows if row.get(GAP)], (GAP,), 1e3)


def gaps_of_zero(_rng, rows):
    _scaled([row for row in rows if row.get(GAP)], (GAP,), 0)


def gaps_negated(_rng, rows):
    _scaled([row for row in rows if row.get(GAP)], (GAP,), -1)


def gaps_shifted(_rng, rows):
    _shifted([row for row in rows if GAP in row], (GAP,))


def times_lost(rng, rows):
    for row in _many(rng, rows):
        row[KERNEL] = rng.choice(("", "-", "nan"))


def times_of_zero(rng, rows):
    for row in _many(rng, rows):
        row[KERNEL] = "0"


def one_time_for_all(_rng, rows):
    for row in rows:
        row[KERNEL] = rows[0][KERNEL]


def cycles_anew(_rng, rows):
    """Two runs in one file: the second begins where the first did."""
    half = len(rows) // 2
    away = int(rows[half][START]) - int(rows[0][START])
    for row in rows[half:]:
        for name in (START, END):
            row[name] = str(int(row[name]) - away)


def host_times(_rng, rows):
    for row in rows:
        row[KERNEL] = row.get("HOST DURATION [ns]") or row[KERNEL]


def cycles_of_one_op(_rng, rows):
    for row in rows:
        row[START], row[END] = rows[0][START], rows[0][END]


def later(rng, rows):
    """All ops, or one in three, are told longer, and all after them begin later: the cores say what they took."""
    by, shift, share = rng.uniform(1.3, 9), 0, rng.choice((1, 1 / 3))
    for row in rows:
        start, taken = int(float(row[START])), int(float(row[END])) - int(float(row[START]))
        longer = by if rng.random() < share else 1
        row[START] = str(start + shift)
        shift += int(taken * (longer - 1))
        row[END] = str(start + taken + shift)
        _scaled([row], TIMES, longer)


def spreadsheet(_rng, rows):
    """A program that prints long numbers with six digits."""
    for row in rows:
        row.update({name: f"{float(row[name]):.5E}" for name in (START, END)})


def some_of_another_chip(_rng, rows):
    another_chip(_rng, rows[::3])


def devices_copied(_rng, rows):
    """What the first device measured stands under the others, too."""
    first = [row for row in rows if row[DEVICE] == rows[0][DEVICE]]
    for device in {row[DEVICE] for row in rows} - {rows[0][DEVICE]}:
        for row, other in zip([row for row in rows if row[DEVICE] == device], first, strict=False):
            row.update({name: cell for name, cell in other.items() if name in (START, END, *TIMES, GAP)})


def one_device_halved(_rng, rows):
    """All times of the last device, and its cycles as they were."""
    for row in [row for row in rows if row[DEVICE] != rows[0][DEVICE]]:
        _scaled([row], [name for name in row if name in (*TIMES, GAP) or OF_CORES.search(name)], 0.5)


def cycles_under_ns(_rng, rows):
    """All times in cycles: the same where a chip runs at 1 GHz."""
    for row in rows:
        clock = (float(row[END]) - float(row[START])) / float(row[FIRMWARE])
        if abs(clock - 1) > 0.01 and row.get(ARCH):  # unnamed, it may be a chip of 1 GHz
            _scaled([row], [name for name in row if name in (*TIMES, GAP) or OF_CORES.search(name)], clock)


def absurd_times(rng, rows):
    for row in _many(rng, rows):
        row[KERNEL] = rng.choice(("1e308", "-5", "inf", "1e30"))


def first_times_lost(_rng, rows):
    for row in rows[: len(rows) // 3]:
        row[KERNEL] = ""


def operands_exchanged(_rng, rows):
    """The first and the second operand; where the first was not square, no matmul can multiply them."""
    for row in _unlike_matmuls(rows):
        for name in [name for name in row if name.startswith("INPUT_0_")]:
            other = name.replace("INPUT_0_", "INPUT_1_")
            row[name], row[other] = row.get(other, ""), row[name]


def shapes_exchanged(_rng, rows):
    """Rows and columns of the second operand."""
    for row in _unlike_matmuls(rows):
        for name in [name for name in row if re.match(r"INPUT_1_Y\b|INPUT_1_Y_", name)]:
            other = name.replace("_Y", "_X")
            row[name], row[other] = row[other], row[name]


def _unlike_matmuls(rows):
    """Matmuls of plain rows with a weight, whose three sides differ; none where they are few of the matmuls."""
    matmuls = [row for row in rows if "atmul" in row["OP CODE"]]
    sides = [{row[name] for name in row if re.match(r"INPUT_0_[XY](_|$)|INPUT_1_X(_|$)", name)} for row in matmuls]
    unlike = [row for row, one in zip(matmuls, sides, strict=True) if len(one) == 3]
    return unlike if len(unlike) > len(matmuls) / 5 else []


def _many(rng, rows):
    return [row for row in rows if rng.random() < 0.5]


LIES = {
    each.__name__: each
    for each in (
        another_unit, another_clock, swapped, overlapping, at_odds, above_firmware, too_short, cores, half_a_counter,
        kernels_shifted, times_shifted, exchanged, cycles_scaled, mixed_units, thousands, last_digits_of_end, drifting,
        consistently_faster, doubled, one_device, devices_swapped, another_chip,
        gaps_of_another_unit, gaps_of_zero, gaps_negated, gaps_shifted,
        times_lost, times_of_zero, one_time_for_all, cycles_anew, host_times,
        cycles_of_one_op, later, spreadsheet, some_of_another_chip, devices_copied, one_device_halved,
        cycles_under_ns, absurd_times, first_times_lost, operands_exchanged, shapes_exchanged,
    )
}  # fmt: skip

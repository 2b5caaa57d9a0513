"""Reports whose form is right and whose figures contradict each other: each lie with the codes that name it."""

from tests.profiles import Iteration

KERNEL, FIRMWARE = "DEVICE KERNEL DURATION [ns]", "DEVICE FW DURATION [ns]"
START, END = "DEVICE FW START CYCLE", "DEVICE FW END CYCLE"
OF_CORES = tuple(
    f"DEVICE {core} KERNEL DURATION [ns]" for core in ("BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2")
)
GAP, CALL = "OP TO OP LATENCY [ns]", "GLOBAL CALL COUNT"
PASSES = (Iteration(cold=True), *[Iteration()] * 4)
COUNTER = 2**32


def each(**cells):
    """A change of every row: each cell by a function of the row."""

    def change(rows):
        for row in rows:
            row.update({name: str(cell(row)) for name, cell in cells.items()})

    return change


def last(change):
    """The same of the last row alone."""
    return lambda rows: change(rows[-1:])


def number(row, name):
    return int(float(row[name]))


def scaled(share, *names):
    return each(**{name: lambda row, name=name: row[name] and number(row, name) * share for name in names})


def overlapping(rows):
    """Cycles that run on from the start of the file, not from the op's: each op seems longer than it was."""
    for place, row in enumerate(rows):
        row[START] = str(number(row, START) - place % 3 * 1_500)


def wrapped(rows):
    first = min(number(row, START) for row in rows)
    half = (max(number(row, END) for row in rows) - first) // 2
    for row in rows:
        for name in (START, END):
            row[name] = str((number(row, name) - first - half) % COUNTER)


def anew(rows):
    """The second half of the file begins where the first did, as another run in it would."""
    half = len(rows) // 2
    away = number(rows[half], START) - number(rows[0], START) - 700
    for row in rows[half:]:
        row.update({name: str(number(row, name) - away) for name in (START, END)})


LIES = {
    "kernels that their cores outlast": (
        scaled(0.5, KERNEL),
        {"kernels_below_firmware", "kernels_below_their_cores", "gaps_at_odds"},
    ),
    "gaps in another unit": (scaled(1e3, GAP), {"gaps_at_odds"}),
    "two runs in one file": (anew, {"not_in_order", "gaps_at_odds"}),
    "ops of another device": (last(each(**{"DEVICE ID": lambda row: 1})), {"device_at_odds"}),
    "times of zero": (
        each(**{KERNEL: lambda row: 0}),
        {"times_lost", "kernels_below_firmware", "gaps_at_odds"},
    ),
    "times left out": (lambda rows: each(**{KERNEL: lambda row: ""})(rows[1::4]), {"times_lost"}),
    "microseconds under nanoseconds": (
        scaled(1e-3, KERNEL, FIRMWARE),
        {"no_such_clock", "kernels_too_short", "kernels_below_their_cores"},
    ),
    "milliseconds": (
        scaled(1e-6, KERNEL, FIRMWARE),
        {"no_such_clock", "kernels_too_short", "kernels_below_their_cores"},
    ),
    "cycles that overlap": (overlapping, {"clocks_differ"}),
    "start and end swapped": (each(**{START: lambda row: row[END], END: lambda row: 0}), {"ends_before_start"}),
    "start and end alike": (each(**{START: lambda row: row[END]}), {"ends_before_start"}),
    "one end before its start": (last(each(**{END: lambda row: number(row, START) - 9})), {"ends_before_start"}),
    "one op at another clock": (
        last(each(**{FIRMWARE: lambda row: 2 * number(row, FIRMWARE)})),
        {"cycles_at_odds"},
    ),
    "half of the counter": (wrapped, {"counter_wrapped", "not_in_order", "gaps_at_odds"}),
    "a kernel above its firmware": (
        last(each(**{KERNEL: lambda row: number(row, FIRMWARE) * 1.2})),
        {"kernel_above_firmware", "kernels_above_their_cores", "gaps_at_odds"},
    ),
    "kernels of a tenth": (
        scaled(0.1, KERNEL),
        {"kernels_below_firmware", "kernels_below_their_cores", "gaps_at_odds"},
    ),
    "no cores": (each(**{"CORE COUNT": lambda row: 0}), {"cores_outside_grid"}),
    "too many cores": (last(each(**{"CORE COUNT": lambda row: 500})), {"cores_outside_grid"}),
    "one nanosecond": (
        last(each(**{KERNEL: lambda row: 1})),
        {"kernels_too_short", "kernels_below_their_cores"},
    ),
    "another chip's clock": (scaled(1 / 1.2, KERNEL, FIRMWARE, GAP, *OF_CORES), {"clock_of_another_chip"}),
}

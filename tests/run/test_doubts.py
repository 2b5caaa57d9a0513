"""A report whose figures contradict each other says so; one that does not is left in peace."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.doubtful_rows import (
    CALL,
    END,
    FIRMWARE,
    GAP,
    KERNEL,
    LIES,
    OF_CORES,
    PASSES,
    START,
    each,
    last,
    number,
    scaled,
    wrapped,
)  # fmt: skip
from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import block
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.doubt import NOT_OF_TIMES, Doubt, doubt_at, some_lines
from ttnn_mcp.run.doubts import doubts_of
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.run import Run


@pytest.fixture
def examined(tmp_path):
    """What `run.scope` doubts of rows that were changed, and the run."""

    def examine(change, passes=PASSES, devices=1, **window):
        rows = performance_rows(block(devices), passes)
        change(rows)
        path = write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))
        run = Run("x", "x", Performance(read_performance_csv(path)), None)
        return [doubt.code for doubt in run.scope(**window).doubts], run

    return examine


@for_all("devices", [1, 2])
@for_all("window", [{}, {"iteration": "all"}, {"iteration": 1}])
def test_a_report_that_agrees_with_itself_is_not_doubted(examined, devices, window):
    assert examined(lambda rows: None, devices=devices, **window)[0] == []


@for_all("lie", LIES)
def test_a_lie_is_doubted_by_its_name(examined, lie):
    change, codes = LIES[lie]
    told, run = examined(change)
    assert set(told) == codes
    assert {*filter(None, run.scope().times_in_doubt.split(", "))} == codes - NOT_OF_TIMES


def passes(*scales):
    return [Iteration(cold=not place, kernel_scale=scale) for place, scale in enumerate(scales)]


@for_all(
    ("scales", "doubted"),
    [
        ((1, 1, 1, 1, 2), True),
        ((1, 1, 1, 1, 0.5), True),
        ((1, 1, 1, 1, 1.12), True),
        ((1, 1, 1, 1, 1.08), False),
        ((1, 2), True),
        ((1, 1), False),
        ((1, 1.05, 1.1, 1.15, 1.2, 1.25), False),  # a sequence that grows
        ((1, 1, 1, 2, 1), False),  # one odd pass beside it
    ],
)
def test_a_pass_unlike_those_beside_it_is_doubted(examined, scales, doubted):
    codes, run = examined(lambda rows: None, passes(*scales))
    assert codes == ["pass_unlike_others"] * doubted
    if scales == (1, 2):
        text = "iteration 2 has 142.0 us of kernels, those beside it 71.0 us"
        assert text in run.scope().window.doubts[0]


def test_passes_between_signposts_are_not_those_of_the_report(examined):
    """The third pass behind the mark is the fifth of the report, whose third is odd."""
    three, one, two = passes(1, 1, 2), Iteration(signposts=("mark", "end")), passes(1, 1, 1)[1:]
    assert examined(lambda rows: None, [*three, one, *two], start_signpost="mark")[0] == []


def test_passes_with_a_wrapped_counter_are_not_compared(examined):
    """What its op took is told from the ends of firmware: a pause before it counts as its time."""

    def change(rows):
        rows[-1].update({KERNEL: str(2**33), GAP: str(-(2**33))})
        rows[-1].update({name: str(number(rows[-1], name) + 200_000) for name in (START, END)})

    codes, run = examined(change)
    assert run.performance.impossible == 1
    assert run.scope().ops.numbers("kernel_ns").sum() > 1.1 * run.scope(iteration=4).ops.numbers("kernel_ns").sum()
    assert "pass_unlike_others" not in codes


def test_another_pass_than_the_odd_one_can_be_asked_for(examined):
    assert examined(lambda rows: None, passes(1, 1, 1, 1, 2), iteration=3)[0] == []
    assert examined(lambda rows: None, passes(1, 1, 1, 1, 2), iteration="all")[0] == []


@for_all("part", ["0", "1"])
def test_ops_of_sub_devices_may_run_in_each_others_gaps(examined, part):
    def change(rows):
        rows[-1].update({GAP: "9", "SUB DEVICE ID": part})
        each(**{"SUB DEVICE ID": lambda row: row.get("SUB DEVICE ID") or "0"})(rows)

    assert ("gaps_at_odds" in examined(scaled(1e3, GAP))[0]) is True
    assert ("gaps_at_odds" in examined(lambda rows: (scaled(1e3, GAP)(rows), change(rows)))[0]) == (part == "0")


def test_only_the_window_that_holds_the_odd_rows_carries_their_doubt(examined):
    change = last(each(**{"CORE COUNT": lambda row: 500}))
    assert examined(change)[0] == ["cores_outside_grid"]
    assert examined(change, iteration=1)[0] == []


def test_a_doubt_names_cells_and_figures(examined):
    _codes, run = examined(last(each(**{"CORE COUNT": lambda row: 500})))
    line = int(run.scope().ops.lines.max())
    said = run.scope().window.doubts
    assert said == (
        f"cores_outside_grid: 500 to 500 cores at 1 op (line {line}), of a grid of 64: bounds by cores are void",
    )
    assert run.scope().in_doubt == "the report contradicts itself: cores_outside_grid"


def test_what_is_odd_of_some_ops_leaves_the_sums_alone(examined):
    _codes, run = examined(lambda rows: None)
    scope = run.scope()
    critical = scope.critical
    doubted = scope.doubted((Doubt("beyond_peak", "one op"),))
    assert doubted.window.doubts == ("beyond_peak: one op",)
    assert (doubted.in_doubt, doubted.doubted(())) == ("", doubted)
    assert doubted.critical is critical


def test_false_cycles_tell_no_time(examined):
    _codes, run = examined(scaled(1e-3, KERNEL, FIRMWARE))
    assert run.performance.clock_ghz is None
    assert run.performance.cycles_false
    assert "durations look like us under a header of ns" in run.scope().window.doubts[0]
    assert "a column holds something else" in examined(scaled(0.02, KERNEL, FIRMWARE))[1].scope().window.doubts[0]
    assert run.chip.clock_ghz == 1.0  # the architecture's


@for_all(("ghz", "doubted"), [(0.5, True), (0.59, True), (0.61, False), (1.04, False), (1.06, True)])
def test_a_chip_may_run_five_per_cent_above_its_clock_and_above_that_of_an_idle_one(examined, ghz, doubted):
    codes, _run = examined(scaled(1 / ghz, KERNEL, FIRMWARE, GAP, *OF_CORES))
    assert codes == ["clock_of_another_chip"] * doubted


@for_all(("ghz", "doubted"), [(0.59, True), (0.61, False), (1.3, False)])
def test_without_an_architecture_no_known_chip_is_that_slow(examined, ghz, doubted):
    def change(rows):
        scaled(1 / ghz, KERNEL, FIRMWARE, *OF_CORES)(rows)
        each(**{"DEVICE ARCH": lambda row: "", "AVAILABLE WORKER CORE COUNT": lambda row: 110})(rows)

    assert ("clock_of_another_chip" in examined(change)[0]) == doubted


@for_all(
    ("cores", "ghz", "doubted"),
    [
        (64, 1.0, True),
        (64, 1.009, True),
        (64, 1.012, False),
        (110, 1.005, False),
        (65, 1.00011, False),
        (65, 1.00009, True),
    ],
)
def test_a_chip_with_the_clock_and_the_cores_of_another_is_doubted(examined, cores, ghz, doubted):
    def change(rows):
        scaled(1 / ghz, FIRMWARE)(rows)
        each(**{"DEVICE ARCH": lambda row: "blackhole", "AVAILABLE WORKER CORE COUNT": lambda row: cores})(rows)

    assert ("clock_of_another_chip" in examined(change)[0]) == doubted


def test_the_chip_whose_clock_and_cores_they_are_is_named(examined):
    def change(rows):
        scaled(1 / 1.35, FIRMWARE)(rows)
        each(**{"AVAILABLE WORKER CORE COUNT": lambda row: 110})(rows)

    told = " ".join(examined(change)[1].scope().window.doubts)
    assert "1.35 GHz and 110 cores are those of blackhole, not of wormhole_b0" in told


@for_all(("more", "doubted"), [(1, False), (2, True)])
@for_all("core", [*OF_CORES, "DEVICE KERNEL DURATION PER CORE MAX [ns]", "DEVICE ERISC KERNEL DURATION [ns]"])
def test_a_core_may_outlast_its_kernel_by_a_hundredth_and_a_ns(examined, core, more, doubted):
    changed = each(**{core: lambda row: number(row, KERNEL) * 101 // 100 + more})
    assert ("kernels_below_their_cores" in examined(changed)[0]) == doubted


def test_times_lost_after_the_window_are_not_of_it(examined):
    for change, iteration, doubted in (
        (lost(22), 1, False),
        (lost(22), "all", True),
        (lost(9), 2, True),
        (lost(9), 3, False),  # the last op of the pass before
        (both(lost(9), lost(12, **{KERNEL: "0"})), 3, True),
    ):
        assert ("times_lost" in examined(change, iteration=iteration)[0]) == doubted, iteration
    run = examined(lost(9))[1]
    scope = run.scope(iteration=3)
    others = replace(scope, window=scope.window.model_copy(update={"rows": 4}))  # numbered anew between signposts
    assert "times_lost" in [doubt.code for doubt in doubts_of(run.performance, others)]


def both(*changes):
    """One change after the other."""

    def change(rows):
        for each_change in changes:
            each_change(rows)

    return change


def lost(*places, **cells):
    """Rows at these places without a kernel time, and with these cells."""

    def change(rows):
        for place in places:
            rows[place].update({KERNEL: "", **cells})

    return change


def exchanged(rows, one, other):
    for name in (START, END):
        rows[one][name], rows[other][name] = rows[other][name], rows[one][name]


def replayed(rows):
    exchanged(rows, 2, 22)
    for row in rows:
        row["METAL TRACE ID"] = "1"


@for_all(
    "change",
    [
        lost(*range(5)),  # of the first pass
        lost(*range(20, 25), **{START: "", END: "", "METAL TRACE ID": "1"}),  # recorded by a trace, and not run
        replayed,
        lambda rows: rows[0].update({CALL: str(number(rows[0], CALL) + 5)}),
        lambda rows: each(**{CALL: rows.index})(rows),  # as before 2025
        lambda rows: rows[-1].update({CALL: ""}),
        each(**{START: lambda row: "", END: lambda row: "", "DEVICE ARCH": lambda row: ""}),
        each(**{"DEVICE ARCH": lambda row: "quasar"}),
    ],
)
def test_what_is_outside_the_window_or_not_known_is_no_doubt(examined, change):
    assert not {*examined(change)[0]} & {"times_lost", "not_in_order", "device_at_odds", "clock_of_another_chip"}


@for_all(
    ("column", "figure", "code", "doubted"),
    [
        (KERNEL, 99, "kernels_too_short", True),
        (KERNEL, 100, "kernels_too_short", False),
        ("CORE COUNT", 141, "cores_outside_grid", True),
        ("CORE COUNT", 140, "cores_outside_grid", False),
    ],
)
@for_all("grid", ["", "0"])
def test_the_shortest_kernel_and_the_largest_grid(examined, column, figure, code, doubted, **of):
    def change(rows):
        each(**{"AVAILABLE WORKER CORE COUNT": lambda row: of["grid"]})(rows)
        rows[-1][column] = str(figure)

    assert (code in examined(change)[0]) == doubted


@for_all(("beyond", "doubted"), [(-10, False), (10, True)])
def test_kernels_may_pass_their_wall_by_a_hundredth_and_a_microsecond(examined, beyond, doubted):
    def change(rows):
        first, kernels = number(rows[0], START), sum(number(row, KERNEL) for row in rows)
        for place, row in enumerate(rows):
            taken = number(row, END) - number(row, START)
            wall = round((kernels - 1_000 - beyond) / 1.01)
            start = first + (place if row is not rows[-1] else wall - taken)
            row.update({START: str(start), END: str(start + taken)})

    assert ("kernels_above_wall" in examined(change, iteration="all")[0]) == doubted


@for_all(
    ("ops", "lost", "cycles", "doubted"),
    [(20, 2, 50, False), (25, 2, 50, False), (25, 3, 50, True), (25, 1, 3_720, False), (25, 1, 3_780, True)],
)
@for_all(("cell", "place"), [("0", 0), ("", 0), ("0", 7), ("", 7)])
def test_a_tenth_of_the_times_and_a_hundredth_of_the_cycles_may_be_lost(examined, cell, place, doubted, **of):
    """Of 25 ops of about 375,000 cycles; where the report begins with them, too."""
    ops, lost, cycles = of["ops"], of["lost"], of["cycles"]

    def change(rows):
        del rows[ops:]
        others = sum(number(row, END) - number(row, START) for row in rows[:place] + rows[place + 1 :])
        scale = others / 371_250 if lost == 1 else 1
        for row in rows[place : place + lost]:
            row.update({KERNEL: cell, START: str(number(row, END) - round(cycles * scale))})

    codes, run = examined(change, iteration="all")
    assert ("times_lost" in codes) == doubted
    assert (f"times_lost: {lost} of {ops} ops ran" in " ".join(run.scope("all").window.doubts)) == doubted


@for_all(("over", "known", "doubted"), [(-10, 2, False), (10, 2, True), (10, 1, False)])
def test_a_kernel_may_outlast_its_cores_by_a_tenth_and_200_ns(examined, over, known, doubted):
    """Where two columns say what cores took: one may be of a core that ends early."""
    every = [*OF_CORES, "DEVICE KERNEL DURATION PER CORE MAX [ns]", "DEVICE ERISC KERNEL DURATION [ns]"]

    def change(rows):
        took = round((number(rows[-1], KERNEL) - 200 - over) / 1.1)
        rows[-1].update({name: str(took) if place < known else "" for place, name in enumerate(every)})

    assert examined(change)[0] == ["kernels_above_their_cores"] * doubted


def left(before, row):
    """What cycles, which are ns here, leave between two kernels that end with their firmware."""
    return number(row, START) - number(before, END) + number(row, FIRMWARE) - number(row, KERNEL)


def slack(*gaps):
    return 0.005 * sum(map(abs, gaps)) + 600


def gaps_changed(examined, change):
    """Whether gaps are doubted, all in one window, that `change` sets by (place, what cycles leave)."""
    return "gaps_at_odds" in gaps_told(examined, change)


def gaps_told(examined, change):

    def changed(rows):
        for place, (before, row) in enumerate(pairwise(rows)):
            gap = change(place, left(before, row))
            row[GAP] = "" if gap is None else str(gap)

    _codes, run = examined(changed, [Iteration(before_ns=20_000)] * 5, iteration="all")
    return " ".join(run.scope("all").window.doubts)


@for_all(
    ("short", "change", "counted"), [(13, lambda gap: gap + slack(gap) + 10, 14), (2, lambda gap: gap + 300, 22)]
)
def test_gaps_at_odds_are_counted(examined, short, change, counted):
    """Of 24: where most are short, these and what is too long; else, of all together, those that are not short."""

    def changed(place, gap):
        if place < short:
            return gap - slack(gap) - 10
        return change(gap) if counted > short + 1 or place == short else gap

    assert f"between kernels at {counted} ops" in gaps_told(examined, changed)


@for_all(("ns", "doubted"), [(-10, False), (10, True)])
@for_all("beyond", [lambda gap, ns: gap + slack(gap) + ns, lambda gap, ns: -slack(gap) - ns])
def test_one_gap_may_be_half_a_hundredth_and_600_ns_too_long_or_below_0(examined, beyond, ns, doubted):
    """Where rows are missing before it, it is shorter than what these leave, and never below 0."""
    assert gaps_changed(examined, lambda place, gap: beyond(gap, ns) if place == 14 else gap) == doubted


@for_all(("short", "doubted"), [(12, False), (13, True)])
@for_all("ns", [-10, 10])
def test_half_of_the_gaps_may_come_after_missing_rows(examined, short, doubted, ns):
    cut = gaps_changed(examined, lambda place, gap: gap - slack(gap) - ns if place < short else gap)
    assert cut == (doubted or ns < 0)  # of 24; those that are not short count with all others


@for_all(("ns", "doubted"), [(-10, False), (10, True)])
@for_all("sign", [-1, 1])
@for_all("short", [0, 2])
def test_all_gaps_may_be_off_by_as_much_as_one_and_one_more_per_missing_row(examined, sign, short, ns, doubted):
    blank = short // 2
    every = []
    gaps_changed(examined, lambda place, gap: every.append(gap) or gap)
    others = every[short : len(every) - blank]
    off = sign * (slack(*others) + 600 * short + ns) / len(others)

    def change(place, gap):
        return gap - slack(gap) - 10 if place < short else None if place >= len(every) - blank else gap + off

    assert gaps_changed(examined, change) == doubted


@for_all(("share", "doubted"), [(0.049, False), (0.051, True)])
def test_missing_rows_may_take_a_twentieth_of_the_wall(examined, share, doubted):
    """Of the time from the end of the first op to that of the last."""

    def change(rows):
        wall = number(rows[-1], END) - number(rows[0], END)
        for name in (START, END):
            rows[-1][name] = str(number(rows[-1], name) + round(share * wall / (1 - share)))

    codes, _run = examined(change, [Iteration(before_ns=1_500)] * 5, iteration="all")
    assert codes == ["gaps_at_odds"] * doubted


@for_all(("ns", "doubted"), [(0, False), (1_000, True)])
def test_gaps_may_be_those_between_firmwares(examined, ns, doubted):
    def change(rows):
        for before, row in pairwise(rows):
            row[GAP] = str(number(row, START) - number(before, END) + (ns if row is rows[12] else 0))

    assert ("gaps_at_odds" in examined(change, iteration="all")[0]) == doubted


def of_small_counters(*starts):
    """A change: the cycles of each device begin where they are told to."""

    def change(rows):
        for device, start in enumerate(starts):
            its = [row for row in rows if row["DEVICE ID"] == str(device)]
            first = number(its[0], START)
            for row in its:
                row.update({name: str(number(row, name) - first + start) for name in (START, END)})

    return change


def later_by(rows, cycles):
    for row in rows[12:]:
        row.update({name: str(number(row, name) + cycles) for name in (START, END)})


def without_cycles(*places):
    return lambda rows: [rows[place].update({START: "", END: ""}) for place in places]


def without_cycles_where_they_fall(rows):
    falls = next(place for place, (a, b) in enumerate(pairwise(rows), 1) if number(b, START) < number(a, START))
    without_cycles(falls)(rows)


def wrapped_within_the_last(rows):
    away = 2**32 - 500 - number(rows[-1], START)
    for row in rows:
        row.update({name: str((number(row, name) + away) % 2**32) for name in (START, END)})


def in_turn(*changes):
    return lambda rows: [change(rows) for change in changes] and None


@for_all(
    ("devices", "change", "doubts"),
    [
        (1, of_small_counters(5), set()),
        (2, of_small_counters(2**33, 2**33 + 9_000), set()),  # the two run at the same time
        (2, of_small_counters(2**32 - 10**9, 5), set()),  # each device has a counter of its own
        (
            1,
            in_turn(of_small_counters(2**34), lambda rows: later_by(rows, -(2**33))),
            {"not_in_order", "gaps_at_odds"},
        ),
        (
            1,
            in_turn(wrapped, without_cycles_where_they_fall),
            {"counter_wrapped", "not_in_order", "gaps_at_odds"},
        ),
        (1, wrapped_within_the_last, {"counter_wrapped", "ends_before_start"}),
        (1, without_cycles(2, 7), {"gaps_at_odds"}),  # as where rows are missing
        (1, lambda rows: rows[7].update({START: rows[7][END], KERNEL: "0"}), {"ends_before_start"}),
        (1, scaled(0.02, KERNEL, FIRMWARE), {"no_such_clock", "kernels_too_short", "kernels_below_their_cores"}),
        (1, each(**{KERNEL: lambda row: 3 * number(row, FIRMWARE)}), {"told_from_firmware"}),
        (1, lambda rows: rows[7].update({KERNEL: str(10**9), GAP: "9"}), {"told_from_firmware"}),
    ],
)
def test_what_cycles_say_and_do_not_say(examined, devices, change, doubts):
    assert set(examined(change, devices=devices, iteration="all")[0]) == doubts


@for_all(
    ("left", "places", "doubted"),
    [(25, 9, False), (25, 10, True), (35, 10, True), (35, 9, False), (10, 3, False), (10, 4, True)],
)
def test_ops_that_are_near_may_change_places(examined, left, places, doubted):
    """By nine places, or by less than 0.4 of the ops."""

    def change(rows):
        del rows[left:]
        one, other = rows[3], rows[3 + places]
        for name in (START, END, FIRMWARE):
            one[name], other[name] = other[name], one[name]

    every = [Iteration(cold=not place) for place in range(7)]
    assert ("not_in_order" in examined(change, every, iteration="all")[0]) == doubted


@for_all(("of_another", "doubted"), [(True, True), (False, False)])
def test_a_device_with_the_cycles_of_another_was_copied(examined, of_another, doubted):
    def change(rows):
        one, other = ([row for row in rows if row["DEVICE ID"] == device] for device in "01")
        for row, its in zip(one, other, strict=True):
            row.update({name: str(number(its, name) + 1 - of_another) for name in (START, END)})

    assert ("ops_twice" in examined(change, devices=2)[0]) == doubted


@for_all(
    ("share", "arch", "doubted"),
    [(1.041, "wormhole_b0", False), (1.06, "wormhole_b0", True), (1.4, "", False), (1.43, "", True)],
)
def test_no_device_of_a_mesh_is_faster_than_its_chip(examined, share, arch, doubted):
    """A chip that is not named may be the fastest, of 1.35 GHz."""

    def change(rows):
        each(**{"DEVICE ARCH": lambda row: arch})(rows)
        scaled(1 / share, KERNEL, FIRMWARE, GAP, *OF_CORES)([row for row in rows if row["DEVICE ID"] == "1"])

    passes = [Iteration(cold=not place, kernel_scale=4) for place in range(5)]
    codes, run = examined(change, passes, devices=2)
    assert ("clock_of_another_chip" in codes) == doubted
    assert ("on device 1" in " ".join(run.scope().window.doubts)) == doubted


@for_all(
    ("one", "other", "doubted"),
    [
        ("wormhole_b0", "blackhole", True),
        ("quasar", "grendel", True),
        ("wormhole_b0", "ARCH.WORMHOLE_B0", False),
    ],
)
def test_a_model_runs_on_one_kind_of_chip(examined, one, other, doubted):
    def change(rows):
        each(**{"DEVICE ARCH": lambda row: other if row is rows[-1] else one})(rows)

    _codes, run = examined(change)
    assert ("DEVICE ARCH names several chips" in " ".join(run.scope().window.doubts)) == doubted


@for_all(
    ("device", "rows_left", "doubted"),
    [(63, 25, True), (64, 25, False), (130, 25, False), (63, 10, True), (63, 9, False)],
)
def test_a_call_count_names_its_device(examined, device, rows_left, doubted):
    def change(rows):
        rows[-1][CALL] = str(number(rows[-1], CALL) + device)
        del rows[: len(rows) - rows_left]
        rows.append({"OP CODE": "(torch) numel", "OP TYPE": "python_fallback", CALL: "5"})  # of no device

    assert ("device_at_odds" in examined(change, iteration="all")[0]) == doubted


@for_all(("odd", "doubt"), [(1, "cycles_at_odds"), (2, "clocks_differ")])
def test_a_tenth_of_the_rows_may_be_at_odds_before_the_clock_is(examined, odd, doubt):
    """Of the 50 rows of a report, 5 are a tenth."""
    every = [Iteration(cold=True), *[Iteration()] * 9]

    def change(rows):
        for row in rows[-len(rows) // 10 * odd + (odd == 2) :]:
            row[FIRMWARE] = str(number(row, FIRMWARE) * 2)

    assert doubt in examined(change, every)[0]


@for_all(("cycles_per_us", "doubted"), [(1_008, False), (1_030, True)])
def test_cycles_may_be_one_per_cent_and_forty_off(examined, cycles_per_us, doubted):
    def longer(row):
        return number(row, END) - number(row, FIRMWARE) * cycles_per_us // 1_000

    codes, _run = examined(last(each(**{START: longer})))
    assert codes == ["cycles_at_odds"] * doubted


@for_all(("again", "doubted"), [(False, False), (True, True)])
def test_doubled_rows_are_doubted(examined, again, doubted):
    def change(rows):
        if again:
            rows.append(dict(rows[-1]))

    assert ("ops_twice" in examined(change, iteration="all")[0]) == doubted


def test_a_file_that_was_written_twice_is_doubted_in_any_window(examined):
    def doubled(rows):
        rows += [dict(row) for row in rows]

    assert "ops_twice" in examined(doubled)[0]
    assert examined(doubled, iteration=1)[0] == []  # the rows that came first


@for_all(("around_ns", "count", "doubted"), [(2_000, 10, False), (2_001, 10, True), (2_001, 9, False)])
def test_firmware_that_outlasts_all_kernels_is_doubted(examined, around_ns, count, doubted):
    """Of ten ops the closest tenth is the second closest at most, and one alone was closer."""

    def change(rows):
        del rows[count:]
        for row in rows:
            firmware = number(row, KERNEL) + around_ns
            row.update({FIRMWARE: str(firmware), START: str(number(row, END) - firmware)})

    codes, run = examined(change, iteration="all")
    assert codes == ["kernels_below_firmware"] * doubted
    assert ("firmware runs 2.0 us longer" in " ".join(run.scope("all").window.doubts)) == doubted


@for_all(("close", "around_ns", "doubted"), [(1, 2_001, True), (2, 10_000, False)])
def test_a_tenth_of_the_ops_may_be_closer(examined, close, around_ns, doubted):
    """Of eleven ops that tenth ends at the second."""

    def change(rows):
        del rows[11:]
        for place, row in enumerate(rows):
            firmware = number(row, KERNEL) + (800 if place < close else around_ns)
            row.update({FIRMWARE: str(firmware), START: str(number(row, END) - firmware)})

    assert ("kernels_below_firmware" in examined(change, iteration="all")[0]) == doubted


@for_all(("count", "told"), [(1, "1 op (line 2)"), (3, "3 ops (lines 2, 3, 4)"), (4, "4 ops (lines 2, 3, 4, ...)")])
def test_three_lines_are_named(examined, count, told):
    rows = examined(lambda rows: None)[1].performance.rows
    chosen = np.arange(len(rows)) < count
    assert some_lines(rows, chosen) == told
    assert doubt_at(rows, chosen, "ops_twice", "twice").what == f"twice at {told}"
    assert doubt_at(rows, chosen, "ops_twice", "twice", "copied").what == f"twice at {told}: copied"


@for_all(("session", "doubted"), [(2, False), (1, True)])
def test_replays_with_one_id_are_doubted(examined, session, doubted):
    every = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(3, 1)), Iteration(trace=(3, session))]
    for window in ({}, {"iteration": "all"}):
        assert ("replays_alike" in examined(lambda rows: None, every, **window)[0]) == doubted


def test_only_the_window_of_the_replays_alike_is_doubted(examined):
    sessions = [Iteration(trace=(3, session)) for session in (1, 2, 2)]
    every = [Iteration(cold=True), Iteration(capture=True), *sessions]
    windows = [{"iteration": 1}, {"iteration": 2}]
    doubted = ["replays_alike" in examined(lambda rows: None, every, **window)[0] for window in windows]
    assert doubted == [False, True]


@for_all(("parts", "doubted"), [("00", True), ("01", False)])
def test_ops_at_one_time_need_sub_devices(examined, parts, doubted):
    def overlap(rows):
        base = number(rows[0], END)
        for place, row in enumerate(rows):
            row[END] = str(base + 20_000 + place)
            row[START] = str(number(row, END) - number(row, FIRMWARE))
            row["SUB DEVICE ID"] = parts[place % 2]

    codes, run = examined(overlap, iteration="all")
    assert ("kernels_above_wall" in codes) == doubted
    ops = run.scope("all").ops
    wall = ops.numbers("fw_end_cycle").max() - ops.numbers("fw_start_cycle").min()  # at 1 GHz
    figures = f"{ops.numbers('kernel_ns').sum() / 1e3:,.1f} us in the {wall / 1e3:,.1f} us that cycles leave"
    assert (figures in " ".join(run.scope("all").window.doubts)) == doubted

"""What the log tells of a new experiment: copies, repeats, and a baseline that moved."""

from dataclasses import replace

from tests.experiments.test_story import LOOP, chain
from tests.experiments.writer import experiment
from tests.for_all import for_all
from ttnn_mcp.experiments.doubts import doubts_of_log, overwritten
from ttnn_mcp.experiments.experiment import RunSeen
from ttnn_mcp.experiments.story import story_of

AGAIN = ["wall_measured_again"]


def codes(new, known=LOOP, *, part=False):
    return [reason.code for reason in doubts_of_log(known, story_of(known, []), new, part=part)]


def new(baseline, candidate, kernel_ns=700_000, before=None, after=None, **more):
    made = experiment("x", baseline=baseline, candidate=candidate, **more)
    first = replace(made.baseline, kernel_ns=800_000, **(before or {}))
    return replace(made, baseline=first, candidate=replace(made.candidate, kernel_ns=kernel_ns, **(after or {})))


@for_all(
    ("on_record", "now", "doubts"),
    [
        ({}, {}, []),
        ({}, {"wall_before_ms": 9.0, "wall_after_ms": 8.0}, []),
        (
            {"wall_after_ms": 4.0},
            {"wall_before_ms": 4.07, "wall_after_ms": 4.0},
            [],
        ),  # 2 % between two measurements
        ({"wall_after_ms": 4.0}, {"wall_before_ms": 4.09, "wall_after_ms": 4.0}, AGAIN),
        ({"wall_after_ms": 4.0}, {"wall_before_ms": 4.09, "wall_after_ms": 3.93}, AGAIN),
        ({"wall_after_ms": 4.0}, {"wall_before_ms": 4.09, "wall_after_ms": 3.91}, []),  # it beats the record, too
        ({"wall_after_ms": 4.0}, {"wall_before_ms": 4.2, "wall_after_ms": 4.0, "noise_share": 0.06}, []),
        ({"wall_after_ms": 4.0}, {"wall_before_ms": 7.9, "wall_after_ms": 3.0}, []),
        ({"wall_after_ms": 4.0}, {"wall_before_ms": 8.1, "wall_after_ms": 3.0}, AGAIN),
        ({"wall_after_ms": 4.0}, {"wall_before_ms": 2.1, "wall_after_ms": 1.0}, []),
        ({"wall_after_ms": 4.0}, {"wall_before_ms": 1.9, "wall_after_ms": 1.0}, AGAIN),
        ({"wall_after_ms": 4.0}, {}, []),
        ({"wall_after_ms": 4.0}, {"wall_before_ms": 9.0}, []),
        ({"wall_after_ms": 4.0}, {"wall_after_ms": 8.0}, []),
        ({"wall_before_ms": 9.0, "wall_after_ms": 4.0}, {"wall_before_ms": 9.0, "wall_after_ms": 8.0}, AGAIN),
        (
            {"wall_after_ms": 4e3, "flags": ("wall_above_window: us",)},
            {"wall_before_ms": 4, "wall_after_ms": 3},
            [],
        ),
        (
            {"wall_after_ms": 4e-3, "flags": ("wall_below_kernels: s",)},
            {"wall_before_ms": 4, "wall_after_ms": 3},
            [],
        ),
        ({"wall_after_ms": 4.0, "flags": ("not_engaged: x",)}, {"wall_before_ms": 9, "wall_after_ms": 8}, AGAIN),
    ],
)
def test_a_new_run_from_the_best_one_is_not_doubted_but_for_a_wall_time_unlike_that_on_record(
    on_record, now, doubts
):
    known = [replace(one, **on_record) if one.candidate.id == "d" else one for one in LOOP]
    assert codes(new("d", "z", **now), known) == doubts
    assert codes(new("d", "z", before={"reading": "another part"}, **now), known) == []
    later = [*known, *chain(("d", "y", "revert", 900_000, {"wall_before_ms": 5, "wall_after_ms": 6}))]
    if doubts:  # the latest on record counts
        assert codes(new("d", "z", **{**now, "wall_before_ms": 5.0}), later) == []


@for_all(("kernel_ns", "doubted"), [(795_000, False), (797_000, True), (900_000, True)])
def test_a_baseline_that_is_not_the_best_is_doubted_where_the_candidate_does_not_beat_the_best(kernel_ns, doubted):
    assert codes(new("a", "z", kernel_ns)) == (["baseline_moved"] if doubted else [])


@for_all(
    ("candidate", "role"),
    [
        ("c", "candidate of experiment 2: revert"),
        ("e", "candidate of experiment 4: inconclusive"),
        ("b", "baseline of experiment 3: keep"),
        ("a", "baseline of experiment 1: keep"),
    ],
)
def test_a_candidate_on_record_proves_nothing_again(candidate, role):
    (reason,) = doubts_of_log(LOOP, story_of(LOOP, []), new("d", candidate))
    assert (reason.code, reason.what) == ("recorded_before", f"the same run as the {role}")


def test_another_file_with_the_same_times_is_the_same_measurement():
    known = [replace(one, candidate=replace(one.candidate, reading=f"times of {one.candidate.id}")) for one in LOOP]
    assert codes(new("d", "z", after={"reading": "times of e"}), known) == ["recorded_before"]
    assert codes(new("d", "z", after={"reading": "others"}), known) == []


def test_a_pcc_that_was_missing_may_be_given_later():
    lacking = chain(("a", "b", "inconclusive", 700_000, {"pcc": None}))
    assert codes(new("a", "b"), lacking) == []
    assert codes(new("a", "b", pcc=None), lacking) == ["recorded_before"]
    assert codes(new("q", "b"), lacking)[0] == "recorded_before"


@for_all(
    ("earlier", "now", "known"),
    [
        ({}, {}, ["recorded_before"]),  # both have a PCC
        ({"pcc": None}, {}, []),
        ({"pcc": None}, {"pcc": None}, ["recorded_before"]),
        ({}, {"wall_after_ms": 5.0}, []),
        ({"wall_after_ms": 5.0}, {"wall_after_ms": 5.0}, ["recorded_before"]),
    ],
)
def test_what_an_undecided_record_lacked_may_be_given_later(earlier, now, known):
    lacking = chain(("a", "b", "inconclusive", 700_000, earlier))
    assert codes(new("a", "b", **now), lacking) == known


def test_what_was_decided_is_not_completed_by_a_pcc():
    decided = chain(("a", "b", "revert", 900_000, {"pcc": None}))
    assert codes(new("a", "b"), decided) == ["recorded_before"]


def test_the_baseline_as_its_own_candidate_is_told_by_the_comparison():
    assert codes(new("d", "d")) == []


def test_the_program_of_the_baseline_is_no_try_of_another():
    known = chain(("a", "b", "revert", 900_000, {}))
    known = [replace(one, candidate=replace(one.candidate, program="p")) for one in known]
    assert codes(new("a", "z", before={"program": "p"}, after={"program": "p"}), known) == []
    assert codes(new("a", "z", before={"program": "q"}, after={"program": "p"}), known) == ["tried_before"]
    assert codes(new("a", "z", before={"program": "q"}, after={"program": "r"}), known) == []


def test_the_same_run_again_is_told_as_a_record_and_as_no_other_try():
    known = chain(("a", "b", "revert", 900_000, {}))
    known = [replace(one, candidate=replace(one.candidate, program="p")) for one in known]
    assert codes(new("a", "b", after={"program": "p"}), known) == ["recorded_before"]


def test_a_part_of_the_best_run_is_no_run_that_beats_it():
    known = chain(("a", "b", "keep", 800_000, {}))
    known = [replace(one, candidate=replace(one.candidate, reading="whole")) for one in known]
    part = new("a", "b", 100_000, after={"reading": "part"}, change_share=-0.31)
    assert codes(part, known, part=True) == ["baseline_moved"]
    assert codes(new("a", "b", 100_000), known) == ["recorded_before", "baseline_moved"]
    assert (codes(new("a", "c", 100_000), known, part=True), codes(new("a", "c", 100_000), known)) == (
        ["baseline_moved"],
        [],
    )


def measured_again(kernel_ns, *, story=None, program="p", run="fresh", of_known="p"):
    known = [replace(one, candidate=replace(one.candidate, program=of_known)) for one in LOOP[2:3]]
    made = new(run, "z", 100_000)
    made = replace(made, baseline=replace(made.baseline, program=program, kernel_ns=kernel_ns))
    return [reason.code for reason in doubts_of_log(known, story, made)]


@for_all(
    ("more", "doubts"),
    [
        ({}, ["baseline_measured_again"]),
        ({"story": story_of(LOOP, [])}, ["baseline_measured_again"]),
        ({"run": "d"}, []),  # the run itself: another part of it
        ({"program": "q"}, []),
        ({"program": None, "of_known": None}, []),  # of an earlier version, which told no programs
    ],
)
def test_only_the_program_of_another_run_is_measured_again(more, doubts):
    assert measured_again(900_000, **more) == doubts


def test_another_stage_of_the_same_runs_is_another_reading():
    known = chain(("a", "b", "inconclusive", 700_000, {}))
    known = [replace(one, candidate=replace(one.candidate, reading="prefill")) for one in known]
    decode = new("a", "b", after={"reading": "decode"}, change_share=-0.31)
    assert codes(decode, known, part=True) == []
    unlike = new(
        "a", "b", after={"reading": "decode"}
    )  # of whole runs on record: as large a change is the same part
    assert codes(unlike, known, part=True) == ["recorded_before"]
    assert codes(new("a", "b", after={"reading": "prefill"}), known, part=True) == ["recorded_before"]
    assert codes(new("a", "b", after={"reading": "decode"}), known) == ["recorded_before"]
    assert codes(decode, known) == ["recorded_before"], "no part"
    again = new("a", "b", after={"reading": "prefill"}, change_share=-0.31)
    assert codes(again, known, part=True) == ["recorded_before"], "the same times"


@for_all(("verdict", "doubts"), [("revert", ["tried_before"]), ("inconclusive", ["tried_before"]), ("keep", [])])
def test_the_luckiest_of_several_readings_of_one_program_proves_nothing(verdict, doubts):
    known = chain(("a", "b", verdict, 790_000, {}))
    known = [replace(one, candidate=replace(one.candidate, program="p")) for one in known]
    best = "b" if verdict == "keep" else "a"
    assert codes(new(best, "z", after={"program": "p"}), known) == doubts


@for_all(("kernel_ns", "doubts"), [(803_900, []), (804_100, ["baseline_measured_again"])])
def test_a_baseline_measured_again_may_not_be_slower_than_on_record(kernel_ns, doubts):
    known = [replace(one, candidate=replace(one.candidate, program="p")) for one in LOOP[2:3]]
    again = {"program": "p", "kernel_ns": kernel_ns}
    made = new("fresh", "z")
    made = replace(made, baseline=replace(made.baseline, **again))
    reasons = [*doubts_of_log(known, None, made)]
    assert [reason.code for reason in reasons] == doubts
    for reason in reasons:
        assert reason.what == "the baseline's program took 0.8 ms in run d, 0.8041 ms now"


def test_the_best_run_is_no_moved_baseline_whatever_a_doubtful_reading_of_its_program_said():
    lucky = chain(("d", "l", "inconclusive", 10_000, {"flags": ("zero_times: all",)}))
    known = [*LOOP, *lucky]
    known = [replace(one, candidate=replace(one.candidate, program="p")) for one in known]
    made = new("d", "z")
    made = replace(made, baseline=replace(made.baseline, program="p"))
    assert "baseline_measured_again" not in codes(made, known)
    other = replace(made, baseline=replace(made.baseline, id="fresh", kernel_ns=500_000, performance=None))
    assert [reason.code for reason in doubts_of_log(lucky, None, other)] == []


def test_a_report_that_was_overwritten_is_noticed():
    same_file = RunSeen("new", "new", "/reports/b.csv", None, 1, True)
    assert "experiment 1 that file held run b" in overwritten(LOOP, same_file)
    assert overwritten(LOOP, replace(same_file, id="b")) is None
    assert overwritten(LOOP, replace(same_file, performance="/reports/other.csv")) is None
    nowhere = [replace(one, candidate=replace(one.candidate, performance=None)) for one in LOOP]
    assert overwritten(nowhere, replace(same_file, performance=None)) is None

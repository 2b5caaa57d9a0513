"""host-calls-inside: host rows between the device ops of a warm window."""

from __future__ import annotations

import pytest

from tests.checks.asking import case_of_reports, real_case
from tests.checks.rows import COLD_THEN_WARM, ONE_PASS, pass_time
from tests.for_all import for_all
from tests.profiles import Program, header_of, performance_rows, write_rows
from tests.profiles.ops import unary
from tests.shared_reports import CLIP, SEGFORMER

OPS = 4


def program(gap_ns=400_000, kernel_ns=100_000):
    made = Program("wormhole_b0")
    for place in range(OPS):
        x, y = (made.tensor([1, 1, 32, 32 * (place + 1)]) for _ in range(2))
        op = unary("RELU", x, y, kernel_ns)
        op.gap_ns = gap_ns
        made.call("ttnn.relu", (x,), (y,), (op,))
    return made


def host_row(name, start, took=7_000):
    times = {"HOST START TS": str(start), "HOST END TS": str(start + took), "HOST DURATION [ns]": str(took)}
    return {"OP CODE": name, "OP TYPE": "python_fallback", "GLOBAL CALL COUNT": "", **times}


def case(folder, calls, iterations=COLD_THEN_WARM, **how):
    """`calls` by the op of the last iteration in front of which they stand (OPS: behind the last one)."""
    rows = performance_rows(program(**how), iterations)
    first = len(rows) - OPS
    for place in sorted(calls, reverse=True):
        at = first + place
        start = int(rows[min(at, len(rows) - 1)]["HOST START TS"])
        rows[at:at] = [host_row(name, start) for name in calls[place]]
    return case_of_reports(write_rows(folder / "ops_perf_results_1.csv", rows, header_of(rows, "C7")))


def test_the_gaps_with_host_calls_in_them_may_go(check, tmp_path):
    at = case(tmp_path, {1: ["(torch) softmax"], 3: ["(torch) reshape", "(torch) reshape"]})
    outcome = check.ask(at)
    claim = outcome.claim
    assert claim.rows.tolist() == [1, 3]
    assert claim.at_most_ns.tolist() == [0, 0]
    assert claim.gap_ns == (0.0, pytest.approx(2 * (400_000 - 1_000)))
    assert claim.claim == (
        "Host calls lie between device ops (3x: (torch) reshape, (torch) softmax), in gaps of 800 us together; "
        f"longest before line {at.line(1)}"
    )
    assert [one.unit for one in claim.evidence] == ["ns", "ns", "ns"]
    assert claim.evidence[-1].value == 7_000
    assert claim.evidence[-1].row == at.line(1) - 1
    texts = (claim.claim, claim.assumption, claim.fix, claim.verify, claim.caveat)
    assert all(len(text) <= most for text, most in zip(texts, (200, 120, 260, 120, 160), strict=True))


def test_a_claim_names_three_kinds_of_calls(check, tmp_path):
    names = [f"(torch) {name}" for name in "aabbccd"]
    text = check.ask(case(tmp_path, {2: names})).claim.claim
    assert "(7x: (torch) a, (torch) b, (torch) c), in gaps" in text


def test_the_longest_gap_comes_first(check, tmp_path):
    made = {1: ["(torch) a"], 2: ["(torch) b"]}
    at = case(tmp_path, made)
    assert check.ask(at).claim.evidence[0].row == at.line(1)


@for_all("place", [0, OPS], ids=["before the first op", "after the last op"])
def test_what_gives_the_input_and_reads_the_result_is_left_alone(check, tmp_path, place):
    assert check.ask(case(tmp_path, {place: ["(torch) contiguous"]})).status == "not_applicable"


def test_a_cold_pass_cannot_tell(check, tmp_path):
    outcome = check.ask(case(tmp_path, {1: ["(torch) softmax"]}, ONE_PASS))
    assert outcome.status == "cannot_tell"
    assert "compile time" in outcome.why


def test_one_percent_of_the_window_is_the_line(check, tmp_path):
    """4 x 100 us of kernels: 4 us of gap beside the microsecond of a launch."""
    check.pair(
        lambda gap: case(tmp_path / str(gap), {1: ["(torch) softmax"]}, gap_ns=gap), silent=4_990, fires=5_010
    )


def test_gaps_of_negative_length_save_nothing(check, tmp_path):
    at = case(tmp_path, {1: ["(torch) a"]}, gap_ns=-200)
    assert check.ask(at).status == "clean"


def test_a_run_without_host_rows_is_not_applicable(check):
    made = Program("wormhole_b0")
    pass_time(made, 1000)
    assert check.ask(made).status == "not_applicable"


@for_all("name", [CLIP, SEGFORMER])
def test_real_host_rows_stand_before_and_after(check, name):
    """SegFormer has 780 of them in front of its first op and one behind the last."""
    assert check.ask(real_case(name)).status == "not_applicable"

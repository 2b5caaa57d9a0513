"""Verdicts on what a script measured."""

import json

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import QuestionRefused, ReportMissing
from ttnn_mcp.replay.results import is_result, judged, read_results

BASE = {
    "name": "as profiled",
    "settings": {},
    "outcome": "measured",
    "median_us": 100.0,
    "source": "device profiler",
}


def tried(median_us, noise_share=0.0, pcc=0.9999, **more):
    return {
        **BASE,
        "name": f"a={median_us}",
        "median_us": median_us,
        "noise_share": noise_share,
        "pcc": pcc,
        **more,
    }


FACTS = {
    "line": 3,
    "op": "Matmul",
    "signature": "0" * 16,
    "tuned": "1" * 16,
    "arch": "wormhole_b0",
    "clock_ghz": 1.0,
    "kernel_us": 100.0,
    "floor_us": 10.0,
    "mode": "measured",
}


@pytest.fixture
def of(tmp_path):
    def results(*candidates, base=None, **more):
        document = {
            "format": "ttnn-mcp replay 1",
            **FACTS,
            "candidates": [base or tried(100.0), *candidates],
            **more,
        }
        path = tmp_path / "replay.json"
        path.write_text(json.dumps(document))
        return judged(read_results(path))

    return results


def verdict(judgement, place=1):
    return judgement.verdicts[place][1]


@for_all(
    ("us", "noise", "said"),
    [(99.5, 0.0, "alike"), (99.4, 0.0, "faster"), (100.5, 0.0, "alike"), (100.6, 0.0, "slower"),
     (95.0, 0.05, "alike"), (94.9, 0.05, "faster")],
)  # fmt: skip
def test_a_difference_within_the_noise_of_either_is_none(of, us, noise, said):
    assert verdict(of(tried(us, noise))) == said
    assert verdict(of(tried(us), base=tried(100.0, noise))) == said


@for_all(("us", "said"), [(10.0, "faster"), (9.9, "impossible")])
def test_a_time_below_the_floor_of_the_chip_is_not_believed(of, us, said):
    judgement = of(tried(us))
    assert verdict(judgement) == said
    assert (judgement.winner is None) == (said == "impossible")


@for_all(
    ("pcc", "base", "said"),
    [(0.99, 0.9999, "faster"), (0.9899, 0.9999, "wrong result"), (0.979, 0.98, "faster"),
     (0.9789, 0.98, "wrong result"), (0.9895, 0.99, "wrong result"), (0.5, None, "wrong result"), (None, 0.9999, "faster")],
)  # fmt: skip
def test_a_result_further_from_torch_is_wrong(of, pcc, base, said):
    assert verdict(of(tried(50.0, pcc=pcc), base=tried(100.0, pcc=base))) == said


@for_all(("count", "flat"), [(2, False), (3, True)])
def test_three_that_do_not_differ_are_a_flat_curve(of, count, flat):
    assert of(*[tried(100.0 + place / 10) for place in range(count)]).summary.startswith("flat") is flat


def test_what_noise_hides_is_not_called_flat(of):
    flat, noisy = (of(*[tried(100.0, noise)] * 3).summary for noise in (0.05, 0.051))
    assert flat.startswith("flat")
    assert noisy == "none is faster by more than the noise, which was up to 5%: measure again, with more --repeats"


def test_what_the_op_as_profiled_drifted_by_is_noise(of):
    assert [verdict(of(tried(95.0), again_us=us)) for us in (105.0, 95.0, 104.9)] == ["alike", "alike", "faster"]
    assert [verdict(of(tried(105.0), again_us=us)) for us in (105.0, 104.9)] == ["alike", "slower"]


def test_a_winner_that_was_not_compared_with_torch_is_said_to_be(of):
    assert of(tried(50.0, pcc=None)).summary.endswith("; its result was not compared with torch")


def test_one_that_is_slower_is_no_flat_curve(of):
    assert of(*[tried(100.0)] * 3, tried(120.0)).summary == "none is faster"


def test_times_of_two_kinds_are_not_compared(of):
    assert verdict(of(tried(50.0, source="traced replay"))) == "not measured"


def test_what_was_not_measured_keeps_its_outcome(of):
    judgement = of({**BASE, "outcome": "hung", "median_us": None}, {**BASE, "median_us": None})
    assert [verdict(judgement, place) for place in (1, 2)] == ["hung", "not measured"]
    assert judgement.summary == "no candidate was measured"
    assert verdict(of(tried(50.0), base={**BASE, "outcome": "refused", "median_us": None})) == "not measured"


def test_what_was_refused_has_no_verdict_by_a_time_that_stands_beside(of):
    assert verdict(of({**tried(50.0), "outcome": "refused"})) == "refused"


def test_without_a_floor_any_time_is_believed(of):
    assert verdict(of(tried(1.0), floor_us=None)) == "faster"


def test_the_op_as_profiled_has_its_own_noise(of):
    assert of(base=tried(100.0, 0.001)).verdicts[0][1:] == ("alike", 0.001)


def test_an_op_that_took_no_time_is_slower_with_any_setting(of):
    assert verdict(of(tried(50.0), base=tried(0.0), again_us=1.0)) == "slower"


def test_a_million_bytes_are_read(tmp_path, of):
    """A candidate takes a thousand."""
    of()
    path, larger = tmp_path / "replay.json", tmp_path / "larger.json"
    text = path.read_text()
    for size, is_read in ((1_000_000, True), (1_000_001, False)):
        larger.write_text('{"more": "' + "x" * (size - len(text) - 12) + '", ' + text[1:])
        assert larger.stat().st_size == size
        if is_read:
            assert read_results(larger).op == "Matmul"
        else:
            with pytest.raises(QuestionRefused):
                read_results(larger)


def test_a_sweep_that_ended_compares_nothing(of):
    why = "another time " * 15 + "here."
    judgement = of(tried(50.0), ended=why)
    assert (verdict(judgement), judgement.winner) == ("not measured", None)
    assert judgement.summary == f"no candidate was compared: {why}"


def test_what_was_measured_on_another_chip_or_clock_is_compared_with_no_profile(of):
    cases = [("blackhole", 1_000), ("wormhole_b0", 1_009), ("some chip", None), ("wormhole_b0", 989)]
    judgements = [of(tried(50.0), chip={"arch": arch}, clock_mhz=mhz) for arch, mhz in cases]
    assert [verdict(one) for one in judgements] == ["not measured", "faster", "faster", "not measured"]
    why = "no candidate was compared: measured"
    assert judgements[0].summary == f"{why} on a blackhole, and the profile is of a wormhole_b0"
    assert judgements[3].summary == f"{why} at 0.99 GHz, and the profile at 1.00"
    for unknown in (
        {"arch": None, "chip": {"arch": "blackhole"}},
        {"clock_ghz": None, "clock_mhz": 800},
        {"clock_ghz": 2.0, "clock_mhz": 2_015},
        {"clock_ghz": 50.0, "clock_mhz": 50_500},
    ):
        assert verdict(of(tried(50.0), **unknown)) == "faster"


def test_consent_alone_is_no_measurement(of):
    refused = {"name": "b", "settings": {}, "outcome": "refused"}
    judgement = of(refused, refused, base={**BASE, "outcome": "accepted"}, mode="accepted")
    assert judgement.summary == "TTNN takes 1 of 3; nothing was measured"


def test_the_fastest_of_the_faster_wins(of):
    judgement = of(tried(90.0), tried(80.0), tried(85.0))
    assert judgement.winner.median_us == 80.0
    assert judgement.summary == "a=80.0 is faster: 80.00 instead of 100.00 us (20.0%)"


@for_all("text", ["", "[]", '{"format": "ttnn-mcp replay 2"}', '{"format": "ttnn-mcp replay 1"}'])
def test_any_other_file_is_refused(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(QuestionRefused, match="no result of a replay"):
        read_results(path)
    assert is_result(path) is ("replay 1" in text)


def test_no_file_is_missing(tmp_path):
    with pytest.raises(ReportMissing):
        read_results(tmp_path / "none.json")
    assert is_result(tmp_path / "none.json") is False

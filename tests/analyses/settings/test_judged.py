"""The verdict on a trial: rules before L1, and L1 by what is measured or by what is safe."""

from __future__ import annotations

from tests.for_all import for_all
from ttnn_mcp.analyses.memory.l1_limit import L1Limit
from ttnn_mcp.analyses.settings.judged import judge
from ttnn_mcp.analyses.settings.trial import Trial

LIMIT = L1Limit(1_000, 0, read=True, measured=True)  # 950 are safe


def sized(buffers, tensors=0, **more):
    return Trial(None, buffers={"IN0": buffers, "BIAS": 0}, tensors={"ALLOCATED": tensors}, **more)


@for_all(
    ("trial", "verdict"),
    [
        (sized(900), "fits"),
        (sized(900, 50), "fits"),
        (sized(900, 51), "cannot_tell"),  # too close: tensors that the report lacks
        (sized(900, 100), "cannot_tell"),
        (sized(900, 101), "too_large"),
        (sized(900, 101, in_slices=True), "cannot_tell"),
        (sized(900, 50, in_slices=True), "fits"),
        (sized(900, older_bytes=51), "cannot_tell"),
        (sized(10, unknown="its shards are not printed"), "cannot_tell"),
        (sized(2_000, broken=("at least 1",)), "illegal"),
        (Trial(None, same_l1=True), "legal"),
        (Trial(None, tensors={"ALLOCATED": 2_000}), "cannot_tell"),  # buffers that are not modelled
    ],
)
def test_without_a_memory_report_the_last_five_percent_are_left(trial, verdict):
    assert judge(trial, LIMIT).verdict == verdict


@for_all(
    ("trial", "room", "verdict"),
    [
        (sized(600), 600, "fits"),
        (sized(601), 600, "too_large"),
        (sized(600, 999), 600, "fits"),  # the tensors are those of the report
        (sized(600, grown=1), 600, "too_large"),
        (sized(600, older_bytes=1), 600, "cannot_tell"),
        (sized(1_000, grown=-900), 1_000, "fits"),
    ],
)
def test_beside_one_all_of_the_room_counts(trial, room, verdict):
    assert judge(trial, LIMIT, room).verdict == verdict


def test_a_build_of_today_takes_no_more():
    assert judge(sized(600, older_bytes=1), LIMIT, 600, older=False).verdict == "fits"


@for_all("room", [None, 600])
def test_an_unknown_chip_has_no_limit(room):
    judged = judge(sized(600, 10), None, room)
    assert (judged.verdict, judged.l1_bytes, judged.fits, judged.legal) == ("cannot_tell", 610, None, True)


def test_buffers_of_no_byte_are_not_listed():
    assert judge(sized(600), LIMIT).l1 == {"IN0": 600}
    assert judge(Trial(None), LIMIT).l1_bytes is None


@for_all(
    ("trial", "verdict"),
    [
        (sized(600, 100, unsure_bytes=250), "fits"),
        (sized(600, 100, unsure_bytes=251), "cannot_tell"),  # a shard that may lie on one core
        (sized(600, 100, unsure_bytes=251, ran=(600, 0)), "fits"),  # as much ran beside the same tensors
        (sized(600, 100, unsure_bytes=251, ran=(599, 0)), "cannot_tell"),
        (sized(600, 100, unsure_bytes=251, ran=(600, 0), grown=1), "cannot_tell"),
        (sized(600, 100, unsure_bytes=251, ran=(600, 4), older_bytes=4), "fits"),
        (sized(600, 100, unsure_bytes=251, ran=(600, 3), older_bytes=4), "cannot_tell"),
        (sized(600, 401, ran=(600, 0)), "fits"),
        (sized(600, 401, ran=(500, 0)), "too_large"),
    ],
)
def test_what_takes_no_more_than_what_ran_fits_however_its_tensors_lie(trial, verdict):
    assert judge(trial, LIMIT).verdict == verdict


def test_a_memory_report_knows_how_the_tensors_lie():
    assert judge(sized(600, unsure_bytes=999), LIMIT, 600).verdict == "fits"
    assert judge(sized(601, ran=(700, 0)), LIMIT, 600).verdict == "too_large"


@for_all(("older", "wrong"), [(True, "in part"), (False, "")])
def test_wrong_values_are_those_of_older_builds(older, wrong):
    judged = judge(sized(600, wrong_values="in part"), LIMIT, older=older)
    assert (judged.verdict, judged.wrong_values) == ("fits", wrong)

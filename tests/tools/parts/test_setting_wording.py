"""What check_setting says of a verdict, case by case."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analyses.settings.rows import ops_in, printing
from tests.checks.conv_programs import put_conv
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import matmul
from ttnn_mcp.analyses.laws.law import Expected
from ttnn_mcp.analyses.memory.l1_limit import L1Limit
from ttnn_mcp.analyses.settings.judged import Judged, judge
from ttnn_mcp.analyses.settings.trial import Trial
from ttnn_mcp.tools.parts.setting_wording import NO_TIMES, caveat, compared, expected, instead, why

LIMIT = L1Limit(1_000_000, 0, read=True, measured=True)  # 950,000 are safe
LARGE, SMALL = 1_200_000, 300_000
CLOSE = "legal; 0.96 of 1.00 MB of L1 per core: too close to the limit to tell (5 % is kept free)"
ALLOCATED = "pre_op_l1_allocation_size_bytes"


def judged(buffers=0, limit=LIMIT, **said) -> Judged:
    return judge(Trial(**{"now": 4, "buffers": {"IN0": buffers} if buffers else {}, **said}), limit)


@pytest.fixture(scope="module")
def ops(tmp_path_factory):
    """A conv and a matmul of 200 us."""
    program = Program("wormhole_b0")
    put_conv(program)
    x, w = program.tensor([1, 1, 1024, 1024]), program.weight([1, 1, 1024, 1024])
    out = program.tensor([1, 1, 1024, 1024])
    program.call("ttnn.linear", (x, w), (out,), (matmul(x, w, out, 200_000),))
    conv, product = ops_in(tmp_path_factory.mktemp("ops"), program)[-2:]
    return {"conv": conv, "matmul": product, "untold conv": printing(conv, **{ALLOCATED: None})}


@for_all(
    ("judgement", "words"),
    [
        (judged(broken=("at least 1",), change="x"), "nothing: it would not run as asked"),
        (judged(LARGE, change="x"), "nothing: it would not run as asked"),
        (judged(unknown="no shards are printed", change="x"), "not known"),
        (judged(SMALL, effect=False), "no change: 4 is what it runs with"),
        (judged(SMALL, effect=False, change="no change: ignored"), "no change: ignored"),
        (judged(SMALL, change="8 steps become 4", at_most_ns=0.0), "8 steps become 4; saves no time by itself"),
        (
            judged(SMALL, change="8 steps become 4", at_most_ns=50_000.0),
            "8 steps become 4; saves at most 50.0 of 200.0 us; no law of time tells: a trial",
        ),
        (judged(SMALL, change="other cores"), "other cores; no report bounds the gain, measure it"),
    ],
)
def test_nothing_is_promised_of_a_value_that_does_not_run_or_does_nothing(ops, judgement, words):
    assert expected(ops["matmul"], judgement) == words


@for_all(
    ("judgement", "limit", "words"),
    [
        (judged(broken=("at least 1", "divides 8")), LIMIT, "breaks: at least 1; divides 8"),
        (judged(unknown="no shards are printed"), LIMIT, "cannot tell: no shards are printed"),
        (judged(SMALL, same_l1=True), LIMIT, "legal; L1 as before"),
        (judged(), LIMIT, "legal, but its L1 is not modelled here"),
        (judged(SMALL, limit=None), None, "legal, but no L1 limit is known"),
        (judged(SMALL), LIMIT, "0.30 of 1.00 MB of L1 per core"),
        (judged(LARGE), LIMIT, "1.20 of 1.00 MB of L1 per core: does not fit"),
        (
            judged(LARGE, in_slices=True),
            LIMIT,
            "1.20 of 1.00 MB of L1 per core: whole it does not fit; TTNN cuts an input in DRAM into slices, which may",
        ),
        (
            judged(960_000, older_bytes=20_000, in_slices=True),
            LIMIT,
            f"{CLOSE}, and builds before 0.81 may take 0.02 MB more",
        ),
    ],
)
def test_each_verdict_has_its_own_reason(judgement, limit, words):
    assert why(judgement, limit) == words


def choices(**bytes_of: int):
    """Legal values by their L1: `_2=SMALL`."""
    return [(int(name[1:]), judged(size)) for name, size in bytes_of.items()]


@for_all(
    ("value", "legal", "words"),
    [
        (
            8,
            choices(_2=SMALL, _4=SMALL, _8=LARGE),
            "raising it is impossible: the next legal value 8 needs 1.20 MB",
        ),
        (16, choices(_2=SMALL, _4=SMALL), "4 is the largest legal value: raising it is impossible"),
        (
            0,
            choices(_2=SMALL, _4=SMALL, _8=LARGE),
            "raising it is impossible: the next legal value 8 needs 1.20 MB",
        ),
        (5, choices(_4=SMALL, _8=SMALL), "8 (0.30 MB)"),  # 4 is nearer, and what it runs with
        (3, choices(_2=SMALL, _4=SMALL), "2 (0.30 MB)"),
        (3, choices(_1=SMALL, _4=SMALL), "4 (0.30 MB)"),
        (4, choices(_2=LARGE, _4=LARGE), "no legal value fits: free L1 first"),
        (5, [], "another layout"),
        (True, [(False, judged(SMALL)), (True, judged(LARGE))], "another layout"),
        ("BFLOAT16", [("BFLOAT8_B", judged(SMALL)), ("BFLOAT16", judged(LARGE))], "another layout"),
    ],
)
def test_what_is_proposed_instead_is_legal_fits_and_lies_where_it_was_asked(value, legal, words):
    said = instead(judged(LARGE, instead="another layout"), value, legal)
    assert said is not None
    assert said.startswith(words)


def test_a_next_value_of_unknown_size_is_not_said_to_need_nothing():
    said = instead(judged(LARGE), 8, [(2, judged(SMALL)), (8, judged())])
    assert said == "raising it is impossible: the next legal value 8 is not known to fit"


BUFFERS = "circular buffers as TTNN 0.81 makes them"
OPERANDS = f"{BUFFERS}; of other tensors in L1 only this op's operands are counted"
OF_ARCH, INFERRED = (L1Limit(1_000_000, 0, read=False, measured=measured) for measured in (True, False))


@for_all(
    ("name", "limit", "words"),
    [
        ("conv", LIMIT, BUFFERS),  # it prints what was allocated before
        (
            "untold conv",
            LIMIT,
            f"{BUFFERS}; other tensors in L1 unknown, only the conv's input counts as ALLOCATED",
        ),
        ("matmul", LIMIT, OPERANDS),
        ("matmul", None, OPERANDS),
        ("matmul", OF_ARCH, f"{OPERANDS}; limit of wormhole_b0 (no memory report)"),
        ("matmul", INFERRED, f"{OPERANDS}; limit inferred for wormhole_b0 (no memory report)"),
    ],
)
def test_a_caveat_says_which_tensors_and_which_limit_were_not_read(ops, name, limit, words):
    assert caveat(ops[name], judged(SMALL), limit, "wormhole_b0", measured=False) == words


def test_what_rests_on_nothing_has_no_caveat_but_its_wrong_values(ops):
    conv = ops["conv"]
    assert caveat(conv, judged(same_l1=True), LIMIT, "wormhole_b0", measured=True) is None
    wrong = judged(same_l1=True, wrong_values="older builds compute wrong values")
    assert caveat(conv, wrong, LIMIT, "wormhole_b0", measured=False) == "older builds compute wrong values"
    said = caveat(conv, judged(SMALL), LIMIT, "wormhole_b0", measured=True)
    assert said is not None
    assert "by the memory report" in said


@for_all(
    ("answer", "words"),
    [
        ((99.0, 90.0, 110.0), "no difference to be expected (90.0 to 110.0 us, 100.0 now)"),
        ((60.0, 50.0, 70.0), "faster: 60.0 us expected (50.0 to 70.0), 100.0 now"),
        (
            (80.0, 60.0, 105.0),
            "likely faster: 80.0 us expected (60.0 to 105.0), 100.0 now, not beyond what the law errs",
        ),
    ],
)
def test_the_time_to_expect_stands_beside_that_of_today(answer, words):
    assert compared(Expected(*answer, "a law", ""), 100.0) == words


def test_what_a_law_tells_comes_before_the_bound(ops):
    judgement = judged(SMALL, change="8 steps become 4", at_most_ns=50_000.0)
    told = expected(ops["matmul"], judgement, Expected(120.0, 110.0, 130.0, "a law", ""))
    assert told == "8 steps become 4; faster: 120.0 us expected (110.0 to 130.0), 200.0 now"


def test_without_a_time_no_gain_is_told(ops):
    timeless = replace(ops["matmul"], kernel_ns=float("nan"))
    assert timeless.kernel_us is None
    assert expected(timeless, judged(SMALL, change="8 steps become 4")).endswith(NO_TIMES)

"""What a change is expected to save, and what that rests on."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from generate import cases as made
from generate.cases import Case, Pair, of_walls, shares
from tests.checks.matmul_programs import config, decoding, linear
from tests.checks.rows import case_of, put
from tests.for_all import for_all
from tests.profiles import DRAM, Placement, Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.laws.anchored import SAME, after_change
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.described import described
from ttnn_mcp.analyses.op_kinds.twins import Slower
from ttnn_mcp.checks import expectation
from ttnn_mcp.checks.expectation import (
    COVERED,
    Expectation,
    Tries,
    by_cases,
    by_law,
    by_wall,
    explains,
    seen_in_run,
    tries_of,
)
from ttnn_mcp.checks.problem import Bounds
from ttnn_mcp.checks.shared.changed_ops import becomes
from ttnn_mcp.checks.shared.dram_sharding import banked as to_banks

ROWS, MOST_NS = np.array([0, 1]), np.array([10.0, 4])


@pytest.fixture
def cases(monkeypatch):
    known = {
        "checks": {"mine": {"cases": 6, "median": 0.5, "low": 0.25}, "lost": None},
        "levers": {"ours": {"cases": 9, "median": 0.8, "low": 0}},
        "walls": {"ours": {"cases": 7, "median": 0.9, "low": 0.1}, "lost": None},
        "tries": {"mine": {"tried": 8, "gained": 2, "part": None}},
    }
    monkeypatch.setattr(expectation, "measured_cases", lambda: known)


@for_all(
    ("check", "saved", "basis"),
    [("mine", [5, 2], "6 measured cases of mine"), ("other", [8, 3.2], "9 measured cases of ours")],
)
def test_cases_of_the_check_come_before_those_of_its_lever(cases, check, saved, basis):
    told = by_cases(check, "ours", MOST_NS)
    assert (told.saved_ns.tolist(), told.basis) == (saved, basis)
    assert told.high_ns.tolist() == [10, 4]
    assert told.low_ns.tolist() == ([2.5, 1] if check == "mine" else [0, 0])


def test_without_cases_or_where_many_lost_nothing_is_known(cases):
    assert by_cases("other", "theirs", MOST_NS) is None
    assert by_cases("lost", "ours", MOST_NS) is None


def test_tries_are_those_of_the_check(cases):
    assert tries_of("mine") == Tries(8, 2, None)
    assert tries_of("other") is None


def test_a_wall_time_has_cases_of_its_own(cases):
    told = by_wall("ours", MOST_NS)
    assert [told.saved_ns.tolist(), told.low_ns.tolist(), told.high_ns.tolist()] == [[9, 3.6], [1, 0.4], [10, 4]]
    assert told.basis == "7 measured cases of ours, by their walls"
    assert by_wall("lost", MOST_NS) is by_wall("theirs", MOST_NS) is None


def traced(**differently):
    told = {"source": "a", "ops": 1000, "kernels": 5.0, "gaps": None, "eager": 10.0, "traced": 8.0}
    return Pair(**{**told, **differently})


def share_by_wall(monkeypatch, **differently):
    monkeypatch.setattr(made, "pairs", lambda: [traced(**differently)])
    return [case.share for case in of_walls()]


def test_a_traced_pass_counts_by_what_its_wall_has_beyond_kernels_and_a_microsecond_an_op(monkeypatch):
    assert share_by_wall(monkeypatch) == [2 / 4]
    assert share_by_wall(monkeypatch, ops=None) == [2 / 5]
    assert share_by_wall(monkeypatch, traced=11.0) == [0]
    assert share_by_wall(monkeypatch, traced=5.0) == [1]
    assert share_by_wall(monkeypatch, traced=4.9) == []  # its kernels took longer: they hold waits for other chips
    assert share_by_wall(monkeypatch, kernels=None) == []


def test_a_pass_that_kernels_fill_is_no_case_of_a_trace(monkeypatch):
    assert share_by_wall(monkeypatch, kernels=8.99, traced=8.99, ops=0) == [1]
    assert share_by_wall(monkeypatch, kernels=9.0, traced=9.0, ops=0) == []


def test_gaps_of_a_profile_are_cases_of_their_own_and_those_of_drafted_reports_are_none(monkeypatch):
    monkeypatch.setattr(made, "pairs", lambda: [traced(gaps=9.0), traced()])
    drafted = [Case("b", "stalled-on-host", 1.0), Case("c", "wide-weights", 0.5)]
    monkeypatch.setattr(made, "_of_stories", lambda: drafted)
    monkeypatch.setattr(made, "_of_layers", lambda: drafted)
    counted = made.cases()
    assert [case for case in counted if case.check == "stalled-on-host"] == [Case("a", "stalled-on-host", 2 / 8)]
    assert counted[-2:] == [drafted[1]] * 2


def known(shares, sources=3):
    return [Case(f"ledger {at % sources}", "grid-left-idle", share) for at, share in enumerate(shares)]


def test_tries_count_where_eight_of_three_ledgers_are_known_and_their_middle_where_five_gained():
    shares = [0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    eight = {"tried": 8, "gained": 5, "part": 0.3}
    assert made.tries_by_check(known(shares)) == {"grid-left-idle": eight}
    beyond = made.tries_by_check(known([*shares, 1.02, 1.03]))["grid-left-idle"]
    assert beyond == {"tried": 10, "gained": 7, "part": 0.35}, "a share above the bound is one of other ops"
    few = {"tried": 8, "gained": 4, "part": None}
    assert made.tries_by_check(known([0.0, *shares[:-1]])) == {"grid-left-idle": few}
    assert made.tries_by_check(known(shares[1:])) == made.tries_by_check(known(shares, sources=2)) == {}
    others = [case._replace(check="wide-weights") for case in known(shares[1:])]
    assert made.tries_by_check([*known(shares), *others]) == {"grid-left-idle": eight}
    (_, *rows) = made.tries_left_out(known([*shares, 0.9]))
    assert [row[1] for row in rows] == ["0"] * 4, "of three ledgers two are left, of nine tries six"
    (_, *rows) = made.tries_left_out(known([*shares, *shares]))
    assert [row[1:] for row in rows] == [
        ("0", "0 (0%)", "0 of 0 (0%)"),
        ("0", "0 (0%)", "0 of 0 (0%)"),
        ("16", "10 (62%)", "8 of 10 (80%)"),
        ("0", "0 (0%)", "0 of 0 (0%)"),
    ]


def of_two_checks(shares, sources=3):
    """Of four cases of the first one, and the rest of the other."""
    cases = known(shares, sources)
    return [case if at < 4 else case._replace(check="matmul-small-blocks") for at, case in enumerate(cases)]


@for_all(("group", "name", "of"), [("checks", "grid-left-idle", known), ("levers", "matmul-config", of_two_checks)])
def test_cases_speak_where_five_of_three_ledgers_are_known_and_four_of_five_gained(group, name, of):
    def speak(told, sources=3):
        return shares(of(told, sources))[group]

    assert speak([0.2, 0.4, 0.4, 0, 0.6]) == {name: {"cases": 5, "median": 0.4, "low": 0}}
    assert speak([0.2, 0.4, 0, 0, 0.6]) == {name: None}
    assert speak([0.4] * 4) == speak([0.4] * 5, 2) == {}


def test_a_check_of_which_enough_is_known_speaks_for_itself_alone():
    """Its losses say nothing of others that change the same."""
    told = shares([*known([0] * 5), *(case._replace(check="matmul-small-blocks") for case in known([0.4] * 4))])
    assert told == {"checks": {"grid-left-idle": None}, "levers": {}}


def test_one_ledger_may_be_left_out():
    assert shares(known([0.4] * 5, 2), 2)["checks"].keys() == {"grid-left-idle"}


@for_all(("least", "saved", "low"), [(None, [5, 0], [0, 0]), ([3, 1], [5, 1], [3, 1])])
def test_an_expectation_keeps_to_the_bounds(least, saved, low):
    given = Expectation(np.array([5.0, -2]), np.array([-1.0, -9]), np.array([20.0, 3]), "law")
    least = None if least is None else np.array(least)
    told = given.within(least, np.array([8.0, 2]))
    assert (told.saved_ns.tolist(), told.low_ns.tolist(), told.high_ns.tolist()) == (saved, low, [8, 2])


def test_an_op_that_is_named_twice_keeps_its_first_expectation():
    both = Expectation(*(np.array([3.0, 1, 2]),) * 3, "law")
    once = Bounds(np.array([4, 1, 4]), np.array([9.0, 9, 9]), expected=both)
    assert (once.rows.tolist(), once.expected.saved_ns.tolist()) == ([1, 4], [1, 3])


def test_the_run_itself_tells_by_its_middle_op():
    slower = Slower(ROWS, ROWS, *(np.array([n, n]) for n in (1.0, 2.0, 3.0)))
    told = seen_in_run(slower, np.array([22.0, 2]))
    assert (told.low_ns.tolist(), told.saved_ns.tolist(), told.high_ns.tolist()) == ([0, 1], [2, 2], [4, 3])


@pytest.fixture
def two(tmp_path):
    """Two matmuls with 2D configs."""
    return linears(tmp_path, 60_000, 110_000)


def linears(folder, *times):
    """The second one twice as wide."""
    program = Program("wormhole_b0")
    for twice, kernel_ns in enumerate(times):
        linear(program, n=1024 * (1 + twice), kernel_ns=kernel_ns, program_config=config())
    return case_of(folder, program)


def faster(facts, rows=(0, 1), **into):
    """Some of the ops in one pass of the engine."""
    change = becomes(facts, **(into or {"fidelity": "LoFi"}))
    return lambda row: change(row) if row in rows else None


def test_a_law_tells_what_fewer_passes_save(two):
    told = by_law(two, ROWS, two.kernel_ns, faster(two))
    assert told.basis == "law: matmul of many rows, 2D"
    assert (told.low_ns < told.saved_ns).all()
    assert (told.saved_ns < told.high_ns).all()
    assert (told.saved_ns > 0).tolist() == [True, False]  # the second waits for DRAM, whatever its passes


@for_all("into", [{"fidelity": "HiFi3"}, {"no_such_field": 1}])
def test_a_law_that_is_silent_tells_nothing(two, into):
    assert by_law(two, ROWS, two.kernel_ns, faster(two, **into)) is None


@for_all(("share", "known"), [(COVERED + 0.01, True), (COVERED - 0.01, False)])
def test_what_is_known_of_a_few_ops_does_not_speak_for_all(two, share, known):
    most_ns = np.array([share, 1 - share])
    assert (by_law(two, ROWS, most_ns, faster(two, rows=(0,))) is not None) == known


@for_all(("missed", "known"), [(0.68, True), (0.64, False), (1.45, True), (1.55, False)])
def test_an_op_far_from_its_law_is_ruled_by_something_else(tmp_path, missed, known):
    law = law_of(linears(tmp_path, 60_000))
    facts = linears(tmp_path, round(law.us * missed * 1e3))
    told = by_law(facts, ROWS[:1], facts.kernel_ns, faster(facts))
    assert (told is not None) == known


def law_of(facts):
    return expected(described(facts.ops, 0, facts.chip))


def test_only_so_many_kinds_of_op_are_asked(monkeypatch, two):
    monkeypatch.setattr(expectation, "KINDS_ASKED", 1)
    assert by_law(two, ROWS, np.array([1.0, 99.0]), faster(two)) is not None  # the heaviest kind is the second
    assert by_law(two, ROWS, np.array([99.0, 1.0]), faster(two)) is None


def banked(folder, kernel_ns):
    """A decode matmul of Blackhole on DRAM-sharded weights at HiFi2, whose law is good to 5 %."""
    name = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=8,per_core_M=1,per_core_N=4)"
    program = Program("blackhole", grid=(11, 10))
    decoding(program, where=Placement("DRAM", "WIDTH_SHARDED"), program_config=name, kernel_ns=kernel_ns)
    return case_of(folder, program)


@for_all(("missed", "known"), [(0.66, False), (0.68, True), (0.8, True), (1.2, True), (1.49, True), (1.51, False)])
def test_an_op_that_its_law_misses_by_a_little_keeps_its_distance(tmp_path, missed, known):
    law = law_of(banked(tmp_path, 60_000))
    facts = banked(tmp_path, round(law.us * missed * 1e3))
    told = by_law(facts, ROWS[:1], facts.kernel_ns, faster(facts))
    assert (told is not None) == known
    if told:
        changed = faster(facts)(0)
        then, ends = expected(changed), sorted((missed, 1.0))
        times = missed * then.us, ends[0] * then.low_us, ends[1] * then.high_us
        us = [facts.kernel_ns[0] / 1e3 - one[0] / 1e3 for one in (told.saved_ns, told.high_ns, told.low_ns)]
        assert us == pytest.approx([max(one, changed.floor_us) for one in times], rel=0.01)


def test_a_law_that_sees_no_change_tells_nothing(tmp_path):
    law = law_of(banked(tmp_path, 60_000))
    far = banked(tmp_path, round(law.us * 1.2e3))
    assert by_law(far, ROWS[:1], far.kernel_ns, becomes(far, out_dtype="BFLOAT8_B")) is None


@for_all(("times", "known"), [(1.6, True), (0.6, False)])
def test_of_an_op_far_above_its_law_the_law_of_another_program_counts(tmp_path, times, known):
    law = law_of(linears(tmp_path, 60_000))
    facts = linears(tmp_path, round(law.us * times * 1e3))
    other = becomes(facts, per_core_m=2, per_core_n=2)
    told = by_law(facts, ROWS[:1], facts.kernel_ns, other)
    assert (told is not None) == known
    if told:
        assert facts.kernel_ns[0] - told.saved_ns[0] == pytest.approx(expected(other(0)).us * 1e3)


def test_a_change_that_nobody_measured_is_told_of_no_op_that_its_law_hits(tmp_path):
    law = law_of(linears(tmp_path, 60_000))
    facts = linears(tmp_path, round(law.us * 1e3))
    assert by_law(facts, ROWS[:1], facts.kernel_ns, becomes(facts, out_place="L1_INTERLEAVED")) is None


@for_all(("times", "saves"), [(1.16, False), (1.19, True)])
def test_another_program_that_is_expected_to_save_too_little_saves_nothing(tmp_path, times, saves):
    """Of the time after it; 15 % of the time before are the line."""
    program = Program("wormhole_b0")
    decoding(program, kernel_ns=round(81_130 * times))
    facts = case_of(tmp_path, program)
    told = by_law(facts, ROWS[:1], facts.kernel_ns, partial(to_banks, facts))
    assert (told.saved_ns[0] > 0, bool(told.basis)) == (saves, saves)  # too little is no "no difference"


def one_way(*, kernel_ns, into=DRAM, n=5120, cores=80, share=2):
    program = Program("blackhole", grid=(11, 10))
    name = "MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x=11;y=8);in0_block_w=2;"
    decoding(program, k=3072, n=n, kernel_ns=kernel_ns, cores=cores, into=into,
             program_config=f"{name}out_subblock_h=1;out_subblock_w=2;per_core_M=1;per_core_N={share};mcast_in0=1)")  # fmt: skip
    return program


def banks(*, kernel_ns, k=3072, n=9216, block=3):
    """On DRAM-sharded weights of Blackhole, x in shards of columns."""
    program = Program("blackhole", grid=(11, 10))
    name = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"
    decoding(program, k=k, n=n, kernel_ns=kernel_ns, where=Placement("DRAM", "WIDTH_SHARDED"), inner="BFLOAT4_B",
             into=Placement("L1", "WIDTH_SHARDED"), fidelity="LoFi",
             program_config=f"{name}(in0_block_w={block},per_core_M=1,per_core_N=9)")  # fmt: skip
    return program


def test_deeper_blocks_over_shards_move_x_to_other_cores(tmp_path):
    """Of Phi 3.5's four matmuls they saved 2 us where the law says 27, 11 % of their time; Qwen2.5-Coder's QKV halved."""

    def saves(program, **into):
        facts = case_of(tmp_path, program)
        return by_law(facts, ROWS[:1], facts.kernel_ns, becomes(facts, **into)).saved_ns[0] > 0

    assert not saves(banks(kernel_ns=60_000), block_w=6)  # 54 us
    assert saves(banks(kernel_ns=92_000, block=1), block_w=6)
    assert saves(banks(kernel_ns=62_000), n=8704)  # the block stays
    wide = {"kernel_ns": 76_500, "n": 8192, "cores": 64, "share": 4}
    assert not saves(one_way(**wide, into=Placement("L1", "WIDTH_SHARDED")), block_w=4)  # 70 us
    assert saves(one_way(**wide), block_w=4)  # x stays in DRAM


def of_experts(folder, kernel_ns, *, chosen=None, nnz=None, inner="BFLOAT4_B"):
    """A sparse matmul over 128 experts without indices, behind a router where one has `chosen`."""
    program = Program("blackhole", grid=(11, 10))
    if chosen:
        scores, top = program.tensor([1, 1, 1, 128]), program.tensor([1, 1, 1, chosen])
        put(program, DeviceOp("TopKDeviceOperation", (scores,), (top,), 9_000, attributes={"k": chosen}))
    sizes = "compute_with_storage_grid_size=(x=8;y=6);in0_block_w=4;out_subblock_h=1;out_subblock_w=1"
    name = f"MatmulMultiCoreReuseMultiCast1DProgramConfig({sizes};per_core_M=1;per_core_N=1;mcast_in0=1)"
    x, w = program.tensor([1, 1, 32, 2048]), program.weight([1, 128, 2048, 1536], dtype=inner)
    op = DeviceOp("SparseMatmulDeviceOperation", (x, w), (program.tensor([1, 128, 32, 1536]),), kernel_ns, cores=48, fidelity="LoFi")  # fmt: skip
    op.attributes = {"nnz": nnz, "is_input_b_sparse": True, "program_config": name}
    put(program, op)
    return case_of(folder, program)


def test_experts_that_no_report_counts_are_those_of_the_router_or_as_many_as_explain_the_time(tmp_path):
    def saves(us, **how):
        facts = of_experts(tmp_path, round(us * 1e3), **how)
        row = np.array([len(facts) - 1])
        told = by_law(facts, row, facts.kernel_ns[row], becomes(facts, block_w=16))
        return told and told.saved_ns[0] / facts.kernel_ns[row[0]]

    assert 0.4 < saves(2367) < 0.6  # all of them: 2367 us became 1259 by host calls
    assert saves(250, chosen=8) < saves(2367)  # most of it is a look at 120 slots
    assert saves(2367, chosen=8) is None  # eight do not explain it
    assert saves(90) is saves(6000) is None  # not even the look at them; more than all


def test_a_sparse_matmul_that_its_law_misses_is_not_told_by_the_law_of_another_form(tmp_path):
    def told(us, **how):
        facts = of_experts(tmp_path, round(us * 1e3), nnz=8, **how)
        return by_law(facts, ROWS[:1], facts.kernel_ns, becomes(facts, block_w=16, in1_dtype="BFLOAT4_B"))

    facts = of_experts(tmp_path, 149_000, nnz=8)
    anchored = after_change(described(facts.ops, 0, facts.chip), 149, becomes(facts, block_w=16)(0))
    assert told(149).low_ns[0] == pytest.approx(149_000 - anchored.high_us * 1e3)
    assert told(149 * 1.6) is None
    assert told(149, inner="FLOAT32") is None  # no law as it is


def test_a_law_that_sees_a_change_and_expects_no_difference_tells_so(tmp_path):
    """Cores that take turns over their tiles hardly wait for narrower ones: less than two runs differ by."""
    facts = case_of(tmp_path, one_way(kernel_ns=45_000, into=Placement("L1", "WIDTH_SHARDED")))
    told = by_law(facts, ROWS[:1], facts.kernel_ns, becomes(facts, in1_dtype="BFLOAT4_B"))
    assert 0 <= told.saved_ns[0] < SAME * facts.kernel_ns[0]


@for_all("what", ["passes", "spared_bytes"])
@for_all(("explained", "told"), [(0.699, False), (0.701, True)])
def test_cases_speak_where_what_becomes_less_explains_most_of_the_time(what, explained, told):
    rows, took = np.array([0, 2]), np.array([60.0, 9.0, 40.0])
    resource = explained * took
    nothing = np.zeros(3)
    passes = what == "passes"
    roofline = SimpleNamespace(
        compute_used_ns=resource if passes else nothing, dram_achievable_ns=nothing if passes else resource
    )
    facts = SimpleNamespace(kernel_ns=took, roofline=roofline)
    lessened = {"passes": None, "spared_bytes": None, what: np.ones(2)}
    assert explains(facts, rows, **lessened) == told


def test_cases_speak_of_any_other_change():
    facts = SimpleNamespace(kernel_ns=np.ones(1))
    assert explains(facts, np.array([0]), passes=None, spared_bytes=None)

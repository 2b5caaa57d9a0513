"""The diagnosis as a whole: bounds that add up, steps that never pass in silence, answers that fit."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from tests.asking import ask, session
from tests.checks.asking import case_of_reports, real_case
from tests.checks.made_checks import cites, comes_to, four_ops, saves
from tests.checks.rows import ONE_PASS, case_of, pass_time
from tests.for_all import for_all
from tests.profiles import L1, Program, write_run
from tests.profiles.demo_model import demo_program
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.checks import CATALOGUE, diagnosis, earlier_runs, expectation
from ttnn_mcp.checks.check import STEP_TITLES, Check, Claim, Clean
from ttnn_mcp.checks.diagnosis import ask as ask_check
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.checks.expectation import Expectation
from ttnn_mcp.checks.levers import ATTENTION, ATTENTION_GRID, LAYOUT, MATMUL_CONFIG, UNTRIED
from ttnn_mcp.checks.needs import Need
from ttnn_mcp.checks.worth import Worth
from ttnn_mcp.replay.kept import Replays
from ttnn_mcp.run.doubt import Doubt
from ttnn_mcp.run.ops.texts import Texts

NO_ROWS = np.zeros(0, dtype=np.int64)
FEW_LOOKS = 5  # a check looks at more where it finds its first op
REAL = (CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER)


@pytest.fixture
def case(tmp_path):
    return case_of(tmp_path, four_ops())


def test_an_op_in_two_patterns_is_counted_once(case):
    claim = Claim(
        claim="chain",
        rows=np.array([2, 1, 1], dtype=np.int64),
        at_most_ns=np.array([5_000.0, 2_000.0, 10_000.0]),
        at_least_ns=np.array([1.0, 3.0, 2.0]),
        assumption="made",
        evidence=case.cite(0),
        fix="",
        verify="",
    )
    assert claim.rows.tolist() == [1, 2]
    assert claim.at_most_ns.tolist() == [10_000, 5_000]
    assert claim.at_least_ns is not None
    assert claim.at_least_ns.tolist() == [3, 1]
    assert case.share(np.array([2, 1, 1])) == pytest.approx(0.5)


def test_where_nothing_took_time_no_share_of_it_is_a_finding(tmp_path):
    program = Program()
    for width in (32, 64):
        program.op("MadeUpOfNoFamily", [program.tensor([1, 1, 32, width], "UINT16", placement=L1)], kernel_ns=0)
    timeless = case_of(tmp_path, program)
    assert (timeless.total_ns, timeless.gap_ns > 0) == (0, True)
    lines = [replace(saves("line", 0.0), worth=worth) for worth in (Worth(time=0.01), Worth(saving=0.01))]
    found = diagnose(timeless, [*lines, saves("gaps", 0.5, gap=True), saves("risk", 0.0)]).findings
    assert [(one.check, one.share) for one in found] == [("risk", 0)]


@for_all(
    ("worth", "told"),
    [
        (Worth(time=0.25), True),
        (Worth(time=0.26), False),
        (Worth(saving=0.125), True),
        (Worth(saving=0.126), False),
    ],
)
def test_a_claim_below_the_worth_of_its_check_is_not_told(case, worth, told):
    half_of_one_op = replace(saves("made", 0.5, rows=[0]), worth=worth)
    assert bool(diagnose(case, [half_of_one_op]).findings) == told


@for_all("explained", [True, False])
def test_measured_cases_speak_where_the_change_explains_the_time(case, monkeypatch, explained):
    def spoken(_check, _lever, _most):
        return Expectation(*(np.full(4, ns) for ns in (5, 2, 9)), "cases")

    monkeypatch.setattr(diagnosis, "by_cases", spoken)
    monkeypatch.setattr(diagnosis, "explains", lambda *_, **__: explained)
    monkeypatch.setattr(
        expectation, "measured_cases", lambda: {"tries": {"made": {"tried": 9, "gained": 6, "part": 0.25}}}
    )
    (finding,) = diagnose(case, [saves("made", 0.5)]).findings
    saving = finding.saving_us
    assert (saving.expected is None) != explained
    assert (saving.if_gains, saving.basis) == ((None, "cases") if explained else (5, "6/9 gained elsewhere"))


def test_a_problem_without_ops_is_none(case):
    def look(facts):
        yield replace(next(saves("made", 0.5).look(facts)), rows=NO_ROWS, at_most_ns=np.zeros(0), of_window=False)

    (step,) = diagnose(case, [replace(saves("made", 0.5), look=look)]).steps
    assert step.status == "clean"


def test_a_claim_that_two_edits_resolve_is_told_under_each_with_its_part_of_the_saving(tmp_path):
    """Its moves in an attention are part of one change of code there, the longest one is not."""
    program = Program("wormhole_b0")
    names = ("Matmul", "Transpose", "ScaledDotProductAttention", "Transpose", "Matmul", "MadeUpOfNoFamily")
    for name in (*names, "Transpose"):
        x = program.tensor([1, 4, 64, 32 * (1 + len(program.calls))], placement=L1)
        program.op(f"{name}DeviceOperation", [x], kernel_ns=10_000)
    program.device_ops[-1].kernel_ns = 50_000
    check = replace(saves("made", 0.5, rows=[1, 3, 6]), lever=LAYOUT)
    diagnosis = diagnose(case_of(tmp_path, program, ONE_PASS), [check])
    assert [ranked.edit.name for ranked in diagnosis.plan.ranked] == [LAYOUT.name, ATTENTION.name]
    findings = diagnosis.findings
    assert [(finding.edit, finding.saving_us.at_most) for finding in findings] == [
        (LAYOUT.name, pytest.approx(25)),
        (ATTENTION.name, pytest.approx(10)),
    ]
    assert [finding.share for finding in findings] == pytest.approx([50 / 110, 20 / 110])
    assert [finding.caveat for finding in findings] == [
        "1 of 3 ops count here, the others in attention-block",
        "2 of 3 ops count here, the others in layout-chain",
    ]


def test_a_finding_tells_which_of_its_ops_take_what_an_edit_above_sets(tmp_path):
    case = case_of(tmp_path, four_ops(), ONE_PASS)
    wide = replace(saves("wide", 0.3), lever=MATMUL_CONFIG, slot="program")
    for rows, told in (
        ([0], f"line {case.line(0)} as matmul-config has it"),
        ([1, 2], f"line {case.line(1)} and 1 more as matmul-config has it"),
    ):
        narrow = replace(saves(f"narrow{len(rows)}", 0.9, rows=rows), lever=MATMUL_CONFIG, slot="program")
        findings = diagnose(case, [wide, narrow]).findings
        assert [(one.edit, one.caveat) for one in findings] == [("matmul-config", None), ("matmul-config-2", told)]
    grid = replace(saves("grid", 0.5, rows=[2]), lever=ATTENTION_GRID)
    first, second = (
        replace(saves(name, part, rows=rows), lever=MATMUL_CONFIG, slot="program")
        for name, part, rows in (("first", 0.9, [0, 1]), ("second", 0.2, [1, 2]))
    )
    findings = diagnose(case, [first, grid, second]).findings
    assert [one.caveat for one in findings] == [None, None, f"line {case.line(1)} as matmul-config has it"]
    whole = [
        replace(saves(name, part), lever=MATMUL_CONFIG, slot="program") for name, part in (("a", 0.9), ("b", 0.8))
    ]
    assert [one.caveat for one in diagnose(case, whole).findings] == [
        None,
        None,
    ]  # an alternative: the plan says so


def test_a_try_tells_of_which_ops_an_edit_above_sets_the_same(tmp_path):
    case = case_of(tmp_path, four_ops(), ONE_PASS)
    config = replace(saves("config", 0.3, rows=[0, 1]), lever=MATMUL_CONFIG, slot="program")
    grid = replace(saves("grid", 0.2, rows=[2]), lever=ATTENTION_GRID)
    tries = [
        replace(saves(name, 0.1, rows=rows), lever=UNTRIED, slot="program" if name != "format" else "")
        for name, rows in (("all", [0, 1]), ("some", [1, 3]), ("chunks", [2]), ("format", [0]))
    ]
    said = [{one.check: one.caveat for one in diagnose(case, [config, grid, each]).findings} for each in tries]
    assert [caveats[one.id] for caveats, one in zip(said, tries, strict=True)] == [
        "instead of matmul-config, not with it",
        f"line {case.line(1)} as matmul-config has it",
        "instead of attention-config, not with it",
        None,
    ]


STEPS = {
    "found": ([comes_to("a", 0.5), comes_to("b"), comes_to("c", 0.3)], "found", "a, c"),
    "found, some unseen": ([comes_to("a", 0.5, "dark"), comes_to("b", "dark")], "found", "a; cannot tell: b"),
    "clean": ([comes_to("a"), comes_to("b", 0.001)], "clean", "2 of 2 checks looked and found nothing"),
    "clean, some absent": (
        [comes_to("a"), comes_to("b", ops=0)],
        "clean",
        "1 of 2 checks looked and found nothing",
    ),
    "clean, some unseen": (
        [comes_to("a"), comes_to("b", "dark")],
        "clean",
        "1 of 2 checks looked and found nothing; cannot tell: b",
    ),
    "unseen": ([comes_to("a", "dark"), comes_to("b", 0.001, "dark"), comes_to("c", ops=0)], "cannot_tell", "dark"),
    "absent": ([comes_to("a", ops=0), comes_to("b", ops=0)], "not_applicable", "no ops for a; no ops for b"),
}


@for_all(("checks", "status", "why"), STEPS.values(), ids=STEPS)
def test_a_step_says_what_its_checks_came_to(case, checks, status, why):
    (step,) = diagnose(case, checks).steps
    assert (step.status, step.why) == (status, why)


@for_all(
    ("of_run", "ops_seen", "ops", "status"),
    [
        (True, 4, 1, "found"),
        (True, 4, 0, "not_applicable"),
        (True, None, 1, "cannot_tell"),
        (True, None, 0, "cannot_tell"),
        (False, 1, 1, "found"),
        (False, 2, 1, "cannot_tell"),
        (False, None, 0, "not_applicable"),
    ],
)
def test_a_check_looks_where_the_run_and_its_ops_have_what_it_needs(case, of_run, ops_seen, ops, status):
    """A need of the run comes before the question which ops there are, one of its ops after it."""
    need = Need("sight", lambda _, about: about.sum() == ops_seen, "too dark", of_run=of_run)
    (step,) = diagnose(case, [comes_to("made", 0.5, ops=ops, needs=(need,))]).steps
    assert (step.status, step.why == "too dark") == (status, status == "cannot_tell")


@for_all(
    ("by_kind", "ops", "status"),
    [(True, 4, "found"), (True, 0, "cannot_tell"), (False, 0, "not_applicable")],
)
def test_beside_lost_shapes_a_check_by_kind_is_never_without_ops(tmp_path, by_kind, ops, status):
    program = four_ops()
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 0, 32])])
    check = comes_to("made", 0.5, ops=ops)
    check = replace(check, of=replace(check.of, by_kind=by_kind))
    for made, came_to in ((program, status), (four_ops(), "found" if ops else "not_applicable")):
        asked = ask_check(check, case_of(tmp_path, made))
        assert (asked.status, "beside ops whose shapes are lost" in asked.why) == (
            came_to,
            came_to == "cannot_tell",
        )


def test_earlier_runs_are_asked_where_some_are_kept_and_who_asks_wants_them(case, tmp_path, monkeypatch):
    monkeypatch.setattr(earlier_runs, "backed", lambda _facts, _claims: [])
    claimed = [saves("made", 0.5)]

    def asked(**wanted):
        return not diagnose(case, claimed, **wanted).findings

    assert not asked(earlier_runs=True)
    case.run.kept.store(Replays(tmp_path))
    assert not asked(earlier_runs=True)
    (tmp_path / "replay_2_matmul.json").write_text("{}")
    assert (asked(earlier_runs=True), asked()) == (True, False)
    case.run.kept.store(Archive(tmp_path / "archive"))
    (tmp_path / "replay_2_matmul.json").unlink()
    assert (asked(earlier_runs=True), asked()) == (True, False)


def test_a_check_looks_once_at_a_window(case):
    looks = []
    check = Check(lambda facts: iter(looks.append(facts) or ()), "made", id="made", step=1)
    assert diagnose(case, [check]).steps == diagnose(case, [check], others=[check]).steps
    assert len(looks) == 1


@for_all(
    ("columns", "generation", "cited"),
    [
        ("a", "C7", "a"),
        ("a b c d e f", "C7", "a b c d"),
        ("a b", "tt-torch", "a b LOC"),
        ("a LOC b", "tt-torch", "a LOC b"),
        ("a b c d LOC", "tt-torch", "a b c d LOC"),
    ],
)
def test_a_finding_cites_four_cells_and_the_line_of_the_model_once(tmp_path, columns, generation, cited):
    case = case_of(tmp_path, four_ops(), generation=generation)
    (found,) = diagnose(case, [cites(columns)]).findings
    assert " ".join(cell.column for cell in found.evidence) == cited
    assert (found.claim, found.assumption) == ("made", "made")


def test_the_line_of_the_model_is_that_of_the_heaviest_op(tmp_path):
    program = Program()
    for took in (10, 30, 20):
        program.op("MadeUpOfNoFamily", [program.tensor([1, 1, 32, took * 32])], kernel_ns=took * 1000)
    case = case_of(tmp_path, program, generation="tt-torch")
    (found,) = diagnose(case, [saves("made", 0.5)]).findings
    line = found.evidence[-1]
    assert (line.column, line.row) == ("LOC", case.line(1))
    assert line.value == f"{program.source_path}:{program.calls[1].line}"


@for_all(
    ("generation", "compiled", "fix"),
    [("C7", None, "call"), ("C7", "option", "call"), ("tt-torch", None, "call"), ("tt-torch", "option", "option")],
)
def test_who_compiles_a_model_reads_the_fix_of_a_compiler(tmp_path, generation, compiled, fix):
    case = case_of(tmp_path, four_ops(), generation=generation)
    assert [one.fix for one in diagnose(case, [cites("a", fix="call", compiled=compiled)]).findings] == [fix]


def test_small_savings_are_dropped_and_risks_are_not(case):
    found = diagnose(case, [saves("small", 0.001), saves("risk", 0.0)], min_saving_share=0.005)
    assert [one.check for one in found.findings] == ["risk"]
    tries = [replace(saves(f"{part}", part), lever=UNTRIED) for part in (0.001, 0.5)]
    assert [one.check for each in tries for one in diagnose(case, [each], min_saving_share=0.005).findings] == [
        "0.5"
    ]


def test_a_check_that_breaks_costs_no_other(case, caplog):
    def look(_case):
        raise KeyError("MFR")
        yield

    broken = Check(look, "broken", id="broken", step=2)
    found = diagnose(case, [broken, saves("first", 0.5)])
    assert [one.check for one in found.findings] == ["first"]
    step = next(one for one in found.steps if one.step == 2)
    assert (step.status, "MFR" in step.why) == ("cannot_tell", False)
    assert "broken" in caplog.text


def test_checks_that_are_not_answered_explain_time_too(case):
    found = diagnose(case, [], others=[saves("first", 0.1)])
    assert (found.findings, found.steps, found.plan.ranked) == ((), (), ())
    assert found.unexplained == diagnose(case, [saves("first", 0.1)]).unexplained
    assert found.unexplained != diagnose(case, []).unexplained


@for_all("gap", [False, True])
def test_of_a_window_in_doubt_nothing_is_expected(case, gap):
    def look(facts):
        for problem in saves("one", 0.5, gap=gap).look(facts):
            yield replace(problem, expected=Expectation(*[np.full(4, 1_000.0)] * 3, "made"))

    check = replace(saves("one", 0.5), look=look)
    assert ask_check(check, case).claims[0].expected.basis == "made"
    doubted = WindowFacts(case.run, case.scope.doubted((Doubt("clocks_differ", "made"),)))
    assert ask_check(check, doubted).claims[0].expected is None


def test_a_step_of_a_window_in_doubt_is_not_clean_and_what_was_found_there_is_told(case):
    doubted = WindowFacts(case.run, case.scope.doubted((Doubt("clocks_differ", "made"),)))
    steps = [diagnose(doubted, [check]).steps[0] for check in (comes_to("none"), comes_to("some", 0.5))]
    assert [step.status for step in steps] == ["cannot_tell", "found"]
    assert steps[0].why == doubted.scope.in_doubt


def test_a_setting_that_was_not_tried_is_no_problem_of_its_step(case):
    untried = replace(comes_to("untried", 0.5), lever=UNTRIED)
    assert diagnose(case, [untried]).steps[0].status == "clean"
    assert [one.check for one in diagnose(case, [untried]).findings] == ["untried"]
    unseen = replace(comes_to("unseen", "dark"), lever=UNTRIED)
    assert diagnose(case, [unseen]).steps[0].status == "cannot_tell"


@for_all(("step", "status"), [(1, "cannot_tell"), (2, "found")])
def test_formats_of_an_architecture_nobody_knows_are_not_judged(case, step, status):
    vars(case.run)["chip"] = replace(case.run.chip, arch="quasar")
    foreign = WindowFacts(case.run, case.scope)
    asked = ask_check(replace(comes_to("made", 0.5), step=step), foreign)
    assert asked.status == status
    assert ("architecture whose formats are not known" in asked.why) == (step == 1)


def test_a_finding_tells_its_saving_in_microseconds(case):
    def look(facts):
        for problem in sure.look(facts):
            ends = (np.full(4, ns) for ns in (2_000.0, 1_000.0, 3_000.0))
            yield replace(problem, expected=Expectation(*ends, "law: made"))

    sure = saves("sure", 0.5, sure=0.1)
    (finding,) = diagnose(case, [replace(sure, look=look)]).findings
    saving = finding.saving_us
    assert (saving.at_least, saving.expected, saving.at_most) == (4, 8, 20)
    assert (saving.interval, saving.basis) == ((4, 12), "law: made")


@for_all("other", ["clean", "found"])
def test_what_shows_that_there_is_no_problem_is_told(case, other):
    def look(_):
        yield Clean("seen elsewhere")

    shown = replace(comes_to("main"), look=look)
    beside = comes_to("side", 0.5) if other == "found" else comes_to("side")
    (step,) = diagnose(case, [beside, shown]).steps
    first = "side" if other == "found" else "2 of 2 checks looked and found nothing"
    assert (step.status, step.why) == (other, f"{first}; main: seen elsewhere")


@for_all("principal", [True, False])
def test_a_step_whose_principal_check_cannot_tell_is_not_clean(case, principal):
    checks = [comes_to("side"), replace(comes_to("main", "dark"), principal=principal)]
    (step,) = diagnose(case, checks).steps
    assert step.status == ("cannot_tell" if principal else "clean")
    assert ("main: dark" in step.why) is principal


def test_all_seven_steps_are_answered_even_on_a_single_cold_pass(tmp_path):
    program = Program()
    pass_time(program, 10_000)
    steps = diagnose(case_of(tmp_path, program, ONE_PASS), CATALOGUE).steps
    assert [one.step for one in steps] == list(STEP_TITLES)
    assert all(one.why for one in steps)


@for_all("report", REAL, sampled=3)
def test_on_real_reports_bounds_are_physical_and_evidence_is_real(report):
    case = real_case(report)
    found = diagnose(case, CATALOGUE)
    plan = found.plan
    assert 0 <= plan.floors_ns.sum() <= plan.after_ns <= plan.before_ns
    assert sum(found.unexplained.by_why.values()) == pytest.approx(plan.after_ns - plan.floors_ns.sum(), abs=1)
    assert not any("a bug in ttnn-mcp" in step.why for step in found.steps)
    lines = set(case.run.performance_report.rows.lines.tolist())
    for one in found.findings:
        assert 0 <= one.saving_us.at_least <= one.saving_us.at_most
        assert 0 <= one.share <= 1.0001
        assert one.saving_us.at_most * 1e3 <= plan.before_ns
        assert one.evidence
        assert all(cell.row in lines for cell in one.evidence)


@for_all("report", REAL)
def test_a_finding_s_numbers_stand_in_the_file(report):
    case = real_case(report)
    header, *rows = case.run.performance_report.csv.path.read_text().splitlines()
    columns = header.split(",")
    for one in diagnose(case, CATALOGUE).findings:
        for cell in one.evidence:
            if cell.column in columns and isinstance(cell.value, int | float):
                written = rows[cell.row - 2].split(",")[columns.index(cell.column)]
                assert float(written) == cell.value


async def test_pages_of_findings_join_to_the_whole(tmp_path):
    at = session(tmp_path)
    seen, cursor, page = [], None, None
    while page is None or cursor is not None:
        page = await ask(at, "optimization_check", run="demo", cursor=cursor)
        seen += [one["check"] + one["claim"] for one in page["findings"]]
        cursor = page.get("next_cursor")
    assert len(seen) == len(set(seen))
    assert len(seen) > len(page["findings"])


async def test_steps_can_be_asked_for_alone(tmp_path):
    said = await ask(session(tmp_path), "optimization_check", run="demo", steps=[6])
    assert {one["step"] for one in said["findings"]} == {6}
    assert [one["step"] for one in said["steps"]] == [6]


async def test_evidence_names_the_memory_report_s_file_as_it_is_called(tmp_path):
    made = write_run(tmp_path / "made", demo_program())
    path = made.memory.rename(made.memory.with_name("of_friday.sqlite"))
    at = session(tmp_path)
    card = await ask(at, "open_run", performance=str(made.performance), memory=str(path))
    checked = await ask(at, "optimization_check", run=card["id"])
    evidence = [cell for finding in checked["findings"] for cell in finding["evidence"]]
    assert any(cell["column"] == "stack_traces" for cell in evidence)
    assert {cell["source"] for cell in evidence} == {made.performance.name, "of_friday.sqlite"}


def predicted(check, problem_of):
    """The check, each of its problems changed."""

    def look(facts):
        for problem in check.look(facts):
            yield problem_of(problem)

    return replace(check, look=look)


def expectation_of(check, facts):
    return [claim.expected and claim.expected.saved_ns.tolist() for claim in diagnosis.ask(check, facts).claims]


@for_all(
    ("high_ns", "saved_ns", "told"),
    [(-1.0, -5.0, []), (0.0, -5.0, []), (1.0, -5.0, [None]), (1.0, 499.0, [None]), (9.0, 501.0, [[501] * 4])],
)
def test_a_change_that_loses_at_its_best_end_is_not_told_and_one_of_no_difference_is_a_trial(
    monkeypatch, case, high_ns, saved_ns, told
):
    law = Expectation(np.full(4, saved_ns), np.full(4, -9.0), np.full(4, high_ns / 4), "law: ours")
    monkeypatch.setattr(diagnosis, "by_law", lambda *_: law)
    monkeypatch.setattr(diagnosis, "by_cases", lambda *_: pytest.fail("the law has told"))
    loses = predicted(saves("loses", 0.5), lambda problem: replace(problem, becomes=lambda _: None))
    assert expectation_of(loses, case) == told
    assert [claim.law_of_no_gain for claim in diagnosis.ask(loses, case).claims] == [
        "law: ours" * (not one) for one in told
    ]
    assert diagnosis.ask(loses, case).status == ("found" if told else "clean")


def test_where_no_law_speaks_measured_cases_do_and_what_the_run_shows_comes_first(monkeypatch, case):
    monkeypatch.setattr(diagnosis, "by_law", lambda *_: None)
    half = Expectation(np.full(4, 2_500.0), np.full(4, 0.0), np.full(4, 5_000.0), "cases")
    monkeypatch.setattr(diagnosis, "by_cases", lambda check, *_: half if check != "unknown" else None)
    asks_a_law = predicted(saves("lawless", 0.5), lambda problem: replace(problem, becomes=lambda _: None))
    seen = Expectation(np.full(4, 9_000.0), np.full(4, 0.0), np.full(4, 9_000.0), "this run")
    shown = predicted(saves("shown", 0.5), lambda problem: replace(problem, expected=seen, becomes=lambda _: None))
    assert expectation_of(asks_a_law, case) == [[2_500.0] * 4]
    monkeypatch.setattr(diagnosis, "by_law", lambda *_: pytest.fail("the run has shown it"))
    assert expectation_of(saves("unknown", 0.5), case) == [None]
    assert expectation_of(shown, case) == [[5_000.0] * 4]  # no more than the bound


@for_all("nothing", [{"gap": True}, {}])
def test_of_gaps_and_of_what_saves_no_time_nothing_is_expected(monkeypatch, case, nothing):
    monkeypatch.setattr(diagnosis, "by_cases", lambda *_: pytest.fail("nobody knows"))
    assert expectation_of(saves("made", 0.5 if nothing else 0.0, **nothing), case) == [None]


def test_checks_that_lack_the_same_say_so_once(case):
    checks = [
        replace(comes_to(name, why), principal=True) for name, why in (("a", "dark"), ("b", "far"), ("c", "dark"))
    ]
    (step,) = diagnose(case, checks).steps
    assert step.why == "a, c: dark; b: far"


@for_all("name", [CLIP, OFT])
def test_no_check_looks_through_all_rows_anew_for_each_of_some(name, tmp_path, monkeypatch):
    """What it does for all rows it does as often where there are three times as many: time grows in step with rows."""
    looks, mapped = [], Texts.mapped

    def counting(*arguments, **named):
        looks.append(arguments)
        return mapped(*arguments, **named)

    def counts(times):
        with shared(name).open(newline="") as text:
            header, *ops = csv.reader(text)
        path = tmp_path / f"{times}.csv"
        with path.open("w", newline="") as text:
            csv.writer(text).writerows([header, *ops[:500] * times])
        case, counted = case_of_reports(path, chosen="all"), {}
        for check in CATALOGUE:
            ask_check(check, case)  # what checks share is computed
            case.outcomes.clear()
            looks.clear()
            ask_check(check, case)
            counted[check.id] = len(looks)
        return counted

    monkeypatch.setattr(Texts, "mapped", counting)
    once, thrice = counts(1), counts(3)
    assert [check for check, count in thrice.items() if count > once[check] + FEW_LOOKS] == []

"""Runs all checks on one window: the plan that their claims make, findings in its order, the status of each step.

Risks promise no saving, and are never dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from ttnn_mcp.analyses.laws.anchored import SAME
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.check import STEP_TITLES, CannotTell, Check, Claim, Clean, Mask, Problem
from ttnn_mcp.checks.expectation import by_cases, by_law, explains
from ttnn_mcp.checks.fixes import marked
from ttnn_mcp.checks.levers import ATTENTION_GRID, PROGRAM
from ttnn_mcp.checks.needs import Need
from ttnn_mcp.checks.plan.configs import Configs, Fix
from ttnn_mcp.checks.plan.edits import Edit, Resolved
from ttnn_mcp.checks.plan.expected import expected_alone, tried_saving
from ttnn_mcp.checks.plan.plan import Plan, plan_of
from ttnn_mcp.checks.plan.remaining import saved_by, time_of
from ttnn_mcp.checks.precedents import by_precedents
from ttnn_mcp.checks.shared.roles import place_in_layers
from ttnn_mcp.checks.unexplained import Unexplained, unexplained
from ttnn_mcp.checks.wording import in_one_unit
from ttnn_mcp.checks.worth import ALWAYS, Worth
from ttnn_mcp.errors import shown_path
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay.kept import has_replays
from ttnn_mcp.run.ops.lost_shapes import LOST_SHAPE
from ttnn_mcp.wire import Evidence, Finding, Saving, Status, StepStatus

_log = logging.getLogger(__name__)

FORMATS = 1  # the step of data formats
EVIDENCE_SHOWN = 4  # cells per finding: enough to check the claim, the heaviest op first


@dataclass(frozen=True, slots=True)
class Asked:
    """One check's outcome."""

    check: Check
    status: Status
    why: str
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of all checks.

    Attributes:
        plan: the edits of the claims that were asked for.
        findings: in the order of the plan; trials and risks last.
        steps: one per step of the skill.
        unexplained: what the plan of all checks leaves above the floors, even if only some checks were asked for.
        configs: what the plan sets of each op.
    """

    plan: Plan
    findings: tuple[Finding, ...]
    steps: tuple[StepStatus, ...]
    unexplained: Unexplained
    configs: Configs


def diagnose(
    facts: WindowFacts,
    checks: Sequence[Check],
    *,
    min_saving_share: float = 0.0,
    others: Sequence[Check] = (),
    earlier_runs: bool = False,
) -> Diagnosis:
    """Run every check and plan with their claims; `others` count only for the ops that they explain."""
    outcomes = {check: ask(check, facts) for check in dict.fromkeys((*checks, *others))}
    in_order = sorted(outcomes.values(), key=lambda outcome: (outcome.check.step, outcome.check.id))
    every = _backed(facts, in_order, earlier_runs=earlier_runs)
    claims = [(check, claim) for check, claim in every if check in checks]
    plan = plan_of(facts, claims)
    whole = plan if len(claims) == len(every) else plan_of(facts, every)
    configs = Configs(facts, plan)
    return Diagnosis(
        plan=plan,
        findings=tuple(_findings(facts, plan, configs, min_saving_share)),
        steps=tuple(_steps([outcomes[check] for check in checks], facts.scope.in_doubt)),
        unexplained=unexplained(facts, whole),
        configs=configs,
    )


def _backed(facts: WindowFacts, asked: Sequence[Asked], *, earlier_runs: bool) -> list[tuple[Check, Claim]]:
    """The claims, with what earlier runs and this run itself let expect."""
    claims = [(outcome.check, claim) for outcome in asked for claim in outcome.claims]
    if earlier_runs and (facts.run.kept.holds("Archive") or has_replays(facts.run)):
        from ttnn_mcp.checks.earlier_runs import backed  # noqa: PLC0415 - what reads an archive loads where one is

        claims = backed(facts, claims)
    return by_precedents(facts, claims)


def ask(check: Check, facts: WindowFacts) -> Asked:
    """One check's outcome on the window, asked once."""
    with facts.lock:
        outcome = facts.outcomes.get(check.id)
        if not isinstance(outcome, Asked):
            outcome = facts.outcomes[check.id] = _asked(check, facts)
    return outcome


def _asked(check: Check, facts: WindowFacts) -> Asked:
    """The outcome; a check whose needs are not met, or that fails, cannot tell."""
    try:
        return _gated(check, facts)
    except Exception:  # noqa: BLE001 - one check's bug must not cost the user the others; the trace goes to stderr
        _log.exception("check %s failed on run %s", check.id, facts.run.id)
        return Asked(check, "cannot_tell", f"{check.id} failed on this report: a bug in ttnn-mcp")


def _gated(check: Check, facts: WindowFacts) -> Asked:
    if check.step == FORMATS and facts.chip.foreign:
        return Asked(check, "cannot_tell", "the profile names an architecture whose formats are not known")
    if lacking := _lacking(check, facts, np.ones(len(facts), dtype=np.bool_), of_run=True):
        return Asked(check, "cannot_tell", lacking.why(facts))
    about = check.of.mask(facts)
    if not about.any():
        lost = check.of.by_kind and bool(facts.named(LOST_SHAPE).any())
        why = f"{check.of.none}, beside ops whose shapes are lost" if lost else check.of.none
        return Asked(check, "cannot_tell" if lost else "not_applicable", why)
    if lacking := _lacking(check, facts, about, of_run=False):
        return Asked(check, "cannot_tell", lacking.why(facts))
    outcomes = list(check.look(facts))
    problems = [
        _expecting(check, problem, facts)
        for problem in outcomes
        if isinstance(problem, Problem) and _worth_telling(problem, check.worth, facts)
    ]
    claims = tuple(_for_author(check, problem.told(facts), facts) for problem in problems if problem is not None)
    if claims:
        return Asked(check, "found", "", claims)
    unknown = next((outcome for outcome in outcomes if isinstance(outcome, CannotTell)), None)
    silent = unknown or next((outcome for outcome in outcomes if isinstance(outcome, Clean)), Clean(""))
    return Asked(check, "cannot_tell" if unknown else "clean", silent.why)


def _lacking(check: Check, facts: WindowFacts, about: Mask, *, of_run: bool) -> Need | None:
    """The first need that is not met, of those of the run or of those of the check's ops."""
    return next((need for need in check.needs if need.of_run == of_run and not need.met(facts, about)), None)


def _worth_telling(problem: Problem, worth: Worth, facts: WindowFacts) -> bool:
    if not problem.exists:
        return False
    if not facts.total_ns:  # there is no share of zero time
        return worth == ALWAYS and not problem.promise_ns
    return facts.share(problem.rows) >= worth.time and problem.promise_ns >= worth.saving * facts.total_ns


def _expecting(check: Check, problem: Problem, facts: WindowFacts) -> Problem | None:
    """The problem with what to expect of its change; None where a law expects no gain at its best end."""
    if facts.scope.in_doubt or not problem.promise_ns:
        return replace(problem, expected=None)
    if problem.gap_ns is not None:
        return problem
    expected = problem.expected
    if expected is None and problem.becomes is not None:
        expected = by_law(facts, problem.rows, problem.at_most_ns, problem.becomes)
        if expected is not None and expected.high_ns.sum() <= 0:
            return None
        if expected is not None and expected.saved_ns.sum() <= SAME * facts.kernel_ns[problem.rows].sum():
            return replace(
                problem, law_of_no_gain=expected.basis
            )  # a trial, whatever cases and tries elsewhere say
    lessened = {"passes": problem.passes, "spared_bytes": problem.spared_bytes}
    if expected is None:
        is_trial = problem.is_trial or not explains(facts, problem.rows, **lessened)
        problem = replace(problem, is_trial=is_trial)
        expected = None if is_trial else by_cases(check.id, (problem.lever or check.lever).name, problem.at_most_ns)
    if expected is None:
        return problem
    return replace(problem, expected=expected.within(problem.at_least_ns, problem.at_most_ns))


def _for_author(check: Check, claim: Claim, facts: WindowFacts) -> Claim:
    """The claim with the fix that the program's author can apply."""
    return replace(claim, fix=check.compiled) if facts.compiled and check.compiled else claim


def _findings(facts: WindowFacts, plan: Plan, configs: Configs, min_saving_share: float) -> Iterator[Finding]:
    """Each claim, under each edit that resolves some of it: with the saving of that part."""
    least_ns = min_saving_share * plan.before_ns
    values: dict[tuple[str, str], str] = {}
    edits = [ranked.edit for ranked in plan.ranked if ranked.alone_ns >= least_ns]
    for edit in (*edits, *plan.trials_from(least_ns), *plan.risks):
        for part in edit.parts:
            fix = configs.fix(edit, part)
            first = values.setdefault((edit.name, fix.value), part.check.id) if fix.value else part.check.id
            printed = fix if first == part.check.id else fix.after(first)
            yield _finding(facts, plan, edit, part, printed)


def _finding(facts: WindowFacts, plan: Plan, edit: Edit, part: Resolved, fix: Fix) -> Finding:
    check, claim, change = part.check, part.claim, part.change
    at_most_ns = saved_by(plan.ground, [change])
    expected = expected_alone(plan.ground, [part])
    trial = tried_saving(plan.ground, [part]) if expected is None else None
    known = expected or trial
    caveats = (facts.scope.in_doubt, _split(plan, edit, part), _set_above(facts, plan, edit, part), fix.caveat)
    return Finding(
        check=check.id,
        edit=edit.name,
        step=check.step,
        claim=in_one_unit("; ".join(text for text in (claim.claim, place_in_layers(facts, claim.rows)) if text)),
        share=time_of(plan.ground, [change]) / plan.before_ns if plan.before_ns else 0.0,
        saving_us=Saving(
            at_most=at_most_ns / 1e3,
            at_least=min(part.at_least_ns, at_most_ns) / 1e3,
            expected=None if expected is None else expected.saved_ns / 1e3,
            interval=None if expected is None else (expected.low_ns / 1e3, expected.high_ns / 1e3),
            if_gains=None if trial is None else trial.saved_us,
            basis=None if known is None else known.basis,
        ),
        assumption=in_one_unit(claim.assumption),
        evidence=(*claim.evidence[:EVIDENCE_SHOWN], *_model_line(facts, claim)),
        fix=marked(fix.text),
        verify=claim.verify,
        caveat="; ".join(text for text in caveats if text) or None,
        read_next=check.read_next,
    )


def _split(plan: Plan, edit: Edit, part: Resolved) -> str:
    """How many ops of the claim this edit resolves, where others resolve the rest."""
    others = [
        other.name
        for other in plan.edits
        if other != edit and any(each.place == part.place for each in other.parts)
    ]
    of = f"{len(part.change)} of {len(part.claim.rows)} ops count here"
    return f"{of}, the others in {', '.join(others)}" if others else ""


def _set_above(facts: WindowFacts, plan: Plan, edit: Edit, part: Resolved) -> str:
    """Which of its ops take what an edit above sets: 'line 26 as matmul-config has it'."""
    rows, slot, place = part.change.rows, part.change.slot, plan.place_of(edit.name)
    slots = (PROGRAM, ATTENTION_GRID.slot) if slot == PROGRAM else (slot,)  # the grid is a field of its config
    above = {
        other.name: np.isin(rows, np.concatenate(changed))
        for other in plan.edits[: plan.edits.index(edit)]
        if (changed := [each.change.rows for each in other.parts if each.change.slot in slots])
    }
    if place is not None:
        lost = plan.ranked[place].overruled[edit.parts.index(part)]
    else:
        lost = np.isin(rows, [*chain.from_iterable(rows[same] for same in above.values())])
    names = " or ".join(name for name, same in above.items() if (same & lost).any())
    if not names or (lost.all() and place is not None):
        return ""
    if lost.all():
        return f"instead of {names}, not with it"
    heaviest = facts.line(int(rows[lost][np.argmax(facts.kernel_ns[rows[lost]])]))
    return f"line {heaviest}{f' and {lost.sum() - 1} more' if lost.sum() > 1 else ''} as {names} has it"


def _model_line(facts: WindowFacts, claim: Claim) -> tuple[Evidence, ...]:
    """The model line that calls the heaviest op of the claim: a compiler's LOC, or the linked call's source line."""
    if not len(claim.rows):
        return ()
    line = facts.line(int(claim.rows[np.argmax(facts.kernel_ns[claim.rows])]))
    source = facts.run.source_at(line)
    if source is None or any(cell.column == "LOC" for cell in claim.evidence[:EVIDENCE_SHOWN]):
        return ()
    if facts.run.performance_report.csv.compiler:
        return (Evidence(source=facts.ops.source, row=line, column="LOC", value=shown_path(source)),)
    operation = facts.run.linked.operation_at[line] if facts.run.linked else ""
    report = facts.run.memory_report.path.name
    row = f"operations:{operation}"
    return (Evidence(source=report, row=row, column="stack_traces", value=shown_path(source)),)


def _steps(asked: list[Asked], in_doubt: str) -> list[StepStatus]:
    statuses: list[StepStatus] = []
    for step in STEP_TITLES:
        outcomes = [outcome for outcome in asked if outcome.check.step == step]
        if outcomes:
            status, why = _summed_up(outcomes)
            if in_doubt and status == "clean":
                status, why = "cannot_tell", in_doubt
            statuses.append(StepStatus(step=step, status=status, why=why))
    return statuses


def _summed_up(outcomes: list[Asked]) -> tuple[Status, str]:
    by_status: dict[Status, list[Asked]] = {}
    for outcome in outcomes:
        status = "clean" if outcome.check.lever.tries and outcome.status == "found" else outcome.status
        by_status.setdefault(status, []).append(outcome)
    clean, unsure = by_status.get("clean", []), by_status.get("cannot_tell", [])
    blind = [outcome for outcome in unsure if outcome.check.principal]
    also = "".join(f"; {outcome.check.id}: {outcome.why}" for outcome in clean if outcome.why)
    also += f"; cannot tell: {', '.join(outcome.check.id for outcome in unsure)}" if unsure else ""
    if "found" in by_status:
        return "found", ", ".join(outcome.check.id for outcome in by_status["found"]) + also
    if blind:
        whys = dict.fromkeys(outcome.why for outcome in blind)
        ids = {why: ", ".join(outcome.check.id for outcome in blind if outcome.why == why) for why in whys}
        return "cannot_tell", "; ".join(f"{ids[why]}: {why}" for why in whys)
    if clean:
        return "clean", f"{len(clean)} of {len(outcomes)} checks looked and found nothing{also}"
    if unsure:
        return "cannot_tell", "; ".join(dict.fromkeys(outcome.why for outcome in unsure))
    return "not_applicable", "; ".join(
        dict.fromkeys(outcome.why for outcome in by_status.get("not_applicable", []))
    )

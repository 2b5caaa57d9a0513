"""Runs all checks on one window: findings ranked by their savings, and the status of each step.

No microsecond is saved twice (see `overlaps`). Risks promise no saving, and are never dropped.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.checks.check import STEP_TITLES, CannotTell, Check, Claim
from ttnn_mcp.checks.earlier_runs import backed
from ttnn_mcp.checks.overlaps import settlements
from ttnn_mcp.checks.shared.roles import place_in_layers
from ttnn_mcp.checks.unexplained import Unexplained, unexplained
from ttnn_mcp.checks.worth import ALWAYS
from ttnn_mcp.errors import shown_path
from ttnn_mcp.wire import Evidence, Finding, Saving, Status, StepStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.check import Mask
    from ttnn_mcp.checks.needs import Need
    from ttnn_mcp.checks.overlaps import Settlement
    from ttnn_mcp.checks.worth import Worth

_log = logging.getLogger(__name__)

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
        findings: ranked by the most they can save, then by share.
        steps: one per step of the skill.
        unexplained: ops that no check claims and that are far from their roofline, even if only some checks ran.
    """

    findings: tuple[Finding, ...]
    steps: tuple[StepStatus, ...]
    unexplained: Unexplained


def diagnose(
    facts: WindowFacts,
    checks: Sequence[Check],
    *,
    min_saving_share: float = 0.0,
    others: Sequence[Check] = (),
    earlier_runs: bool = False,
) -> Diagnosis:
    """Run every check and settle their claims; `others` count only for the ops that they explain."""
    asked = [ask(check, facts) for check in checks]
    claims = [(outcome.check, claim) for outcome in asked for claim in outcome.claims]
    claims = backed(facts, claims) if earlier_runs else claims
    findings = _settled(facts, claims)
    risks = {check.id for check, claim in claims if not claim.promise_ns}
    least_ns = min_saving_share * facts.total_ns
    kept = [
        finding for finding in findings if finding.saving_us.at_most * 1e3 >= least_ns or finding.check in risks
    ]
    explained = [
        *(claim for _, claim in claims),
        *(claim for check in others for claim in ask(check, facts).claims),
    ]
    return Diagnosis(tuple(kept), tuple(_steps(asked)), unexplained(facts, explained))


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
    if lacking := _lacking(check, facts, np.ones(len(facts), dtype=np.bool_), of_run=True):
        return Asked(check, "cannot_tell", lacking.why(facts))
    about = check.of.mask(facts)
    if not about.any():
        return Asked(check, "not_applicable", check.of.none)
    if lacking := _lacking(check, facts, about, of_run=False):
        return Asked(check, "cannot_tell", lacking.why(facts))
    outcomes = list(check.look(facts))
    claims = tuple(
        _for_author(check, claim, facts)
        for claim in outcomes
        if isinstance(claim, Claim) and _worth_telling(claim, check.worth, facts)
    )
    if claims:
        return Asked(check, "found", "", claims)
    unknown = next((outcome for outcome in outcomes if isinstance(outcome, CannotTell)), None)
    return Asked(check, "cannot_tell", unknown.why) if unknown else Asked(check, "clean", "")


def _lacking(check: Check, facts: WindowFacts, about: Mask, *, of_run: bool) -> Need | None:
    """The first need that is not met, of those of the run or of those of the check's ops."""
    return next((need for need in check.needs if need.of_run == of_run and not need.met(facts, about)), None)


def _worth_telling(claim: Claim, worth: Worth, facts: WindowFacts) -> bool:
    if not facts.total_ns:  # there is no share of zero time
        return worth == ALWAYS and not claim.promise_ns
    return facts.share(claim.rows) >= worth.time and claim.promise_ns >= worth.saving * facts.total_ns


def _for_author(check: Check, claim: Claim, facts: WindowFacts) -> Claim:
    """The claim with the fix that the program's author can apply."""
    return replace(claim, fix=check.compiled) if facts.compiled and check.compiled else claim


def _settled(facts: WindowFacts, claims: list[tuple[Check, Claim]]) -> list[Finding]:
    ranked = [
        _finding(facts, check, claim, settlement)
        for (check, claim), settlement in zip(claims, settlements(facts, claims), strict=True)
    ]
    return sorted(ranked, key=lambda finding: (-finding.saving_us.at_most, -finding.share))


def _finding(facts: WindowFacts, check: Check, claim: Claim, settlement: Settlement) -> Finding:
    assumption = claim.assumption
    if settlement.counted_under:
        names = " and ".join(settlement.counted_under)
        assumption += f"; alone up to {claim.promise_ns / 1e3:.0f} us, the rest counts under {names}"
    return Finding(
        check=check.id,
        step=check.step,
        claim="; ".join(part for part in (claim.claim, place_in_layers(facts, claim.rows)) if part),
        share=facts.share(claim.rows) if claim.gap_ns is None else facts.gap_share,
        saving_us=Saving(at_least=settlement.at_least_ns / 1e3, at_most=settlement.at_most_ns / 1e3),
        assumption=assumption,
        evidence=(*claim.evidence[:EVIDENCE_SHOWN], *_model_line(facts, claim)),
        fix=claim.fix,
        verify=claim.verify,
        caveat=claim.caveat,
        read_next=check.read_next,
    )


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


def _steps(asked: list[Asked]) -> list[StepStatus]:
    statuses: list[StepStatus] = []
    for step, title in STEP_TITLES.items():
        outcomes = [outcome for outcome in asked if outcome.check.step == step]
        if outcomes:
            status, why = _summed_up(outcomes)
            statuses.append(StepStatus(step=step, title=title, status=status, why=why))
    return statuses


def _summed_up(outcomes: list[Asked]) -> tuple[Status, str]:
    by_status: dict[Status, list[Asked]] = {}
    for outcome in outcomes:
        by_status.setdefault(outcome.status, []).append(outcome)
    clean, unsure = by_status.get("clean", []), by_status.get("cannot_tell", [])
    also = f"; cannot tell: {', '.join(outcome.check.id for outcome in unsure)}" if unsure else ""
    if "found" in by_status:
        return "found", ", ".join(outcome.check.id for outcome in by_status["found"]) + also
    if clean:
        return "clean", f"{len(clean)} of {len(outcomes)} checks looked and found nothing{also}"
    if unsure:
        return "cannot_tell", "; ".join(dict.fromkeys(outcome.why for outcome in unsure))
    return "not_applicable", "; ".join(
        dict.fromkeys(outcome.why for outcome in by_status.get("not_applicable", []))
    )

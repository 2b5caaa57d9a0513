"""What a diagnosis promises about each op of a layer, in the form that `verdict` judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.checks.rows import case_of
from tests.frozen.verdict import Promise, verdicts
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.checks.wording import in_one_unit

if TYPE_CHECKING:
    from pathlib import Path

    from tests.frozen.layer import Layer
    from tests.frozen.verdict import Verdict
    from ttnn_mcp.analyses.window_facts import WindowFacts


def promises_of(case: WindowFacts) -> list[Promise]:
    """Each finding with its fix as it is printed; a position is that among the ops of the busiest device."""
    diagnosis = diagnose(case, CATALOGUE)
    plan = diagnosis.plan
    edits = (*(ranked.edit for ranked in plan.ranked), *plan.trials, *plan.risks)
    parts = [(edit.name, part) for edit in edits for part in edit.parts]
    made: list[Promise] = []
    for finding in diagnosis.findings:
        claims = [
            part.claim
            for edit, part in parts
            if (edit, part.check.id) == (finding.edit, finding.check)
            and finding.claim.startswith(in_one_unit(part.claim.claim))
        ]
        if not claims:
            raise AssertionError(f"no part of the plan says: {finding.claim}")
        shares: dict[int, float] = {}
        for claim in claims:
            shares |= dict(zip(claim.rows.tolist(), claim.at_most_ns.tolist(), strict=True))
        saving, whole = finding.saving_us, any(claim.gap_ns is not None for claim in claims)
        made.append(
            Promise(
                finding.fix,
                frozenset(shares),
                saving.at_least,
                saving.at_most,
                saving.expected,
                None if whole else shares,
                finding.check,
                claims[0].is_trial,
                saving.if_gains,
            )
        )
    return made


def promised(layer: Layer, folder: Path) -> tuple[list[Promise], float]:
    """What the checks as they are promise about a layer, and its kernel time in us."""
    program = layer.build()
    case = case_of(folder, program)
    if len(case) != len(program.device_ops):
        raise AssertionError(f"{layer.id} has {len(program.device_ops)} ops, its window has {len(case)}")
    return promises_of(case), case.total_ns / 1e3


def judged(layer: Layer, folder: Path) -> list[Verdict]:
    """Verdicts on the levers of a layer."""
    return verdicts(layer.levers, *promised(layer, folder))

"""What a half-typed prompt or template argument could become.

Only what is cheap to know is offered: a list that would need a run we cannot open is simply empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.served import pages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    Ask = Callable[[str, Mapping[str, object]], Awaitable[dict[str, Any]]]

STEPS = [str(step) for step in range(1, 8)]
SLOWEST = 50  # op lines offered for a template; the rest can be typed


async def candidates(ask: Ask, argument: str, chosen: Mapping[str, str], *, op_lines: bool = False) -> list[str]:
    """Every value `argument` could take, given the arguments `chosen` so far."""
    run: dict[str, object] = {"run": chosen["run"]} if chosen.get("run") else {}
    try:
        if argument == "run":
            return [*_column(await ask("list_runs", {}), "runs", "id"), "demo"]
        if argument == "op" and op_lines:
            return _column(await ask("list_ops", {**run, "limit": SLOWEST}), "ops", "op")
        if argument == "op":
            return _column(await ask("list_ops", {**run, "group_by": "op_code"}), "groups", "key")
        if argument == "signpost":
            shown = (await ask("open_run", run)).get("signposts", [])
            return [signpost for signpost in shown if not signpost.startswith("... ")]  # "... and 40 more"
    except TtnnMcpError:
        return []
    known = {
        "step": lambda: STEPS,
        "page": lambda: pages.named(f"{pages.SKILL_ROOT}/"),
        "check": lambda: pages.named("ttnn://checks/"),
        "arch": lambda: pages.named("ttnn://hardware/"),
    }
    return known[argument]() if argument in known else []


def matching(typed: str, values: list[str]) -> list[str]:
    """The values that begin with what was typed, then those that contain it, whatever the case."""
    wanted = typed.lower()
    unique = list(dict.fromkeys(values))
    begins = [value for value in unique if value.lower().startswith(wanted)]
    return begins + [value for value in unique if wanted in value.lower() and value not in begins]


def _column(answer: dict[str, Any], table: str, column: str) -> list[str]:
    found = answer.get(table)
    if not found:
        return []
    at = found["columns"].index(column)
    return [str(row[at]) for row in found["rows"]]

"""Values that complete a half-typed argument of a prompt or a resource template.

If a list would need a run that cannot be opened, it is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.served import pages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    Ask = Callable[[str, Mapping[str, object]], Awaitable[dict[str, Any]]]

STEPS = [str(step) for step in range(1, 8)]
MOST = 100  # values of one completion: the protocol's limit


async def candidates(ask: Ask, argument: str, chosen: Mapping[str, str], *, op_lines: bool = False) -> list[str]:
    """Every value `argument` could take, given the arguments `chosen` so far."""
    run: dict[str, object] = {"run": chosen["run"]} if chosen.get("run") else {}
    try:
        if argument == "run":
            return [*_column(await ask("list_runs", {}), "runs", "id"), "demo"]
        if argument == "op" and op_lines:
            return _column(await ask("list_ops", {**run, "limit": MOST}), "ops", "op")
        if argument == "op":
            return _column(await ask("list_ops", {**run, "group_by": "op_code"}), "groups", "key")
        if argument == "signpost":
            return (await ask("open_run", run)).get("signposts", [])
    except TtnnMcpError:
        return []
    offers = {
        "step": lambda: STEPS,
        "page": lambda: pages.names_after(f"{pages.SKILL_ROOT}/"),
        "check": lambda: pages.names_after("ttnn://checks/"),
        "arch": lambda: pages.names_after("ttnn://hardware/"),
    }
    return offers[argument]() if argument in offers else []


def matching(typed: str, values: list[str]) -> list[str]:
    """The values that begin with what was typed, then those that contain it, whatever the case."""
    lowered = typed.lower()
    unique = list(dict.fromkeys(values))
    begins = [value for value in unique if value.lower().startswith(lowered)]
    return begins + [value for value in unique if lowered in value.lower() and value not in begins]


def _column(answer: dict[str, Any], table: str, column: str) -> list[str]:
    cells = answer[table]
    place = cells["columns"].index(column)
    return [str(row[place]) for row in cells["rows"]]

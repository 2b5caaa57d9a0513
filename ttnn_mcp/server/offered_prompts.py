"""The methods under prompts/, and completion of half-typed arguments of a prompt or a resource template.

If a list of completions would need a run that cannot be opened, it is empty.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from ttnn_mcp import quoting
from ttnn_mcp.errors import ArgumentsInvalid, TtnnMcpError, nearest, shown
from ttnn_mcp.served import pages
from ttnn_mcp.server import prompts
from ttnn_mcp.server.prompt_facts import known_facts

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ttnn_mcp.server.prompt_facts import Ask

    Ctx = ServerRequestContext[Any]

STEPS = [str(step) for step in range(1, 8)]
MOST = 100  # values of one completion: the protocol's limit
logger = logging.getLogger(__name__)


class OfferedPrompts:
    """Handlers of the methods under prompts/ and of completion."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    async def list_prompts(
        self, _ctx: Ctx, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """prompts/list."""
        listed = [
            types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.description,
                arguments=[
                    types.PromptArgument(
                        name=argument.name, description=argument.description, required=argument.required
                    )
                    for argument in prompt.arguments
                ],
            )
            for prompt in prompts.PROMPTS
        ]
        return types.ListPromptsResult(prompts=listed)

    async def get_prompt(self, _ctx: Ctx, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """prompts/get."""
        by_name = {prompt.name: prompt for prompt in prompts.PROMPTS}
        prompt = by_name.get(params.name)
        if prompt is None:
            raise MCPError(
                types.INVALID_PARAMS, f"No prompt '{shown(params.name)}'.{nearest(params.name, by_name)}"
            )
        try:
            arguments = params.arguments or {}
            text = prompt.text(
                arguments, await known_facts(self.ask, arguments.get("run")) if prompt.wants_facts else ""
            )
        except ArgumentsInvalid as refusal:
            raise MCPError(types.INVALID_PARAMS, str(refusal)) from None
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=quoting.text(text)))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def complete(self, _ctx: Ctx, params: types.CompleteRequestParams) -> types.CompleteResult:
        """completion/complete."""
        chosen = (params.context.arguments if params.context else None) or {}
        try:
            values = await candidates(
                self.ask, params.argument.name, chosen, op_lines=params.ref.type == "ref/resource"
            )
        except Exception:
            logger.exception("completion failed")
            values = []  # the failure is logged; a person who types gets no suggestions
        values = matching(params.argument.value, values)
        return types.CompleteResult(
            completion=types.Completion(values=values[:MOST], total=len(values), has_more=len(values) > MOST)
        )


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

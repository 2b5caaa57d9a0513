"""The methods under prompts/, and completion of half-typed arguments."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from ttnn_mcp import quoting
from ttnn_mcp.errors import ArgumentsInvalid, nearest, shown
from ttnn_mcp.server import completions, prompts
from ttnn_mcp.server.prompt_facts import known_facts

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ttnn_mcp.server.prompt_facts import Ask

    Ctx = ServerRequestContext[Any]

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
            values = await completions.candidates(
                self.ask, params.argument.name, chosen, op_lines=params.ref.type == "ref/resource"
            )
        except Exception:
            logger.exception("completion failed")
            values = []  # the failure is logged; a person who types gets no suggestions
        values = completions.matching(params.argument.value, values)
        return types.CompleteResult(
            completion=types.Completion(
                values=values[: completions.MOST], total=len(values), has_more=len(values) > completions.MOST
            )
        )

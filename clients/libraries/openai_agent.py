"""An agent of openai-agents with our tools: argv is the model's address and the server's command."""

import asyncio
import sys

from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai import AsyncOpenAI

ADDRESS, *COMMAND = sys.argv[1:]


async def main():
    set_tracing_disabled(disabled=True)
    model = OpenAIResponsesModel("scripted", AsyncOpenAI(base_url=f"{ADDRESS}/v1", api_key="none"))
    async with MCPServerStdio({"command": COMMAND[0], "args": COMMAND[1:]}) as server:
        agent = Agent(name="ours", model=model, mcp_servers=[server])
        await Runner.run(agent, "go")


asyncio.run(main())

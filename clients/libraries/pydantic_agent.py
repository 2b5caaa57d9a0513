"""An agent of pydantic-ai with our tools: argv is the model's address and the server's command."""

import asyncio
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

ADDRESS, *COMMAND = sys.argv[1:]


async def main():
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{ADDRESS}/v1", api_key="none"))
    toolset = MCPToolset(StdioTransport(command=COMMAND[0], args=COMMAND[1:]), tool_error_behavior="failed")
    await Agent(model, toolsets=[toolset]).run("go")


asyncio.run(main())

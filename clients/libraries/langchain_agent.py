"""An agent of langchain with our tools: argv is the model's address and the server's command."""

import asyncio
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI

ADDRESS, *COMMAND = sys.argv[1:]


async def main():
    client = MultiServerMCPClient({"ttnn": {"transport": "stdio", "command": COMMAND[0], "args": COMMAND[1:]}})
    async with client.session("ttnn") as session:  # without one it starts a server for every call
        model = ChatOpenAI(model="scripted", base_url=f"{ADDRESS}/v1", api_key="none")
        agent = create_agent(model, await load_mcp_tools(session))
        await agent.ainvoke({"messages": [{"role": "user", "content": "go"}]})


asyncio.run(main())

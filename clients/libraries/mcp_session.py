"""The session of the Python SDK, version 1: argv is the server's command; prints what it got."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CALLS, URI, *COMMAND = sys.argv[1:]


async def main():
    server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        results = [await session.call_tool(name, arguments) for name, arguments in json.loads(CALLS)]
        page = await session.read_resource(URI)
    met = {
        "instructions": hello.instructions,
        "tools": [tool.name for tool in tools],
        "seen": [[block.text for block in result.content] for result in results],
        "structured": [result.structuredContent for result in results],
        "refused": [bool(result.isError) for result in results],
        "page": page.contents[0].text,
    }
    print(json.dumps(met))  # noqa: T201 - the test reads it


asyncio.run(main())

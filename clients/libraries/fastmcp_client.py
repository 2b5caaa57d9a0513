"""The client of fastmcp: argv is the server's command; prints what it got."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

CALLS, URI, *COMMAND = sys.argv[1:]


async def main():
    async with Client(StdioTransport(command=COMMAND[0], args=COMMAND[1:])) as client:
        tools = await client.list_tools()
        results = [
            await client.call_tool(name, arguments, raise_on_error=False) for name, arguments in json.loads(CALLS)
        ]
        page = await client.read_resource(URI)
    met = {
        "tools": [tool.name for tool in tools],
        "seen": [[block.text for block in result.content] for result in results],
        "structured": [result.structured_content for result in results],
        "refused": [bool(result.is_error) for result in results],
        "page": page[0].text,
    }
    print(json.dumps(met))  # noqa: T201 - the test reads it


asyncio.run(main())

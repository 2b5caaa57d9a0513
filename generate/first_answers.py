"""Write ttnn_mcp/server/first_answers.jsonl: what the SDK's server says to a client's first questions.

python -m generate.first_answers        or `make fix`, which rewrites everything generated
"""

import asyncio
import json
import tempfile
from pathlib import Path

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from ttnn_mcp.server.front_desk import ANSWERS, META, sdk_version
from ttnn_mcp.server.server import build
from ttnn_mcp.session.session import Session, Settings

CLIENT = {"name": "client", "version": "1"}
UNKNOWN = "other"  # any version that the SDK does not know


async def said(lines):
    """What the server answers to these lines of one client, each as it would write it."""
    messages = [jsonrpc_message_adapter.validate_json(line, by_name=False) for line in lines]
    requests = sum(getattr(message, "id", None) is not None for message in messages)
    with tempfile.TemporaryDirectory() as folder:
        server = build(Session(Settings(roots=(Path(folder),), state=Path(folder))))
        to_server, incoming = anyio.create_memory_object_stream(len(messages))
        outgoing, from_server = anyio.create_memory_object_stream(len(messages))
        written = []
        async with anyio.create_task_group() as tasks, to_server, from_server:
            tasks.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
            for message in messages:
                await to_server.send(SessionMessage(message))
                if getattr(message, "id", None) is not None:
                    reply = await from_server.receive()
                    written.append(reply.message.model_dump_json(by_alias=True, exclude_unset=True))
            tasks.cancel_scope.cancel()
    if len(written) != requests:
        raise ValueError(f"{len(written)} replies to {requests} requests")
    return written


async def replies(*messages):
    """The same, for messages without their envelope."""
    return await said([json.dumps({"jsonrpc": "2.0", **message}) for message in messages])


def result(reply):
    """The text of the result, exactly as it was written."""
    head = '{"jsonrpc":"2.0","id":1,"result":'
    if not reply.startswith(head):
        raise ValueError(reply[:200])
    return reply.removeprefix(head)[:-1]


async def handshake(version):
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
    said = await replies(
        {"id": 1, "method": "initialize", "params": params},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/list"},
    )
    return [result(reply) for reply in said]


async def modern(version):
    meta = {f"{META}protocolVersion": version, f"{META}clientInfo": CLIENT, f"{META}clientCapabilities": {}}
    messages = [{"id": 1, "method": name, "params": {"_meta": meta}} for name in ("server/discover", "tools/list")]
    return [result(reply) for reply in await replies(*messages)]


def first_answers():
    """The file's text: an index, then one result a line."""
    results = []

    def numbers(texts):
        results.extend(text for text in texts if text not in results)
        return [results.index(text) for text in texts]

    index = {
        "sdk": sdk_version(),
        "handshake": {
            version: numbers(asyncio.run(handshake(version))) for version in (*HANDSHAKE_PROTOCOL_VERSIONS, UNKNOWN)
        },
        "modern": {version: numbers(asyncio.run(modern(version))) for version in MODERN_PROTOCOL_VERSIONS},
    }
    return "".join(f"{line}\n" for line in (json.dumps(index), *results))


def main():
    ANSWERS.write_text(first_answers(), encoding="utf-8")


if __name__ == "__main__":
    main()

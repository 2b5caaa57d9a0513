"""What clients say first: messages, and whole conversations."""

import json

from ttnn_mcp.server.front_desk import META

CLIENT = {"name": "client", "version": "1"}
INITIALIZED = {"method": "notifications/initialized"}
CALL = {"id": 7, "method": "tools/call", "params": {"name": "open_run", "arguments": {"run": "demo"}}}


def introduction(version="2025-11-25", number=1, **more):
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT, **more}
    return {"id": number, "method": "initialize", "params": params}


def listing(number=2, **more):
    return {"id": number, "method": "tools/list", **more}


def modern(method, number, version="2026-07-28", **params):
    meta = {f"{META}protocolVersion": version, f"{META}clientInfo": CLIENT, f"{META}clientCapabilities": {}}
    return {"id": number, "method": method, "params": {**params, "_meta": meta}}


def nameless(message):
    del message["params"]["_meta"][f"{META}clientInfo"]
    return message


def wire(message):
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" if isinstance(message, dict) else message


CONVERSATIONS = {
    **{f"handshake {version}": [introduction(version), INITIALIZED, listing(), {"id": 3, "method": "ping"}]
       for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01", "")},
    "text ids": [introduction(number="a"), INITIALIZED, listing('b\u00e9"\\')],
    "the same id again": [introduction(), INITIALIZED, listing(1), {**CALL, "id": 1}],
    "list twice": [introduction(), INITIALIZED, listing(), listing(3)],
    "a cursor": [introduction(), INITIALIZED, listing(params={"cursor": "x"})],
    "a ping between": [introduction(), {"id": 5, "method": "ping"}, INITIALIZED, listing()],
    "prompts first": [introduction(), INITIALIZED, {"id": 5, "method": "prompts/list"}, listing()],
    "capabilities": [introduction(capabilities={"roots": {"listChanged": True}, "sampling": {}}), INITIALIZED, listing()],
    "odd capabilities": [introduction(capabilities={"roots": 3}), INITIALIZED, listing()],
    "no client": [{"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}, listing()],
    "list before the handshake": [listing(), introduction(), INITIALIZED, listing(3)],
    "initialize twice": [introduction(), INITIALIZED, introduction(number=4), listing()],
    "modern": [modern("server/discover", 1), modern("tools/list", 2), {**modern("tools/call", 3, **CALL["params"])}],
    "modern, nameless": [nameless(modern("server/discover", 1)), nameless(modern("tools/list", 2))],
    "modern without discover": [modern("tools/list", 2), modern("prompts/list", 3)],
    "unknown modern version": [modern("server/discover", 1, version="2031-01-01"), introduction(), INITIALIZED, listing()],
    "modern, then a handshake": [modern("server/discover", 1), introduction(number=2), INITIALIZED, listing(3)],
    "an unknown method": [introduction(), INITIALIZED, {"id": 3, "method": "no/such"}, listing()],
}  # fmt: skip

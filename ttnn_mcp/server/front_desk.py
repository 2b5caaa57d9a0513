"""Answers a client's first questions before the SDK and the tools are loaded.

Loading takes most of a second, and some clients start their first turn without our tools if the list is not there by
then. What they ask first has constant answers: `initialize`, `server/discover` and `tools/list`. These lie ready in
`first_answers.jsonl`, as the SDK's server gave them (`generate` asks it). Only messages of a form that is certain are
answered here; the first other message, and everything behind it, goes to the SDK. It is also told of the handshake, so
that it knows what was agreed.
"""

from __future__ import annotations

import json
import os
import select
from dataclasses import field
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias, cast

from ttnn_mcp.records import dataclass

Params: TypeAlias = "dict[str, Any]"

ANSWERS = Path(__file__).with_name("first_answers.jsonl")
SILENCE_S = 0.25  # after an answer; then the SDK is loaded  # unmoved: a moment sooner or later
LONGEST_BYTES = 64_000  # of what is read ahead: a message takes some hundred  # unmoved: the SDK answers the same
INDEX_BITS = 53  # whole numbers up to here are the same in every JSON reader
META = "io.modelcontextprotocol/"
_MODERN_NEEDS = {f"{META}protocolVersion", f"{META}clientCapabilities"}
_INFO = {"name", "version", "title", "description", "websiteUrl"}
_CAPABILITIES = {"roots", "sampling", "elicitation", "experimental", "extensions", "tasks"}


@dataclass
class Heard:
    """What came in before the SDK was there.

    Attributes:
        unanswered: bytes for the SDK: the handshake, then what was not answered.
        answered: ids of the handshake's requests, which the SDK must not answer a second time.
        ended: whether the client hung up with nothing left to answer.
    """

    unanswered: bytes = b""
    answered: list[Any] = field(default_factory=list[Any])
    ended: bool = False


class FrontDesk:
    """The first answers, by version of the protocol.

    Attributes:
        sdk: major and minor version of the SDK that gave them.
    """

    def __init__(self, lines: list[str]) -> None:
        index = json.loads(lines[0])
        self.sdk: str = index["sdk"]
        self._handshake: dict[str, list[int]] = index["handshake"]
        self._modern: dict[str, list[int]] = index["modern"]
        self._results = lines[1:]
        self._agreed: list[int] | None = None  # answers of the version that `initialize` settled
        self._introduced = self._modern_client = False

    def answer(self, line: bytes) -> tuple[str | None, bool] | None:
        """The response to one line (None for a notification), and whether the SDK must hear of it; None: not ours."""
        message = _message(line)
        if message is None:
            return None
        method, params, request = message["method"], message.get("params", {}), message.get("id")
        if method == "notifications/initialized" and self._agreed and "id" not in message and not params:
            self._introduced = True
            return None, True
        number = self._number(method, params) if _is_id(request) else None
        return None if number is None else (self._response(request, number), method != "tools/list")

    def _number(self, method: str, params: Params) -> int | None:
        """Which result answers a request; None where the desk cannot tell."""
        if method == "initialize" and self._agreed is None and not self._modern_client and _is_introduction(params):
            self._agreed = self._handshake.get(params["protocolVersion"], self._handshake["other"])
            return self._agreed[0]
        if self._agreed is not None:
            return self._agreed[1] if method == "tools/list" and self._introduced and not params else None
        results = self._modern.get(_modern_version(params), ())
        self._modern_client = self._modern_client or bool(results)
        place = {"server/discover": 0, "tools/list": 1}.get(method)
        return results[place] if results and place is not None else None

    def _response(self, request: Any, number: int) -> str:
        return (
            f'{{"jsonrpc":"2.0","id":{json.dumps(request, ensure_ascii=False)},"result":{self._results[number]}}}\n'
        )


def opened() -> FrontDesk | None:
    """The desk; None where its answers are missing, or come from another SDK than the installed one."""
    try:
        desk = FrontDesk(ANSWERS.read_text("utf-8").split("\n"))
    except (OSError, ValueError, KeyError):
        return None
    return desk if desk.sdk == sdk_version() else None


def sdk_version() -> str | None:
    """Major and minor version of the installed SDK, read from its folder's name: importing it is what takes long."""
    spec = find_spec("mcp")
    if spec is None or spec.origin is None:
        return None
    [*folders] = Path(spec.origin).parents[1].glob("mcp-*.dist-info")
    versions = [folder.name.removeprefix("mcp-").split(".")[:2] for folder in folders]
    return ".".join(versions[0]) if len(versions) == 1 else None


def attend(desk: FrontDesk, incoming: int, outgoing: int) -> Heard:
    """Answer on these file descriptors until something else is asked, or nothing for a while. Blocks."""
    heard, read, replayed = Heard(), b"", b""
    listed = False
    while not listed:
        while b"\n" in read:
            line, rest = read.split(b"\n", 1)
            reply = desk.answer(line)
            if reply is None:
                heard.unanswered = replayed + read
                return heard
            response, replay = reply
            read = rest
            if replay:
                replayed += line + b"\n"
                heard.answered += [json.loads(line)["id"]] if response else []
            else:
                listed = True  # the tools are known: whatever comes next needs the SDK
            _write(outgoing, (response or "").encode())
        if len(read) > LONGEST_BYTES:
            break
        if listed or (replayed and not select.select([incoming], [], [], SILENCE_S)[0]):
            break
        chunk = os.read(incoming, LONGEST_BYTES)
        if not chunk:
            heard.ended = not read
            break
        read += chunk
    heard.unanswered = replayed + read
    return heard


def leave(sig: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the names uvicorn gives them
    """End the process at once. Otherwise a thread that reads stdin, or a client that listens, could keep it alive.

    Nothing is lost: reports are only read, and our own store writes in transactions.
    """
    os._exit(128 + sig)  # the exit status in shells for a process that a signal ended


def _write(outgoing: int, content: bytes) -> None:
    while content:
        content = content[os.write(outgoing, content) :]


def _message(line: bytes) -> Params | None:
    try:
        message = _object(json.loads(line))
    except (ValueError, RecursionError):
        return None
    if message is None or not message.keys() <= {"jsonrpc", "id", "method", "params"}:
        return None
    sound = message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
    return message if sound and _object(message.get("params", {})) is not None else None


def _object(value: Any) -> Params | None:
    return cast("Params", value) if isinstance(value, dict) else None


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or (type(value) is int and abs(value) < 2**INDEX_BITS)


def _is_introduction(params: Params) -> bool:
    return (
        params.keys() == {"protocolVersion", "capabilities", "clientInfo"}
        and isinstance(params["protocolVersion"], str)
        and _are_capabilities(params["capabilities"])
        and _is_info(params["clientInfo"])
    )


def _modern_version(params: Params) -> str:
    meta = _object(params.get("_meta"))
    if params.keys() != {"_meta"} or meta is None:
        return ""
    if not _MODERN_NEEDS <= meta.keys() <= _MODERN_NEEDS | {f"{META}clientInfo"}:
        return ""
    version = meta[f"{META}protocolVersion"]
    client = meta.get(f"{META}clientInfo")
    sound = (client is None or _is_info(client)) and _are_capabilities(meta[f"{META}clientCapabilities"])
    return version if sound and isinstance(version, str) else ""


def _is_info(value: Any) -> bool:
    client = _object(value)
    return (
        client is not None
        and {"name", "version"} <= client.keys() <= _INFO
        and all(isinstance(text, str) for text in client.values())
    )


def _are_capabilities(value: Any) -> bool:
    """Known ones only, each empty or with `listChanged`: what the SDK makes of others is left to it."""
    capabilities = _object(value)
    return (
        capabilities is not None
        and capabilities.keys() <= _CAPABILITIES
        and all(map(_plain, capabilities.values()))
    )


def _plain(value: Any) -> bool:
    options = _object(value)
    return (
        options is not None
        and options.keys() <= {"listChanged"}
        and all(isinstance(option, bool) for option in options.values())
    )

"""A model that plays a script over any wire, and a record of what it was sent.

A wire is a module with `PATH` (what a request's path holds), `tools`, `results`, `told` and `reply`.
"""

from __future__ import annotations

import json
from typing import NamedTuple


class Call(NamedTuple):
    """What the model calls: `number` counts from 0."""

    number: int
    name: str
    arguments: dict


class Result(NamedTuple):
    """What a client answered a call with: the text, and whether the wire marks it as an error."""

    text: str
    is_error: bool = False


class Model:
    """Calls the tools of `script` one per turn, then says "done".

    `asked` are the requests of the conversation itself, in order; requests without tools (titles, summaries) get
    "done" and are not kept. A tool may be named without the prefix that a client gives to the tools of a server.
    """

    def __init__(self, *script):
        self.script = script
        self.asked = []
        self.wire = None

    def answer(self, wire, request):
        """The call the model answers with, None where it says "done"."""
        tools = wire.tools(request)
        if not tools:
            return None
        self.wire = wire
        self.asked.append(request)
        number = len(wire.results(request))
        if number >= len(self.script):
            return None
        name, arguments = self.script[number]
        offered = [full for full in tools if name not in tools and full.endswith(name)]
        return Call(number, offered[0] if len(offered) == 1 else name, arguments)

    def seen(self, number):
        """What the model was shown of its call `number`."""
        results = self.wire.results(self.asked[-1])
        if number >= len(results):
            raise LookupError(f"the client never answered {self.script[number]}")
        return results[number]

    def told(self):
        """All the model was told before its first answer: the system prompt, reminders, the person's words."""
        return self.wire.told(self.asked[0])

    def tools(self):
        """The tools with schemas that the model was offered from the start, by name."""
        return self.wire.tools(self.asked[0])


def as_text(content):
    """The text of a string or of parts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.get("text", "") for part in content)


def events(*payloads, named=False):
    """Payloads as a stream of server-sent events; `named` by their type."""
    return "".join(
        (f"event: {one['type']}\n" if named else "") + f"data: {json.dumps(one)}\n\n" for one in payloads
    )

"""Calls of TTNN in a text."""

from __future__ import annotations

import re

CALL = re.compile(r"ttnn(?:\.\w+)+\(")


def calls(fix: str) -> list[str]:
    """The outermost calls of `ttnn` in a text."""
    found, at = [], 0
    while match := CALL.search(fix, at):
        depth, at = 1, match.end()
        while depth and at < len(fix):
            depth += {"(": 1, ")": -1}.get(fix[at], 0)
            at += 1
        if not depth:
            found.append(fix[match.start() : at])
    return found

"""A fix as data: words, and code between backticks, so that every reader can take the code alone."""

from __future__ import annotations

import ast
import re
from threading import Lock
from typing import NamedTuple

CODE = "`"
# `w = ttnn.concat([a, b], dim=-1)`, `slice_config=ttnn.Conv2dSliceConfig(...)`, `to=ttnn.bfloat8_b`, `ttnn.relu(x)`
_BEGINS = re.compile(
    r"(?<![\w.])(?P<into>(?:[a-z]\w*, )*(?:\w+|\[\w+(?:, \w+)*\]) = |\w+=)?"
    r"(?P<path>(?:ttnn|device|(?<== )[a-z]\w*)(?:\.\w+)+)(?P<call>\()?",
    re.ASCII,
)
_KEYWORD = re.compile(r"(\w+)=(?=\w)")
_LEFT = re.compile(r"<([^<>]*)>")  # what a fix leaves to its reader: `sparsity=<as before>`
REST = "REST"  # what stands for an ellipsis behind keywords
_PARSING = Lock()  # Python 3.11 counts the depth of all threads as one, and raises SystemError (cpython #106905)
_LINKS = re.compile(r"[\s;,.:]*")  # between a code and the words behind it, where each has a line of its own


class FixPart(NamedTuple):
    """Words of a fix, or code."""

    text: str
    code: bool


def marked(fix: str) -> str:
    """A fix whose code stands between backticks: calls of ttnn, assignments, and values of arguments."""
    marked_text = ""
    for segment in re.split(r"(; )", fix.replace(CODE, "'")):
        statement = statement_of(segment)
        assigned = statement is not None and isinstance(statement.node, ast.Assign)
        marked_text += f"{CODE}{segment}{CODE}" if assigned else _calls_marked(segment, marked_text)
    return marked_text


def _calls_marked(segment: str, before: str) -> str:
    marked_text, at = "", 0
    while begin := _BEGINS.search(segment, at):
        end = _closed(segment, begin.end()) if begin["call"] else begin.end()
        words = before + marked_text + segment[at : begin.start()]
        code = "" if words.count("(") > words.count(")") else segment[begin.start() : end]
        if not (begin["call"] or begin["into"]) or statement_of(code) is None:  # among the words
            marked_text += segment[at : begin.end()]
            at = begin.end()
            continue
        marked_text += f"{segment[at : begin.start()]}{CODE}{code}{CODE}"
        at = begin.start() + len(code)
    return marked_text + segment[at:]


def parts_of(fix: str) -> list[FixPart]:
    """The words and codes of a marked fix in their order."""
    texts = enumerate(fix.split(CODE))
    parts = [FixPart(text if place % 2 else _trimmed(text), bool(place % 2)) for place, text in texts]
    return [part for part in parts if part.text]


class CodeStatement(NamedTuple):
    """A code as Python.

    Attributes:
        node: it; what an argument is given is assigned to the argument's name.
        argument: this name.
        left: names in capitals for what the code leaves to its reader, with the words of the fix.
    """

    node: ast.Assign | ast.Expr
    argument: str | None
    left: dict[str, str]


def statement_of(code: str) -> CodeStatement | None:
    """A code as Python; None where it is none."""
    left = {re.sub(r"\W+", "_", words).upper(): words for words in _LEFT.findall(code)}
    keyword = _KEYWORD.match(code)
    text = f"{keyword[1]} = {code[keyword.end() :]}" if keyword else code
    if text.endswith(", ...)"):
        left[REST] = "the other arguments of your call"
        text = f"{text.removesuffix('...)')}**{REST})"
    text = _LEFT.sub(lambda words: re.sub(r"\W+", "_", words[1]).upper(), text)
    try:
        with _PARSING:
            [node] = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    return (
        CodeStatement(node, keyword[1] if keyword else None, left)
        if isinstance(node, (ast.Assign, ast.Expr))
        else None
    )


def _trimmed(words: str) -> str:
    begin = _LINKS.match(words)
    return words[begin.end() if begin else 0 :].lstrip("# ").rstrip(" ;,:")


def _closed(text: str, at: int) -> int | None:
    """Behind the bracket that closes the one before `at`; None where none does."""
    depth = 1
    for place in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    return None

"""Our own text functions. SQLite's need time for text times pattern, in one step that the clock cannot interrupt."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Callable


def add_functions(connection: sqlite3.Connection, value_bytes: int, pattern_chars: int) -> None:
    """Add the functions to a connection; longer values and patterns raise OverflowError."""
    connection.create_function("instr", 2, _instr, deterministic=True)
    connection.create_function("replace", 3, _replacer(value_bytes), deterministic=True)
    for name, left, right in (("trim", True, True), ("ltrim", True, False), ("rtrim", False, True)):
        connection.create_function(name, 1, _trimmer(left=left, right=right), deterministic=True)
        connection.create_function(name, 2, _trimmer(left=left, right=right), deterministic=True)
    # setlimit came with 3.11: there SQLite's own LIKE and GLOB refuse long patterns
    if sys.version_info < (3, 11):  # unmoved: ours answer as SQLite's own do
        add_matching(connection, pattern_chars)


def add_matching(connection: sqlite3.Connection, pattern_chars: int) -> None:
    """Add LIKE and GLOB, which search a text once per part of the pattern."""
    for name, kind in (("like", _Like), ("glob", _Glob)):
        matches = kind(pattern_chars)
        connection.create_function(name, 2, matches, deterministic=True)


class _Like:
    """`text LIKE pattern`, ignoring the case of ASCII letters; SQLite passes the pattern first."""

    several, one, flags = "%", "_", re.DOTALL | re.IGNORECASE | re.ASCII
    letters = re.compile(r".", re.DOTALL)

    def __init__(self, longest: int) -> None:
        self.longest = longest

    def __call__(self, pattern: object, text: object) -> bool | None:
        if pattern is None or text is None:
            return None
        if len(str(pattern)) > self.longest:
            raise OverflowError
        return self._fits(self._parts(str(pattern)), str(text))

    def _parts(self, pattern: str) -> list[re.Pattern[str]]:
        """The pieces between the signs for any text (`%`), each as an expression of fixed length."""
        pieces = [""]
        for letter in self.letters.findall(pattern):
            if letter == self.several:
                pieces.append("")
            else:
                pieces[-1] += "." if letter == self.one else self._spelled(letter)
        return [re.compile(piece, self.flags) for piece in pieces]

    def _spelled(self, letter: str) -> str:
        return re.escape(letter)

    def _fits(self, parts: list[re.Pattern[str]], text: str) -> bool:
        """Whether the first piece is at the start, the others follow in order, and the last one is at the end."""
        first_part, *middle = parts
        if not middle:
            return first_part.fullmatch(text) is not None
        match = first_part.match(text)
        for part in middle[:-1]:
            if match is None:
                return False
            match = part.search(text, match.end())
        if match is None:
            return False
        end_match = [re.compile(f"(?:{middle[-1].pattern})\\Z", self.flags).search(text, match.end())]
        return end_match[0] is not None


class _Glob(_Like):
    """`text GLOB pattern`: `*`, `?` and sets in brackets; case matters."""

    several, one, flags = "*", "?", re.DOTALL
    letters = re.compile(r"\[(?:\^.|[^^])[^\]]*\]|.", re.DOTALL)  # a bracket that comes first ends no set
    signs = re.compile(r"(.)-(.)|(.)", re.DOTALL)

    def _spelled(self, letter: str) -> str:
        if letter == "[":
            return "(?!)"  # a set without an end fits nothing
        if len(letter) == 1:
            return re.escape(letter)
        inverted = letter[1] == "^"
        inside = letter[1 + inverted : -1]
        fits = "\\]" if inside.startswith("]") else ""
        for first, last, alone in self.signs.findall(inside.removeprefix("]")):
            fits += re.escape(first or alone)
            fits += f"-{re.escape(last)}" if first <= last and first else ""
        return f"[{'^' if inverted else ''}{fits}]"


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _instr(text: object, part: object) -> int | None:
    return None if text is None or part is None else _text(text).find(_text(part)) + 1


def _replacer(value_bytes: int) -> Callable[..., str | None]:
    def replaced(text: object, old: object, new: object) -> str | None:
        if text is None or old is None or new is None:
            return None
        whole, part, other = _text(text), _text(old), _text(new)
        if not part:
            return whole
        grown = len(whole) + whole.count(part) * max(0, len(other) - len(part))
        if grown > value_bytes:
            raise OverflowError
        return whole.replace(part, other)

    return replaced


def _trimmer(*, left: bool, right: bool) -> Callable[..., str | None]:
    def trimmed(text: object, characters: object = " ") -> str | None:
        if text is None or characters is None:
            return None
        letters, chosen = _text(text), frozenset(_text(characters))
        start, end = 0, len(letters)
        while left and start < end and letters[start] in chosen:
            start += 1
        while right and start < end and letters[end - 1] in chosen:
            end -= 1
        return letters[start:end]

    return trimmed

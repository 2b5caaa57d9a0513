"""The CSV's ATTRIBUTES cell: a printed Python dict whose values are printed C++ structs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ttnn_mcp.readers.printed.nesting import PrintedStruct, has_value, normal_key, parse_struct, whole

# A key follows the opening brace, or the separator after a complete value. The CSV writes ';' for every ','.
_KEY = re.compile(r"(?:\A\s*\{\s*|(?<=['\"\w)\]}])\s*[;,]\s*)(['\"])([A-Za-z_][^'\"\\]{0,120}?)\1\s*:\s*")
_ESCAPED = re.compile(r"\\(.)")
_PAIRS = ("()", "[]", "{}")
_LOOKAHEAD = 32  # keys that one value may seem to hold; no op has more attributes than about 25
_WHITE = {"n": "\n", "t": "\t", "r": "\r"}


class Attributes(Mapping[str, str]):
    """The attributes of an op by name, without the trailing '_' of older reports (`config_` finds `config`)."""

    __slots__ = ("_texts",)

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {normal_key(key): text for key, text in texts.items()}

    def __getitem__(self, key: str) -> str:
        return self._texts[normal_key(key)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def text_of(self, *keys: str) -> str | None:
        """The text of the first of these keys that has a value (`std::nullopt` is none); None if no key has."""
        texts = (self._texts.get(normal_key(key)) for key in keys)
        return next((text for text in texts if text is not None and has_value(text)), None)

    def struct(self, *keys: str) -> PrintedStruct | None:
        """The value of the first of these keys that has one, parsed as a struct; None if it is none."""
        text = self.text_of(*keys)
        return parse_struct(text) if text is not None else None

    def number(self, *keys: str) -> int | None:
        """The value of the first of these keys that has one, as an integer; None if it is none."""
        text = self.text_of(*keys)
        return whole(text) if text is not None else None

    def flag(self, *keys: str) -> bool | None:
        """The value of the first of these keys that has one, as a boolean ('true', '1', 'false', '0'); else None."""
        return {"true": True, "1": True, "false": False, "0": False}.get(
            (self.text_of(*keys) or "").strip().lower()
        )


def parse_attributes(cell: str) -> Attributes:
    """Parse the cell; a cell that is no dict (empty, 'None', a signpost's text) has no attributes.

    A value may contain quotes, brackets and separators. It ends where its brackets and its quote are closed and
    another key follows. A value whose brackets never close ends at the next key.
    """
    keys = list(_KEY.finditer(cell))
    if not keys or keys[0].start() > 0:
        return Attributes({})
    end = len(cell.rstrip())
    end -= cell.endswith("}", 0, end)
    stops = [*(key.start() for key in keys[1:]), end]
    texts: dict[str, str] = {}
    number = 0
    while number < len(keys):
        start = keys[number].end()
        nearby = range(number, min(number + _LOOKAHEAD, len(stops)))
        last_key = next((key for key in nearby if _whole(cell[start : stops[key]])), number)
        texts[keys[number].group(2)] = _unquoted(cell[start : stops[last_key]])
        number = last_key + 1
    return Attributes(texts)


def _whole(text: str) -> bool:
    """Whether the text can be a complete value: its brackets balance and its quote is closed."""
    text = text.strip()
    quoted = not text.startswith(("'", '"')) or (len(text) > 1 and text[-1] == text[0])
    return quoted and all(text.count(pair[0]) == text.count(pair[1]) for pair in _PAIRS)


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        text = text[1:-1]
    return _ESCAPED.sub(lambda match: _WHITE.get(match.group(1), match.group(1)), text)

"""The text that TTNN prints for its structs: `Name(key=value, key=Name(...))`.

The CSV replaces every ',' by ';', the database keeps ','; both separate fields here, outside of inner brackets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from ttnn_mcp.records import dataclass

_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
# '<' is a bracket only after a word: `BasicUnaryWithParam<float; int>`
_TOKEN = re.compile(r"[()\[\]{},;]|(?<=\w)<|>")
_OPENING = re.compile(r"[({]|(?<!\w)\[")
_KEY = re.compile(r"\s*\.?([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)  # also C's `.key = value`
_INT64_DIGITS = 19
_ABSENT = frozenset({"", "std::nullopt", "nullopt", "None", "none", "null"})


@dataclass(frozen=True, slots=True)
class PrintedStruct:
    """A printed struct: its name ('' for a bare `(x=1;y=2)` or `{1; 2}`), its named fields, its unnamed values."""

    name: str
    fields: Mapping[str, str]
    values: tuple[str, ...] = ()

    def text_of(self, key: str) -> str | None:
        """The field's text; None where the field is absent or has no value."""
        value = self.fields.get(key)
        return value if value is not None and has_value(value) else None

    def number(self, key: str) -> int | None:
        """The field as an integer; None where it is none."""
        return whole(self.fields.get(key, ""))


def has_value(value: str) -> bool:
    """Whether the printed text is a value: `std::nullopt` and its other spellings are not."""
    return value.strip() not in _ABSENT


def whole(text: str) -> int | None:
    """'12' -> 12; None for anything else."""
    text = text.strip()
    digits = text[1:] if text[:1] in {"-", "+"} else text
    if not digits.isdecimal() or len(digits) > _INT64_DIGITS:
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


def split_fields(text: str) -> list[str]:
    """Split at the ',' and ';' that lie outside all brackets."""
    parts: list[str] = []
    open_brackets: list[str] = []
    awaited = Counter[str]()  # how often each closing bracket is in `open_brackets`
    start = 0
    for token in _TOKEN.finditer(text):
        char = token.group()
        if char in _CLOSING:
            open_brackets.append(_CLOSING[char])
            awaited[_CLOSING[char]] += 1
        elif char in ",;":
            if not open_brackets:
                parts.append(text[start : token.start()])
                start = token.end()
        elif awaited[char]:
            closed = ""
            while closed != char:  # an unclosed inner bracket ends with its parent
                closed = open_brackets.pop()
                awaited[closed] -= 1
    parts.append(text[start:])
    return [stripped for part in parts if (stripped := part.strip())]


def parse_struct(text: str) -> PrintedStruct | None:
    """Parse one printed struct, one level deep; None where the text is a plain value.

    Of a text that was cut off, the part that is there is read. Keys lose the trailing '_' of C++ members.
    """
    text = text.strip()
    opening = _OPENING.search(text)
    if opening is None:
        return None
    inner = text[opening.end() :]
    if inner.endswith(_CLOSING[opening.group()]):
        inner = inner[:-1]
    fields: dict[str, str] = {}
    values: list[str] = []
    for part in split_fields(inner):
        pair = _KEY.fullmatch(part)
        if pair:
            fields.setdefault(normal_key(pair.group(1)), pair.group(2).strip())
        else:
            values.append(part)
    return PrintedStruct(text[: opening.start()].strip(), fields, tuple(values))


def normal_key(key: str) -> str:
    """`output_memory_config_` (a C++ member) and `output_memory_config` are one key."""
    return key.strip().rstrip("_") or key.strip()

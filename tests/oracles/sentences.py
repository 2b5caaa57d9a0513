"""Sentences of answers: one unit of a kind in each, sizes in one system, digits in groups of three."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

UNITS = (re.compile(r"\d (ns|us|ms|s)\b"), re.compile(r"\d (B|kB|MB|GB)\b(?!/)"))
BINARY = re.compile(r"\d (?:[KMG]iB|KB)\b")
UNGROUPED = re.compile(r"(?<![\w.,])\d{4,}(?:\.\d+)? (?:ns|us|ms|s|B|kB|MB|GB)\b")
SENTENCES = re.compile(r"(?<=\.)\s|; ")


def flaws(answer: Any) -> Iterator[str]:
    """The sentences of an answer that break a rule."""
    if isinstance(answer, dict):
        for part in answer.values():
            yield from flaws(part)
    elif isinstance(answer, list):
        for part in answer:
            yield from flaws(part)
    elif isinstance(answer, str):
        for sentence in SENTENCES.split(answer):
            mixed = any(len({*unit.findall(sentence)}) > 1 for unit in UNITS)
            if mixed or BINARY.search(sentence) or UNGROUPED.search(sentence):
                yield sentence

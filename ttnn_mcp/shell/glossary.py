"""`--explain WORD`: what the glossary says of a word of an answer."""

from __future__ import annotations

import re

from ttnn_mcp.errors import ArgumentsInvalid, nearest, shown
from ttnn_mcp.served.documents import text

_ROW = re.compile(r"^\| (?!term \|)([^|-][^|]*) \| (.*) \|$", re.MULTILINE)


def explained(word: str) -> str:
    """The terms that are this word, else those in which it occurs, each with its meaning.

    Raises:
        ArgumentsInvalid: there is none; names the nearest.
    """
    meanings = {term.strip(): meaning for term, meaning in _ROW.findall(text("resources", "glossary.md"))}
    asked = " ".join(word.replace("_", " ").lower().split())
    wanted = "generation" if re.fullmatch(r"[cg]\d{1,2}", asked) else asked
    spoken = {term: [part.strip().lower() for part in re.split(r"[,(]", term)] for term in meanings}
    same = [term for term, parts in spoken.items() if wanted in parts or wanted.removesuffix("s") in parts]
    alike = same or [term for term in meanings if wanted and wanted in term.lower()]
    if not alike:
        raise ArgumentsInvalid(f"The glossary has no '{shown(word)}'.{nearest(word, meanings)}")
    return "\n".join(f"{term}: {meanings[term].replace('`', '')}" for term in alike)

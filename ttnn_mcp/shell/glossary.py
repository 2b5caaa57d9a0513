"""`--explain WORD`: what the glossary says of a word of an answer."""

from __future__ import annotations

import re

from ttnn_mcp.errors import ArgumentsInvalid, nearest, shown
from ttnn_mcp.served.documents import meanings, same_terms

PAGE = re.compile(r"ttnn://([\w-]+)")  # a client's name of it; at a shell it is a file


def explained(word: str) -> str:
    """The terms that are this word, else those in which it occurs, each with its meaning.

    Raises:
        ArgumentsInvalid: there is none; names the nearest.
    """
    asked = " ".join(word.replace("_", " ").lower().split())
    terms = meanings()
    same = same_terms("generation" if re.fullmatch(r"[cg]\d{1,2}", asked) else asked, terms)
    alike = same or [term for term in terms if asked and asked in term.lower()]
    if not alike:
        raise ArgumentsInvalid(f"The glossary has no '{shown(word)}'.{nearest(word, terms)}")
    at_a_shell = {term: PAGE.sub(r"resources/\1.md", terms[term]) for term in alike}
    return "\n".join(f"{term}: {meaning}" for term, meaning in at_a_shell.items())

"""Names of a profile in Markdown: by GitHub's rules nothing of them becomes a link, a mention, an emoji or a tag."""

from __future__ import annotations

import re

from fuzz import doors
from fuzz.verdict import Flaw

PIECES = (
    "@", "@org/team", "#", "#12", "GH-7", "owner/repo#3", ":tada:", ":+1:", ":", "https://a.b", "HTTP://", "ftp://x.y", "www.a.com",
    "mailto:a@b.c", "a@b.c", "<img src=x>", "<!--", "</td>", "&lt;", "&#64;", "[a](b)", "![a](b)", "`", "```", "**", "__", "~~", "|", "\n", "\\", "\\\\",
    "0123456789abcdef0", "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef", "x", "MatmulDeviceOperation", " ", "\t", "\u200b", "\u202e", "1.", "- ", "> ", "é", "$x$",
)  # fmt: skip
# What GitHub makes of the text that is left when backslashes before marks are gone
MARKS = re.compile(r"\\([!-/:-@\[-`{-~])")
BARE = re.compile(
    r"(?<!\\)(?:\\\\)*([`*\[\]<>|~!&#@$]|(?<![^\W_])_|_(?![^\W_]))"
)  # a mark without a backslash of its own
RULES = {
    "mention": re.compile(r"(?<![\w`])@\w"),
    "issue": re.compile(r"(?<![\w&])#\d|\bGH-\d", re.IGNORECASE),
    "emoji": re.compile(r":[\w+-]+:"),
    "address": re.compile(r"\b(?:https?|ftp)://|\bwww\.\w", re.IGNORECASE),
    "formula": re.compile(r"\$[^\s\u200b]"),
    "commit": re.compile(r"\b(?=\d*[a-f])[0-9a-f]{9,40}\b"),
}


def run(sitting):
    """One name per case, until the time is up."""
    for number in sitting.numbers():
        rng = sitting.random(number)
        name = "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 8)))
        sitting.count("answer", list(flaws(name)), "markdown")


def flaws(name):
    """What of a name would become more than text."""
    shown = doors.markdown_of(name)
    seen = MARKS.sub(r"\1", shown)
    for rule, pattern in RULES.items():
        if found := pattern.search(seen):
            yield Flaw("markdown", rule, ascii(f"{found[0]} in {shown}")[:200])
    if found := BARE.search(shown):
        yield Flaw("markdown", "mark", ascii(f"{found[0]} in {shown}")[:200])
    if "\n" in shown:
        yield Flaw("markdown", "line", ascii(shown)[:200])

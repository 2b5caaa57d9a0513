"""The pages we serve: reference in `resources/`, the skill in `skills/`; the same in a checkout and in a wheel.

A page is named by its path below the folder, with forward slashes (`hardware/wormhole_b0.md`). Only names that
`names` lists can be read, so no name leads out of the folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from ttnn_mcp.errors import QuestionRefused, nearest, shown

Folder = Literal["resources", "skills"]

SKILL = "optimizing-ttnn-models"
STEP = re.compile(r"^step[- ]?(\d)(?!\d)")  # step-4, step 4


_ROW = re.compile(r"^\| (?!term \||Floor|Entry)([^|-][^|]*) \| ([^|]*) \|", re.MULTILINE)


@cache
def meanings() -> dict[str, str]:
    """What the words of answers mean, by term: those of the glossary, and of the time budget what it has not."""
    terms: dict[str, str] = {}
    for name in ("glossary.md", "time-budget.md"):
        for cell, meaning in _ROW.findall(text("resources", name)):
            term = cell.replace("`", "").replace("_", " ").strip()
            if not any(same_terms(part, terms) for part in term.split(", ")):
                terms[term] = meaning.replace("`", "").strip()
    return terms


def same_terms(word: str, terms: Mapping[str, str]) -> list[str]:
    """The terms that are this word, also in the plural or with underscores."""
    asked = " ".join(word.replace("_", " ").lower().split())
    parts = {term: [part.strip().lower() for part in re.split(r"[,(]", term)] for term in terms}
    return [term for term in terms if asked in parts[term] or asked.removesuffix("s") in parts[term]]


@cache
def meaning_of(word: str) -> str | None:
    """What one word means; None where that is nobody's, or several things."""
    terms = same_terms(word, meanings())
    return meanings()[terms[0]] if len(terms) == 1 else None


def home() -> Path:
    """The folder with `resources/` and `skills/`: inside the wheel, or the root of a checkout."""
    package = Path(__file__).resolve().parents[1]
    return package / "_served" if (package / "_served").is_dir() else package.parent


@cache
def names(folder: Folder) -> tuple[str, ...]:
    """The names of all pages of `folder`: `SKILL.md` first where there is one, then sorted by name."""
    top = home() / folder
    pages = [page.relative_to(top).as_posix() for page in top.rglob("*.md")]
    return tuple(sorted(pages, key=lambda name: (not name.endswith("/SKILL.md"), name)))


def text(folder: Folder, name: str) -> str:
    """The page `name` of `folder`.

    Raises:
        QuestionRefused: there is no such page; the message names the nearest.
    """
    if name not in names(folder):
        raise QuestionRefused(f"There is no page '{shown(name)}'.{nearest(name, names(folder))}")
    return (home() / folder / name).read_text(encoding="utf-8")


def skill_pages() -> tuple[str, ...]:
    """The skill's pages without folder and suffix, `SKILL` first."""
    return tuple(name.removeprefix(f"{SKILL}/").removesuffix(".md") for name in names("skills"))


def skill_page(page: str) -> str:
    """One page of the skill by its short name or a beginning that no other has, with or without `.md`, in any case.

    Raises:
        QuestionRefused: there is no such page; the message names the nearest.
    """
    short_name = STEP.sub(r"step-0\1", page.strip().removesuffix(".md").lower())
    meant = [name for name in skill_pages() if name.lower().startswith(short_name)]
    if len(meant) == 1:
        return text("skills", f"{SKILL}/{meant[0]}.md")
    raise QuestionRefused(f"The skill has no page '{shown(page)}'.{nearest(page, skill_pages())}")


def frontmatter(page_text: str) -> dict[str, str]:
    """The `key: value` lines between the two `---` at the start of a skill; our pages use plain scalars only."""
    lines = page_text.splitlines()
    if not lines or lines[0] != "---" or "---" not in lines[1:]:
        return {}
    head = lines[1 : lines.index("---", 1)]
    return {key.strip(): value.strip() for key, colon, value in (line.partition(":") for line in head) if colon}


def first_heading(page_text: str) -> str:
    """The first Markdown heading of a page, '' where it has none."""
    for line in page_text.splitlines():
        if line.startswith("# "):
            return line.removeprefix("# ").strip()
    return ""

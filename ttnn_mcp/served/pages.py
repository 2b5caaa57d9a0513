"""Everything a client can read by URI without opening a run: the skill, the reference pages, a page per check."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ttnn_mcp.served import documents

SKILL_ROOT = f"skill://{documents.SKILL}"


@dataclass(frozen=True, slots=True)
class Page:
    """One readable page and how a list of pages shows it."""

    uri: str
    name: str
    title: str
    text: str
    description: str | None = None


@lru_cache(maxsize=1)
def catalogue() -> dict[str, Page]:
    """Every page by its URI: the skill first, then `resources/`, then the checks in the order they run."""
    pages = [*_skill(), *_reference(), *_checks()]
    return {page.uri: page for page in pages}


def named(prefix: str) -> list[str]:
    """What stands behind `prefix` in the URIs of the catalogue, for completion."""
    return [uri.removeprefix(prefix) for uri in catalogue() if uri.startswith(prefix)]


def _skill() -> list[Page]:
    found: list[Page] = []
    for name in documents.names("skills"):
        text = documents.text("skills", name)
        head = documents.frontmatter(text)
        shown_as = head.get("name", name.rpartition("/")[2])
        title = documents.first_heading(text)
        found.append(Page(f"skill://{name}", shown_as, title, text, head.get("description")))
    return found


def _reference() -> list[Page]:
    found: list[Page] = []
    for name in documents.names("resources"):
        text, path = documents.text("resources", name), name.removesuffix(".md")
        found.append(Page(f"ttnn://{path}", path, documents.first_heading(text), text))
    return found


def _checks() -> list[Page]:
    from ttnn_mcp.checks import CATALOGUE  # noqa: PLC0415 - the checks load numpy; serving should not wait for it

    return [
        Page(f"ttnn://checks/{check.id}", f"checks/{check.id}", f"Step {check.step}: {check.title}", check.page)
        for check in CATALOGUE
    ]

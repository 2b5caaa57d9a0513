"""Pages that a client can read by URI without opening a run: the skill, the reference, and a page per check."""

from __future__ import annotations

from functools import lru_cache

from ttnn_mcp.records import dataclass
from ttnn_mcp.served import documents

SKILL_ROOT = f"skill://{documents.SKILL}"


@dataclass(frozen=True, slots=True)
class Page:
    """One page, and how a list of pages shows it."""

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


def names_after(prefix: str) -> list[str]:
    """The rest of each URI in the catalogue that begins with `prefix`, for completion."""
    return [uri.removeprefix(prefix) for uri in catalogue() if uri.startswith(prefix)]


def _skill() -> list[Page]:
    pages_found: list[Page] = []
    for name in documents.names("skills"):
        text = documents.text("skills", name)
        head = documents.frontmatter(text)
        listed_name = head.get("name", name.rpartition("/")[2])
        title = documents.first_heading(text)
        pages_found.append(Page(f"skill://{name}", listed_name, title, text, head.get("description")))
    return pages_found


def _reference() -> list[Page]:
    pages_found: list[Page] = []
    for name in documents.names("resources"):
        text, path = documents.text("resources", name), name.removesuffix(".md")
        pages_found.append(Page(f"ttnn://{path}", path, documents.first_heading(text), text))
    return pages_found


def _checks() -> list[Page]:
    from ttnn_mcp.checks import CATALOGUE  # noqa: PLC0415 - the checks load numpy; serving should not wait for it

    return [
        Page(f"ttnn://checks/{check.id}", f"checks/{check.id}", f"Step {check.step}: {check.title}", check.page)
        for check in CATALOGUE
    ]

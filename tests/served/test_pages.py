"""Every page has a URI, a title and a text, and is offered by the beginning of its URI."""

from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.served import documents
from ttnn_mcp.served.pages import SKILL_ROOT, catalogue, names_after


def test_each_page_is_there_once_with_a_title_and_a_text():
    pages = catalogue()
    assert len(pages) == len(documents.names("skills")) + len(documents.names("resources")) + len(CATALOGUE)
    assert all(page.uri == uri and page.name and page.title and page.text for uri, page in pages.items())
    assert next(iter(pages)) == f"{SKILL_ROOT}/SKILL.md"
    assert pages[f"{SKILL_ROOT}/SKILL.md"].description


def test_what_follows_the_beginning_of_a_uri_is_offered():
    assert names_after("ttnn://checks/") == [check.id for check in CATALOGUE]
    folder = documents.home() / "resources" / "hardware"
    assert sorted(names_after("ttnn://hardware/")) == sorted(page.stem for page in folder.glob("*.md"))
    assert names_after("ttnn://nothing/") == []

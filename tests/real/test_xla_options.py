"""Advice for compiled models names options that tt-xla has."""

from pathlib import Path

from tests.for_all import for_all
from tests.real.rig.xla_options import KNOWN, named
from ttnn_mcp.checks import CATALOGUE

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "skills").rglob("*.md"))


@for_all("page", PAGES, ids=lambda page: page.stem)
def test_pages_set_known_options(page):
    assert named(page.read_text("utf-8")) - KNOWN == set()


@for_all("check", CATALOGUE, ids=lambda check: check.id)
def test_what_a_check_tells_a_compiled_models_author_sets_known_options(check):
    assert named(check.compiled or "") - KNOWN == set()


def test_options_are_found_where_they_are_set():
    assert named('x.set_custom_compile_options({"a-b": "1", "c": "2"})') == {"a-b", "c"}
    assert any(named(check.compiled or "") for check in CATALOGUE)
    assert any(named(page.read_text("utf-8")) for page in PAGES)

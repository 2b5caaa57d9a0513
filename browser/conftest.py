"""Chromium, and the pages it opens. Without Chromium the tests are skipped with a reason."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from browser.elsewhere import elsewhere
from browser.fetched import starter
from tests.asking import session
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.report.page import page

PICTURES = Path(__file__).parents[1] / ".browser" / "screenshots"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
OFFLINE = ("--disable-component-update", "--disable-sync")


@pytest.fixture(scope="session")
def chromium():
    fetched = starter(PICTURES.parent / "chromium")
    installed = (*map(shutil.which, NAMES), str(fetched) if fetched.exists() else None)
    program = os.environ.get("CHROMIUM") or next(filter(None, installed), None)
    if program is None:
        pytest.skip("no Chromium: install one (Debian: apt install chromium), or name it with CHROMIUM=...")
    alone = ("--no-sandbox",) if os.geteuid() == 0 else ()  # root cannot have Chromium's sandbox
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*alone, *QUIET, *OFFLINE])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Write the page of a run, once; returns the file."""
    folder, files = tmp_path_factory.mktemp("pages"), {}

    def of(run, against=None):
        if (run, against) not in files:
            path = folder / f"{len(files)}.html"
            text = page(elsewhere(lambda: answers_of(session(folder), run, against)))
            path.write_text(text, encoding="utf-8")
            files[run, against] = path
        return files[run, against]

    return of


@pytest.fixture
def opened(chromium, written):
    """Open the page of a run; whatever it asks for beside itself, and whatever it complains of, fails the test."""

    @contextmanager
    def at(run, against=None, scheme="light", width=1280):
        context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
        context.set_default_timeout(10_000)
        shown, path = context.new_page(), written(run, against)
        complaints, asked = [], []
        shown.on("console", lambda message: complaints.append(message.text))
        shown.on("pageerror", lambda error: complaints.append(str(error)))
        shown.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto(path.as_uri())
        drawn = expect(shown.locator("figure:not([data-paint-ms])"))
        drawn.to_have_count(0)  # the page forbids to wait by a script
        yield shown
        context.close()
        assert [url for url in asked if not url.startswith("blob:")] == [path.as_uri()]
        assert not complaints

    return at

"""The MCP App in a host that is not ours: AppBridge of the extension's own SDK, which checks every message it gets."""

import subprocess
from pathlib import Path

import pytest

from browser.hosting import Host
from clients.installed import package

PAGE = (Path(__file__).parent / "bridge.html").read_text(encoding="utf-8")
ENTRY = """import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
Object.assign(window, { AppBridge, PostMessageTransport });
"""


@pytest.fixture(scope="module")
def document():
    """The page of the host, with AppBridge in it."""
    folder = package("ext-apps")
    (folder / "host.mjs").write_text(ENTRY)
    words = [
        package("esbuild") / "node_modules" / ".bin" / "esbuild",
        "host.mjs",
        "--bundle",
        "--format=iife",
        "--log-level=error",
    ]
    bundled = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout
    return PAGE.replace("/* AppBridge */", bundled.replace("</script", "<\\/script"))


@pytest.fixture
def host(chromium, tmp_path, document):
    context = chromium.new_context(viewport={"width": 1040, "height": 2000})
    hosted = Host(context.new_page(), tmp_path, document)
    yield hosted
    assert hosted.page.evaluate("() => complaints") == []
    context.close()
    assert not hosted.complaints


@pytest.mark.parametrize(
    ("tool", "arguments", "seen"),
    [
        ("time_budget", {"run": "demo"}, ("#timeline[data-paint-ms]", "#roofline[data-paint-ms]")),
        ("memory_summary", {"run": "demo"}, ("#levels[data-paint-ms]",)),
        ("compare_runs", {"baseline": "demo", "candidate": "demo"}, ("#against",)),
    ],
)
def test_every_picture_is_drawn_through_the_bridge_of_the_extension(host, tool, arguments, seen):
    app, answer = host.show(tool, **arguments)
    for picture in seen:
        app.locator(picture).wait_for()
    assert (answer.get("why") or answer["l1_peak"]["name"]) in app.locator("#verdict").text_content()
    assert host.page.evaluate("() => bridge.getAppVersion().name") == "ttnn-mcp"
    host.page.wait_for_function("() => Number(document.querySelector('iframe').height) !== 700")
    assert host.page.evaluate("() => bridge.teardownResource({})") == {}


def test_through_the_bridge_a_host_that_passes_on_calls_alone_gets_the_timeline(host):
    app, _ = host.show("time_budget", able=["serverTools"], run="demo")
    app.locator("#timeline[data-paint-ms]").wait_for()
    assert {method for method, _ in host.asked} == {"tools/call"}

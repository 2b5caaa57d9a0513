"""The MCP App in a host of ours: handshake, answer, ops by calls through the host, themes, and refusals."""

import json

import pytest

from browser.conftest import PICTURES
from browser.elsewhere import elsewhere
from tests.asking import ask, session
from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.server import views

HOST = """<!doctype html><title>host</title><iframe sandbox="allow-scripts" width="1000" height="700"></iframe><script>
const frame = document.querySelector("iframe"), log = [];
const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
window.addEventListener("message", async ({ data, source }) => {
  if (source !== frame.contentWindow) return;
  log.push(data);
  if (data.method === "ui/initialize") post({ id: data.id, result: start.initialized });
  if (data.method === "ui/notifications/initialized") {
    post({ method: "ui/notifications/tool-input", params: { arguments: start.arguments } });
    post({ method: "ui/notifications/tool-result", params: start.result });
  }
  if (data.method === "tools/call") post({ id: data.id, result: JSON.parse(await callTool(JSON.stringify(data.params))) });
  if (data.method === "ui/notifications/size-changed") frame.height = data.params.height;
});
let start;
function show(html, given) { start = given; frame.srcdoc = html; }
</script>"""


@pytest.fixture
def host(chromium, tmp_path):
    context = chromium.new_context(viewport={"width": 1040, "height": 900})
    page, called, complaints = context.new_page(), [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def call(text):
        wanted = json.loads(text)
        called.append(wanted)
        try:
            answer = elsewhere(lambda: ask(session(tmp_path), wanted["name"], **wanted["arguments"]))
        except TtnnMcpError as refusal:
            return json.dumps({"isError": True, "content": [{"type": "text", "text": str(refusal)}]})
        return json.dumps({"content": [], "structuredContent": answer})

    def show(theme="light", result=None, can_call=True, **arguments):
        answer = result or {
            "content": [],
            "structuredContent": elsewhere(lambda: ask(session(tmp_path), "time_budget", run="demo")),
        }
        capabilities = {"serverTools": {}} if can_call else {}
        initialized = {
            "protocolVersion": "2026-01-26",
            "hostInfo": {"name": "test", "version": "1"},
            "hostCapabilities": capabilities,
            "hostContext": {"theme": theme},
        }
        given = {"initialized": initialized, "arguments": {"run": "demo", **arguments}, "result": answer}
        page.evaluate("([html, given]) => show(html, given)", [views.text(), given])
        return page.frame_locator("iframe"), answer

    page.expose_function("callTool", call)
    page.set_content(HOST)
    yield page, show, called
    context.close()
    assert not complaints


def log(page):
    return page.evaluate("() => log")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_answer_is_drawn_and_the_ops_come_through_the_host(host, theme):
    page, show, called = host
    app, answer = show(theme)
    app.locator("#timeline[data-paint-ms]").wait_for()
    budget = answer["structuredContent"]
    assert budget["why"] in app.locator("#verdict").text_content()
    times = app.locator("#ledger td:nth-child(3)").all_text_contents()
    assert times == [f"{row[1]:,} us" for row in budget["ledger"]["rows"]]
    assert "40 ops" in app.locator("#more").text_content()
    assert {call["name"] for call in called} == {"list_ops"}
    assert all(call["arguments"]["run"] == "demo" for call in called)
    app.locator("#timeline canvas").press("ArrowRight")
    assert "line 42:" in app.locator("#timeline output").text_content()
    dark = app.locator("body").evaluate("(body) => getComputedStyle(body).backgroundColor")
    assert dark == {"light": "rgb(244, 245, 247)", "dark": "rgb(16, 19, 23)"}[theme]
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"app-{theme}.png")


def test_the_handshake_is_that_of_the_extension(host):
    page, show, _ = host
    app, _ = show()
    app.locator("#timeline[data-paint-ms]").wait_for()
    messages = log(page)
    first, second = [
        message
        for message in messages
        if message.get("method", "").startswith("ui/") and "size" not in message["method"]
    ][:2]
    assert first["method"] == "ui/initialize"
    assert first["params"].keys() == {"protocolVersion", "appInfo", "appCapabilities"}
    assert second == {"jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": {}}
    assert [message for message in messages if message.get("method") == "ui/notifications/size-changed"]
    page.evaluate("() => post({ id: 'bye', method: 'ui/resource-teardown', params: { reason: 'test' } })")
    page.wait_for_function("() => log.some((message) => message.id === 'bye' && message.result)")


def test_a_host_that_lets_no_app_call_gets_the_ledger_alone(host):
    _page, show, called = host
    app, _ = show(can_call=False)
    app.get_by_text("no timeline").wait_for()
    assert app.locator("#ledger tr").count() == 9
    assert app.locator("#timeline").is_hidden()
    assert not called


def test_a_refusal_is_shown_as_it_is(host):
    _page, show, _ = host
    refusal = "No run '<img src=x onerror=alert(1)>'."
    app, _ = show(result={"isError": True, "content": [{"type": "text", "text": refusal}]})
    app.get_by_text("No run").wait_for()
    assert app.locator("#verdict").text_content() == refusal
    assert app.locator("img").count() == 0


def test_a_call_that_the_server_refuses_leaves_the_ledger(host):
    _page, show, _ = host
    app, _ = show(iteration=99)
    app.get_by_text("No timeline: No iteration 99").wait_for()
    assert app.locator("#ledger tr").count() == 9

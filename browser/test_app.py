"""The MCP App in a host of ours: handshake, pictures of real answers, keyboard, themes, contrast, and refusals."""

import json
from pathlib import Path
from urllib.parse import unquote

import pytest

from browser.conftest import PICTURES
from browser.hosting import Host
from tests.pairs import Model, write

CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
AA = 4.5  # WCAG 2.2, 1.4.3: text
THEMES = ("light", "dark")
GROUND = {"light": "rgb(244, 245, 247)", "dark": "rgb(16, 19, 23)"}
COUNTED = """(canvas) => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, counts = {};
  const hex = (value) => value.toString(16).padStart(2, "0");
  for (let at = 0; at < pixels.length; at += 4) {
    const colour = "#" + hex(pixels[at]) + hex(pixels[at + 1]) + hex(pixels[at + 2]);
    counts[colour] = (counts[colour] || 0) + 1;
  }
  const style = getComputedStyle(document.documentElement);
  return (name) => counts[style.getPropertyValue(`--${name}`)] || 0;
}"""
COLOURS = ("compute", "dram", "l1", "overhead", "gap", "bar")


@pytest.fixture
def host(chromium, tmp_path):
    context = chromium.new_context(viewport={"width": 1040, "height": 2000})
    hosted = Host(context.new_page(), tmp_path)
    yield hosted
    context.close()
    assert not hosted.complaints


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return [str(write(folder / name, Model(layers=layers))) for name, layers in (("before", 4), ("after", 3))]


def painted(app, *figures):
    for figure in figures:
        app.locator(f"#{figure}[data-paint-ms]").wait_for()


def colours_of(app, figure):
    """How many pixels of the picture have each of our colours."""
    wanted = f"(canvas) => {{ const of = ({COUNTED})(canvas); return Object.fromEntries({json.dumps(COLOURS)}.map((name) => [name, of(name)])); }}"
    return app.locator(f"#{figure} canvas").evaluate(wanted)


def looked_at(host, name, theme, app):
    measured = app.locator("body").evaluate(CONTRAST.replace("() =>", "(_body) =>", 1))
    assert len(measured) > 20
    assert not [each for each in measured if each["ratio"] < AA]
    assert app.locator("body").evaluate("(body) => getComputedStyle(body).backgroundColor") == GROUND[theme]
    PICTURES.mkdir(parents=True, exist_ok=True)
    host.page.screenshot(path=PICTURES / f"app-{name}-{theme}.png", full_page=True)


def output(app, figure):
    return app.locator(f"#{figure} output").text_content()


def content(app):
    return app.locator("body").evaluate("() => content")


@pytest.mark.parametrize("theme", THEMES)
def test_a_budget_has_its_ledger_timeline_cores_and_roofline(host, theme):
    app, budget = host.show("time_budget", theme, run="demo")
    painted(app, "timeline", "roofline")
    assert budget["why"] in app.locator("#verdict").text_content()
    times = app.locator("#ledger td:nth-child(3)").all_text_contents()
    assert times == [f"{row[1]:,} us" for row in budget["ledger"]["rows"]]
    assert app.locator("#part").text_content() == "40 ops."
    timeline, roofline = colours_of(app, "timeline"), colours_of(app, "roofline")
    bounds = set(content(app)["ops"]["bound"]["words"])
    assert bounds == {"compute", "dram", "l1", "overhead"}
    for bound in bounds:
        assert timeline[bound] > 50, bound
    assert timeline["gap"] > 500
    assert timeline["bar"] > 500  # the cores
    assert min(roofline[bound] for bound in ("compute", "dram", "l1")) > 20
    looked_at(host, "budget", theme, app)


@pytest.mark.parametrize("theme", THEMES)
def test_a_memory_summary_has_its_levels_and_what_is_live_at_the_peak(host, theme):
    app, memory = host.show("memory_summary", theme, run="demo")
    painted(app, "levels")
    peak = memory["l1_peak"]
    assert f"L1 peak {peak['bytes_per_bank']:,} B" in app.locator("#verdict").text_content()
    sizes = app.locator("#live td:nth-child(3)").all_text_contents()
    assert sizes == [f"{peak['circular_buffers_bytes']:,} B", *(f"{row[2]:,} B" for row in memory["live"]["rows"])]
    levels = colours_of(app, "levels")
    assert min(levels["compute"], levels["dram"]) > 500
    app.locator("#levels canvas").press("ArrowRight")
    assert f"operation {peak['operation']}:" in output(app, "levels")
    assert f"{peak['bytes_per_bank']:,} B per bank" in output(app, "levels")
    looked_at(host, "memory", theme, app)


@pytest.mark.parametrize("theme", THEMES)
def test_a_comparison_has_the_times_of_every_group_before_and_after(host, pair, theme):
    app, comparison = host.show("compare_runs", theme, baseline=pair[0], candidate=pair[1])
    app.locator("#against").wait_for()
    assert comparison["why"] in app.locator("#verdict").text_content()
    groups = sorted(comparison["groups"]["rows"], key=lambda row: -abs(row[3]))
    shown = [app.locator(f"#groups td:nth-child({column})").all_text_contents() for column in (1, 3, 4)]
    assert shown == [
        [row[0] for row in groups],
        [f"{row[1]:,} us" for row in groups],
        [f"{row[2]:,} us" for row in groups],
    ]
    widths = app.locator("#groups .bar-of").evaluate_all("(bars) => bars.map((bar) => parseFloat(bar.style.width))")
    longest = max(max(row[1:3]) for row in groups)
    assert widths == pytest.approx([100 * time / longest for row in groups for time in row[1:3]], abs=0.01)
    assert not host.asked
    looked_at(host, "comparison", theme, app)


def test_what_a_view_draws_is_what_the_tools_answer(host):
    app, _ = host.show("time_budget", run="demo", iteration=1)
    painted(app, "timeline", "roofline")
    assert "not warm" in app.locator("#part").text_content()
    [(method, asked)] = host.asked
    assert (method, unquote(asked["uri"])) == ("resources/read", "ttnn://pictures/window?run=demo&iteration=1")
    listed = host.call(
        "tools/call", name="list_ops", arguments={"run": "demo", "iteration": 1, "sort": "order", "limit": 200}
    )
    ops = listed["result"]["structuredContent"]["ops"]
    drawn = content(app)["ops"]
    assert [list(row) for row in zip(*(spelled(drawn[name]) for name in ops["columns"]), strict=True)] == ops[
        "rows"
    ]


def spelled(column):
    if isinstance(column, list):
        return column
    return [None if place is None else column["words"][place] for place in column["at"]]


def test_the_keyboard_reaches_and_moves_every_picture(host):
    app, _ = host.show("time_budget", run="demo")
    painted(app, "timeline", "roofline")
    reached = set()
    app.locator("#timeline button").first.focus()
    for _ in range(12):
        reached.add(
            app.locator("body").evaluate(
                "() => document.activeElement.closest('figure')?.id + ' ' + document.activeElement.tagName"
            )
        )
        host.page.keyboard.press("Tab")
    assert {"timeline BUTTON", "timeline CANVAS", "roofline BUTTON", "roofline CANVAS"} <= reached
    for figure in ("timeline", "roofline"):
        canvas = app.locator(f"#{figure} canvas")
        everything = app.locator(f"#{figure}").get_attribute("data-view")
        canvas.press("ArrowRight")
        assert "line " in output(app, figure)
        canvas.press("+")
        app.locator(f"#{figure}:not([data-view='{everything}'])").wait_for()
        canvas.press("Home")
        app.locator(f"#{figure}[data-view='{everything}']").wait_for()
    app.get_by_role("button", name="Other view").click()
    painted(app, "roofline")
    assert "least time" in app.locator("[data-count]").text_content()


def test_thousands_of_ops_are_painted_within_a_frame(host, tmp_path):
    run = str(write(tmp_path / "large", Model(layers=300)))
    app, _ = host.show("time_budget", run=run)
    painted(app, "timeline", "roofline")
    assert len(content(app)["ops"]["op"]) > 3_000
    for _ in range(5):
        app.locator("#timeline canvas").press("+")
    assert float(app.locator("#timeline").get_attribute("data-paint-ms")) < 1000 / 30


def test_the_levels_of_one_operation_name_no_peak(host):
    app, memory = host.show("memory_summary", run="demo", operation=30)
    painted(app, "levels")
    assert memory["l1_peak"]["operation"] == 30
    assert app.locator("#verdict").text_content().startswith("L1 ")
    assert "peak" not in app.locator("#verdict").text_content()
    assert content(app)["marked"] == ""


def test_the_handshake_is_that_of_the_extension(host):
    app, _ = host.show("time_budget", run="demo")
    painted(app, "timeline")
    messages = host.page.evaluate("() => log")
    named = [message for message in messages if message.get("method", "").startswith("ui/")]
    first, second = [message for message in named if "size" not in message["method"]][:2]
    assert first["method"] == "ui/initialize"
    assert first["params"].keys() == {"protocolVersion", "appInfo", "appCapabilities"}
    assert second == {"jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": {}}
    assert [message for message in named if message["method"] == "ui/notifications/size-changed"]
    assert app.locator("html").evaluate("(page) => page.scrollHeight - page.clientHeight") == 0
    host.page.evaluate("() => post({ id: 'bye', method: 'ui/resource-teardown', params: { reason: 'test' } })")
    host.page.wait_for_function("() => log.some((message) => message.id === 'bye' && message.result)")


def test_a_host_that_passes_on_calls_alone_gets_the_timeline_page_by_page(host):
    app, _ = host.show("time_budget", able=["serverTools"], run="demo")
    painted(app, "timeline")
    assert "40 ops" in app.locator("#more").text_content()
    assert {method for method, _ in host.asked} == {"tools/call"}
    assert all(params["name"] == "list_ops" and params["arguments"]["run"] == "demo" for _, params in host.asked)
    app.locator("#timeline canvas").press("ArrowRight")
    assert "line 42:" in output(app, "timeline")
    assert app.locator("#roofline").is_hidden()


@pytest.mark.parametrize(("tool", "table", "rows"), [("time_budget", "ledger", 9), ("memory_summary", "live", 5)])
def test_a_host_that_passes_on_nothing_gets_the_numbers_alone(host, tool, table, rows):
    app, _ = host.show(tool, able=[], run="demo")
    app.get_by_text("This host lets no app").wait_for()
    assert app.locator(f"#{table} tr").count() == rows
    assert app.locator("canvas:visible").count() == 0
    assert not host.asked


def test_a_refusal_is_shown_as_it_is(host):
    refusal = "No run '<img src=x onerror=alert(1)>'."
    app, _ = host.show("time_budget", result={"isError": True, "content": [{"type": "text", "text": refusal}]})
    app.get_by_text("No run").wait_for()
    assert app.locator("#verdict").text_content() == refusal
    assert app.locator("img").count() == 0


@pytest.mark.parametrize(
    ("able", "words"),
    [
        (["serverResources"], "No timeline, roofline or levels: No iteration 99"),
        (["serverTools"], "No timeline: No iteration 99"),
    ],
)
def test_what_the_server_refuses_leaves_the_ledger(host, able, words):
    result = host.call("tools/call", name="time_budget", arguments={"run": "demo"})["result"]
    app, _ = host.show("time_budget", result=result, able=able, run="demo", iteration=99)
    app.get_by_text(words).wait_for()
    assert app.locator("#ledger tr").count() == 9

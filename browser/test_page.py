"""The page in Chromium: light and dark, contrast, keyboard, pointer, and nothing from outside."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from browser.conftest import PICTURES
from tests.pairs import Model, write
from tests.report.reading import Page
from tests.report.test_page import HOSTILE, named
from tests.shared_reports import CLIP, shared

CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
AA = 4.5  # WCAG 2.2, 1.4.3: text
SCHEMES = ("light", "dark")
SELECTED = "#timeline output"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    model = Model()
    changed = replace(model, up_ns=80_000, fused_relu=True, fused_qkv=True)
    return {
        "before": str(write(folder / "before", model)),
        "after": str(write(folder / "after", changed)),
        "mesh": str(write(folder / "mesh", replace(model, devices=8))),
        "hostile": named(folder / "hostile", HOSTILE),
    }


def view(page, figure="timeline"):
    return [float(end) for end in page.locator(f"#{figure}").get_attribute("data-view").split()]


def pressed(page, *keys, figure="timeline"):
    page.locator(f"#{figure} canvas").focus()
    for key in keys:
        page.keyboard.press(key)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def answers(page):
    return json.loads(page.locator("#content").text_content())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_text_has_the_contrast_of_wcag_aa(opened, runs, scheme):
    for name, pair in (
        ("demo", ("demo",)),
        ("against", (runs["after"], runs["before"])),
        ("mesh", (runs["mesh"],)),
    ):
        with opened(*pair, scheme=scheme) as page:
            page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            measured = page.evaluate(CONTRAST)
            assert len(measured) > 100
            assert not [each for each in measured if each["ratio"] < AA]
            PICTURES.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=PICTURES / f"{name}-{scheme}.png", full_page=True)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_pictures_are_drawn_in_the_colours_of_the_legend(opened, scheme):
    counted = """(id) => {
      const canvas = document.querySelector(`#${id} canvas`), pen = canvas.getContext("2d");
      const pixels = pen.getImageData(0, 0, canvas.width, canvas.height).data, counts = {};
      for (let at = 0; at < pixels.length; at += 4) {
        const colour = "#" + [0, 1, 2].map((part) => pixels[at + part].toString(16).padStart(2, "0")).join("");
        counts[colour] = (counts[colour] || 0) + 1;
      }
      return counts;
    }"""
    named_colours = "() => Object.fromEntries(['compute', 'dram', 'l1', 'overhead', 'gap', 'panel'].map((name) => [name, getComputedStyle(document.documentElement).getPropertyValue('--' + name)]))"
    with opened("demo", scheme=scheme) as page:
        colours = page.evaluate(named_colours)
        timeline, levels = page.evaluate(counted, "timeline"), page.evaluate(counted, "levels")
        ops = Page(page.content()).answers["ops"]["bound"]["words"]
        for bound in ops:
            assert timeline.get(colours[bound], 0) > 50, bound
        assert timeline[colours["gap"]] > 500
        assert levels[colours["compute"]] > 500
        assert levels[colours["dram"]] > 500


def test_the_keyboard_does_everything(opened):
    with opened("demo") as page:
        ops = answers(page)["ops"]
        everything = view(page)
        pressed(page, "ArrowRight", "ArrowRight", "ArrowRight")
        assert f"line {ops['op'][2]}:" in page.locator(SELECTED).text_content()
        pressed(page, "ArrowLeft")
        assert f"line {ops['op'][1]}:" in page.locator(SELECTED).text_content()
        pressed(page, "+", "+")
        near = view(page)
        assert near[1] - near[0] == pytest.approx((everything[1] - everything[0]) / 1.6**2, rel=1e-5)
        pressed(page, "PageDown")
        moved = view(page)
        assert moved[0] > near[0]
        assert moved[1] - moved[0] == pytest.approx(near[1] - near[0], rel=1e-5)
        pressed(page, "-", "-", "-")
        assert view(page) == everything
        pressed(page, "Enter")
        assert everything[0] <= view(page)[0] < view(page)[1] < everything[1] / 2
        pressed(page, "Home")
        assert view(page) == everything


def test_tab_reaches_every_picture_button_and_finding(opened):
    with opened("demo") as page:
        page.evaluate("() => document.body.focus()")
        reached = set()
        for _ in range(400):
            page.keyboard.press("Tab")
            name = page.evaluate(
                "() => { const at = document.activeElement; return at === document.body ? null : at.tagName + ':' + (at.closest('figure')?.id || at.textContent.slice(0, 30)); }"
            )
            if name is None:
                break
            reached.add(name)
        assert {
            "CANVAS:timeline",
            "CANVAS:roofline",
            "CANVAS:levels",
            "BUTTON:timeline",
            "BUTTON:Show line 59",
        } <= reached
        assert len([name for name in reached if name.startswith("SUMMARY")]) >= 17


def test_a_finding_leads_to_its_op(opened):
    with opened("demo") as page:
        page.get_by_role("button", name="Show line 59").first.press("Enter")
        assert "line 59:" in page.locator(SELECTED).text_content()
        assert page.evaluate("() => document.activeElement.closest('figure').id") == "timeline"


def test_a_click_selects_the_op_under_the_pointer(opened):
    with opened("demo") as page:
        ops, canvas = answers(page)["ops"], page.locator("#timeline canvas")
        starts, at = [], 0.0
        for row, (kernel_us, gap_us) in enumerate(zip(ops["kernel_us"], ops["gap_us"], strict=True)):
            at += gap_us if row else 0.0
            starts.append(at)
            at += kernel_us
        box = canvas.bounding_box()
        for row in (0, 17, 25, 39):  # at the height of the ops
            middle = starts[row] + ops["kernel_us"][row] / 2
            canvas.click(position={"x": 72 + middle / at * (box["width"] - 72 - 12), "y": 28})
            assert f"line {ops['op'][row]}:" in page.locator(SELECTED).text_content()


def test_the_roofline_and_the_levels_tell_what_is_selected(opened):
    with opened("demo") as page:
        content = answers(page)
        pressed(page, "ArrowRight", figure="levels")
        peak = content["memory"]["l1_peak"]
        assert (
            f"operation {peak['operation']}: {peak['name']} · L1 {peak['bytes_per_bank']:,} B"
            in page.locator("#levels output").text_content()
        )
        before = page.locator("[data-count]").text_content()
        page.locator("#roofline").get_by_role("button", name="Other view").click()
        assert page.locator("[data-count]").text_content() != before
        pressed(page, "ArrowRight", figure="roofline")
        shown = page.locator("#roofline output").text_content()
        row = content["ops"]["op"].index(int(shown.split(":")[0].removeprefix("line ")))
        assert f"kernel {content['ops']['kernel_us'][row]:,} us" in shown


def test_the_roofs_of_a_real_report_meet_inside_the_picture(opened):
    with opened(str(shared(CLIP))) as page:
        page.locator("#roofline").scroll_into_view_if_needed()
        meet, end = page.evaluate(
            """() => {
              const { roofs, home } = plots.roofline, memory = roofs.find((roof) => roof.gbs);
              const highest = Math.max(...roofs.map((roof) => roof.tflops || 0));
              return [Math.log10(highest) - Math.log10(memory.gbs / 1e3), home.x1];
            }"""
        )
        assert meet < end
        page.locator("#roofline").screenshot(path=PICTURES / "roofline-real.png")


def test_hostile_names_stay_text(opened, runs):
    with opened(runs["hostile"]) as page:  # a dialog, a request or a complaint fails `opened`
        assert page.locator("script").count() == 2
        assert page.locator("img, svg[onload]").count() == 0
        pressed(page, *["ArrowRight"] * 6)
        assert page.locator("img").count() == 0


def test_the_policy_stops_what_would_reach_out(chromium, written):
    """A page in whose text a script and an image were planted: neither loads."""
    path = written("demo")
    planted = path.with_name("planted.html")
    text = path.read_text(encoding="utf-8")
    planted.write_text(
        text.replace(
            "<main>", "<main><script>document.title = 'ran'</script><img src='https://example.org/a.png'>"
        ),
        encoding="utf-8",
    )
    context = chromium.new_context()
    page, asked = context.new_page(), []
    page.on("requestfinished", lambda request: asked.append(request.url))
    refused = []
    page.on("console", lambda message: refused.append(message.text))
    page.goto(planted.as_uri())
    assert page.title() != "ran"
    assert asked == [planted.as_uri()]
    assert len([words for words in refused if "Content Security Policy" in words]) == 2
    context.close()


def test_a_picture_is_saved_as_png(opened):
    with opened("demo") as page:
        with page.expect_download() as download:
            page.locator("#timeline").get_by_role("button", name="Save as PNG").click()
        assert download.value.suggested_filename == "timeline.png"
        assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")

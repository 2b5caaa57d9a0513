"""The colours of the page, without a browser: WCAG 2.2 AA for texts and for what the pictures draw."""

import re

import pytest

from tests.for_all import for_all
from ttnn_mcp.report.page import resource

TEXT, DRAWN = 4.5, 3.0  # WCAG 2.2, 1.4.3 and 1.4.11
RULES = re.findall(r":root \{(.*?)\}", resource("page", ".css"), re.DOTALL)
SCHEMES = [dict(re.findall(r"--([\w-]+): (#\w{6})", rule)) for rule in RULES]


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_formula_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@for_all("scheme", SCHEMES, ids=["light", "dark"])
def test_texts_can_be_read_on_every_ground(scheme):
    for text in ("text", "quiet", "good", "bad", "warn"):
        for ground in ("ground", "panel"):
            assert contrast(scheme[text], scheme[ground]) >= TEXT, (text, ground)


@for_all("scheme", SCHEMES, ids=["light", "dark"])
def test_what_is_drawn_stands_out_and_its_labels_can_be_read(scheme):
    for drawn in ("compute", "dram", "l1", "overhead", "not-modelled"):
        assert contrast(scheme[drawn], scheme["panel"]) >= TEXT, drawn  # a label stands on it in the panel's colour
        assert contrast(scheme[drawn], scheme["gap"]) >= DRAWN, drawn
    for drawn in ("bar", "accent"):
        assert contrast(scheme[drawn], scheme["panel"]) >= DRAWN, drawn


def test_the_two_schemes_name_the_same_colours():
    assert len(SCHEMES) == 2
    assert SCHEMES[0].keys() == SCHEMES[1].keys()

"""One self-contained page: text, pictures, and the answers they are made of. It can reach no address."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache, partial
from importlib.resources import files

from ttnn_mcp import __version__
from ttnn_mcp.report.answers import Answers
from ttnn_mcp.report.comparison_section import comparison_section
from ttnn_mcp.report.embedded import content_of, embedded
from ttnn_mcp.report.markup import Markup, element, joined
from ttnn_mcp.report.pictures import memory_section, ops_section, roofline_section, timeline_section
from ttnn_mcp.report.plan_section import findings_section, plan_section
from ttnn_mcp.report.sections import budget_section, folded, kinds_section, predicted_section, run_words, summary

FOR_AUTHORS = re.compile(r"^ *//.*\n|^ +", re.MULTILINE)  # comments and indentation, which a browser does not need
MARK = "<!doctype html>\n<!-- ttnn-mcp report -->\n"


def page(answers: Answers) -> str:
    """The page of a run."""
    style, script = resource("page", ".css"), resource("page", ".js")
    title = f"TTNN report: {run_words(answers.card)}"
    title += f" against {run_words(answers.base)}" if answers.base else ""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", Markup(style)),
    )
    header, main = element("header", element("h1", title), summary(answers)), element("main", *_sections(answers))
    body = element(
        "body",
        header,
        main,
        element(
            "footer",
            _words(header + main),
            element("p", f"Written by ttnn-mcp {__version__}. All numbers are answers of its tools."),
        ),
        element("script", Markup(embedded(content_of(answers))), type="application/json", id="content"),
        element("script", Markup(script)),
    )
    return f"{MARK}{element('html', joined(head, body), lang='en')}\n"


def _words(shown: str) -> Markup:
    """The words that explain themselves to a mouse, for those who have none."""
    each = dict(re.findall(r'<abbr title="([^"]*)">([^<]*)</abbr>', shown))
    pairs = [joined(element("dt", Markup(word)), element("dd", Markup(meaning))) for meaning, word in each.items()]
    if not pairs:
        return Markup()
    return folded("The words of this page", element("dl", *map(partial(element, "div"), pairs), class_="rowed"))


def _sections(answers: Answers) -> list[Markup]:
    ran = answers.ops if answers.ops and answers.ops["ops"]["rows"] else None
    return [
        kinds_section(answers),
        plan_section(answers.check) if answers.check else Markup(),
        comparison_section(answers) if answers.comparison else Markup(),
        timeline_section(answers, ran) if ran else Markup(),
        ops_section() if ran else Markup(),
        roofline_section() if ran else Markup(),
        memory_section(answers.memory, answers.levels, answers.spans) if answers.memory else Markup(),
        predicted_section(answers.predicted) if answers.predicted else Markup(),
        budget_section(answers.budget) if answers.budget else Markup(),
        findings_section(answers.check) if answers.check else Markup(),
    ]


@cache
def resource(folder: str, ending: str, names: tuple[str, ...] = ()) -> str:
    """The files of a folder of this room with this ending, or those of these names, in the order of their names.

    Without their comments and indentation.
    """
    everything = files("ttnn_mcp.report").joinpath(folder).iterdir()
    chosen = sorted((file for file in everything if file.name.endswith(ending)), key=lambda file: file.name)
    text = "\n".join(file.read_text(encoding="utf-8") for file in chosen if not names or file.name in names)
    return FOR_AUTHORS.sub("", text)


def policy(style: str, script: str) -> str:
    """Nothing may be loaded from anywhere; only this style and this script apply."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )

"""Write resources/how-good-is-the-advice.md: what engineers changed, and what optimization_check says of it.

python -m generate.advice        or `make fix`; leaves the page alone where the stories are not beside this checkout
"""

import asyncio
import importlib.util
import json
import re
import tempfile
import textwrap
from pathlib import Path

from generate import cases, frozen, stories
from generate.markdown import table
from generate.meetings import MEETINGS_THAT_WERE
from tests.shared_reports import SHARED
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools import TOOLS, answering

PAGE = Path(__file__).parents[1] / "resources" / "how-good-is-the-advice.md"
STORIES = SHARED / "backtest"
HEAD = """# How good the advice is

Engineers changed their models, measured, and wrote down what each change brought. From their figures we made reports
of the models as they were before the change, and asked `optimization_check` about them. This page says how often its
answer was right, and what follows for you. `make fix` generates it; `make test` fails if a verdict changes without
it.

**When checks met {models} models for the first time, they named {right} of {gains} gains with a bound that held
({right_share:.0%}), and expected {near} within a factor of two ({near_share:.0%}). Of {dead} changes that brought
nothing they promised {promised} ({promised_share:.0%}).** What was known of a few of these models before stands with
their set.

The models came in sets, and after each set the checks learnt from it. "Others" judges a set by what is known from all
other models, without the cases and measured times of its own. It is still better than a new model fares, because the
rules of the checks have seen the set. The goals are {goal_right:.0%} right, {goal_near:.0%} near, {goal_promised:.0%}
promised.

{meetings}
What this means for you:

* **A named change is worth a try, not a promise.** Engineers tried a change that a finding names {tries} times;
  {gained} of these gained ({gained_share:.0%}).
* **An expected saving is worth more**: see "What is expected" for how often its interval held.
* **Silence proves nothing.** On a new model about {missed} of 10 gains are not named, or not with a bound that holds.
* Times are those of others' machines and builds. Measure yours.
"""
FIRST = """## Stories that the checks were written for

One op or a few, with one change. The checks of this table were written with its stories at hand, so it is in-sample,
and it says nothing about how findings rank in a whole model.

* **right**: a finding names the change that worked, and its bounds hold the saving that was measured. If the change
  brought nothing: no finding promises anything from it.
* **right, wide**: the bounds hold, but the upper one is more than five times the saving.
* **bound wrong**: the change is named, but the saving is outside of the bounds.
* **other change** and **silent**: what worked is not named.
* **false promise**: a saving is promised from a change that cost time. A trial, without an expectation, promises
  nothing.

"""


def verdicts():
    """Per story its facts, its verdict, and the findings that name the change."""
    judge = _judge()
    changes = {one["id"]: one for one in json.loads((STORIES / "facts.json").read_text("utf-8"))}
    for story in json.loads((STORIES / "stories.json").read_text("utf-8")):
        found, answer = _findings(STORIES / story["file"])
        naming = [
            one for one in found if story.get("fix_names") and judge.re.search(story["fix_names"], one["fix"])
        ]
        yield {**story, **changes.get(story["id"], {})}, judge.judged(story, found, answer), naming


def page():
    """The whole page."""
    parts = (summary(), cases.section(), frozen.section(), first_table(), stories.section())
    return "\n".join(parts).rstrip() + "\n"


def summary():
    """The page up to what is expected: how each set of whole layers was met, and what that means."""
    by_others = frozen.read_verdicts(cases.BY_OTHERS)
    rows, met = [], []
    for meeting in MEETINGS_THAT_WERE:
        first = frozen.verdicts_at_first(meeting)
        others = {model: by_others[model] for model in meeting.models}
        counted = [frozen.counts(frozen.all_of(one)) for one in (first, others)]
        met.append(counted[0])
        rows.append((meeting.title.split()[1], str(len(first)), *_shares(counted)))
    counts = frozen.Counts(*map(sum, zip(*met, strict=True)))
    tried = cases.tries()
    gained = cases.that_gained(tried)
    told = ("gains", "right at first", "others", "near at first", "others")
    columns = ("set", "models", *told, "dead ends", "promised at first", "others")
    text = HEAD.format(
        models=sum(len(meeting.models) for meeting in MEETINGS_THAT_WERE),
        right=counts.right,
        gains=counts.gains,
        right_share=counts.right / counts.gains,
        near=counts.near,
        near_share=counts.near / counts.gains,
        dead=counts.dead_ends,
        promised=counts.promised,
        promised_share=counts.promised / counts.dead_ends,
        goal_right=frozen.GOALS["right"],
        goal_near=frozen.GOALS["near"],
        goal_promised=frozen.GOALS["promised"],
        tries=len(tried),
        gained=gained,
        gained_share=gained / len(tried),
        missed=round(10 * (1 - counts.right / counts.gains)),
        meetings=table(columns, *rows),
    )
    return "\n\n".join(map(_wrapped, text.split("\n\n"))) + "\n"


def _wrapped(paragraph):
    """Its lines anew, as figures are of any length; an item of a list is indented from its second line on."""
    if paragraph.startswith("| "):
        return paragraph
    items = (" ".join(one.split()) for one in re.split(r"\n(?=\* )", paragraph))
    return "\n".join(textwrap.fill(one, 120, subsequent_indent="  " * one.startswith("* ")) for one in items)


def _shares(told):
    """Of verdicts at first and by others: how many could be told at first, and the share that was."""
    for all_, some in (("gains", ("right", "near")), ("dead_ends", ("promised",))):
        yield str(getattr(told[0], all_))
        for name in some:
            yield from (f"{getattr(one, name) / getattr(one, all_):.0%}" for one in told)


def first_table():
    """Of single ops, the stories that were at hand when checks were written."""
    rows = [_row(*one) for one in verdicts()]
    right = sum(row[3].startswith("right") for row in rows)
    false = sum(row[3] == "false promise" for row in rows)
    columns = ("source", "what ran", "what the engineer changed", "verdict", "check: saving, us", "measured, us")
    promises = {0: "no false promise", 1: "1 false promise"}.get(false, f"{false} false promises")
    return f"{FIRST}**{right} of {len(rows)} right, {promises}.**\n\n{table(columns, *rows)}"


def _row(story, verdict, naming):
    named = {one["check"]: one["saving_us"] for one in reversed(naming)}
    said = [f"`{check}`: {us['at_least']:.0f} to {us['at_most']:.0f}" for check, us in sorted(named.items())]
    saved = story.get("saving_us")
    return (
        story.get("source", story["about"].partition(":")[0]),
        story.get("ops", story["about"].partition(": ")[2]),
        story.get("change", "-"),
        _plain(verdict),
        "; ".join(said) or "-",
        "-" if saved is None else f"{saved:.0f}",
    )


def _plain(verdict):
    kinds = ("right, wide", "right", "BOUND WRONG", "OTHER CHANGE", "SILENT", "NO CAVEAT")
    return next((kind.lower() for kind in kinds if verdict.startswith(kind)), "false promise")


def _judge():
    spec = importlib.util.spec_from_file_location("judge", STORIES / "judge.py")
    judge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    return judge


def _findings(report):
    """Every finding of the report, small ones too, and the last page of the answer."""
    tool = answering.tool_named("optimization_check", TOOLS)
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Settings(state=Path(folder)))
        found, cursor = [], 0
        while True:
            asked = {"run": str(report), "min_saving_share": 0, "cursor": cursor}
            answer, _text = asyncio.run(answering.answer(session, tool, asked))
            answer = answer.model_dump(mode="json") if hasattr(answer, "model_dump") else answer
            found += answer["findings"]
            cursor = answer.get("next_cursor")
            if not cursor:
                return found, answer


def main():
    if (STORIES / "stories.json").exists():
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""The second table of resources/how-good-is-the-advice.md: stories that no check was written for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from generate.markdown import table
from tests.stories import EARLIER, FOURTH, FURTHER, STORIES, THIRD
from tests.stories.story import findings_of, naming

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.stories.story import Story

TITLE = "## Stories that no check was written for"
HEAD = f"""{TITLE}

The checks of the table above were written with its stories at hand. The stories below were first shown to finished
checks, and `at first` is what these said. Afterwards checks were mended by general rules, so `now` is in-sample too.
There are four groups. Each met checks that had learnt from the groups before it, and the fourth was frozen before any
check saw it.

* A report has the source's figures. What the source does not tell is made up and stands in the last column: often the
  shapes, or how a model's gain is split over its ops.
* **named**: the change is named, but its bounds are not judged, because the gain of these very ops is not told or the
  finding has no figure.
* What several findings of a check promise is added. For a change of several levers at once, what all findings promise
  that name it is added.
* If we do not tell a change, or not with bounds that hold, the last column says why such a report cannot tell it.
* Nine reports of the third group and five of the fourth were made again after their verdicts, because they were not
  what had run: one of several equal parts stood for all, a step of one op for its layer, 32 rows for one token, one
  tensor for two. Two of these were told well at once. Of one, BEVFormer's offsets, it was said later that its change is
  several levers at once, as its source has it.

"""
COLUMNS = (
    "source",
    "what ran",
    "what the engineer changed",
    "at first",
    "now",
    "check: saving, us",
    "measured, us",
    "made up; not known",
)


def section() -> str:
    """The whole section: how many were told well at first and now, and the tables."""
    told = "\n\n".join(
        _told(*group)
        for group in (
            (EARLIER, "stories"),
            (FURTHER, f"further stories, from {FURTHER[0].source} on"),
            (THIRD, f"third stories, from {THIRD[0].source} on"),
            (FOURTH, f"fourth stories, from {FOURTH[0].source} on"),
        )
    )
    met, mended = ([story for story in STORIES if (story.first == story.now) == same] for same in (True, False))
    return (
        f"{HEAD}{told}\n\n### Met by finished checks\n\nVerdicts that stand as they were first given: "
        f"{_counts(story.now for story in met)}.\n\n{_table(met)}\n"
        f"### Since mended\n\nWhat the checks say now of these was learnt from them.\n\n{_table(mended)}"
    )


def _table(stories: Iterable[Story]) -> str:
    return table(COLUMNS, *map(_row, stories))


def _told(stories: tuple[Story, ...], what: str) -> str:
    at_first, now = (_counts(verdicts) for verdicts in zip(*((one.first, one.now) for one in stories), strict=True))
    return f"**{len(stories)} {what}. At first: {at_first}. Now: {now}.**"


def _counts(verdicts: Iterable[str]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in Counter(verdicts).most_common())


def _row(story: Story) -> tuple[str, ...]:
    found, _ = findings_of(story)
    bounds = {one["check"]: one["saving_us"] for one in reversed(naming(story, found))}
    said = [f"`{check}`: {us['at_least']:.0f} to {us['at_most']:.0f}" for check, us in sorted(bounds.items())]
    measured = "-" if story.saving_us is None else f"{story.saving_us:.0f}"
    return (
        story.source, story.ran, story.change, story.first, story.now, "; ".join(said) or "-", measured,
        f"{story.made_up}; not known: {story.unknown}" if story.unknown else story.made_up,
    )  # fmt: skip

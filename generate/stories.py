"""The second table of resources/how-good-is-the-advice.md: stories that no check was written for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.stories import EARLIER, FOURTH, FURTHER, STORIES, THIRD
from tests.stories.story import findings_of, naming

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.stories.story import Story

TITLE = "## Stories that no check was written for"
HEAD = f"""{TITLE}

The table above is in-sample: the checks were written with those stories at hand. The stories below were first shown to
finished checks, and `at first` is what they said then. After that some checks were mended by general rules, so
`now` is in-sample too, and says what it still does not know. The further stories met checks that the earlier ones had
mended, the third ones met checks that both had mended, and the fourth ones, frozen before any check saw them, checks
that all of these had mended; so their `at first` says how far that carried. Nine reports of the third ones were made
anew after that: they had been cut to one of equal parts, showed one op of a layer that was measured as a whole, or
gave one token 32 rows. So were five of the fourth ones: a step of equal ops and seven equal convs were cut to one, QKV
and the output projection read one tensor, queries to cast came from nowhere, scores of 767 positions had 384 columns.
The step and the cast were told well as soon as they were built so. Of one, BEVFormer's offsets, it was said later that
its change is several levers at once, as its source has it. Figures are the sources'; what a source does not tell
(often the shapes, or how a model's gain is split over its ops) was made up and stands in the last column. Where the
gain of these very ops is not told, or the finding gives no figure, the verdict is **named** at best: the change is
named, its bounds are not judged. What several findings of a check promise is added, and for a change of several levers
at once what all findings promise that name it. Where we do not tell a change, or not with bounds that hold, the last
column also says why it cannot be known from such a report.

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
    lines = ["| " + " | ".join(row) + " |" for row in (COLUMNS, *map(_row, stories))]
    lines.insert(1, "|---" * len(COLUMNS) + "|")
    return "\n".join(lines) + "\n"


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

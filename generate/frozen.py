"""The last tables of resources/how-good-is-the-advice.md: whole layers that were frozen before any check saw them.

python -m generate.frozen        judges layers that were not judged before, once, and keeps the verdicts; refuses after
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from generate.markdown import table
from generate.meetings import FOLDER, MEETINGS, MEETINGS_THAT_WERE, Meeting
from tests.frozen import LAYERS
from tests.frozen.promises import promised
from tests.frozen.verdict import NEAR, Verdict, that_name, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.frozen import Layer

    ByModel = dict[str, list[Verdict]]


SAID = FOLDER / "said.csv"  # what the checks say now of each change
HEADERS = ("model", "lever", "kind", "said", "near", "near_if")
MODELS = {model: layers for meeting in MEETINGS_THAT_WERE for model, layers in meeting.models.items()}
TOLD = {True: "yes", False: "no", None: ""}  # in the file of a meeting
MEANT = {word: told for told, word in TOLD.items()}
GOALS = {"right": 0.70, "near": 0.55, "promised": 0.03}  # of gains with a figure, of those, of dead ends: ours
COLUMNS = (
    "model",
    "gains with a figure",
    "right at first",
    "near at first",
    "right now",
    "near now",
    "dead ends",
    "promised at first",
    "promised now",
)
HEAD = f"""## Whole layers, frozen before any check saw them

Whole layers of models from public ledgers, with every change that their engineers measured: gains, and dead ends, which
brought nothing, cost time or were refused. The layers are written down and committed before a check is asked about
them. Then finished checks judge them once: this is a meeting. Its verdicts ("at first") stay as they were. Afterwards
checks learn from the meeting, so "now" is in-sample. Each meeting is of other models than the ones before.

How a change is judged:

* **right**: a finding on these ops names the change, and its bounds hold the saving; **near**: its expectation lies
  within a factor of {NEAR} of the saving. **Named**: the source has no figure for these ops alone.
* A dead end is **promised** if the findings that name it promise more than 5% of the kernel time at most, or expect
  more than 1% of it. A finding that says "a trial", without an expectation, promises nothing.
* Of a finding on many ops only the part counts that it says of the ops of the change.
* A change may be several edits. Then findings on different ops count together, the largest first.
* A setting that the printed call leaves as it is (`fused_activation=None`) names no change. Stacked weights are packed
  weights.

These rules came bit by bit: the third since the third meeting, the last since the sixth and the twelfth, the fourth
since the sixteenth. "Now" follows all of them, "at first" those of its time. By the rules of the first two meetings the
third is 18 of 48 right (38%), 9 near (19%) and 10 of 54 dead ends promised (19%). The rule on several edits makes eight
more gains of the first fifteen meetings right.
"""


class Counts(NamedTuple):
    """Of verdicts: gains with a figure and what was told of them; dead ends, and how many a finding promised."""

    gains: int
    right: int
    near: int
    expected: int
    dead_ends: int
    promised: int


class Named(NamedTuple):
    """A promise that names a change: its check, and what that promises of the ops of the change."""

    check: str
    at_most_us: float
    expected_us: float | None
    is_trial: bool


class Said(NamedTuple):
    """What the checks say of a change: the verdict on it, and the promises that name it."""

    verdict: Verdict
    named: tuple[Named, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """As the file has them."""
        return (*_cells(self.verdict), "; ".join(" ".join(_words(one)) for one in self.named))


def asked(layers: Iterable[Layer]) -> list[Said]:
    """Of each change to these layers, as the checks are: two minutes of a processor for all layers."""
    said: list[Said] = []
    for layer in layers:
        with TemporaryDirectory() as folder:
            promises, kernel_us = promised(layer, Path(folder))
        for lever, verdict in zip(layer.levers, verdicts(layer.levers, promises, kernel_us), strict=True):
            about = that_name(lever, promises)
            named = tuple(Named(one.check, one.at_most_us, one.expected_us, one.is_trial) for one in about)
            said.append(Said(verdict, named))
    return said


@cache
def said_now() -> dict[str, list[Said]]:
    """By model, as the file has it: `python -m generate` asks all of them, and a test some each time."""
    return {
        model: [Said(_verdict(row), tuple(map(_named, filter(None, row["named"].split("; "))))) for row in of_it]
        for model, of_it in groupby(_rows(SAID), key=lambda row: row["model"])
    }


def write_said() -> None:
    """Ask the checks about all layers."""
    rows = [(model, *said.cells) for model, layers in MODELS.items() for said in asked(layers)]
    _write(SAID, (*HEADERS, "named"), rows)
    said_now.cache_clear()


def verdicts_now(meeting: Meeting) -> ByModel:
    """By model, in the order of its layers."""
    return {model: [said.verdict for said in said_now()[model]] for model in meeting.models}


def verdicts_at_first(meeting: Meeting) -> ByModel:
    return read_verdicts(meeting.file)


def read_verdicts(path: Path) -> ByModel:
    return {model: [*map(_verdict, of_it)] for model, of_it in groupby(_rows(path), key=lambda row: row["model"])}


def write_verdicts(path: Path, by_model: ByModel) -> None:
    rows = [(model, *_cells(one)) for model, verdicts in by_model.items() for one in verdicts]
    _write(path, HEADERS, rows)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write(path: Path, headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(headers)
        writer.writerows(rows)


def _verdict(row: dict[str, str]) -> Verdict:
    return Verdict(row["lever"], row["kind"], row["said"], MEANT[row["near"]], MEANT[row.get("near_if", "")])


def _cells(one: Verdict) -> tuple[str, ...]:
    return one.lever, one.kind, one.said, TOLD[one.near], TOLD[one.near_if]


def _words(one: Named) -> tuple[str, ...]:
    expected = "-" if one.expected_us is None else f"{one.expected_us:.10g}"
    return (one.check, f"{one.at_most_us:.10g}", expected, *(("trial",) if one.is_trial else ()))


def _named(text: str) -> Named:
    check, at_most, expected, *trial = text.split()
    return Named(check, float(at_most), None if expected == "-" else float(expected), bool(trial))


def section() -> str:
    """Heading and tables."""
    return "\n".join([HEAD, *(part_of(meeting) for meeting in MEETINGS_THAT_WERE)])


def part_of(meeting: Meeting) -> str:
    first, now = verdicts_at_first(meeting), verdicts_now(meeting)
    said = f"**At first: {summary(first)}. Now: {summary(now)}.**"
    return "\n\n".join(filter(None, (f"### {meeting.title}", meeting.note, said, _table(first, now))))


def summary(by_model: ByModel) -> str:
    verdicts = all_of(by_model)
    of = counts(verdicts)
    trials = Counter(verdict.near_if for verdict in verdicts)
    known = trials[True] + trials[False]
    of_trials = f", and {trials[True]} of {known} trials that gained near what such tries save" if known else ""
    return (
        f"{of.right} of {of.gains} gains right ({of.right / of.gains:.0%}), {of.near} near ({of.near / of.gains:.0%} "
        f"of all, {of.near / max(of.expected, 1):.0%} of the {of.expected} with an expectation{of_trials}), "
        f"{of.promised} of {of.dead_ends} dead ends promised ({of.promised / of.dead_ends:.0%})"
    )


def all_of(by_model: ByModel) -> list[Verdict]:
    return [verdict for one in by_model.values() for verdict in one]


def counts(verdicts: Iterable[Verdict]) -> Counts:
    verdicts = list(verdicts)
    said = Counter(verdict.said for verdict in verdicts)
    gains = said["right"] + said["bound wrong"] + sum(_lacks(one) for one in verdicts)
    near = Counter(verdict.near for verdict in verdicts if verdict.kind == "gain")
    dead_ends = said["promised"] + said["quiet"]
    return Counts(gains, said["right"], near[True], near[True] + near[False], dead_ends, said["promised"])


def _lacks(verdict: Verdict) -> bool:
    """A gain with a figure that nothing names; one without a figure is not counted."""
    return verdict.said == "not named" and verdict.lever in _with_figure()


@cache
def _with_figure() -> frozenset[str]:
    levers = (lever for layer in LAYERS for lever in layer.levers)
    return frozenset(lever.id for lever in levers if lever.saving_us is not None)


def _table(first: ByModel, now: ByModel) -> str:
    rows: list[tuple[str, ...]] = []
    for model, of_it in first.items():
        met, told = counts(of_it), counts(now[model])
        figures = (
            met.gains,
            met.right,
            met.near,
            told.right,
            told.near,
            met.dead_ends,
            met.promised,
            told.promised,
        )
        rows.append((model, *map(str, figures)))
    return table(COLUMNS, *rows)


def main(arguments: Sequence[str]) -> int:
    new = [meeting for meeting in MEETINGS if not meeting.file.exists()]
    if arguments or not new:
        print(__doc__ if arguments else "each of these met the checks once: nothing is judged at first again")
        return 1
    for meeting in new:
        first = {model: [said.verdict for said in asked(layers)] for model, layers in meeting.models.items()}
        write_verdicts(meeting.file, first)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

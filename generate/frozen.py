"""The last tables of resources/how-good-is-the-advice.md: whole layers that were frozen before any check saw them.

python -m generate.frozen        judges layers that were not judged before, once, and keeps the verdicts; refuses after
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from generate.layout import ROOT
from tests.frozen import LAYERS, SETS
from tests.frozen.promises import promised
from tests.frozen.verdict import NEAR, Verdict, that_name, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.frozen import Layer

    ByModel = dict[str, list[Verdict]]


@dataclass(frozen=True)
class Meeting:
    """Layers that met finished checks together, and the file that keeps what those said."""

    models: dict[str, tuple[Layer, ...]]
    file: Path
    title: str


FOLDER = ROOT / "tests" / "frozen"
SAID = FOLDER / "said.csv"  # what the checks say now of each change
HEADERS = ("model", "lever", "kind", "said", "near", "near_if")
NUMBERS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"),
    "eighteenth",
)
MEETINGS = tuple(
    Meeting(models, FOLDER / f"{number}_meeting.csv", f"The {number} meeting")
    for number, models in zip(NUMBERS, SETS, strict=True)
)
MEETINGS_THAT_WERE = tuple(meeting for meeting in MEETINGS if meeting.file.exists())
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

Layers of public ledgers, with all changes that their engineers measured on them: gains, and dead ends that brought
nothing, cost time or were refused. They were written down and frozen before any check was asked about them, and judged
once, by finished checks. "At first" is that meeting, and stays. What is learnt from it makes "now" in-sample. Each
meeting is of other models, and met checks that had learnt from the ones before. The fourth is of three models only,
all on Blackhole: of other kinds no ledger with times of ops was found. Of Motif-3, which ran on 32 chips, eight stand
for all. The fifth has convolutions on Wormhole, experts, recurrent layers and a ring of four chips; three ledgers carry
it. Checks of four meetings before, without the trials that the fourth taught, had 26 of its gains right (42%).
The sixth is mostly of models that fold proteins, of kinds that no set had before: attention written out over batches of
pairs. Tries that were added after the fifth had 20 more gains of the first five right, and none of the sixth.
The seventh is of five models on Blackhole, all from tt-metal; two of them, the Falcon3, have equal layers. One norm was
added to one layer after it was frozen, as its two equal streams were taken for two passes; no verdict was known then.
After its verdicts one op that three layers had made up on 112 of 110 cores got 75: of such a report nothing is
expected. For every "now" three more gains are near by that.
The eighth is of five models: on Wormhole one that sees from above, the others on Blackhole, a video model on four of
its chips. It is not wholly unseen: single figures of BEVFormer and North Mini Code are among the stories above, and
changes to SDXL on another chip too. Of its 43 gains that were right 17 have no expectation, half of them convolutions,
and of 11 that lie off 9 are blocks of one video model, which gained a fifth of the bound where other ledgers gained
half.
The ninth is of five models that no measurement of ours knew: two of Qwen3, a speech model of convolutions with a small
decoder, a Wormhole Galaxy. Nothing was mended for it, and it went worse: half of the gains right, and 19 of its dead
ends promised. Nine of these are blocks of experts, of which one ledger tried all that fit, and three are chance: the
fix that names links says to set none (the judge knows it since, for every "now"). Of the 36 gains that are not right 21
are the speech model's: an image turned on its side, a factor as a diagonal matmul, weights in L1. Its convolutions were
drafted without the blocks that a report prints, so the checks of convolutions could not tell.
The tenth is of four: two decoders of language models, one on eight chips with experts, a text encoder of convolutions
and a recurrent layer, and a model of ternary weights. It is not wholly unseen: laws of time know seven rows of two of
the ledgers of Phi, whose 44 layers are many states of the same few, and the order of small ops of two of them follows
a printed table. Of its 15 promised dead ends seven are norms in shards already, which were as quick on other cores.
The eleventh is of two language models on Blackhole, alone and on two and four chips, which no measurement of ours knew;
relatives of both are in other sets. Most of its figures are wall times of traced layers, and the times of single ops
follow from them. Six of its eight promised dead ends are one matmul with a bias whose weights went over the DRAM banks.
Two bounds were too small: blocks of experts saved 67% (60% was the bound), norms in shards 67% (25%).
The twelfth is of a vision tower on Wormhole and a video model on a Wormhole Galaxy, whose figures laws of time are
fitted on: it says less of what is unseen. One of its five promised dead ends was a bug: TTNN refuses blocks of K that
do not divide a shard of the input.
The thirteenth is of dots.ocr, a vision tower and a language model on one and on four chips, of ring attention on a
Galaxy, and of the attentions of OpenFold3, all on Blackhole; three quarters of it are dots.ocr. No measurement of ours
knew them; one sentence of a check has a figure of dots.ocr. 36 of its 51 gains were right, the first set that reaches
the goal for them; the three promised dead ends are chance, which the judge knows since, for every "now": a fix that
says what a core grid alone would take, fused exchanges that are called async, and shards by width where blocks are
meant.
The fifteenth is of fourteen models, most on Blackhole: half of its gains with a figure are Kev 9B's, whose matmuls of
many rows gained up to 85% from minimal_matmul, and a tenth are custom ops that TTNN does not have. Laws of time had
learnt sparse matmuls, attention and what links carry from the sets before. Relatives of three models are in other sets
or measurements (Wan 2.2 5B, pplx-embed 4B, DeepSeek V4.1). Two of its five promised dead ends are chance, which the
judge knows since: "conversion" is no convolution, and BFLOAT8_B no FP8. Before it was judged one op was added to four
of its layers, as their two equal convolutions were taken for two passes.
The sixteenth is of Gemma 4 on one, two, four and eight chips, of encoders and vision towers on one, and of two decoders
of LTX on a Galaxy; more than half of its gains are Gemma 4's and CLM's, and most figures are walls of traced layers.
Eleven of its gains are one op of TTNN's that no check named then, a norm over chips that takes scale, shift and
rotation along. Of its 21 promised dead ends four are formats that were faster and cost too much accuracy. Of BGE-M3 at
8 texts two figures were known, of other changes. A draft of Wan 2.2 was left out before the meeting, as all its gains
are that one op too, and two ops were added to one layer, whose two equal halves were taken for two passes.
The seventeenth is of eight models: three of Qwen with ledgers of their own, a model of atoms, one of robots, and three
of pictures; a quarter of its gains is the model of atoms'. Drafts of four more were left out before the meeting, as
stories, cases or laws knew their ledgers (Qwen3-TTS, Llama 3.1 8B on P150, pplx-embed 4B, GLM 5.2). Of its eight
promised dead ends three were faster and refused for what they did to the result, and one did not fit L1. Bounds of six
gains were too small, as minimal_matmul was not told below a K of 1024, and as one kernel took the place of six ops.
The eighteenth is of seven models by single engineers: two ports of one that denoises text, a robot's, and language
models on four chips. Four of its 41 gains are programs of the engineer's own, which no call of TTNN gives, and 17 are
those of the two ports: rows in pieces, experts one after the other, scores of all words on each chip. Drafts of Qwen3.6
27B by two more ledgers were left out before the meeting: one is kept aside for acceptance, a story cites the other.

* **right**: a finding on these ops names the change, and its bounds hold the saving; **near**: its expectation lies
  within a factor of {NEAR} of the saving. **Named**: the source has no figure for these ops alone.
* A dead end is **promised** where findings that name it promise more than 5% of the kernel time at most, or expect
  more than 1% of it. Where a finding says "a trial", without an expectation, nothing is promised.
* What a printed call leaves as it is (`fused_activation=None`, `fp32_dest_acc_en=True`) names no change: since the
  sixth meeting, for every "now". By it two promised dead ends and four named gains of the sets were chance. And weights
  that are stacked are packed, since the twelfth: gains and dead ends of experts' gate and up.
* Of a finding on many ops counts what it says of the ops of the change. At the first two meetings all of it counted,
  and the bound of a trial too: their "now" is by the rule of the third, their "at first" is not. By the rule of the
  first two the third meeting is 18 of 48 right (38%), 9 near (19%) and 10 of 54 dead ends promised (19%).
* A change may be several edits: since the sixteenth, for every "now", a gain is right too where findings on different
  ops, the largest first, hold its saving together, as those that name a dead end were added from the first meeting on.
  By it eight more gains of the sets are right. At the next meeting it counts for "at first" too.
* Goals: {GOALS["right"]:.0%} of the gains with a figure right, {GOALS["near"]:.0%} near, at most \
{GOALS["promised"]:.0%} of the dead ends promised. What a profile tells does not let the last two be met together, as
far as we know: see "What is expected".
"""


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
    """Heading and tables; without a meeting that has not been."""
    return "\n".join([HEAD, *(part_of(meeting) for meeting in MEETINGS_THAT_WERE)])


def part_of(meeting: Meeting) -> str:
    first, now = verdicts_at_first(meeting), verdicts_now(meeting)
    said = f"**At first: {summary(first)}. Now: {summary(now)}.**"
    return f"### {meeting.title}\n\n{said}\n\n{_table(first, now)}"


def summary(by_model: ByModel) -> str:
    verdicts = [verdict for one in by_model.values() for verdict in one]
    right, figures, near, expected, promised, dead = _counts(verdicts)
    trials = Counter(verdict.near_if for verdict in verdicts)
    known = trials[True] + trials[False]
    of_trials = f", and {trials[True]} of {known} trials that gained near what such tries save" if known else ""
    return (
        f"{right} of {figures} gains right ({right / figures:.0%}), {near} near ({near / figures:.0%} of all, "
        f"{near / max(expected, 1):.0%} of the {expected} with an expectation{of_trials}), "
        f"{promised} of {dead} dead ends promised ({promised / dead:.0%})"
    )


def _counts(verdicts: Iterable[Verdict]) -> tuple[int, int, int, int, int, int]:
    verdicts = list(verdicts)
    said = Counter(verdict.said for verdict in verdicts)
    figures = said["right"] + said["bound wrong"] + sum(_lacks(one) for one in verdicts)
    near = Counter(verdict.near for verdict in verdicts if verdict.kind == "gain")
    dead = said["promised"] + said["quiet"]
    return said["right"], figures, near[True], near[True] + near[False], said["promised"], dead


def _lacks(verdict: Verdict) -> bool:
    """A gain with a figure that nothing names; one without a figure is not counted."""
    return verdict.said == "not named" and verdict.lever in _with_figure()


@cache
def _with_figure() -> frozenset[str]:
    levers = (lever for layer in LAYERS for lever in layer.levers)
    return frozenset(lever.id for lever in levers if lever.saving_us is not None)


def _table(first: ByModel, now: ByModel) -> str:
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for model, of_it in first.items():
        right, figures, near, _, lost, dead = _counts(of_it)
        right_now, _, near_now, _, lost_now, _ = _counts(now[model])
        lines.append(
            f"| {model} | {figures} | {right} | {near} | {right_now} | {near_now} | {dead} | {lost} | {lost_now} |"
        )
    return "\n".join(lines) + "\n"


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

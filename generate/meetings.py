"""The sets of whole layers, each met once by finished checks, and what a reader has to know of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from generate.layout import ROOT
from tests.frozen import SETS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.frozen import Layer

FOLDER = ROOT / "tests" / "frozen"
NOTES = {  # of each meeting, in the order of SETS
    "first": "",
    "second": "",
    "third": "",
    "fourth": """\
Three models, all on Blackhole: no other ledger with times of ops was found. Motif-3 ran on 32 chips; eight stand for
all.""",
    "fifth": """\
Convolutions on Wormhole, experts, recurrent layers and a ring of four chips, from three ledgers. The trials that the
fourth meeting taught made the difference: the checks before them had 26 of these gains right (42%).""",
    "sixth": """\
Mostly models that fold proteins, a kind that no set had before: attention written out over batches of pairs. Trials
that were added after the fifth meeting had 20 more gains of the first five right, and none of this one.""",
    "seventh": """\
Five models on Blackhole, all from tt-metal. The two Falcon3 have equal layers. One norm was added to one layer before
the verdicts were known: its two equal streams were taken for two passes. After the verdicts an op that three layers
had on 112 of 110 cores was given 75, because nothing is expected of such a report. "Now" has three more gains near by
it.""",
    "eighth": """\
Five models: one that sees from above on Wormhole, a video model on four chips, the others on one Blackhole. Not wholly
unseen: single figures of BEVFormer and North Mini Code are stories below, so are changes to SDXL on another chip. Of
the 43 right gains 17 have no expectation; half of these are convolutions. Of the 11 whose expectation is off, 9 are
blocks of one video model, which gained a fifth of the bound where other ledgers gained half.""",
    "ninth": """\
Five models that no measurement of ours knew: two of Qwen3, a speech model of convolutions with a small decoder, a
Wormhole Galaxy. Nothing was mended for it, and it went worse. Of the 36 gains that are not right 21 are the speech
model's: an image turned on its side, a factor as a diagonal matmul, weights in L1. Its convolutions were written down
without the blocks that a report prints, so the checks of convolutions could not tell. Of the 19 promised dead ends nine
are blocks of experts, of which one ledger tried all that fit. Three were an error of the judge, mended for "now".""",
    "tenth": """\
Two decoders of language models, one on eight chips with experts; a text encoder of convolutions and a recurrent layer;
a model of ternary weights. Not wholly unseen: laws of time know seven rows of two ledgers of Phi. The 44 layers of Phi
are many states of the same few. The order of the small ops in two layers follows a printed table. Of the 15 promised
dead ends seven are norms in shards already, which were as quick on other cores.""",
    "eleventh": """\
Two language models on one, two and four Blackhole chips that no measurement of ours knew. Relatives of both are in
other sets. Most figures are wall times of traced layers; the times of single ops are derived from them. Six of the
eight promised dead ends are one matmul with a bias whose weights went over the DRAM banks. Two bounds were too small:
blocks of experts saved 67% (60% was the bound), norms in shards 67% (25%).""",
    "twelfth": """\
A vision tower on Wormhole and a video model on a Wormhole Galaxy. Laws of time are fitted on figures of both, so this
meeting says less of what is unseen. One of the five promised dead ends was a bug of ours: TTNN refuses blocks of K that
do not divide a shard of the input.""",
    "thirteenth": """\
dots.ocr (a vision tower, and a language model on one and four chips), ring attention on a Galaxy, and the attentions
of OpenFold3, all on Blackhole. Three quarters are dots.ocr. No measurement of ours knew them; one sentence of a check
has a figure of dots.ocr. The three promised dead ends were errors of the judge, mended for "now".""",
    "fourteenth": "",
    "fifteenth": """\
Fourteen models, most on Blackhole. Half of the gains with a figure are Kev 9B's, whose matmuls of many rows gained up
to 85% from minimal_matmul. A tenth are custom ops that TTNN does not have. Laws of time had learnt sparse matmuls,
attention and links from the sets before. Relatives of three models are in other sets or measurements (Wan 2.2 5B,
pplx-embed 4B, DeepSeek V4.1). Two of the five promised dead ends were errors of the judge, mended for "now". One op was
added to four layers before the meeting: their two equal convolutions were taken for two passes.""",
    "sixteenth": """\
Gemma 4 on one, two, four and eight chips, encoders and vision towers on one, two decoders of LTX on a Galaxy. More than
half of the gains are Gemma 4's and CLM's, and most figures are walls of traced layers. Eleven gains are one op that no
check named then: a norm over chips that takes scale, shift and rotation along. A draft of Wan 2.2 was left out before
the meeting, because all its gains are that op too. Four of the 21 promised dead ends were faster and cost too much
accuracy. Of BGE-M3 at 8 texts two figures were known, of other changes. Two ops were added to one layer, whose two
equal halves were taken for two passes.""",
    "seventeenth": """\
Three models of Qwen, a model of atoms (a quarter of the gains), one of robots, three of pictures. Drafts of four more
were left out before the meeting, because stories, cases or laws knew their ledgers (Qwen3-TTS, Llama 3.1 8B on P150,
pplx-embed 4B, GLM 5.2). Of the eight promised dead ends three were faster and refused for what they did to the result,
and one did not fit L1. Bounds of six gains were too small: minimal_matmul was not told for a K below 1024, and one
kernel took the place of six ops.""",
    "eighteenth": """\
Seven models by single engineers: two ports of one that denoises text, one of robots, and language models on four chips.
Four of the 41 gains are programs of the engineer's own, which no call of TTNN gives. 17 are those of the two ports:
rows in pieces, experts one after the other, scores of all words on each chip. Drafts of Qwen3.6 27B by two more ledgers
were left out before the meeting: one is kept aside for acceptance, a story knows the other.""",
    "nineteenth": """\
Three models of proteins and atoms, a Galaxy, language models on one, two and four Blackhole chips, and one that edits
pictures. A third of the gains are AlphaFold 2's. Relatives are in other sets: OpenFold3 by the same engineer, Qwen3.8
Flash Next by another, GPT-OSS by others. Many gains are kernels of the engineers' own, which no call of TTNN gives. A
norm was added to two layers before the meeting: each of their 64 equal parts was taken for a pass.""",
}


@dataclass(frozen=True)
class Meeting:
    """Layers that met finished checks together, and the file that keeps what those said."""

    models: dict[str, tuple[Layer, ...]]
    file: Path
    title: str
    note: str = ""


MEETINGS = tuple(
    Meeting(models, FOLDER / f"{number}_meeting.csv", f"The {number} meeting", note)
    for (number, note), models in zip(NOTES.items(), SETS, strict=True)
)
MEETINGS_THAT_WERE = tuple(meeting for meeting in MEETINGS if meeting.file.exists())

"""Layers that the run itself marks: by numbers in a compiler's LOC, or by signposts of the model."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.layers.repeating_names import COVERED_AT_LEAST
from ttnn_mcp.errors import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

# A place in a file says nothing of layers, though its path may hold such a word.
FILE_PLACE = re.compile(r'"[^"]*":\d+:\d+')
# Lists of modules as models on Hugging Face and torch.nn call them: model.layers.3, encoder.layer.3, h.3, blocks[3].
NUMBERED = re.compile(r"(?<![a-z])(?:(?:layers?|blocks?)[._\[]|h[.\[])\d+", re.IGNORECASE)
PART_OF_A_MODEL = re.compile(r"layer|block", re.IGNORECASE)
# Seen in a real report: 'TTBasicBlock forward started', 'TTBasicBlock forward finished', 'OFT block ended'.
BEGINS = re.compile(r"\b(start(s|ed)?|begin(s)?)\b", re.IGNORECASE)
ENDS = re.compile(r"\b(end(s|ed)?|stop(s|ped)?|done|finish(es|ed)?)\b", re.IGNORECASE)
LAYERS_AT_LEAST = 2


@dataclass(frozen=True, slots=True)
class Marked:
    """Layers by number, in the order they first ran.

    Attributes:
        count: how many there are.
        layer: per op, 1..count; 0 outside.
        why: what marks them.
    """

    count: int
    layer: NDArray[np.int64]
    why: str


def by_loc(ops: OpTable, devices: list[NDArray[np.int64]]) -> Marked | None:
    """Layers by the numbers in LOC; an op without one belongs to the layer that runs before and behind it."""
    texts = ops.texts("loc")
    names = [_numbered(text) for text in texts.distinct]
    named = [*dict.fromkeys(("", *names))]
    places = {name: place for place, name in enumerate(named)}
    known = np.array([*(places[name] for name in names), 0], dtype=np.int64)[texts.codes]
    occurring: list[int] = known[known > 0].tolist()
    order = [*dict.fromkeys(occurring)]
    if len(order) < LAYERS_AT_LEAST:
        return None
    numbers = np.zeros(len(named), dtype=np.int64)
    numbers[order] = np.arange(1, len(order) + 1)
    layer = numbers[known]
    for rows in devices:
        layer[rows] = _between_equals(layer[rows])
    why = f"{len(order)} layers by LOC: layer 1 is '{shown(named[order[0]])}'"
    return Marked(len(order), layer, why) if _covers(layer) else None


def _numbered(loc: str) -> str:
    """`model.layers.3` of `loc("model.layers.3.mlp.up_proj")`; empty without a number."""
    text = FILE_PLACE.sub("", loc)
    match = NUMBERED.search(text)
    return text[text.rfind('"', 0, match.start()) + 1 : match.end()] if match else ""


def _between_equals(layer: NDArray[np.int64]) -> NDArray[np.int64]:
    """Zeros between two equal numbers become that number."""
    places = np.arange(len(layer))
    before = np.maximum.accumulate(np.where(layer > 0, places, 0))
    after = np.minimum.accumulate(np.where(layer > 0, places, len(layer) - 1)[::-1])[::-1]
    return np.where(layer[before] == layer[after], layer[before], layer)


def by_signposts(ops: OpTable, signposts: OpTable) -> Marked | None:
    """Layers by signposts that say layer or block and occur again, alike but for a number, over most of the ops."""
    texts, lines = signposts.texts("op_code"), _around(ops, signposts)
    begun: dict[str, list[int]] = defaultdict(list)
    ended: dict[str, list[int]] = defaultdict(list)
    first: dict[str, str] = {}
    for line, row in lines.items():
        text = texts[row]
        if PART_OF_A_MODEL.search(text):
            first.setdefault(_stem(text), text)
            (ended if ENDS.search(text) else begun)[_stem(text)].append(line)
    candidates: list[Marked] = []
    for stem, starts in begun.items():
        ends = ended[stem] or [line for line in lines if line > starts[-1]][:1]
        layer, why = _numbers(ops, starts, ends), f"{len(starts)} layers by signposts '{shown(first[stem])}'"
        if len(starts) >= LAYERS_AT_LEAST and len(np.unique(layer[layer > 0])) == len(starts) and _covers(layer):
            candidates.append(Marked(len(starts), layer, why))
    return max(candidates, key=lambda each: int((each.layer > 0).sum()), default=None)


def _around(ops: OpTable, signposts: OpTable) -> dict[int, int]:
    """Line -> row of the signposts among the ops, and of those right before the first op."""
    rows = {line: row for row, line in enumerate(signposts.lines.tolist())}
    first, last = int(ops.lines.min()), int(ops.lines.max())
    while first - 1 in rows:
        first -= 1
    return {line: row for line, row in sorted(rows.items()) if first <= line <= last}


def _stem(text: str) -> str:
    """The signpost without its number and without what says that it begins or ends something."""
    return " ".join(re.sub(r"\d+", "#", ENDS.sub("", BEGINS.sub("", text))).split())


def _numbers(ops: OpTable, begun: list[int], ended: list[int]) -> NDArray[np.int64]:
    marks = sorted(
        [*((line, number) for number, line in enumerate(begun, start=1)), *((line, 0) for line in ended)]
    )
    place = np.searchsorted(np.array([line for line, _ in marks]), ops.lines, side="right")
    return np.array([0, *(number for _, number in marks)], dtype=np.int64)[place]


def _covers(layer: NDArray[np.int64]) -> bool:
    return bool((layer > 0).mean() >= COVERED_AT_LEAST)

"""Layers that the run itself marks: by numbers in a compiler's LOC, or by signposts of the model."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from ttnn_mcp.analyses.layers.repeating_names import COVERED_AT_LEAST
from ttnn_mcp.arrays import Integers
from ttnn_mcp.errors import shown
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.signpost_words import ends, stem_of

# A place in a file says nothing of layers, though its path may hold such a word.
FILE_PLACE = re.compile(r'"[^"]*":\d+:\d+')
# Lists of modules as models on Hugging Face and torch.nn call them: model.layers.3, encoder.layer.3, h.3, blocks[3].
NUMBERED = re.compile(r"(?<![a-z])(?:(?:layers?|blocks?)[._\[]|h[.\[])\d+", re.IGNORECASE)
PART_OF_A_MODEL = re.compile(r"layer|block", re.IGNORECASE)
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
    layer: Integers
    why: str


def by_loc(ops: OpTable, devices: list[Integers]) -> Marked | None:
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


def _between_equals(layer: Integers) -> Integers:
    """Zeros between two equal numbers become that number."""
    places = np.arange(len(layer))
    before = np.maximum.accumulate(np.where(layer > 0, places, 0))
    after = np.minimum.accumulate(np.where(layer > 0, places, len(layer) - 1)[::-1])[::-1]
    return np.where(layer[before] == layer[after], layer[before], layer)


def by_signposts(ops: OpTable, signposts: OpTable) -> Marked | None:
    """Layers by signposts that say layer or block and occur again, alike but for a number, over most of the ops."""
    texts = signposts.texts("op_code")
    marks = {line: texts[row] for line, row in _around(ops, signposts).items()}
    begun: dict[str, list[int]] = defaultdict(list)
    ended: dict[str, list[int]] = defaultdict(list)
    for line, text in marks.items():
        if PART_OF_A_MODEL.search(text):
            (ended if ends(text) else begun)[stem_of(text)].append(line)
    candidates: list[Marked] = []
    for stem, starts in begun.items():
        if len(starts) < LAYERS_AT_LEAST or any(_leads(others, starts) for others in begun.values()):
            continue
        layer = _numbers(ops, starts, ended[stem] or _ends(ops, marks, starts))
        if len(np.unique(layer[layer > 0])) == len(starts) and _covers(layer):
            why = f"{len(starts)} layers by signposts '{shown(marks[starts[0]])}'"
            candidates.append(Marked(len(starts), layer, why))
    return max(candidates, key=lambda each: int((each.layer > 0).sum()), default=None)


def _leads(others: list[int], starts: list[int]) -> bool:
    """Whether each of the other marks stands before its start: they begin the same layers, these a part of each."""
    turns = [line for pair in zip(others, starts, strict=False) for line in pair]
    return others != starts and len(others) == len(starts) and turns == sorted(turns)


def _ends(ops: OpTable, marks: dict[int, str], starts: list[int]) -> list[int]:
    """Where layers end of which no signpost of their name says so: the layer before the last one shows it.

    Marks right before the start of the next layer, without ops between, end each layer. Without such marks the last
    layer ends at the first one that is not inside of the layer before it.
    """
    place = dict(zip(marks, np.searchsorted(np.sort(ops.lines), [*marks]).tolist(), strict=True))
    before_next = place[starts[-1]]
    between = [line for line in marks if starts[-2] < line < starts[-1]]  # unmoved: a start ends no layer
    inside = {stem_of(marks[line]) for line in between if place[line] < before_next}
    closing = {stem_of(marks[line]) for line in between} - inside
    if closing:
        return [line for line, text in marks.items() if stem_of(text) in closing]
    return [line for line in marks if line > starts[-1] and stem_of(marks[line]) not in inside][:1]


def _around(ops: OpTable, signposts: OpTable) -> dict[int, int]:
    """Line -> row of the signposts among the ops, and of those right before the first op."""
    rows = {line: row for row, line in enumerate(signposts.lines.tolist())}
    first, last = int(ops.lines.min()), int(ops.lines.max())
    while first - 1 in rows:
        first -= 1
    return {line: row for line, row in sorted(rows.items()) if first <= line <= last}


def _numbers(ops: OpTable, begun: list[int], ended: list[int]) -> Integers:
    marks = sorted(
        [*((line, number) for number, line in enumerate(begun, start=1)), *((line, 0) for line in ended)]
    )
    place = np.searchsorted(np.array([line for line, _ in marks]), ops.lines, side="right")
    return np.array([0, *(number for _, number in marks)], dtype=np.int64)[place]


def _covers(layer: Integers) -> bool:
    return bool((layer > 0).mean() >= COVERED_AT_LEAST)

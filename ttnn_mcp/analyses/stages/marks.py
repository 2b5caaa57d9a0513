"""Stages that a report's signposts name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.stages.attentions import DECODE, ENCODER, PREFILL, SAMPLING
from ttnn_mcp.run.signpost_words import ENDS, ends, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

KINDS = ("", PREFILL, DECODE, ENCODER, SAMPLING)  # by code; 0 is no stage
# Whole words: 'upsample' chooses no token, and a 'decoder layer' runs in prefill too.
NAMES = {
    **dict.fromkeys(("prefill", "prefilling"), PREFILL),
    **dict.fromkeys(("decode", "decoding", "generate", "generating", "generation"), DECODE),
    **dict.fromkeys(("encode", "encoder", "vision"), ENCODER),
    **dict.fromkeys(("sampling", "sampler"), SAMPLING),
}


def stages_by_signposts(ops: OpTable, signposts: OpTable) -> tuple[NDArray[np.int64], dict[str, str]] | None:
    """A stage's code per op, and the reason for each stage; None if no signpost among the ops names one.

    A stage lasts until a signpost says that it ends, or the next one begins. A signpost for the end of a stage that
    none began means the ops since the signpost before it.
    """
    codes, why = np.zeros(len(ops), dtype=np.int64), dict[str, str]()
    code, since = 0, 0
    for line, text in _among(ops, signposts):
        kind, at = _named(text), int(np.searchsorted(ops.lines, line))
        named = KINDS.index(kind)
        if ends(text):
            if named and code not in (0, named):  # of another stage, within this one
                continue
            codes[since:at] = code or named
            code, since = 0, at
        else:
            codes[since:at] = code
            code, since = named, at
        if kind:
            why.setdefault(kind, f"signpost at line {line}")
    codes[since:] = code
    return (codes, why) if why else None


def _among(ops: OpTable, signposts: OpTable) -> list[tuple[int, str]]:
    """(line, text) of the signposts among these ops that name a stage, or only say that something ends."""
    if not len(ops):
        return []
    first, last = int(ops.lines.min()) - 1, int(ops.lines.max())
    texts = signposts.texts("op_code")
    marks = [(int(line), texts[row]) for row, line in enumerate(signposts.lines.tolist())]
    return [mark for mark in marks if first <= mark[0] <= last and (_named(mark[1]) or _only_ends(mark[1]))]


def _named(text: str) -> str:
    return next((NAMES[word] for word in words_of(text) if word in NAMES), "")


def _only_ends(text: str) -> bool:
    return all(word in ENDS or word.isdigit() for word in words_of(text))

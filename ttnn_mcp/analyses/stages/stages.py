"""Stages of a language model in the ops of one device: prefill, decode, encoder, sampling.

Signposts that name a stage decide. Without them the attention ops decide (module `attentions`). A stage begins with its
first pass: at an embedding, otherwise at a new trace, otherwise at the longest gap between the last attention of one
kind and the first of the next. Ops that follow the LM head and choose a token are sampling.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.stages.attentions import DECODE, ENCODER, PREFILL, SAMPLING, attentions_of
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

KINDS = ("", PREFILL, DECODE, ENCODER, SAMPLING)  # by code; 0 is no stage
NAMED = {
    "prefill": PREFILL,
    "decod": DECODE,
    "generat": DECODE,
    "encod": ENCODER,
    "vision": ENCODER,
    "sampl": SAMPLING,
}  # in signposts
ENDS = r"\b(end|stop|done|finish\w*)\b"
CHOOSES = r"^(ArgMax|Argmax|TopK|Sampling)"
VOCABULARY = 8_192  # columns: the smallest vocabularies of published models have 30,000, split over up to 4 matmuls
WIDENS = (
    2.0  # an LM head is so many times wider than the model; a fused up-projection of an MLP is followed by more
)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage.

    Attributes:
        kind: prefill, decode, encoder or sampling.
        why: the reason for its kind.
        rows: positions of its ops, ascending.
        passes: how often it ran; each pass begins with an embedding if there is one.
        whole: whether it seems to be a complete pass of a model: it has an embedding or an LM head.
        head: positions of its LM head's matmuls.
    """

    kind: str
    why: str
    rows: NDArray[np.int64]
    passes: int
    whole: bool
    head: NDArray[np.int64]


@artefact
def stages_of(ops: OpTable, signposts: OpTable) -> list[Stage]:
    """The stages in the order of their first run; empty if the report does not tell them apart.

    Args:
        ops: the ops of one device in execution order.
        signposts: the report's signposts.
    """
    recognised = _by_signposts(ops, signposts) or _by_attention(ops)
    if recognised is None:
        return []
    codes, why = recognised
    heads = lm_heads(ops)
    codes = np.where(_choosing(ops, heads), KINDS.index(SAMPLING), codes)
    stages: list[Stage] = []
    occurring: list[int] = codes[codes > 0].tolist()
    for code in dict.fromkeys(occurring):
        rows, kind = np.flatnonzero(codes == code), KINDS[code]
        reason = why.get(kind, f"ops after the LM head of lines {_some(ops, heads)}")
        head, embeds = heads[np.isin(heads, rows)], rows[_embeds(ops)[rows]]
        whole = len(head) + len(embeds) > 0
        stages.append(Stage(kind, reason, rows, _passes(ops, rows, embeds), whole, head))
    return stages


def lm_heads(ops: OpTable) -> NDArray[np.int64]:
    """Matmuls onto the vocabulary: far wider than the model, and in a pass only matmuls of equal width follow."""
    multiplies = np.flatnonzero(ops.of_family("matmul"))
    if not ops.outputs or not ops.inputs:
        return np.zeros(0, dtype=np.int64)
    width, inner = ops.outputs[0].logical[multiplies, 3], ops.inputs[0].logical[multiplies, 3]
    wide = (width >= VOCABULARY) & (width >= WIDENS * inner)
    ends = np.append(_ends_pass(ops, multiplies[1:], multiplies[:-1]), True)
    last = wide & ends
    for place in range(len(multiplies) - 2, -1, -1):  # the parts of a split head follow each other
        if wide[place] and last[place + 1] and width[place] == width[place + 1]:
            last[place] = True
    return multiplies[last]


def _ends_pass(ops: OpTable, after: NDArray[np.int64], before: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether an embedding or a choice of tokens lies between two rows: it ends a pass."""
    ended = ops.texts("op_code").where(lambda text: family(text) == "embedding" or _chooses(text))
    counted = np.concatenate(([0], np.cumsum(ended)))
    return counted[after] > counted[before]


def _chooses(op_code: str) -> bool:
    return re.match(CHOOSES, canonical(op_code)) is not None


def _choosing(ops: OpTable, heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Ops from an LM head (without it) to the next embedding, if one of them chooses a token."""
    sampling = np.zeros(len(ops), dtype=np.bool_)
    chooses = np.flatnonzero(ops.texts("op_code").where(_chooses))
    embeds = np.flatnonzero(_embeds(ops))
    for head in heads.tolist():
        following = embeds[embeds > head]
        end = int(following[0]) if len(following) else len(ops)
        if ((chooses > head) & (chooses < end)).any():
            sampling[head + 1 : end] = True
    sampling[heads] = False
    return sampling


def _by_signposts(ops: OpTable, signposts: OpTable) -> tuple[NDArray[np.int64], dict[str, str]] | None:
    """A stage's code per op, and the reason for each stage; None if no signpost among the ops names one."""
    texts = signposts.texts("op_code")
    marks = [
        (int(line), kind)
        for row, line in enumerate(signposts.lines.tolist())
        if (kind := _named(texts[row])) and not re.search(ENDS, texts[row], re.IGNORECASE)
    ]
    marks = [mark for mark in marks if ops.lines.min() - 1 <= mark[0] <= ops.lines.max()] if len(ops) else []
    if not marks:
        return None
    place = np.searchsorted(np.array([line for line, _ in marks]), ops.lines, side="right")
    codes = np.array([0, *(KINDS.index(kind) for _, kind in marks)], dtype=np.int64)[place]
    return codes, {kind: f"signpost at line {line}" for line, kind in reversed(marks)}


def _named(text: str) -> str | None:
    return next((kind for part, kind in NAMED.items() if part in text.lower()), None)


def _by_attention(ops: OpTable) -> tuple[NDArray[np.int64], dict[str, str]] | None:
    """The same by attention; None if there is none."""
    attentions = attentions_of(ops)
    if not attentions:
        return None
    codes = np.full(len(ops), KINDS.index(attentions[0][1]), dtype=np.int64)
    stretches = [list(stretch) for _, stretch in groupby(attentions, key=lambda attention: attention[1])]
    for earlier, later in pairwise(stretches):
        (before, _, _), (after, kind, _) = earlier[-1], later[0]
        codes[_boundary(ops, before, after) :] = KINDS.index(kind)
    why = {kind: f"{reason} (line {int(ops.lines[row])})" for row, kind, reason in reversed(attentions)}
    patches = _patches(ops, codes)
    if patches is not None:
        why[ENCODER] += (
            f", behind a convolution that makes patches (line {int(ops.lines[patches])}): a vision encoder"
        )
    return codes, why


def _patches(ops: OpTable, codes: NDArray[np.int64]) -> int | None:
    """The conv or fold before the first attention of an encoder: it makes the patches of an image."""
    inside = codes == KINDS.index(ENCODER)
    attends = [row for row, kind, _ in attentions_of(ops) if kind == ENCODER]
    makes = np.flatnonzero(inside & (ops.of_family("conv") | ops.named("Fold")))
    return int(makes[0]) if len(makes) and makes[0] < attends[0] else None


def chosen_behind(stage: Stage, stages: list[Stage]) -> NDArray[np.int64]:
    """The sampling ops that directly follow this stage: each of its tokens needs them."""
    nothing = np.zeros(0, dtype=np.int64)
    if stage.kind != DECODE:
        return nothing
    sampling = np.concatenate([nothing, *(each.rows for each in stages if each.kind == SAMPLING)])
    others = np.concatenate([each.rows for each in stages if each.kind != SAMPLING])
    others = np.sort(others)
    last = others[np.maximum(np.searchsorted(others, sampling) - 1, 0)]
    return sampling[np.isin(last, stage.rows)]


def _boundary(ops: OpTable, before: int, after: int) -> int:
    """The first row of the stage of the attention at `after`; the one at `before` is the last of another stage."""
    between = np.arange(before + 1, after + 1)
    embeds = between[_embeds(ops)[between]]
    if len(embeds):
        return int(embeds[0])
    traces = np.nan_to_num(ops.numbers("trace_id"), nan=-1.0)
    changes = between[traces[between] != traces[between - 1]]
    if len(changes):
        return int(changes[0])
    return int(between[np.argmax(np.nan_to_num(ops.numbers("gap_ns")[between]))])


def _embeds(ops: OpTable) -> NDArray[np.bool_]:
    return ops.of_family("embedding")


def _passes(ops: OpTable, rows: NDArray[np.int64], embeds: NDArray[np.int64]) -> int:
    """The number of stretches of rows, or of embeddings if larger: a pass looks up its tokens once."""
    stretches = 1 + int((np.diff(rows) > 1).sum())
    kinds = [ops.shapes(int(row)) for row in embeds]
    return max(stretches, kinds.count(kinds[0]) if kinds else 0)


def _some(ops: OpTable, rows: NDArray[np.int64]) -> str:
    lines = [str(int(ops.lines[row])) for row in rows[:3]]
    return ", ".join(lines) + (" and more" if len(rows) > len(lines) else "")

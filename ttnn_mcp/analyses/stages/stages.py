"""Stages of a language model in the ops of one device: prefill, decode, encoder, sampling.

Signposts that name a stage decide. Without them the attention ops decide (module `attentions`). Ops that follow the LM
head and choose a token are sampling (module `heads`).
"""

from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np

from ttnn_mcp.analyses.stages.attentions import DECODE, ENCODER, PREFILL, SAMPLING, attentions_of
from ttnn_mcp.analyses.stages.heads import choosing, head_groups, lm_heads
from ttnn_mcp.analyses.stages.stretches import begins_trace
from ttnn_mcp.arrays import Integers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.signpost_words import ENDS, ends, words_of

KINDS = ("", PREFILL, DECODE, ENCODER, SAMPLING)  # by code; 0 is no stage
# Whole words: 'upsample' chooses no token, and a 'decoder layer' runs in prefill too.
NAMES = {
    **dict.fromkeys(("prefill", "prefilling"), PREFILL),
    **dict.fromkeys(("decode", "decoding", "generate", "generating", "generation"), DECODE),
    **dict.fromkeys(("encode", "encoder", "vision"), ENCODER),
    **dict.fromkeys(("sampling", "sampler"), SAMPLING),
}


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage.

    Attributes:
        kind: prefill, decode, encoder or sampling.
        why: the reason for its kind.
        rows: positions of its ops, ascending.
        passes: how often it ran.
        whole: whether it seems to be complete passes of a model: it has an embedding or an LM head, and where it begins
            and ends is no guess.
        head: positions of its LM head's matmuls.
    """

    kind: str
    why: str
    rows: Integers
    passes: int
    whole: bool
    head: Integers


@artefact
def stages_of(ops: OpTable, signposts: OpTable) -> list[Stage]:
    """The stages in the order of their first run; empty if the report does not tell them apart.

    Args:
        ops: the ops of one device in execution order.
        signposts: the report's signposts.
    """
    guessed: set[str] = set()
    recognised = stages_by_signposts(ops, signposts) or _by_attention(ops, guessed)
    if recognised is None:
        return []
    codes, why = recognised
    heads, embeds = lm_heads(ops), ops.of_family("embedding")
    codes = np.where(choosing(ops, heads), KINDS.index(SAMPLING), codes)
    stages: list[Stage] = []
    occurring: list[int] = codes[codes > 0].tolist()
    for code in dict.fromkeys(occurring):
        rows, kind = np.flatnonzero(codes == code), KINDS[code]
        reason = why.get(kind, f"ops after the LM head of lines {_some(ops, heads)}")
        head = heads[np.isin(heads, rows)]
        whole = kind not in guessed and (len(head) > 0 or bool(embeds[rows].any()))
        stages.append(Stage(kind, reason, rows, passes_of(ops, rows, head), whole, head))
    return stages


def _by_attention(ops: OpTable, guessed: set[str]) -> tuple[Integers, dict[str, str]] | None:
    """A stage's code per op and the reason for each stage, by attention; None if there is none.

    Stages whose first or last op is a guess come into `guessed`.
    """
    attentions = attentions_of(ops)
    if not attentions:
        return None
    why = {each.kind: f"{each.why} (line {int(ops.lines[each.row])})" for each in reversed(attentions)}
    begins, kinds = [0], [attentions[0].kind]
    stretches = [list(stretch) for _, stretch in groupby(attentions, key=lambda attention: attention.kind)]
    for earlier, later in pairwise(stretches):
        first, guess = next_stage(ops, lm_heads(ops), earlier[-1].row, later[0].row)
        kind = later[0].kind
        begins.append(first)
        kinds.append(kind)
        if guess:
            if kind not in guessed:
                why[kind] += f"; that it begins at line {int(ops.lines[first])}, the longest gap, is a guess"
            guessed |= {earlier[0].kind, kind}
    codes = np.repeat([KINDS.index(kind) for kind in kinds], np.diff([*begins, len(ops)]))
    patches = _patches(ops, codes)
    if patches is not None:
        why[ENCODER] += (
            f", behind a convolution that makes patches (line {int(ops.lines[patches])}): a vision encoder"
        )
    return codes, why


def _patches(ops: OpTable, codes: Integers) -> int | None:
    """The conv or fold before the first attention of an encoder: it makes the patches of an image."""
    inside = codes == KINDS.index(ENCODER)
    attends = next((attention.row for attention in attentions_of(ops) if attention.kind == ENCODER), 0)
    makes = np.flatnonzero((inside & (ops.of_family("conv") | ops.named("Fold")))[:attends])
    return int(makes[0]) if len(makes) else None


def chosen_behind(stage: Stage, stages: list[Stage]) -> Integers:
    """The sampling ops that directly follow this stage: each of its tokens needs them."""
    nothing = np.zeros(0, dtype=np.int64)
    if stage.kind != DECODE:
        return nothing
    sampling = np.concatenate([nothing, *(each.rows for each in stages if each.kind == SAMPLING)])
    others = np.concatenate([each.rows for each in stages if each.kind != SAMPLING])
    others = np.sort(others)
    last = others[np.maximum(np.searchsorted(others, sampling) - 1, 0)]
    return sampling[np.isin(last, stage.rows)]


def _some(ops: OpTable, rows: Integers) -> str:
    lines = [str(int(ops.lines[row])) for row in rows[:3]]
    return ", ".join(lines) + (" and more" if len(rows) > len(lines) else "")


def stages_by_signposts(ops: OpTable, signposts: OpTable) -> tuple[Integers, dict[str, str]] | None:
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


def passes_of(ops: OpTable, rows: Integers, heads: Integers) -> int:
    """The number of passes in the ops of a stage: the most that its rows show in one of three ways.

    They are stretches of ops; LM heads; look-ups that look up the same as the first. Before a pass looks up its tokens
    it may look up their positions, so embeddings with no attention between them are one look-up.
    """
    stretches = 1 + int((np.diff(rows) > 1).sum())
    return max(stretches, head_groups(ops, heads), _look_ups(ops, rows))


def _look_ups(ops: OpTable, rows: Integers) -> int:
    embeds = rows[ops.of_family("embedding")[rows]]
    works = np.array([attention.row for attention in attentions_of(ops)], dtype=np.int64)
    if not len(works):
        works = np.flatnonzero(ops.of_family("matmul"))
    place = np.searchsorted(works, embeds)
    look_ups = np.split(embeds, np.flatnonzero(np.diff(place)) + 1)
    shapes = [[ops.shapes(int(row)) for row in look_up] for look_up in look_ups]
    return shapes.count(shapes[0])


def next_stage(ops: OpTable, heads: Integers, before: int, after: int) -> tuple[int, bool]:
    """(first row of the stage of the attention at `after`, whether it is a guess).

    The attention at `before` is the last of another stage. The next one begins where tokens are looked up, behind an
    LM head, with another trace; a guess is the longest gap.
    """
    between = np.arange(before + 1, after + 1)
    embeds = between[ops.of_family("embedding")[between]]
    if len(embeds):
        return int(embeds[0]), False
    behind = heads[np.searchsorted(heads, before, side="right") : np.searchsorted(heads, after)]
    if len(behind):
        return int(behind[-1]) + 1, False
    changes = between[begins_trace(ops)[between]]
    if len(changes):
        return int(changes[0]), False
    return int(between[np.argmax(np.nan_to_num(ops.numbers("gap_ns")[between]))]), True

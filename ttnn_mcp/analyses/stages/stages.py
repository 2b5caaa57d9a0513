"""Stages of a language model in the ops of one device: prefill, decode, encoder, sampling.

Signposts that name a stage decide (module `marks`). Without them the attention ops decide (module `attentions`). Ops
that follow the LM head and choose a token are sampling (module `heads`).
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.stages.attentions import DECODE, ENCODER, SAMPLING, attentions_of
from ttnn_mcp.analyses.stages.heads import choosing, lm_heads
from ttnn_mcp.analyses.stages.marks import KINDS, stages_by_signposts
from ttnn_mcp.analyses.stages.passes import next_stage, passes_of
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable


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


def _by_attention(ops: OpTable, guessed: set[str]) -> tuple[NDArray[np.int64], dict[str, str]] | None:
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


def _patches(ops: OpTable, codes: NDArray[np.int64]) -> int | None:
    """The conv or fold before the first attention of an encoder: it makes the patches of an image."""
    inside = codes == KINDS.index(ENCODER)
    attends = [attention.row for attention in attentions_of(ops) if attention.kind == ENCODER]
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


def _some(ops: OpTable, rows: NDArray[np.int64]) -> str:
    lines = [str(int(ops.lines[row])) for row in rows[:3]]
    return ", ".join(lines) + (" and more" if len(rows) > len(lines) else "")

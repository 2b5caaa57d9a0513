"""model_stages: prefill, decode, encoder and sampling apart: time, tokens per second, bytes per token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import numpy as np

from ttnn_mcp.analyses.stages.attentions import DECODE, SAMPLING
from ttnn_mcp.analyses.stages.stages import Stage, chosen_behind, stages_of
from ttnn_mcp.analyses.stages.tokens import PassTokens, tokens_of
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.arrays import Integers
from ttnn_mcp.tools.tool import OfWindow, Tool
from ttnn_mcp.wire import Cell, Columns, Table, Us, Window, Wire

STAGES = Columns(
    *("stage", "first_op", "ops", "passes", "kernel_us", "share", "gap_us", "floor_us"),
    *("users", "tokens_per_user", "tokens_op", "tokens_s_user_at_least", "tokens_s_user_at_most"),
    *("weight_mb", "cache_mb", "cache_bytes_per_token", "dram_gb_s", "dram_share", "lm_head_share"),
)
CAVEAT = (
    "tokens_s_user: at_least with this profile's gaps, at_most with none; {}; "
    "for this device. cache_mb is the cache as allocated, not as far as it is filled; dram_gb_s leaves caches out"
)
SAMPLED = "sampling behind a decode pass counts in it"
NOT_SAMPLED = "no op of this window samples behind decode, so sampling is not in it"
SIDE_BY_SIDE = (
    "ops ran side by side (sub-devices): kernel_us counts each whole, tokens_s_user the time in which any ran"
)
NONE = (
    "no stages: this window has no attention, and no signpost names prefill, decode, encoder or sampling. "
    "Mark them: tracy.signpost('prefill'), tracy.signpost('decode')"
)
PART = (
    "no tokens per second where a stage has neither embedding nor LM head (it may be a part of the model), "
    "or where its beginning or end is a guess"
)


class Answer(Wire):
    """Answer of model_stages."""

    stages: Annotated[Table, STAGES]
    why: dict[str, str]
    kernel_us: Us
    caveats: tuple[str, ...]
    device: int
    window: Window


def model_stages(facts: WindowFacts, _asked: OfWindow) -> Answer:
    """Prefill, decode, encoder and sampling of a language model apart.

    Per stage: time, gaps, floor, tokens per second and user, bytes of weights and cache, bandwidth, LM head.
    """
    stages = _stages(facts)
    choosing = [chosen_behind(stage, stages) for stage in stages]
    return Answer(
        stages=STAGES.table([_row(facts, *each) for each in zip(stages, choosing, strict=True)]),
        why={stage.kind: stage.why for stage in stages},
        kernel_us=facts.total_ns / 1e3,
        caveats=tuple(_caveats(facts, stages, sampled=any(map(len, choosing)))) if stages else (NONE,),
        device=facts.scope.critical_device,
        window=facts.scope.window,
    )


def _stages(facts: WindowFacts) -> list[Stage]:
    """The stages; each ran at least once in every iteration with an op of it, whatever its ops show of their passes."""
    report = facts.run.performance_report
    stages, iterations = stages_of(facts.ops, report.signposts), report.iterations
    if iterations.may_be_layers:
        return stages
    ran_in = [np.unique(iterations.number[report.steady.at_lines(facts.ops.lines[stage.rows])]) for stage in stages]
    return [replace(stage, passes=max(stage.passes, len(at))) for stage, at in zip(stages, ran_in, strict=True)]


def _caveats(facts: WindowFacts, stages: list[Stage], *, sampled: bool) -> Iterator[str]:
    decodes = any(stage.kind == DECODE for stage in stages)
    yield CAVEAT.format(NOT_SAMPLED if decodes and not sampled else SAMPLED)
    if not all(stage.whole for stage in stages if stage.kind != SAMPLING):
        yield PART
    if facts.timeline.side_by_side:
        yield SIDE_BY_SIDE


def _row(facts: WindowFacts, stage: Stage, choosing: Integers) -> tuple[Cell, ...]:
    """One row; `choosing` are the sampling ops that belong to each of its tokens."""
    rows, line = stage.rows, facts.timeline
    kernel_ns, spent_ns = float(facts.kernel_ns[rows].sum()), float(line.spent_ns[rows].sum())
    warm = facts.scope.window.warm
    moved = np.nan_to_num(facts.roofline.dram_bytes[rows])
    rate = float(moved.sum()) / spent_ns if spent_ns else 0.0
    peak = facts.chip.dram_peak_gb_s
    tokens = tokens_of(facts.ops, stage)
    at_least, at_most = _tokens_s(facts, stage, tokens, np.concatenate((rows, choosing)))
    return (
        stage.kind,
        facts.line(int(rows[0])),
        len(rows),
        stage.passes,
        kernel_ns / 1e3,
        facts.share(rows),
        float(line.idle_ns[rows].sum()) / 1e3 if warm else None,
        min(_floor_ns(facts, rows), spent_ns) / 1e3,
        tokens and tokens.users,
        tokens and tokens.per_user,
        tokens and tokens.line,
        at_least if warm else None,
        at_most,
        float(facts.least_times.weight_bytes[rows].sum()) / stage.passes / 1e6,
        tokens.cache_bytes / 1e6 if tokens and tokens.cache_bytes else None,
        tokens.cache_bytes_per_token or None if tokens else None,
        rate,
        min(rate / peak, 1.0) if peak else None,
        float(facts.kernel_ns[stage.head].sum()) / kernel_ns if kernel_ns and len(stage.head) else None,
    )


def _floor_ns(facts: WindowFacts, rows: Integers) -> float:
    """The least time of these ops; of ops that ran side by side the bounds do not add up."""
    bounds = facts.least_times.as_it_is_ns[rows]
    return float(bounds.max() if facts.timeline.side_by_side else bounds.sum())


def _tokens_s(
    facts: WindowFacts, stage: Stage, tokens: PassTokens | None, rows: Integers
) -> tuple[float | None, float | None]:
    """Tokens per second and user: with the gaps before these rows, and without."""
    spent_ns, idle_ns = float(facts.timeline.spent_ns[rows].sum()), float(facts.timeline.idle_ns[rows].sum())
    if tokens is None or not spent_ns or not stage.whole:
        return None, None
    per_ns = tokens.per_user * stage.passes * 1e9
    return per_ns / (spent_ns + idle_ns), per_ns / spent_ns


TOOL = Tool(
    name="model_stages",
    title="Model stages",
    arguments=OfWindow,
    answer=Answer,
    ask=model_stages,
    about="window",
    needs=("performance",),
    search_hint="prefill decode tokens per second per user language model LLM KV cache lm head sampling",
)

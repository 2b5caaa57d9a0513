"""The settings worth a trial on the device: legal, beside the tensors alive there, the fastest expected first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice, product
from math import inf

from ttnn_mcp.analyses.laws.anchored import after_change
from ttnn_mcp.analyses.laws.described import described
from ttnn_mcp.analyses.laws.law import Expected
from ttnn_mcp.analyses.memory.l1_limit import L1Limit
from ttnn_mcp.analyses.settings.judged import Judged, judge
from ttnn_mcp.analyses.settings.kinds import settings_of
from ttnn_mcp.analyses.settings.matmul import FIELDS
from ttnn_mcp.analyses.settings.predicted import COST_ACCURACY, predicted
from ttnn_mcp.analyses.settings.trial import Op, OpSettings, Value
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay.expressions import FOLLOWS
from ttnn_mcp.replay.matmuls import OWN, suggested_text
from ttnn_mcp.replay.source import OpSource

COMBINED_AT_MOST = 200  # unmoved: combinations judged: 0.4 s; a sweep of more names fewer settings
NOT_BY_ITSELF = (*COST_ACCURACY, "core_grid", "shard_layout", "per_core_M", "per_core_N", "packer_l1_acc")
NO_CONFIG = re.compile(r"('program_config'\s*:\s*)'std::nullopt'")


@dataclass(frozen=True)
class Candidate:
    """Settings to try, and what is known of them before."""

    settings: Mapping[str, Value]
    judged: Judged
    expected: Expected | None

    @property
    def name(self) -> str:
        """Its settings in words."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items() if name != OWN)


@dataclass(frozen=True)
class Beside:
    """What there is beside the op: the limit of L1, the room below the lowest tensor, and how old the build may be."""

    limit: L1Limit | None
    room: int | None
    older: bool


@dataclass
class Shortlist:
    """The candidates, and how many were left out, by the reason."""

    chosen: list[Candidate] = field(default_factory=list[Candidate])
    left_out: Counter[str] = field(default_factory=Counter[str])


def swept_of(op: Op, asked: Sequence[str] | None, safe_bytes: int) -> tuple[str, ...]:
    """The settings to sweep: those that were asked for, else the op's own that cost no accuracy.

    Raises:
        QuestionRefused: the op has no such setting.
    """
    try:
        takes = settings_of(op, safe_bytes).takes
    except QuestionRefused:
        if asked:
            raise
        return ()
    odd = [name for name in asked or () if name not in takes or name == "core_grid"]
    if odd:
        raise QuestionRefused(f"{shown(odd[0])} cannot be swept for this op. It takes: {', '.join(takes)}.")
    return tuple(asked) if asked is not None else tuple(name for name in takes if name not in NOT_BY_ITSELF)


def candidates_of(source: OpSource, beside: Beside, most: int) -> Shortlist:
    """At most so many candidates, best first: single settings and, where their row prints them, several together."""
    candidates = Shortlist()
    if not source.swept:
        return candidates
    settings = settings_of(source.op, source.safe_bytes)
    tried: dict[tuple[tuple[str, Value | None], ...], Candidate] = {}
    for combined, judged, expected in (*_singles(source, settings, beside), *_together(source, settings, beside)):
        key = tuple({**source.settings, **combined}.items())
        if judged.trial.effect:
            tried[key] = Candidate(combined, judged, expected)
    fitting = [
        one for one in tried.values() if one.judged.verdict in ("fits", "legal") and not one.judged.wrong_values
    ]
    others = [one.judged for one in tried.values() if one not in fitting]
    candidates.left_out.update("wrong_values" if one.wrong_values else one.verdict for one in others)
    fitting.sort(key=lambda one: (one.expected.us if one.expected else inf, -(one.judged.trial.at_most_ns or 0)))
    candidates.left_out["more"] += max(len(fitting) - most, 0)
    candidates.chosen = fitting[:most]
    candidates.left_out = +candidates.left_out
    return candidates


def only_one(source: OpSource, beside: Beside, asked: Mapping[str, Value]) -> Shortlist:
    """One candidate, whatever its verdict."""
    (name, value), *_ = asked.items()
    trial = settings_of(source.op, source.safe_bytes).tried(name, value)
    judged = judge(trial, beside.limit, beside.room, older=beside.older)
    return Shortlist([Candidate({**_owned(source, name), **asked, **trial.beside}, judged, None)])


def _owned(source: OpSource, name: str) -> dict[str, Value]:
    """The config of ours, where TTNN chooses one and the setting stands in it: any other leaves TTNN the choice."""
    return {OWN: True} if OWN in source.settings and name in FIELDS else {}


def _singles(
    source: OpSource, settings: OpSettings, beside: Beside
) -> Iterator[tuple[dict[str, Value], Judged, Expected | None]]:
    for name in source.swept:
        for value in settings.choices(name):
            judged = judge(settings.tried(name, value), beside.limit, beside.room, older=beside.older)
            expected = predicted(source.op, settings, name, value, judged.trial) if judged.legal else None
            yield {**_owned(source, name), name: value, **judged.trial.beside}, judged, expected


def _together(
    source: OpSource, settings: OpSettings, beside: Beside
) -> Iterator[tuple[dict[str, Value], Judged, Expected | None]]:
    """Several settings at once, as the row would print them: judged as if the op had run so."""
    text = source.op.table.texts("attributes")[0]
    if OWN in source.settings:
        text = NO_CONFIG.sub(rf"\1'{suggested_text(source)}'", text)
    names = [name for name in source.swept if re.search(rf"\b{name}=\w", text)]
    if any(name.startswith("per_core") for name in names) and source.output.sharded[0]:
        return  # the shards of the output follow, which a row as it would be does not tell
    if not names or source.name == "Conv2d":
        return  # of a conv only the arguments of its call print them so, and its judge reads its attributes
    ran = settings.tried(names[0], source.settings.get(names[0]) or 1).ran
    now, us = described(source.op.table, 0, source.op.chip), source.op.kernel_us
    promising = [_promising(source, settings, text, name, names) for name in names]
    for values in islice(product(*promising), COMBINED_AT_MOST):
        combined = {
            name: value for name, value in zip(names, values, strict=True) if value != source.settings.get(name)
        }
        if len(combined) < 2:
            continue
        op = _rewritten(source.op, text, combined)
        changed = settings_of(op, source.safe_bytes)
        trial = replace(changed.tried(names[0], values[0]), ran=ran, effect=True)
        judged = judge(trial, beside.limit, beside.room, older=beside.older)
        then = described(op.table, 0, op.chip) if judged.legal else None
        own: dict[str, Value] = {OWN: True} if OWN in source.settings else {}
        # what no law sees changes no time that a law tells
        expected = after_change(now, us, then) if now and then and then != now else None  # unmoved: of None no law
        yield {**own, **combined}, judged, expected


def _promising(source: OpSource, settings: OpSettings, text: str, name: str, names: Sequence[str]) -> list[Value]:
    """The values of a setting that are legal beside the others as they are, or beside the least or largest of each."""
    others = [one for one in names if settings.choices(one)]
    beside = [settings]
    for place in (0, -1):
        changed = _rewritten(source.op, text, {one: settings.choices(one)[place] for one in others})
        beside.append(settings_of(changed, source.safe_bytes))
    return [value for value in settings.choices(name) if any(not one.tried(name, value).broken for one in beside)]


def _rewritten(op: Op, text: str, combined: Mapping[str, Value]) -> Op:
    """The op as if its row printed other settings."""
    for name, value in combined.items():
        written = str(int(value)) if isinstance(value, bool) else str(value)
        for field_name in (name, *(one for one, side in FOLLOWS.items() if side == name)):
            text = re.sub(rf"\b{field_name}=\w+", f"{field_name}={written}", text)
    return replace(op, table=op.table.with_attributes(text), attributes=parse_attributes(text))

"""check_setting: is a value legal for an op, does it fit L1, and what would it change?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.laws.law import Expected
from ttnn_mcp.analyses.memory.l1_limit import L1Limit, l1_limit
from ttnn_mcp.analyses.settings.captured_op import captured_op
from ttnn_mcp.analyses.settings.judged import Judged, Verdict, judge, may_be_older
from ttnn_mcp.analyses.settings.kinds import settings_of
from ttnn_mcp.analyses.settings.predicted import LegalChoice, predicted
from ttnn_mcp.analyses.settings.room import room_at
from ttnn_mcp.analyses.settings.told_shards import told_shards
from ttnn_mcp.analyses.settings.trial import Op, OpSettings, Value, op_of
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay.kept import cited, measured_here
from ttnn_mcp.replay.rebuilt import Rebuilt, Sweep, rebuilt, rebuilt_from_graph
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools.parts.op_seen import doubt_at, row_at, tried_before
from ttnn_mcp.tools.parts.replays import Proof, proof_of
from ttnn_mcp.tools.parts.setting_choices import Choice, law_of, listed, marks_of, nearest, setting_value, summary
from ttnn_mcp.tools.parts.setting_wording import caveat, expected, instead, why
from ttnn_mcp.tools.tool import OfRun, Tool
from ttnn_mcp.wire import Cell, Quoted, Quoting, Us, Wire

Setting: TypeAlias = Literal[
    "act_block_h_override",
    "act_block_w_div",
    "enable_act_double_buffer",
    "enable_weights_double_buffer",
    "shard_layout",
    "weights_dtype",
    "math_fidelity",
    "fp32_dest_acc_en",
    "packer_l1_acc",
    "in0_block_w",
    "per_core_M",
    "per_core_N",
    "out_subblock_h",
    "out_subblock_w",
    "M_block_size",
    "K_block_size",
    "N_block_size",
    "subblock_h",
    "subblock_w",
    "block_h",
    "block_w",
    "core_grid",
    "num_out_blocks",
    "q_chunk_size",
    "k_chunk_size",
]
LOOK_BACK = 4  # ops before: enough to see who sharded a conv's input


class Arguments(OfRun):
    """Arguments of check_setting."""

    op: int = Field(description="Its line in the CSV; on a memory report alone, the operation id")
    setting: Setting
    value: int | bool | str | None = Field(
        default=None,
        description="64, true, bfloat8_b, HiFi2, BLOCK, 8x7",
    )
    prove: bool = Field(False, description="Ask your TTNN too, on a mock device")


class Predicted(Wire):
    """The kernel time to expect: 8 of 10 measurements lie between low and high."""

    expected_us: Us
    low_us: Us
    high_us: Us


class Answer(Wire):
    """Answer of check_setting. Sizes in bytes per core."""

    op: int
    op_code: Quoted
    setting: str
    value: Cell
    now: Cell
    verdict: Verdict | None = None
    legal: bool | None
    fits: bool | None
    l1_bytes: int | None
    limit_bytes: int | None
    expected: Quoting
    now_us: Us | None = None
    predicted: Predicted | None = None
    law: str | None = None
    why: Quoting
    instead: Quoting | None
    buffers: dict[str, int] = Field(default_factory=dict[str, int])
    choices: list[Choice] | None = None
    next_up: Choice | None = None
    needs: Quoting | None = None
    earlier: Quoting | None = None
    caveat: Quoting | None = None
    proof: Proof | None = None


async def check_setting(run: Run, asked: Arguments) -> Answer:
    """Is a value legal for a conv, matmul, SDPA or norm, does it fit L1, what time is to be expected?

    Without a value: the legal ones, the fastest by the laws of time.
    """
    op = _op(run, row_at(run, asked.op), await told_shards(run, asked.op))
    answer = _answered(run, asked, op, await room_at(run, asked.op))
    sweep = _only(asked)
    return (
        await _proven(run, answer, await rebuilt(run, asked.op, row_at(run, asked.op), sweep)) if sweep else answer
    )


async def setting_alone(run: Run, asked: Arguments) -> Answer:
    """The answer of a memory report alone: legality and L1 of an operation's op, and no time."""
    op, room = await captured_op(run, asked.op)
    answer = _answered(run, asked, op, room)
    sweep = _only(asked)
    return await _proven(run, answer, await rebuilt_from_graph(run, asked.op, sweep)) if sweep else answer


def _only(asked: Arguments) -> Sweep | None:
    """The one value that is to be proven; None where none is."""
    if not asked.prove or asked.value is None:
        return None
    return Sweep([asked.setting], only={asked.setting: setting_value(asked.setting, asked.value)})


async def _proven(run: Run, answer: Answer, one: Rebuilt) -> Answer:
    return answer.model_copy(update={"proof": await proof_of(run, one)})


def _answered(run: Run, asked: Arguments, op: Op, room: int | None) -> Answer:
    limit = l1_limit(run)
    settings = settings_of(op, limit.safe_bytes if limit else 0)
    if asked.setting not in settings.takes:
        name = shown(canonical(op.table.texts("op_code")[0]))
        raise QuestionRefused(f"{name} takes no {asked.setting}. It takes: {', '.join(settings.takes)}.")
    bench = _Bench(run, op, settings, asked.setting, limit, room, doubt_at(run, asked.op))
    if asked.value is None:
        return _listed(asked, bench, _tried_before(run, asked, op, None))
    value = setting_value(asked.setting, asked.value)
    judgement = bench.judged(value)
    trial, answer = judgement.trial, bench.predicted(value, judgement)
    return _answer(
        asked,
        bench,
        now=trial.now,
        verdict=judgement.verdict,
        legal=judgement.legal,
        fits=judgement.fits,
        l1_bytes=judgement.l1_bytes,
        expected=expected(op, judgement, answer),
        now_us=op.kernel_us,
        predicted=Predicted(expected_us=answer.us, low_us=answer.low_us, high_us=answer.high_us)
        if answer
        else None,
        law=answer.law if answer else None,
        why=why(judgement, limit),
        instead=instead(judgement, value, [(one.value, one.judged) for one in bench.legal()])
        if judgement.verdict in ("illegal", "too_large")
        else trial.instead,
        buffers=judgement.l1,
        needs=None if trial.broken else trial.needs or None,
        earlier=_tried_before(run, asked, op, value),
        caveat="; ".join(
            filter(None, (bench.doubt, caveat(op, judgement, limit, run.chip.arch, measured=room is not None)))
        )
        or None,
    )


@dataclass
class _Bench:
    """One setting of one op, ready to have values tried."""

    run: Run
    op: Op
    settings: OpSettings
    setting: str
    limit: L1Limit | None
    room: int | None
    doubt: str

    def judged(self, value: Value) -> Judged:
        return judge(self.settings.tried(self.setting, value), self.limit, self.room, older=may_be_older(self.run))

    def predicted(self, value: Value, judgement: Judged) -> Expected | None:
        """The time to expect, by a replay of the op, else by a law; none of a value that does not fit, or in doubt."""
        if judgement.verdict == "too_large" or self.doubt:
            return None
        us, asked = self.op.kernel_us, {self.setting: value}
        here = measured_here(self.run, self.op.table, us, asked) if judgement.legal else None
        return here or predicted(self.op, self.settings, self.setting, value, judgement.trial)

    def legal(self) -> list[LegalChoice]:
        """The values worth a look that TTNN takes and computes right, ascending."""
        judgements = [(value, self.judged(value)) for value in self.settings.choices(self.setting)]
        return [
            LegalChoice(value, one, self.predicted(value, one))
            for value, one in judgements
            if one.legal and not one.wrong_values
        ]


def _op(run: Run, row: int, shards: Mapping[str, tuple[int, int]]) -> Op:
    """The op at a row, and the names of those before it on its device."""
    table = run.performance_report.ops
    devices, codes = table.numbers("device"), table.texts("op_code")
    mine = np.flatnonzero(devices[:row] == devices[row])
    before = tuple(codes[int(at)] for at in mine[-LOOK_BACK:][::-1])
    return op_of(table.take(np.array([row])), run.chip, before, shards)


def _tried_before(run: Run, asked: Arguments, op: Op, value: Value | None) -> str | None:
    if run.performance is None:
        return cited(run, op.table, {asked.setting: value}) or None
    return tried_before(run, asked.op, asked.setting, value)


def _listed(asked: Arguments, bench: _Bench, earlier: str | None) -> Answer:
    legal, op = bench.legal(), bench.op
    if not legal:
        return _not_listed(asked, bench, earlier)
    now = legal[0].judged.trial.now
    marks = marks_of(asked.setting, legal, op.kernel_us)
    choices = listed(legal, nearest(legal, now), marks)
    today = now if isinstance(now, int) and not isinstance(now, bool) else None
    up = next((one for one in legal if today is not None and one.number is not None and one.number > today), None)
    fitting = sum(one.verdict in ("fits", "legal") for one in choices)
    unsure = sum(one.verdict == "cannot_tell" for one in choices)
    unsure_too = f", {unsure} cannot be told" if unsure else ""
    left = f"; {len(legal) - len(choices)} further ones are not listed" if len(choices) < len(legal) else ""
    return _answer(
        asked,
        bench,
        now=now,
        expected=f"{fitting} of {len(choices)} legal values fit{unsure_too}; {summary(asked.setting, legal, op)}",
        now_us=op.kernel_us,
        law=law_of(legal),
        why=f"values that TTNN takes for this op{left}",
        choices=choices,
        next_up=next((one for one in choices if up is not None and one.value == up.value), None),
        needs=legal[0].judged.trial.needs or None,
        earlier=earlier,
        caveat=bench.doubt or None,
    )


def _not_listed(asked: Arguments, bench: _Bench, earlier: str | None) -> Answer:
    """What can be said of a setting whose values cannot be judged: the present one, and why."""
    trial = None if asked.setting == "core_grid" else bench.settings.tried(asked.setting, 0)
    if trial is None or not trial.unknown:
        raise QuestionRefused(f"{asked.setting} has no short list of values here: name one to have it judged.")
    fields = {"now": trial.now, "verdict": "cannot_tell", "expected": "not known", "why": trial.unknown}
    return _answer(asked, bench, **fields, earlier=earlier)


def _answer(asked: Arguments, bench: _Bench, **fields: Any) -> Answer:
    """What every answer says, and the fields of this one besides."""
    nothing: dict[str, Any] = dict.fromkeys(("legal", "fits", "l1_bytes", "instead"))
    return Answer(
        op=asked.op,
        op_code=shown(bench.op.table.texts("op_code")[0]),
        setting=asked.setting,
        value=asked.value,
        limit_bytes=bench.limit.limit_bytes if bench.limit else None,
        **{**nothing, **fields},
    )


TOOL = Tool(
    name="check_setting",
    title="Check a setting",
    arguments=Arguments,
    answer=Answer,
    ask=check_setting,
    about="run",
    needs=("performance",),
    alone=setting_alone,
    replay=True,
    search_hint=(
        "act_block_h program config legal L1 fits circular buffers chunk size core grid matmul conv2d subblock norm"
    ),
)

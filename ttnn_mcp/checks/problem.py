"""What a check yields: a problem on some ops, with bounds of its saving. Its words are made if it is worth telling."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.checks.op_config import OpConfig, set_alone
from ttnn_mcp.checks.wording import cite_op, counted, example, kinds, op_name, time_of
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass
from ttnn_mcp.wire import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn_mcp.analyses.laws.descriptions import Described
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.arrays import Floats, Rows
    from ttnn_mcp.checks.expectation import Expectation
    from ttnn_mcp.checks.levers import Lever
    from ttnn_mcp.checks.op_config import Sets
    from ttnn_mcp.run.ops.operand import Operand


@dataclass(frozen=True, slots=True)
class Affected:
    """The ops that a problem is told about, and the phrases that most checks tell of them.

    Attributes:
        facts: the window.
        rows: positions of the ops, at least one.
        together: positions of all ops of the problem: these, and those that count beside them.
        weigh_ns: per row, what ranks it, where that is more than its own time.
        examples: the heaviest three, different signatures before repeats.
    """

    facts: WindowFacts
    rows: Rows
    together: Rows
    weigh_ns: Floats | None = None
    examples: list[int] = field(init=False)

    def __post_init__(self) -> None:
        """Look for the heaviest once."""
        object.__setattr__(self, "examples", self.facts.heaviest(self.rows, weigh_ns=self.weigh_ns))

    @property
    def row(self) -> int:
        """The heaviest op."""
        return self.examples[0]

    @property
    def line(self) -> int:
        """Its line in the CSV."""
        return self.facts.line(self.row)

    @property
    def name(self) -> str:
        """Its name: 'Matmul'."""
        return op_name(self.facts, self.row)

    @property
    def example(self) -> str:
        """Its shapes and line: '19[32]x1280 -> 19x20[32]x64 at line 948'."""
        return example(self.facts, self.row)

    @property
    def took_us(self) -> str:
        """Its time: '104 us'."""
        return f"{figure(self.facts.kernel_ns[self.row] / 1e3, '.0f')} us"

    @property
    def time(self) -> str:
        """Time of all: '19.5 ms, 61.6 %'."""
        return time_of(self.facts, self.rows)

    def with_only(self, sets: Sets) -> OpConfig:
        """The configs of the heaviest op with this fix and no other."""
        return set_alone(self.facts, self.row, sets)

    @property
    def kinds(self) -> str:
        """'54 convs and 3 matmuls'."""
        return kinds(self.facts, self.rows)

    @property
    def s(self) -> str:
        """The ending of a plural."""
        return "s" * (len(self.rows) > 1)

    def many(self, noun: str, verb: tuple[str, str] | None = None) -> str:
        """'3 norms', '1 norm'; with a verb, for one and for several: '1 op uses', '3 ops use'."""
        does = f" {verb[len(self.rows) > 1]}" if verb else ""
        return counted(len(self.rows), noun) + does

    def verb(self, of_several: str) -> str:
        """'take' after several, 'takes' after one."""
        return of_several if len(self.rows) > 1 else f"{of_several}s"

    @property
    def at(self) -> int:
        """The place of the heaviest among the rows: `share[ops.at]` of an array with one value per op."""
        return int(np.flatnonzero(self.rows == self.row)[0])

    @property
    def time_together(self) -> str:
        """Time of these ops and of those beside them: '19.5 ms, 61.6 %'."""
        return time_of(self.facts, self.together)


@dataclass(frozen=True, slots=True)
class Words:
    """A problem in words.

    Attributes:
        claim: the problem, with the figures that matter; one sentence.
        assumption: what the bounds assume.
        fix: current TTNN code with this op's numbers.
        cells: operands and parts of them to cite beside the kernel time, `(operand, "DATATYPE")`.
        columns: further columns to cite ("cores").
        cited: how many of the heaviest ops are cited.
        also: cells to cite behind those.
        evidence: all cells to cite, where these are others; the heaviest examples first.
        verify: the tool to call after re-profiling, and the field that must change; empty for the op's kernel time.
        caveat: when not to trust the claim.
    """

    claim: str
    assumption: str
    fix: str
    cells: tuple[tuple[Operand | None, str], ...] = ()
    columns: tuple[str, ...] = ()
    cited: int = 1
    also: tuple[Evidence, ...] = ()
    evidence: tuple[Evidence, ...] | None = None
    verify: str = ""
    caveat: str | None = None

    def evidence_of(self, affected: Affected) -> tuple[Evidence, ...]:
        """The cells that are cited."""
        if self.evidence is not None:
            return self.evidence
        facts, cells = affected.facts, list[Evidence]()
        for row in affected.examples[: self.cited]:
            cells += cite_op(facts, row, *self.cells)
            cells += facts.cite(row, *self.columns) if self.columns else ()
        return (*cells, *self.also)

    def verify_of(self, affected: Affected) -> str:
        """What shows that the change helped."""
        return self.verify or f"re-profile; op_detail(op={affected.line}).kernel_us falls; PCC >= 0.99"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a change saves on some ops of the window.

    Attributes:
        rows: the ops, each once: a row that is named twice keeps its highest bounds.
        at_most_ns: per row, the most that the change can save. Never above the op's time.
        at_least_ns: per row, the least; None if only an upper bound is known.
        gap_ns: saving in the gaps between ops (at least, at most) instead of in the ops themselves.
        gone: ops that no longer run though their bounds leave some time: that of the op which takes their place.
        passes: per row, the share of its arithmetic that remains.
        spared_bytes: per row, the DRAM bytes that it no longer moves.
        expected: per row, what to expect between the bounds; None where nothing is known.
        lever: what it changes in the code, where that is not the check's.
        law_of_no_gain: the law that expects no difference of it; empty where none does.
    """

    rows: Rows
    at_most_ns: Floats
    at_least_ns: Floats | None = None
    gap_ns: tuple[float, float] | None = None
    gone: Rows | None = None
    passes: Floats | None = None
    spared_bytes: Floats | None = None
    expected: Expectation | None = None
    lever: Lever | None = None
    law_of_no_gain: str = ""

    def __post_init__(self) -> None:
        """Bounds belong to rows."""
        if len(self.rows) != len(self.at_most_ns):
            raise ValueError(f"one bound per row: {len(self.at_most_ns)} for {len(self.rows)}")
        if not (np.diff(self.rows) > 0).all():  # unmoved: it only saves the time of sorting
            self._count_once()

    def _count_once(self) -> None:
        """Count an op once that is part of two patterns."""
        rows, first, at = np.unique(self.rows, return_index=True, return_inverse=True)
        object.__setattr__(self, "rows", rows)
        if self.expected is not None:
            object.__setattr__(self, "expected", self.expected.of_rows(first))
        for name, highest in (
            ("at_most_ns", True),
            ("at_least_ns", True),
            ("passes", False),
            ("spared_bytes", True),
        ):
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, _once(values, at, len(rows), highest=highest))

    @property
    def promise_ns(self) -> float:
        """The most that it can save."""
        return self.gap_ns[1] if self.gap_ns is not None else float(self.at_most_ns.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Bounds):
    """A problem in words, with cited cells. The words are those of `Words`.

    Attributes:
        sets: what its fix sets of each op's configs; None where it sets none.
        owners: per op, the one whose configs are set, where that is another: the conv behind a Move.
        row: the op that its fix is written for; None where there is none.
        is_trial: whether what the change brought elsewhere says nothing about it.
    """

    claim: str
    assumption: str
    evidence: tuple[Evidence, ...]
    fix: str
    verify: str
    caveat: str | None = None
    sets: Sets | None = None
    owners: dict[int, int] | None = None
    row: int | None = None
    is_trial: bool = False

    def __post_init__(self) -> None:
        """A claim cannot exist without evidence."""
        if not self.evidence:
            raise ValueError(f"no evidence for: {self.claim}")
        Bounds.__post_init__(self)

    def set_rows(self, rows: Rows) -> Rows:
        """The ops whose configs its fix sets for these of its ops."""
        return rows if self.owners is None else np.unique([self.owners[row] for row in rows.tolist()])


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Bounds):
    """One problem on some ops of the window; without ops there is none, and nothing is said.

    Attributes:
        tell: its words, made only if it is worth telling.
        becomes: the op at a row after the change, as laws of time look at it; None where none can tell.
        about: the ops that the words are about, where others beside them count too.
        weigh_ns: per op of these, what ranks it: the time of a pair of ops that goes together.
        of_window: whether it is seen elsewhere, in no op of the window: then it may be one without ops.
        sets: what its fix sets of each op's configs; None where it sets none.
        owners: per op, the one whose configs are set, where that is another.
        is_trial: whether what the change brought elsewhere says nothing about it: it was measured both ways.
    """

    tell: Callable[[Affected], Words]
    becomes: Callable[[int], Described | None] | None = None
    about: Rows | None = None
    weigh_ns: Floats | None = None
    of_window: bool = False
    sets: Sets | None = None
    owners: dict[int, int] | None = None
    is_trial: bool = False

    @property
    def exists(self) -> bool:
        """Whether there is anything to tell."""
        return self.of_window or len(self.rows if self.about is None else self.about) > 0

    def told(self, facts: WindowFacts) -> Claim:
        """The problem in words."""
        about = self.rows if self.about is None else self.about
        affected = Affected(facts, about, self.rows, self.weigh_ns)
        words = self.tell(affected)
        return Claim(
            self.rows,
            self.at_most_ns,
            self.at_least_ns,
            self.gap_ns,
            self.gone,
            self.passes,
            self.spared_bytes,
            self.expected,
            self.lever,
            self.law_of_no_gain,
            claim=words.claim,
            assumption=words.assumption,
            evidence=words.evidence_of(affected),
            fix=words.fix,
            verify=words.verify_of(affected),
            caveat=words.caveat,
            sets=self.sets,
            owners=self.owners,
            row=(self.owners or {}).get(affected.row, affected.row) if len(affected.rows) else None,
            is_trial=self.is_trial,
        )


def _once(values: Floats, at: Rows, rows: int, *, highest: bool) -> Floats:
    """The highest (or lowest) value of each row."""
    kept = np.full(rows, -np.inf if highest else np.inf)
    (np.maximum if highest else np.minimum).at(kept, at, values)
    return kept

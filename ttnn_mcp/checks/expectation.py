"""What a change is expected to save, between its bounds, and what that rests on.

First comes what was measured: the faster form in this run, the same change in a replay or an earlier run. Then a law
of time, in proportion to what the op took, or the payload that links carry (`shared/mesh.py`). Then what the same
change brought elsewhere: at least five measured cases of the check, or of all checks with its lever. Otherwise nothing
is known, and the change is a trial: then it is told how many measured tries of its check gained, and what of their
bound those kept. It is no expectation: half of what tries let expect was lost, in nine sets of public ledgers.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ttnn_mcp.analyses.laws.anchored import NEAR_ITS_LAW, after_change
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.described import described
from ttnn_mcp.analyses.laws.matmuls import MatmulDescription, all_active
from ttnn_mcp.analyses.op_kinds.routers import Routers
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import numbered

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn_mcp.analyses.laws.descriptions import Described
    from ttnn_mcp.analyses.laws.law import Expected
    from ttnn_mcp.analyses.op_kinds.twins import Slower
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.arrays import Floats, Rows

OF_THIS_RUN, AN_EARLIER_RUN, A_REPLAY = "the faster ops of this run", "an earlier run", "a replay on this chip"
MEASURED = (AN_EARLIER_RUN, A_REPLAY)
CASES = Path(__file__).with_name("cases.json")
COVERED = 0.8  # of the bound: what is known of fewer ops does not speak for all (ours)
# of the time of ops that get fewer passes or bytes: LoFi brought nothing where arithmetic was 58 % of it, and narrow
# weights a tenth of their share where bytes were 17 % (public ledgers of an 8B encoder and of a decoder)
EXPLAINED = 0.7
NOISE = 0.05  # of a time: two runs of one program differ by as much (domain practice)
# of the time of ops that get another program: below it moves around them eat it (DRAM-sharded weights that laws said
# to save 9 to 13 % saved 3 % in one of seven tries in six ledgers, those from 16 % on saved time in 14 of 16)
OUTWEIGHS_MOVES = 0.15
OF_PROGRAMS = (
    "program",
    "grid",
    "cores",
    "block_w",
    "per_core_m",
    "per_core_n",
    "block_h",
    "in_place",
    "in0_place",
)
# kinds of op: a law is asked about the heaviest
KINDS_ASKED = 200  # unmoved: it only bounds the time of a claim about very many kinds


@dataclass(frozen=True, slots=True)
class Expectation:
    """The median saving to expect, per row of some bounds; 8 of 10 lie between low and high.

    Attributes:
        saved_ns: per row; 0 where nothing is known.
        low_ns: the low end.
        high_ns: the high end.
        basis: what it rests on, in a few words.
        twins: per row, the faster op of this run that it rests on; None where it rests on something else.
    """

    saved_ns: Floats
    low_ns: Floats
    high_ns: Floats
    basis: str
    twins: Rows | None = None

    def within(self, least_ns: Floats | None, most_ns: Floats) -> Expectation:
        """The same between the bounds."""
        least = np.zeros(len(most_ns)) if least_ns is None else np.minimum(least_ns, most_ns)
        saved, low, high = (
            np.minimum(np.maximum(each, least), most_ns) for each in (self.saved_ns, self.low_ns, self.high_ns)
        )
        return replace(self, saved_ns=saved, low_ns=low, high_ns=high)

    def of_rows(self, at: Rows) -> Expectation:
        """That of some of the rows, by their places."""
        twins = None if self.twins is None else self.twins[at]
        return Expectation(self.saved_ns[at], self.low_ns[at], self.high_ns[at], self.basis, twins)


def seen_in_run(slower: Slower, took_ns: Floats) -> Expectation:
    """By the ops of this run that are faster: the middle one of them, and their ends with the noise of a run."""
    noise = NOISE * (took_ns - slower.usual_ns)
    low, high = slower.at_least_ns - noise, slower.at_most_ns + noise
    return Expectation(slower.usual_ns, low, high, OF_THIS_RUN, slower.twins)


def by_law(
    facts: WindowFacts, rows: Rows, most_ns: Floats, becomes: Callable[[int], Described | None]
) -> Expectation | None:
    """By the law of each op, as it is and as it becomes; None where too few ops have one.

    The law's savings may be below zero: a loss. Ops that another program is expected to save too little save nothing;
    without others that is no answer of the law, and has no basis.
    """
    count, laws = len(rows), dict[str, float]()
    saved, low, high, known = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count, dtype=np.bool_)
    moved = np.zeros(count, dtype=np.bool_)
    for places in kinds_of(facts, rows):
        row = int(rows[places[0]])
        changed = becomes(row)
        now = described(facts.ops, row, facts.chip)
        if isinstance(now, MatmulDescription) and isinstance(changed, MatmulDescription):  # unmoved: for types
            active = _active(facts, row, now) if now.active is None else now.active
            now, changed = replace(now, active=active), replace(changed, active=active)
        after = None if changed is None else _after(facts, row, now, changed)
        if after is None:
            continue
        took = facts.kernel_ns[rows[places]]
        shares = np.array([after.us, after.low_us, after.high_us]) * 1e3 / facts.kernel_ns[row]
        saved[places], high[places], low[places] = (took * (1 - share) for share in shares)
        known[places] = True
        moved[places] = _moved(now, changed)
        laws[after.law] = laws.get(after.law, 0.0) + float(took.sum())
    if most_ns[known].sum() < COVERED * most_ns.sum():
        return None
    if saved[moved].sum() < OUTWEIGHS_MOVES * facts.kernel_ns[rows[moved]].sum():
        saved[moved] = 0
    law = f"law: {max(laws, key=lambda law: laws[law])}"
    return Expectation(saved, low, high, law if saved.any() or not moved.any() else "")


def _active(facts: WindowFacts, row: int, now: MatmulDescription) -> float | None:
    """How many experts a sparse matmul multiplies that does not tell it.

    As the router chose for one token, otherwise as many as explain its time. None where no law speaks, or where its
    time is not that of any number.
    """
    half, all_of_them = (expected(all_active(now, share)) for share in (0.5, 1.0))
    if half is None or all_of_them is None:  # unmoved: a law speaks of one alone only at the edge of its range
        return None
    each = 2 * (all_of_them.us - half.us) / now.slots  # the time is a line over those that are active
    active = now.slots - (all_of_them.us - float(facts.kernel_ns[row]) / 1e3) / each
    choice = Routers(facts.ops).choice(row, int(facts.ops.inputs[1].padded[row, :2].prod()))
    least, most = (choice.active, choice.active) if choice else (1.0, now.slots)
    return min(max(active, least), most) if least / NEAR_ITS_LAW <= active <= NEAR_ITS_LAW * most else None


def _moved(now: Described | None, changed: Described | None) -> bool:
    """Whether operands move: to another program, or as a deeper block of K must divide a wider shard of columns."""
    program, block = (getattr(now, name, "") != getattr(changed, name, "") for name in ("program", "block_w"))
    return program or (block and getattr(changed, "in0_place", "") == "L1_WIDTH_SHARDED")


def _after(facts: WindowFacts, row: int, now: Described | None, changed: Described) -> Expected | None:
    """What the op will take by the laws.

    Laws speak of programs that were chosen well. Where another program is to come, and the op takes more now than 8 of
    10 of its like, the present program is the reason, and the law of the new one counts.
    """
    if now is None:  # unmoved: an op that is not described has no changed one
        return None
    us = float(facts.kernel_ns[row]) / 1e3
    before, then = expected(now), expected(changed)
    is_sparse = getattr(now, "program", "") == "SPARSE"  # it may have multiplied other experts, or looked at more
    after = None if is_sparse and before is None else after_change(now, us, changed)
    if after is not None:
        return after
    if before is None or then is None:  # unmoved: of an op without a law that of the changed one told already
        return None
    if after_change(now, None, changed) is None:  # the law does not tell of such a change
        return None
    other_program = any(getattr(now, name) != getattr(changed, name) for name in OF_PROGRAMS if hasattr(now, name))
    return then if other_program and us > before.us and not is_sparse else None


def explains(facts: WindowFacts, rows: Rows, *, passes: Floats | None, spared_bytes: Floats | None) -> bool:
    """Whether what the change makes less of (passes, bytes) explains most of the time: otherwise it is a trial."""
    took = facts.kernel_ns[rows].sum()
    if passes is not None:
        return bool(facts.roofline.compute_used_ns[rows].sum() >= EXPLAINED * took)
    if spared_bytes is not None:
        return bool(np.nansum(facts.roofline.dram_achievable_ns[rows]) >= EXPLAINED * took)
    return True


def by_cases(check: str, lever: str, most_ns: Floats) -> Expectation | None:
    """By the shares of their bounds that measured cases of the check brought, or of all checks with its lever.

    The lever counts where too few cases of the check are known. Nothing is known where many cases did not gain.
    """
    cases = measured_cases()
    group, name = ("checks", check) if check in cases["checks"] else ("levers", lever)
    shares = cases[group].get(name)
    if shares is None:
        return None
    basis = f"{shares['cases']} measured cases of {name}"
    return Expectation(most_ns * shares["median"], most_ns * shares["low"], most_ns, basis)


class Tries(NamedTuple):
    """What measured changes brought where findings of a check named them without an expectation.

    Attributes:
        tried: how many were measured.
        gained: how many of them saved time.
        part: the middle share of their bound that these saved; None where too few gained.
    """

    tried: int
    gained: int
    part: float | None


def tries_of(check: str) -> Tries | None:
    """Those of a check; None where too few were measured."""
    shares = measured_cases()["tries"].get(check)
    return Tries(**shares) if shares else None


def by_wall(name: str, most_ns: Floats) -> Expectation | None:
    """By the shares that measured changes saved of what the wall time has beyond the kernels (without the profiler)."""
    shares = measured_cases()["walls"].get(name)
    if shares is None:
        return None
    basis = f"{shares['cases']} measured cases of {name}, by their walls"
    return Expectation(most_ns * shares["median"], most_ns * shares["low"], most_ns, basis)


@cache
def measured_cases() -> dict[str, dict[str, dict[str, Any] | None]]:
    """What measured changes brought of their bounds, by check, by lever and by wall time; None where many lost."""
    cases: dict[str, dict[str, dict[str, Any] | None]] = json.loads(CASES.read_text(encoding="utf-8"))
    return cases


def kinds_of(facts: WindowFacts, rows: Rows) -> list[Rows]:
    """Places of the rows that are alike in all that a law sees, the heaviest kinds first."""
    texts = [facts.ops.texts(name).codes[rows] for name in ("attributes", "fidelity")]
    cores = np.nan_to_num(facts.ops.numbers("cores")[rows]).astype(np.int64)
    kind = numbered(len(rows), [signatures(facts.ops)[rows], *texts, cores])
    order = np.argsort(kind, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(kind[order])) + 1)
    groups.sort(key=lambda places: -facts.kernel_ns[rows[places]].sum())
    return groups[:KINDS_ASKED]

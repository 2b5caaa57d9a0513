"""Asks one check about one made window. The only file of the tests that knows how a check is asked.

A test module belongs to the check of its name, and its fixture `check` asks that one:

    def test_ninety_percent_is_the_line(check):
        check.pair(busy_for, silent=0.9, fires=0.89)

    def test_a_trace_needs_no_trace(check):
        assert check.ask(program, [Iteration(trace=(1, 1))]).status == "not_applicable"
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, TypeVar

import ttnn_mcp.checks as catalogue
from tests.checks.rows import COLD_THEN_WARM, pass_time
from tests.profiles import Program, header_of, performance_rows, write_performance_report, write_rows, write_run
from tests.shared_reports import shared
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.window_facts import WindowFacts as Case
from ttnn_mcp.checks.check import Claim
from ttnn_mcp.checks.diagnosis import ask
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.run import Run
from ttnn_mcp.session.opening import read_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.profiles import Iteration

Value = TypeVar("Value")
CLOSE = 0.005  # how near to its line a share is tried, both sides


def case_of_reports(
    performance: Path, memory: Path | None = None, *, chosen: str | int = "last", replayed: bool = True
) -> Case:
    """A window of a run read from its files: its last iteration, or "all"; memory replayed, as the tool does it."""
    if memory is None:
        run = Run("made", "made", Performance(read_performance_csv(performance)), None)
        return Case(run, run.scope(chosen))

    async def opened() -> Run:
        run = await read_run("made", "made", performance, memory)
        if replayed:
            await replay_of(run)
        return run

    run = asyncio.run(opened())
    return Case(run, run.scope(chosen))


def real_case(name: str, chosen: str | int = "last") -> Case:
    """A published report's window; skips where the reports are not beside this checkout.

    It is one and the same for all tests of a process, with what the checks of the catalogue came to: a case is read-only.
    """
    return _read_once(shared(name), chosen)


@cache
def _read_once(path: Path, chosen: str | int) -> Case:
    return case_of_reports(path, chosen=chosen)


@dataclass(frozen=True)
class Outcome:
    """What one check came to: `found`, `clean`, `not_applicable` or `cannot_tell`."""

    status: str
    why: str
    claims: tuple[Claim, ...]
    case: Case

    @property
    def fires(self) -> bool:
        return self.status == "found"

    @property
    def claim(self) -> Claim:
        """The one claim."""
        assert len(self.claims) == 1, f"{len(self.claims)} claims, {self.status}: {self.why}"
        return self.claims[0]

    @property
    def at_most_ns(self) -> float:
        """What its claims promise on the ops, together."""
        return float(sum(claim.at_most_ns.sum() for claim in self.claims))

    @property
    def took_ns(self) -> float:
        """What the ops of its claims took, together."""
        return float(sum(self.case.kernel_ns[claim.rows].sum() for claim in self.claims))


def outcome_of(check_id: str, case: Case) -> Outcome:
    """What a check of the catalogue says of a window."""
    (check,) = (one for one in catalogue.CATALOGUE if one.id == check_id)
    outcome = ask(check, case)
    assert "a bug in" not in outcome.why, f"{check_id} broke: see the log"
    return Outcome(outcome.status, outcome.why, outcome.claims, case)


@dataclass(frozen=True)
class Asker:
    """One check, and a folder for the reports it is asked about."""

    id: str
    folder: Path
    numbers: Iterable[int]

    def case(
        self,
        program: Program,
        iterations: Iterable[Iteration] = COLD_THEN_WARM,
        *,
        generation: str = "C7",
        memory: str | None = None,
        replayed: bool = True,
        without: str = "",
        chosen: str | int = "last",
    ) -> Case:
        """A window of a program's report: the `chosen` iteration, or "all".

        `memory` is a database generation ("3.3") to write one too, `without` the pattern of columns that are lost.
        """
        folder = self.folder / f"report{next(iter(self.numbers))}"
        if memory:
            made = write_run(folder, program, iterations, csv_generation=generation, schema_generation=memory)
            return case_of_reports(made.performance, made.memory, chosen=chosen, replayed=replayed)
        if without:
            rows = performance_rows(program, iterations, generation)
            kept = [name for name in header_of(rows, generation) if not re.search(without, name)]
            return case_of_reports(write_rows(folder / "ops_perf_results_made.csv", rows, kept), chosen=chosen)
        return case_of_reports(
            write_performance_report(folder, program, iterations, generation=generation), chosen=chosen
        )

    def ask(
        self, about: Program | Case | Path, iterations: Iterable[Iteration] = COLD_THEN_WARM, **how: object
    ) -> Outcome:
        """What the check says of a program (`how` is what `case` takes), of a made case, or of a CSV."""
        if isinstance(about, Program):
            about = self.case(about, iterations, **how)
        elif not isinstance(about, Case):
            about = case_of_reports(about)
        return outcome_of(self.id, about)

    def pair(
        self,
        at: Callable[[Value], Program | Case],
        *,
        silent: Value,
        fires: Value,
        silent_is: str = "clean",
        **how: object,
    ) -> Outcome:
        """Just beyond the line it fires, just short of it it is silent. Returns what it says where it fires."""
        short = self.ask(at(silent), **how)
        assert short.status == silent_is, f"at {silent!r}: {short.status} {short.why}{short.claims}"
        beyond = self.ask(at(fires), **how)
        assert beyond.status == "found", f"at {fires!r}: {beyond.status} {beyond.why}"
        return beyond

    def share_pair(
        self, build: Callable[[Program], object], line: float, *, of: str, arch: str = "wormhole_b0"
    ) -> None:
        """Fires while what it promises (of="saving") or speaks of (of="time") is over `line` of the kernel time."""
        alone = Program(arch)
        build(alone)
        outcome = self.ask(alone)
        weight = {"saving": outcome.at_most_ns, "time": outcome.took_ns}[of]
        total = outcome.case.total_ns

        def at(share: float) -> Program:
            longer = Program(arch)
            build(longer)
            pass_time(longer, weight / share - total)
            return longer

        assert weight / total > line, "without other ops it is over the line"
        self.pair(at, silent=line * (1 - CLOSE), fires=line * (1 + CLOSE))

    def assert_sound(self, program: Program, *, above: int = 0, **how: object) -> Claim:
        """Its one claim is short, cites its own ops (or the `above` rows before them), and promises no more than they take."""
        outcome = self.ask(program, **how)
        claim, case = outcome.claim, outcome.case
        assert len(claim.claim) <= 200
        assert len(claim.assumption) <= 120
        assert len(claim.fix) <= 290  # a whole Conv2dConfig on a grid is the longest
        assert len(claim.verify) <= 120
        assert len(claim.caveat or "") <= 160
        assert (claim.at_most_ns <= case.kernel_ns[claim.rows]).all()
        lines = {case.line(int(row)) - back for row in claim.rows for back in range(above + 1)}
        assert {one.row for one in claim.evidence} <= lines
        assert all(one.value is not None for one in claim.evidence)
        return claim


def asker(module_name: str, folder: Path) -> Asker:
    """The asker of a test module's check: `test_stalled_on_host` asks `stalled-on-host`."""
    name = module_name.rpartition(".")[2]
    return Asker(name.removeprefix("test_").replace("_", "-"), folder, count())


__all__ = ["Asker", "Case", "Claim", "Outcome", "asker", "case_of_reports", "outcome_of", "real_case"]

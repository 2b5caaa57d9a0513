"""One profiled run: a performance report, a memory report, or both, and what ties them together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.readers.source_lines import SourceLine, parse_loc
from ttnn_mcp.run.chip import Chip, chip_of
from ttnn_mcp.run.doubts import doubts_of
from ttnn_mcp.run.kept import Kept
from ttnn_mcp.run.window import Scope, scope_of

if TYPE_CHECKING:
    from ttnn_mcp.readers.memory.report import MemoryReport
    from ttnn_mcp.run.link import Linked
    from ttnn_mcp.run.performance import Performance


class Run:
    """A run, opened. Reports are read once; what is computed from them is kept.

    Attributes:
        id: short, from the reports' contents, the same for the same pair.
        name: for people.
        performance: the performance report, its rows sorted by kind; None without one.
        memory: the memory report; None without one.
        linked: which ttnn operation launched which device op; None unless the run has both reports.
        sources: ttnn operation id -> the line of the model that called it; empty unless the reports are linked.
        notes: what a reader should know about how the reports were found.
        notes_of_reading: those that hold for whoever opens them.
        renamed: whose name it took when it was opened last; empty where it took none.
        kept: results of later layers for this run, by their type.
    """

    def __init__(
        self,
        run_id: str,
        name: str,
        performance: Performance | None,
        memory: MemoryReport | None,
        *,
        linked: Linked | None = None,
        sources: Mapping[int, SourceLine] | None = None,
    ) -> None:
        self.id = run_id
        self.name = name
        self.performance = performance
        self.memory = memory
        self.linked = linked
        self.sources = sources or {}
        self.notes: tuple[str, ...] = ()
        self.notes_of_reading: tuple[str, ...] = ()
        self.renamed = ""
        self.kept = Kept()
        self._scopes: dict[tuple[object, str | None, str | None], Scope] = {}

    @cached_property
    def chip(self) -> Chip:
        """The chip the run was measured on."""
        return chip_of(self.performance, self.memory)

    @property
    def performance_report(self) -> Performance:
        """The performance report.

        Raises:
            QuestionRefused: the run has none.
        """
        if self.performance is None:
            raise QuestionRefused(
                f"Run {self.id} has no performance report, and this question needs device times. Profile with "
                "`python -m tracy -r -p -v -m pytest <test>`, then open_run with both reports."
            )
        return self.performance

    @property
    def memory_report(self) -> MemoryReport:
        """The memory report.

        Raises:
            QuestionRefused: the run has none.
        """
        if self.memory is None:
            raise QuestionRefused(
                f"Run {self.id} has no memory report, and this question needs one. Capture it with "
                "ttnn.graph.full_graph_capture (from 0.69.0) and `python -m ttnn.graph_report`, then open_run with "
                "both reports."
            )
        return self.memory

    def source_at(self, line: int) -> SourceLine | None:
        """The line of the model behind the op at `line` of the CSV.

        A compiler writes it into the LOC column. Otherwise it is the line of the linked ttnn call. None where
        neither is known.
        """
        if self.performance is not None and self.performance.csv.compiler:
            row = self.performance.ops.at_line(line)
            return parse_loc(self.performance.ops.texts("loc")[row]) if row is not None else None
        operation = self.linked.operation_at.get(line) if self.linked else None
        return self.sources.get(operation) if operation is not None else None

    def scope(
        self,
        iteration: Literal["last", "all"] | int = "last",
        start_signpost: str | None = None,
        end_signpost: str | None = None,
    ) -> Scope:
        """The ops of a window. Asking again for the same window returns the same object.

        Raises:
            QuestionRefused: as `scope_of`, and when the run has no performance report.
        """
        key = (iteration, start_signpost, end_signpost)
        if key not in self._scopes:
            report = self.performance_report
            scope = scope_of(report, iteration, start_signpost, end_signpost)
            self._scopes[key] = scope.doubted(doubts_of(report, scope))
        return self._scopes[key]

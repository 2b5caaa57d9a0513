"""One profiled run: a performance report, a memory report, or both, and what ties them together."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.readers.source_lines import SourceLine, parse_loc
from ttnn_mcp.run.chip import Chip, chip_of
from ttnn_mcp.run.window import Scope, scope_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttnn_mcp.readers.memory.report import MemoryReport
    from ttnn_mcp.run.link import Linked
    from ttnn_mcp.run.performance import Performance


class Run:
    """A run, opened. Reports are read once; what is computed from them is kept.

    Attributes:
        id: short, from the reports' contents, the same for the same pair.
        name: for people.
        performance: the performance report, understood.
        memory: the memory report as read.
        linked: how device ops and ttnn operations were matched, where both reports are there.
        sources: the model line of each ttnn operation of a linked run.
        notes: what its reader should know of how the reports were found.
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
        self.kept: dict[object, object] = {}  # what later layers computed of this run; dies with it
        self._scopes: dict[tuple[object, str | None, str | None], Scope] = {}

    @cached_property
    def chip(self) -> Chip:
        """The chip it ran on."""
        return chip_of(self.performance, self.memory)

    @property
    def timed(self) -> Performance:
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
    def remembered(self) -> MemoryReport:
        """The memory report.

        Raises:
            QuestionRefused: the run has none.
        """
        if self.memory is None:
            raise QuestionRefused(
                f"Run {self.id} has no memory report, and this question needs one. Capture it with "
                "ttnn.graph.full_graph_capture and `python -m ttnn.graph_report`, then open_run with both reports."
            )
        return self.memory

    def source_at(self, line: int) -> SourceLine | None:
        """The model line behind the op at `line` of the CSV: a compiler's LOC, or the linked call's."""
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
        """The ops of a window; chosen once per window."""
        key = (iteration, start_signpost, end_signpost)
        if key not in self._scopes:
            self._scopes[key] = scope_of(self.timed, iteration, start_signpost, end_signpost)
        return self._scopes[key]

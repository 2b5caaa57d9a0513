"""Reading a large report for the first time: its columns and its checksum from one look at its bytes.

A run's id comes from its contents, and is asked for before the run is read. So the report was read twice, and the
second time took a tenth of the first.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.readers.fingerprint import stamp_of

if TYPE_CHECKING:
    from pathlib import Path

    from ttnn_mcp.readers.kept_files import KeptFiles
    from ttnn_mcp.readers.performance.csv_file import PerformanceCsv

SIZE = 2  # its place in `stamp_of` a file


class ReadAhead:
    """At most one report that was read before its run was opened."""

    def __init__(self) -> None:
        self._reading = Lock()
        self._held: tuple[tuple[int, ...], PerformanceCsv] | None = None

    def checksum(self, path: Path, kept: KeptFiles | None, samples: str, state: tuple[int, ...]) -> int | None:
        """The checksum of a report that was read for it; None if it has to be computed on its own.

        It has to where a copy of a file with these samples exists, which need not be read at all; where another report
        is being read ahead, since each takes memory; and of a report with quotes.
        """
        from ttnn_mcp.readers.checksum import PieceSums  # noqa: PLC0415 - numpy loads with the first report
        from ttnn_mcp.readers.performance.csv_file import read_performance_csv  # noqa: PLC0415
        from ttnn_mcp.run.kept_report import has_copy, is_large  # noqa: PLC0415

        if not is_large(path) or has_copy(kept, samples) or not self._reading.acquire(blocking=False):
            return None
        try:
            sums = PieceSums()
            csv = read_performance_csv(path, sums)
            if _state(path) != state:
                return None
            self._held = state, csv
            return sums.of_all(state[SIZE])
        except (TtnnMcpError, OSError, ValueError):
            return None  # opening the run says what is wrong
        finally:
            self._reading.release()

    def take(self, path: Path) -> PerformanceCsv | None:
        """The report at `path` if it was read ahead and is still the same; from now on it is the caller's."""
        held, self._held = self._held, None
        try:
            return held[1] if held is not None and held[0] == _state(path) and held[1].path == path else None
        except (OSError, ValueError):
            return None


def _state(path: Path) -> tuple[int, ...]:
    return stamp_of(path.stat())

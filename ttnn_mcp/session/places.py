"""Where reports may lie: paths as callers write them, and the roots that limit a confined session."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ttnn_mcp.errors import ReportMissing, shown
from ttnn_mcp.readers.discover import FoundReport, classify, discover
from ttnn_mcp.served.documents import home
from ttnn_mcp.session.settings import Settings

OUTSIDE = "lies outside the served roots. Start the server with --root."
LONGEST_PATH = 4096  # bytes: PATH_MAX of Linux; macOS has 1024


def place_of(written: str) -> Path:
    """A path as a caller wrote it, absolute and with `~` replaced.

    Raises:
        ReportMissing: the text cannot be a path.
    """
    if not written.strip() or "\0" in written or len(written) > LONGEST_PATH:
        raise ReportMissing(f"'{shown(written)}' is no path: it is empty, too long or holds a null character.")
    try:
        os.fsencode(written)
        return Path(os.path.expanduser(written)).absolute()  # noqa: PTH111 - Path.expanduser raises for ~nobody
    except (OSError, ValueError, RuntimeError):
        raise ReportMissing(f"'{shown(written)}' cannot be a path on this machine. Give another.") from None


def is_there(path: Path) -> bool:
    """Whether the path exists; False where that cannot be known."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def resolved(path: Path) -> Path | None:
    """The path without links; None where it cannot be known (a loop of links, no permission)."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return None


def lies_in(path: Path, folders: Iterable[Path]) -> bool:
    """Whether the path lies in one of the folders after links are resolved."""
    real = resolved(path)
    return real is not None and any(
        (top := resolved(folder)) is not None and real.is_relative_to(top) for folder in folders
    )


def _nearest(path: Path) -> Path:
    """The path, or the first folder above it that is there: an error may name what lies in that."""
    return next((folder for folder in (path, *path.parents) if is_there(folder)), path)


class Roots:
    """The folders of a session: the reports in them, and whether a path may be opened or named."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def permits(self, *paths: Path | str | None) -> bool:
        """Whether each of the paths may be opened and named."""
        if not self._settings.confined:
            return True
        folders = (*self._settings.searched, *(Path(report) for report in demo_reports()))
        return all(path is None or lies_in(Path(path), folders) for path in paths)

    def reports(self) -> tuple[list[FoundReport], tuple[str, ...]]:
        """Reports under the roots, newest first, and sentences on what could not be read. Blocks.

        A confined session gets no report that is only linked from its roots, and no sentences: a folder that was
        skipped may lie behind a link.
        """
        discovery = discover(self._settings.searched)
        if not self._settings.confined:
            return list(discovery.reports), discovery.skipped
        return [report for report in discovery.reports if self.permits(report.path)], ()

    def classified(self, written: str) -> tuple[FoundReport, ...]:
        """The reports at a path as a caller wrote it. Blocks.

        Raises:
            ReportMissing: nothing there, no report there, or it lies outside the roots of a confined session.
        """
        place = place_of(written)
        if self._settings.confined:
            # checked before anything near the path is read or named; the resolved path is opened, because a link
            # could change after the check
            real = resolved(place)
            if real is None or not self.permits(real, _nearest(real)):
                raise ReportMissing(f"{shown(written)} {OUTSIDE}")
            place = real
        try:
            reports = classify(place)
        except (OSError, ValueError, RuntimeError):
            raise ReportMissing(f"{shown(written)} cannot be read: check its permissions.") from None
        if not self.permits(*(report.path for report in reports)):
            raise ReportMissing(f"{shown(written)} {OUTSIDE}")
        return reports


# What an answer about the demo must not hide: resources/demo/README.md.
DEMO_CAVEAT = (
    "demo: its performance report is made, nobody measured these times; "
    "its memory report is one that TTNN 0.81.1 wrote on a mock device"
)


def demo_reports() -> tuple[str, str]:
    """Paths of the bundled demo run's performance and memory report."""
    demo = home() / "resources" / "demo"
    return str(demo / "performance"), str(demo / "memory")

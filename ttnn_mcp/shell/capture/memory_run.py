"""The second run of `profile --memory`: the same command without Tracy, while TTNN records its memory."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ttnn_mcp.readers.discover import DATABASE, find_reports
from ttnn_mcp.session.settings import Settings
from ttnn_mcp.shell.capture.commands import recording
from ttnn_mcp.shell.capture.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from ttnn_mcp.shell.capture.build import Build
    from ttnn_mcp.shell.capture.target import UserCommand

VARIABLE = "TTNN_CONFIG_OVERRIDES"
RECORDING = {"enable_fast_runtime_mode": False, "enable_logging": True, "enable_graph_report": True}


def recorded(target: UserCommand, build: Build, tell: Callable[[str], None]) -> Path | None:
    """Run the command and record its memory; the report, or None if none came of it."""
    started = time.time()
    root = Settings().searched[0]
    name = f"profile_{time.strftime('%Y_%m_%d_%H_%M_%S', time.localtime(started))}"
    tell("The command runs once more, while its memory is recorded.")
    if build.records_graph:
        folder = root / "ttnn" / "reports" / name
        folder.mkdir(parents=True)
        status = streamed(recording(target, folder), _nobody)
        report = folder / DATABASE if (folder / DATABASE).is_file() else None
    else:  # before 0.69.0 (skills/optimizing-ttnn-models/quick-reference.md)
        with _configured(name):
            status = streamed([target.python, *target.words], _nobody)
        fresh = [each for each in find_reports([root]) if each.kind == "memory" and each.modified >= started]
        report = fresh[0].path if fresh else None
    if report is None:
        tell(f"No memory report came of it (status {status}): a device must be opened with ttnn.open_device.")
    else:
        tell(f"Memory report: {report}")
    return report


def _nobody(_line: str) -> None:
    return


@contextmanager
def _configured(name: str) -> Generator[None]:
    """TTNN told by its variable to record; what else the variable says is kept."""
    former = os.environ.get(VARIABLE)
    settings: dict[str, object] = {}
    with suppress(ValueError, TypeError):
        settings = dict(json.loads(former or "{}"))
    os.environ[VARIABLE] = json.dumps({**settings, **RECORDING, "report_name": name})
    try:
        yield
    finally:
        if former is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = former

"""The command `profile`: run the user's command under Tracy, explain what went wrong, then say what is slow.

With `--memory` the same command runs once more without Tracy, while TTNN records its memory. A person also gets the
command to try next.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.readers.discover import DATABASE, find_reports
from ttnn_mcp.readers.regular_file import text_of
from ttnn_mcp.records import dataclass
from ttnn_mcp.session.settings import Settings
from ttnn_mcp.shell.capture import manifests
from ttnn_mcp.shell.capture.failures import LOSING, Fault, OutputWatch, conflicts
from ttnn_mcp.shell.capture.streaming import streamed
from ttnn_mcp.shell.capture.target import Build, UserCommand, build_of, target_of
from ttnn_mcp.shell.terminal import own_name

RECORDED = Path(__file__).with_name("recorded.py")
QUIETLY = "--no-web-server"  # 0.81: else a server for a browser outlives the run
VARIABLE = "TTNN_CONFIG_OVERRIDES"
RECORDING = {"enable_fast_runtime_mode": False, "enable_logging": True, "enable_graph_report": True}
CLOCK_S = 2.0  # file systems that count whole seconds, or every other one
INTERRUPTED = 3  # what Tracy ends with after a signal
FAILED = 1  # no report, although the user's command went well
NO_BUILD = Build(None, frozenset(), joins=False, records_graph=False)


@dataclass
class Capture:
    """One `ttnn-mcp profile`: what is asked, and what came of it."""

    command: Sequence[str]
    options: Sequence[str]
    memory: bool
    tell: Callable[[str], None]
    status: int = 0
    performance: Path | None = None
    memory_report: Path | None = None
    build: Build = field(default_factory=lambda: NO_BUILD)

    def run(self) -> None:
        """Run the command under Tracy, and once more for its memory if that is asked.

        Raises:
            ArgumentsInvalid: the command or the environment cannot be profiled.
        """
        if not self.command:
            raise ArgumentsInvalid(
                "Write the command behind --, such as: ttnn-mcp profile -- pytest tests/test_x.py"
            )
        if sys.platform == "win32":
            raise ArgumentsInvalid("tt-metal runs on Linux: profile there, and bring the report here.")
        clash = conflicts(os.environ)
        if clash:
            raise ArgumentsInvalid(
                f"{clash.what} Next: {again(clash, NO_BUILD, self.options, self.memory, self.command)}"
            )
        target = target_of(self.command)
        self.build = build_of(target.python)
        started, listener = time.time(), OutputWatch()
        with tempfile.TemporaryDirectory(prefix="ttnn-mcp-") as folder:
            status_file = Path(folder, "status")
            tracy_status = streamed(under_tracy(target, self.build, self.options, status_file), listener.heard)
            own_status = _number(status_file)
        self.status = tracy_status if own_status is None else own_status
        self.performance = self.newest(_reports(listener, started))
        for failure in listener.found.values():
            if self.performance is None or failure.name in LOSING:
                self.explain(failure)
        if self.performance is None:
            self.tell("No performance report came of it." if listener.found else _unexplained(tracy_status))
            self.status = self.status or tracy_status or FAILED
            return
        manifest = manifests.manifest_of(self.command, started, self.status, self.build, self.performance.parent)
        manifests.write(manifest, self.performance.parent)
        self.tell(f"Performance report: {self.performance}")
        if self.memory and self.status:
            self.tell(f"No memory run follows, because the command ended with status {self.status}.")
        elif self.memory:
            self.memory_report = recorded(target, self.build, self.tell)
            if self.memory_report:
                manifests.write(manifest, self.memory_report.parent)

    def newest(self, reports: list[Path]) -> Path | None:
        """The first of them; that there are others is told."""
        if len(reports) > 1:
            self.tell(f"{len(reports)} performance reports were written: the newest is read.")
        return next(iter(reports), None)

    def explain(self, failure: Fault) -> None:
        """What went wrong, and the next command."""
        self.tell(f"{failure.what}{f' To do: {failure.do}.' if failure.do else ''}")
        self.tell(f"Next: {again(failure, self.build, self.options, self.memory, self.command)}")


def _reports(listener: OutputWatch, started: float) -> list[Path]:
    """The CSV that Tracy names, if it is new; else those that were written since the start, the newest first."""
    with suppress(OSError):
        if listener.report and Path(listener.report).stat().st_mtime >= started - CLOCK_S:
            return [Path(listener.report)]
    artifacts = os.environ.get("TT_METAL_PROFILER_DIR")
    roots = [*Settings().searched, *([Path(artifacts)] if artifacts else [])]
    with suppress(OSError):
        return [
            report.path
            for report in find_reports(roots)
            if report.kind == "performance" and report.modified >= started
        ]
    return []


def _number(file: Path) -> int | None:
    try:
        return int(text_of(file, 20))
    except (OSError, ValueError):
        return None


def _unexplained(status: int) -> str:
    if status == INTERRUPTED:
        return "Tracy was interrupted, and wrote no performance report."
    return (
        f"Tracy ended with status {status} and no performance report, for a reason that is not known here: "
        f"its last lines are above. {shown('--tracy=-v')} makes it say more."
    )


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


def under_tracy(target: UserCommand, build: Build, options: Sequence[str], status_file: Path) -> list[str]:
    """The command under Tracy; the status of the user's command lands in the file.

    Tracy joins the words to one line for a shell, and goes on whatever that line ends with. So the words are quoted
    for that shell, and the line tells how the command ended.

    Raises:
        ArgumentsInvalid: this tt-metal's Tracy has no such option.
    """
    unknown = [option for option in options if option.partition("=")[0] not in build.options]
    if unknown:
        raise ArgumentsInvalid(f"Tracy of this tt-metal has no option {shown(unknown[0])}: leave it out.")
    quiet = [QUIETLY] if QUIETLY in build.options else []
    start = [target.python, "-m", "tracy", "-r", "-p", *quiet, *options]
    if not build.joins:
        return [*start, *target.words]
    ending = f"; status=$?; echo $status > {shlex.quote(str(status_file))}; exit $status"
    return [*start, *map(shlex.quote, target.words), ending]


def recording(target: UserCommand, folder: Path) -> list[str]:
    """The command while TTNN records its memory."""
    return [target.python, str(RECORDED), str(folder), *target.words]


def again(failure: Fault, build: Build, options: Sequence[str], memory: bool, command: Sequence[str]) -> str:
    """The next command after a failure: the same, with the options that this Tracy has and without what disturbs."""
    changed = {option.partition("=")[0] for option in failure.tracy}
    tracy = [option for option in options if option.partition("=")[0] not in changed]
    tracy += [option for option in failure.tracy if option.partition("=")[0] in build.options]
    words = [*(["--memory"] if memory else []), *(f"--tracy={option}" for option in tracy), "--", *command]
    unset = [word for name in failure.without if name in os.environ for word in ("-u", name)]
    start = f"{shlex.join(['env', *unset])} " if unset else ""
    return f"{start}{own_name()} profile {shlex.join(words)}"

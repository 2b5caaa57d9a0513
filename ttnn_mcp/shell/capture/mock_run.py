"""The command `capture`: run the user's command on TTNN's mock devices, and record its memory without hardware."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from ttnn_mcp.errors import ArgumentsInvalid, nearest, shown
from ttnn_mcp.readers.discover import DATABASE
from ttnn_mcp.readers.manifest import MOCK
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay.interpreters import ttnn_python
from ttnn_mcp.replay.mock_chips import KINDS, description
from ttnn_mcp.session.settings import Settings
from ttnn_mcp.shell.capture import manifests
from ttnn_mcp.shell.capture.recorded import UNRECORDED
from ttnn_mcp.shell.capture.streaming import BY_SIGNAL, streamed
from ttnn_mcp.shell.capture.target import Build, UserCommand, target_of, ttnn_of

MOCKED = Path(__file__).with_name("mocked.py")
LOGS = {"TT_METAL_LOGGER_LEVEL": "ERROR", "TT_LOGGER_LEVEL": "ERROR"}  # else 30 lines of drivers that are not there
KERNELS = "mock-kernels"  # apart from those for real devices
GRACE_S = 120  # unmoved: for what was recorded until the program's time was up to be written
MEMORY_SHARE = 0.75  # of the machine's, so that the program dies before other programs do (ours)
KILLED, CRASHED = BY_SIGNAL + 9, BY_SIGNAL + 11


@dataclass
class MockCapture:
    """One `ttnn-mcp capture`: what is asked, and what came of it.

    Attributes:
        arch: a kind of chips that we know, or the path of a description of a cluster.
        python: the Python with TTNN, where the user names one.
        shortage: TTNN's last words on memory that ran out: no report tells of it where nothing is recorded.
        is_part: whether the program ran on after what was recorded.
    """

    command: Sequence[str]
    arch: str
    python: str | None
    minutes: int
    memory_gb: int | None
    state: Path
    tell: Callable[[str], None]
    status: int = 0
    report: Path | None = None
    shortage: str = ""
    is_part: bool = False
    build: Build = field(default_factory=lambda: Build(None, frozenset(), joins=False, records_graph=False))

    def run(self) -> None:
        """Run the command while TTNN records its graph.

        Raises:
            ArgumentsInvalid: the command, the chips or the environment cannot be used.
        """
        if not self.command:
            raise ArgumentsInvalid(
                "Write the command behind --, such as: ttnn-mcp capture --arch n150 -- python m.py"
            )
        text = _cluster(self.arch)
        target = self.target()
        started = time.time()
        moment = time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime(started))
        folder = _fresh((Settings().searched[0] / "ttnn" / "reports").absolute(), f"capture_{moment}")
        for variable, value in {**LOGS, "TT_METAL_CACHE": str(self.state / KERNELS)}.items():
            os.environ.setdefault(variable, value)
        physical_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        most = self.memory_gb * 1e9 if self.memory_gb else physical_bytes * MEMORY_SHARE
        limits = [str(self.minutes * 60), str(int(most))]
        with tempfile.TemporaryDirectory(prefix="ttnn-mcp-") as aside:
            chips = Path(aside, "chips.yaml")
            chips.write_text(text, encoding="utf-8")
            call = [target.python, str(MOCKED), str(folder), str(chips), *limits, *target.words]
            self.status = streamed(call, self.heard, self.minutes * 60 + GRACE_S)
        if (folder / DATABASE).is_file():
            self.report = folder / DATABASE
            manifest = manifests.manifest_of(self.command, started, self.status, self.build, folder)
            manifests.write({**manifest, "device": f"{MOCK}{Path(self.arch).name}"}, folder)
            self.tell(f"Memory report: {self.report}")
        else:
            self.tell(self.unrecorded())
            self.status = self.status or 1

    def heard(self, text: str) -> None:
        """A line of what the program says."""
        _, out, words = text.partition("Out of Memory: ")
        self.shortage = f"{out}{words}".strip() or self.shortage
        self.is_part |= UNRECORDED in text

    def target(self) -> UserCommand:
        """The command with the Python that runs it: the stated one, else its own, else one that has TTNN."""
        other, stated = ttnn_python(self.python)
        target = target_of(self.command, other if stated else None)
        self.build = ttnn_of(target.python)
        if not self.build.has_ttnn and not stated:
            build = ttnn_of(other)
            if build.has_ttnn:
                self.tell(f"{shown(target.python)} has no TTNN: {shown(other)} runs the command.")
                target, self.build = target_of(self.command, other), build
        if not self.build.has_ttnn:
            raise ArgumentsInvalid(
                f"{shown(target.python)} has no TTNN. Activate the environment in which your model runs, or name its "
                "Python: ttnn-mcp capture --ttnn PYTHON ..."
            )
        if not self.build.records_graph:
            which = shown(self.build.version or f"of {target.python}")
            raise ArgumentsInvalid(f"TTNN {which} cannot record its graph: 0.69.0 or newer can.")
        return target

    def unrecorded(self) -> str:
        """Why there is no report, as far as the status tells."""
        if self.status == KILLED:
            return (
                f"No report: the program was ended after {self.minutes} minutes (--minutes), or for want of memory."
            )
        if self.status == CRASHED:
            return (
                "No report: TTNN crashed on the mock device, where something of it is not mocked. Leave out what is no "
                "op of the model, such as a sub-device or a profiler."
            )
        return (
            f"No report (status {self.status}): a device must be opened with ttnn.open_device or open_mesh_device."
        )


def _fresh(reports: Path, name: str) -> Path:
    """A new folder for a report; captures that begin within one second are numbered."""
    for number in itertools.count(1):
        folder = reports / (name if number == 1 else f"{name}_{number}")
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
    raise AssertionError  # never: the count has no end


def _cluster(arch: str) -> str:
    """The description of the chips."""
    if arch in KINDS:
        return description(KINDS[arch])
    path = Path(arch)
    if path.suffix in (".yaml", ".yml"):
        from ttnn_mcp.readers.regular_file import text_of  # noqa: PLC0415

        try:
            return text_of(path, 1_000_000)
        except OSError as failed:
            raise ArgumentsInvalid(f"{shown(arch)} cannot be read: {failed.strerror}.") from None
    close = nearest(arch, KINDS, limit=len(KINDS))
    raise ArgumentsInvalid(
        f"There are no mock chips '{shown(arch)}'.{close} A cluster_descriptor.yaml is taken too."
    )

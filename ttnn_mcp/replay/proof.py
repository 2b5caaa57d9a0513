"""Runs a script where nothing real can be touched: in a child process, on a mock device, with limits."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from ttnn_mcp.errors import QuestionRefused, ReportMissing, shown
from ttnn_mcp.readers.regular_file import text_of
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay.interpreters import MOCK, Interpreter
from ttnn_mcp.replay.mock_chips import KINDS, description, kind_of
from ttnn_mcp.replay.results import Results, read_results
from ttnn_mcp.run.run import Run

# a dozen candidates took 20 s on two busy cores, TTNN's start 5 s of it
LIMIT_S = 300.0  # unmoved: it is how long a script that hangs is waited for
LIMIT_BYTES = 12 << 30  # of address space: TTNN 0.81.1 with torch got by with 8 GB
DESCRIPTOR = "cluster_descriptor.yaml"
DESCRIPTOR_BYTES = 1_000_000  # a Galaxy takes 30 kB
PASSED = ("PATH", "LANG", "TT_METAL_HOME", "TT_METAL_RUNTIME_ROOT", "PYTHONPATH", "LD_LIBRARY_PATH", "ARCH_NAME")
_LIMITED = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True, slots=True)
class MockProof:
    """What TTNN said of a script.

    Attributes:
        answer: what the script wrote; None where it wrote nothing.
        chip: the chip that the mock device stood for.
        failed: why it wrote nothing.
    """

    answer: Results | None
    chip: str
    failed: str = ""


async def proved(python: Interpreter, run: Run, script: str, chips: int = 1) -> MockProof:
    """What TTNN says of a script on a mock device like the run's, or on a mesh of so many chips.

    Raises:
        QuestionRefused: there is no TTNN that can be kept from real devices, or no mock device like the run's.
    """
    if not python.proves:
        raise QuestionRefused(
            f"Nothing to prove with: {python.told}. Name the Python that has yours: --ttnn PYTHON. Until then our "
            "model judges: leave out prove."
        )
    described, chip = _descriptor(run, chips)
    with tempfile.TemporaryDirectory(prefix="ttnn-mcp-proof-") as folder:
        home = Path(folder)
        (home / "replay.py").write_text(script, encoding="utf-8")
        (home / DESCRIPTOR).write_text(described, encoding="utf-8")
        failed = await asyncio.to_thread(_run, python.path, home)
        with suppress(ReportMissing, QuestionRefused):
            answer = read_results(home / "answer.json")
            if answer.chip is not None and answer.chip.mock:
                return MockProof(answer, chip)
    return MockProof(None, chip, failed or "it wrote no answer")


def _run(python: Path, home: Path) -> str:
    """Run it to its end or to its limits; why it failed, in words. Blocks."""
    environment = {name: os.environ[name] for name in PASSED if name in os.environ}
    environment |= {
        MOCK: str(home / DESCRIPTOR),
        "HOME": str(home),
        "TMPDIR": str(home),
        "TT_METAL_CACHE": str(home / "cache"),
        "GIT_CEILING_DIRECTORIES": "/",  # importing itself, TTNN asks git about the folder in which it stands
        **dict.fromkeys(("TT_METAL_LOGGER_LEVEL", "TT_LOGGER_LEVEL"), "FATAL"),
    }
    command = ["-c", _LIMITED, str(LIMIT_BYTES), "replay.py", "--accept", "--out", str(home / "answer.json")]
    with subprocess.Popen(  # noqa: S603 - the user's Python, with a script of ours
        [python, *command, "--limit-s", str(LIMIT_S)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=home,
        start_new_session=True,
    ) as process:
        try:
            _, printed = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return f"no answer after {LIMIT_S:g} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    lines = [line for line in printed.decode("utf-8", "replace").splitlines() if line.strip()]
    return "" if process.returncode == 0 else f"exit status {process.returncode}: {(lines or [''])[-1][:300]}"


def _descriptor(run: Run, chips: int) -> tuple[str, str]:
    """The cluster of the run's own machine, else a chip or a mesh of its architecture."""
    beside = run.memory.path.parent / DESCRIPTOR if run.memory else None
    if beside is not None and beside.is_file():
        return text_of(beside, DESCRIPTOR_BYTES), "the chip of the run's own cluster descriptor"
    kind = kind_of(run.chip.arch, run.chip.worker_cores, chips)
    if kind is None:
        mesh = f"mesh of {chips} chips" if chips > 1 else "device"
        raise QuestionRefused(
            f"There is no mock {mesh} of {shown(run.chip.arch or 'an architecture that the run does not tell')}."
        )
    return description(KINDS[kind]), kind

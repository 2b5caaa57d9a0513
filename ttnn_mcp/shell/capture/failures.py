"""Known failures of a capture: how each shows in the output or the report, and what to do next.

The words are those that tt-metal writes: tools/tracy and tt_metal/impl/profiler of 0.59 to 0.81, and the issues that
are named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from ttnn_mcp.quoting import line
from ttnn_mcp.records import dataclass

COLOURS = re.compile(r"\x1b\[[\d;]*m")
MODULE_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
ANOTHER = re.compile(r"[\w.]+(?:Error|Exception)(?::|$)")
REPORT = re.compile(r"OPs csv generated at: (.+)$")
OPS_BY_DEFAULT = 1000  # --op-support-count of tt-metal 0.62 to 0.81
MORE_OPS = 10_000
READ_OFTEN = "call ttnn.ReadDeviceProfiler(device) after every iteration, or profile fewer of them"
BUILD_IT = (
    "the tools are not in TTNN's wheel: build tt-metal from its sources (./build_metal.sh; older trees with "
    "--enable-profiler), set TT_METAL_HOME to it"
)
CONFLICTS = {  # tt-metal's page on the device profiler: watcher, debug print and profiler exclude each other
    "TT_METAL_WATCHER": "the watcher",
    "TT_METAL_DPRINT_CORES": "debug print",
    "TT_METAL_DPRINT_ETH_CORES": "debug print",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong, what to do, and options of `ttnn-mcp profile` that do it.

    Attributes:
        name: for tests and for people.
        what: a sentence.
        do: what to do by hand, if anything.
        tracy: options for Tracy that the next command has.
        without: variables of the environment that it must not have.
    """

    name: str
    what: str
    do: str = ""
    tracy: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


Sign: TypeAlias = "Callable[[re.Match[str]], Fault]"


def _lost(match: re.Match[str]) -> Fault:
    wanted = max(map(int, re.findall(r"Expected (\d+)", match.group(0))), default=0)
    # a quarter more than were missed
    count = max(MORE_OPS, (wanted * 5 // 4 // OPS_BY_DEFAULT + 1) * OPS_BY_DEFAULT)
    what = "The profiler's buffer on the device was full, and ops were lost (tt-metal #46710, #35378)."
    return Fault("buffer-full", what, READ_OFTEN, (f"--op-support-count={count}",))


def _module(match: re.Match[str]) -> Fault:
    name = line(match.group(1))
    return Fault("module-missing", f"Python misses the module {name}.", f"install {name} into that Python")


def _known(name: str, what: str, do: str = "", *tracy: str, without: tuple[str, ...] = ()) -> Sign:
    return lambda _match: Fault(name, what, do, tracy, without)


IN_OUTPUT: dict[str, Sign] = {
    r"Tracy tools were not found|tracy-csvexport was not found": _known(
        "tools-missing", "Tracy's tools are missing.", BUILD_IT
    ),
    r"requires a Tracy-enabled build|make sure you are on the correct build": _known(
        "not-a-tracy-build", "This tt-metal was built without Tracy.", BUILD_IT
    ),
    r"Cannot enable both debug printing|Both DPRINT and Profiler cannot": _known(
        "conflict", "Debug print and the profiler exclude each other.", without=tuple(CONFLICTS)
    ),
    r"buffer filled up|is reporting a second start of FW|found without a corresponding start marker": _known(
        "marker-ring",
        "Markers were overwritten: about 12,000 of each core and RISC fit between two reads (tt-metal #31504).",
        READ_OFTEN,
        "--dump-device-data-mid-run",
    ),
    r"Device data missing: Op \d+ not present .*\(trace_id=\d+\)": _known(
        "trace-not-replayed",
        "A trace was captured and never replayed, so its ops have no times (tt-metal #56094).",
        "replay each captured trace at least once before the run ends",
    ),
    r"Profiler DRAM buffers were full|Device data missing: Op"
    r"|Device data mismatch: Expected \d+ but received \d+ ops": _lost,
    r"Too many source locations": _known(
        "too-many-places",
        "Tracy knows at most some 32,000 places in the source (tt-metal #35378).",
        "profile fewer iterations, or a part of the model",
    ),
    r"Tracy capture tool .* before writing a trace|tracy capture output file .* was not generated": _known(
        "capture-died", "Tracy's capture tool ended without a trace.", "profile fewer iterations", "-v"
    ),
    r"No available port found": _known(
        "no-port", "Tracy found no free port from 8086 to 8499.", "end other profiled runs on this machine"
    ),
    r"No device logs found|legacy device log .* is also missing|Device perf report not found": _known(
        "no-device-log",
        "No device wrote a log: no op ran on one, or it was never closed.",
        "run ops on a real device (a mock device times nothing) and close it with ttnn.close_device",
    ),
    MODULE_MISSING.pattern: _module,
}
LOSING = frozenset({"buffer-full", "marker-ring", "trace-not-replayed"})  # they may leave a report behind
_SIGNS = [(re.compile(pattern), failure) for pattern, failure in IN_OUTPUT.items()]


def conflicts(environment: Mapping[str, str]) -> Fault | None:
    """What the environment has on that excludes the profiler."""
    clashing = [name for name in CONFLICTS if environment.get(name)]
    if not clashing:
        return None
    what = f"The profiler excludes {' and '.join(dict.fromkeys(CONFLICTS[name] for name in clashing))}"
    return Fault("conflict", f"{what}, and {' and '.join(clashing)} switches it on.", without=tuple(clashing))


class OutputWatch:
    """Looks through the output for known failures and for the place of the report."""

    def __init__(self) -> None:
        self.found: dict[str, Fault] = {}
        self.report: str | None = None

    def heard(self, written: str) -> None:
        """One line of output."""
        plain = COLOURS.sub("", written)
        report = REPORT.search(plain)
        if report:
            self.report = report.group(1).strip()
        if ANOTHER.match(plain):
            # it was tried, and something else failed, or another module lacked
            self.found.pop("module-missing", None)
        for pattern, failure in _SIGNS:
            match = pattern.search(plain)
            if match:
                known = failure(match)
                self.found.setdefault(known.name, known)
                return

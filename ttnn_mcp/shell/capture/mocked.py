"""Runs a program on TTNN's mock devices while its graph is recorded, and keeps it from every real one.

A file of its own, run by the user's Python, where nothing of ours is installed:

    python mocked.py FOLDER CHIPS SECONDS BYTES -m MODULE [ARGUMENT ...]
    python mocked.py FOLDER CHIPS SECONDS BYTES SCRIPT [ARGUMENT ...]

CHIPS is a description of a cluster. A trace cannot be captured on a mock device, nor an event awaited (TTNN 0.81.1
dies of it): those calls do nothing, and the ops of a trace run as others do.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

VARIABLE = b"TT_METAL_MOCK_CLUSTER_DESC_PATH"
REAL_DEVICES = "/dev/tenstorrent"
LIBRARY = "tt_metal"  # what the library with the drivers is called, in a wheel and in a tree
LEFT_OUT = {
    "begin_trace_capture": 0,
    "end_trace_capture": None,
    "execute_trace": None,
    "release_trace": None,
    "record_event": None,
    "wait_for_event": None,
    "event_synchronize": None,
}
# Landlock, from Linux 5.13: numbers of its calls and rights, as in the kernel's headers
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
OPENING = 0b110  # write and read a file
BENEATH_A_PATH = 1
NO_NEW_PRIVILEGES = 38


def kept_from(forbidden: str) -> bool:
    """Take from this program, and from all that it starts, the right to open anything there; False if Linux cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    rules = libc.syscall(CREATE_RULESET, ctypes.byref(ctypes.c_uint64(OPENING)), ctypes.c_size_t(8), 0)
    if rules < 0:
        return False
    for path in _beside(forbidden):
        with suppress(OSError):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            libc.syscall(ADD_RULE, rules, BENEATH_A_PATH, struct.pack("=Qi", OPENING, place), 0)
            os.close(place)
    return libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and libc.syscall(RESTRICT_SELF, rules, 0) == 0


def _beside(path: str) -> Iterator[str]:
    """Everything that neither is this path nor leads to it, each folder as a whole."""
    leading = path
    while leading != "/":
        folder = str(os.path.dirname(leading))  # noqa: PTH120
        with suppress(OSError):
            yield from (one.path for one in os.scandir(folder) if one.path != leading and not one.is_symlink())
        leading = folder


def limit(seconds: int, most_bytes: int) -> None:
    """End the program after so long, and refuse it more memory of its own than that."""

    def too_long(_number: int, _frame: object) -> None:
        raise TimeoutError(f"ttnn-mcp ended the program after {seconds} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # where TTNN aborts, its memory is nothing to keep


def knows_mock_devices(maps: str = "/proc/self/maps") -> bool:
    """Whether TTNN, as it was loaded, would read the variable; an older one would look for real devices."""
    with open(maps) as file:  # noqa: PTH123
        loaded = {line.split(maxsplit=5)[-1].strip() for line in file if LIBRARY in line and line.count("/")}
    for path in loaded:
        with open(path, "rb") as library:  # noqa: PTH123
            if VARIABLE in library.read():
                return True
    return False


class Mock:
    """What happens when the program imports ttnn."""

    def __init__(self, chips: str) -> None:
        self.chips, self.told = chips, set[str]()

    def imported(self, run: Callable[[Any], None], module: Any) -> None:
        """The variable is set again, whatever the program made of it; what a mock device cannot do is left out."""
        os.environ[VARIABLE.decode()] = self.chips
        run(module)
        if not knows_mock_devices():
            sys.exit("ttnn-mcp: this TTNN knows no mock devices, so nothing was run on it: take 0.69 or newer.")
        for name, answer in LEFT_OUT.items():
            if hasattr(module, name):
                setattr(module, name, self.left_out(name, answer))

    def left_out(self, name: str, answer: object) -> Callable[..., object]:
        """A call that does nothing, and says so once."""

        def call(*_arguments: object, **_named: object) -> object:
            if name not in self.told:
                self.told.add(name)
                sys.stderr.write(f"ttnn-mcp: a mock device cannot do ttnn.{name}: left out.\n")
            return answer

        return call


def main(folder: str, chips: str, seconds: str, most_bytes: str, *words: str) -> int:
    """Run the program; its exit status."""
    from recorded import recorded  # type: ignore[import-not-found]  # noqa: PLC0415 - the file beside this one

    os.environ[VARIABLE.decode()] = chips
    if not kept_from(REAL_DEVICES) and os.path.exists(REAL_DEVICES):  # noqa: PTH110
        sys.exit(
            "ttnn-mcp: this Linux cannot keep a program from its real devices (Landlock, from 5.13): nothing was run. "
            "Capture where there are none."
        )
    limit(int(seconds), int(most_bytes))
    return recorded(folder, list(words), Mock(chips).imported)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

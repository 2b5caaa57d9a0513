"""The last rows of a large plain CSV, read by a second process while this one reads the first.

Half of reading is work that holds the interpreter's lock, so a second thread brings nothing: measured with a million
rows (1.5 GB), two threads take as long as one and half as much CPU time again. A process takes 0.2 s to start.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, TypedDict, TypeVar

import numpy as np

import ttnn_mcp
from ttnn_mcp import ONE_THREAD
from ttnn_mcp.readers.ordered_work import cores
from ttnn_mcp.readers.performance.plain_blocks import BLOCK_BYTES
from ttnn_mcp.readers.performance.plain_rows import PlainRows, Wanted
from ttnn_mcp.readers.performance.row_shape import RowShape

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

LARGE_BYTES = 1 << 29  # below, the start of a process takes what it saves
START_BYTES = 150_000_000  # the first process reads so many until the second has started
PACKAGES = Path(ttnn_mcp.__file__).parents[1]  # Python looks for modules in its current folder first
_MAIN = "from ttnn_mcp.readers.performance.second_reader import main; main()"

Number = TypeVar("Number", bound=np.generic)


class _Head(TypedDict):
    """What the second process writes first.

    Attributes:
        rows: how many it read.
        sums: where each piece of the file begins, and its checksum; empty where they are not wanted.
        filled: which number columns follow.
        texts: per group, the length of each distinct text.
    """

    rows: int
    sums: list[tuple[int, int]]
    filled: list[int]
    texts: list[list[int]]


class SecondReader:
    """A process that reads the rows of a file from one place on.

    Attributes:
        begin: that place.
    """

    def __init__(self, descriptor: int, shape: RowShape, wanted: Wanted) -> None:
        """Start it.

        Raises:
            OSError: the system lets us start no process.
        """
        half = (shape.begin + shape.size + START_BYTES) // 2
        self.begin = half - half % BLOCK_BYTES  # pieces with a checksum begin at its multiples
        job = [descriptor, shape.begin, shape.size, shape.fields, shape.line_end.decode(), wanted, self.begin]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-c", _MAIN, json.dumps(job)],
            cwd=PACKAGES,
            env=dict([ONE_THREAD]) | os.environ,
            stdin=subprocess.PIPE,  # never written to: it ends with this process
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=[descriptor],
        )

    def add_to(self, rows: PlainRows) -> bool:
        """Add its rows after those of this process; False, and none is added, if it did not read them to the end."""
        assert self._process.stdout is not None  # noqa: S101 - asked for above
        try:
            return _received(self._process.stdout, rows)
        except (OSError, ValueError, EOFError):  # it was killed, found no memory, or met a row that is not plain
            return False

    def end(self) -> None:
        """Nobody needs it any more."""
        self._process.kill()
        self._process.communicate()


@contextmanager
def second_reader(descriptor: int, shape: RowShape, wanted: Wanted) -> Generator[SecondReader | None]:
    """A process that reads the last rows of a large file; None where one process reads all."""
    reader = None
    can_start = os.name == "posix" and sys.executable  # frozen, we may have no Python
    if can_start and shape.size >= LARGE_BYTES and cores() > 1:
        with suppress(OSError):
            reader = SecondReader(descriptor, shape, wanted)
    try:
        yield reader
    finally:
        if reader is not None:
            reader.end()


def main() -> None:
    """The second process."""
    Thread(target=_leave_with_the_first, daemon=True).start()
    read_and_tell()


def read_and_tell() -> None:
    """Read the rows, then write them to standard output; the arguments of the process say which."""
    descriptor, first_row, size, fields, line_end, wanted, begin = json.loads(sys.argv[1])
    columns, blanks, rows_at_most, checksum = wanted
    shape = RowShape(first_row, size, fields, line_end.encode())
    by_place = {int(place): name for place, name in columns.items()}
    rows = PlainRows(descriptor, shape, Wanted(by_place, tuple(blanks), rows_at_most, checksum))
    if not rows.read(begin, size, size):
        sys.exit(1)
    filled = np.flatnonzero(rows.is_filled).tolist()
    texts = [group.known for group in rows.groups]
    head: _Head = {
        "rows": rows.rows,
        "sums": [*rows.sums.by_place.items()],
        "filled": filled,
        "texts": [[len(text) for text in known] for known in texts],
    }
    out = sys.stdout.buffer
    out.write(json.dumps(head).encode() + b"\n")
    out.writelines(b"".join(known) for known in texts)
    out.writelines(codes[: rows.rows].data for codes in rows.texts)
    out.writelines(rows.numbers[column, : rows.rows].data for column in filled)
    out.flush()


def _leave_with_the_first() -> None:
    """End as soon as the first process has ended, a killed one too: nobody takes the rows then."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def _received(source: IO[bytes], rows: PlainRows) -> bool:
    head: _Head = json.loads(source.readline())
    until = rows.rows + head["rows"]
    renumbered: list[NDArray[np.int32]] = []
    for group, sizes in zip(rows.groups, head["texts"], strict=True):
        known = _read(source, np.empty(sum(sizes), dtype=np.uint8)).tobytes()
        ends = accumulate(sizes)
        numbers = group.numbers_of([known[end - size : end] for size, end in zip(sizes, ends, strict=True)])
        if numbers is None:
            return False
        renumbered.append(numbers)
    rows.make_room(until)
    for codes, numbers in zip(rows.texts, renumbered, strict=True):
        codes[rows.rows : until] = numbers[_read(source, np.empty(head["rows"], dtype=np.int32))]
    rows.fill(np.array(head["filled"], dtype=np.int64), until)
    for column in head["filled"]:
        _read(source, rows.numbers[column, rows.rows : until])
    rows.sums.by_place.update(head["sums"])
    rows.rows = until
    return True


def _read(source: IO[bytes], values: NDArray[Number]) -> NDArray[Number]:
    """The values, filled from the source.

    Raises:
        EOFError: it ends before.
    """
    if source.readinto(values.data) < values.nbytes:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        raise EOFError
    return values

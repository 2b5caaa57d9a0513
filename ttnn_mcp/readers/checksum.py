"""Checksum of a whole file by its pieces: who reads the file anyway adds piece by piece, and two threads can share it.

XXH3 (xxhash) takes a tenth of the time of CRC-32: 1.5 GB in 0.04 s, measured. It has 64 bits, and finds chance, not
malice: whoever can forge a report can write a report. The disk works without the interpreter's lock.
"""

from __future__ import annotations

import os
from array import array
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from xxhash import xxh3_64_intdigest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from concurrent.futures import Future

THREADS = 2  # the checksum of 1.5 GB takes 0.46 s with one, 0.30 s with two and 0.29 s with three
AHEAD = 4  # pieces that are worked on before their results are taken
Piece = TypeVar("Piece")
Result = TypeVar("Result")
PIECE_BYTES = 1_048_576  # in the cache of a core when its checksum is computed
PIECES_AT_ONCE = 8  # unmoved: for a thread, which takes longer to be asked than to read less


class PieceSums:
    """Checksums of a file's pieces, which begin at the multiples of `PIECE_BYTES`.

    Attributes:
        by_place: where a piece begins -> its checksum.
    """

    def __init__(self) -> None:
        self.by_place: dict[int, int] = {}

    def add(self, begin: int, piece: bytes | memoryview) -> None:
        """Add the piece that begins there."""
        self.by_place[begin] = xxh3_64_intdigest(piece)

    def of_all(self, size: int) -> int | None:
        """The checksum of the file of this size; None if pieces are missing."""
        sums = [self.by_place.get(place) for place in range(0, size, PIECE_BYTES)]
        known = [piece for piece in sums if piece is not None]
        return _joined(known, size) if len(known) == len(sums) else None


def checksum(descriptor: int, size: int) -> int:
    """The checksum of the first `size` bytes, which is another one if some are missing.

    Raises:
        OSError: the file cannot be read.
    """
    begins = range(0, size, PIECE_BYTES * PIECES_AT_ONCE)
    with closing(in_order(lambda begin: _of_pieces(descriptor, begin, size), begins)) as works:
        return _joined([piece for some in works for piece in some], size)


def _joined(pieces: list[int], size: int) -> int:
    return xxh3_64_intdigest(array("Q", pieces).tobytes(), seed=size)


def _of_pieces(descriptor: int, begin: int, size: int) -> list[int]:
    places = range(begin, min(begin + PIECE_BYTES * PIECES_AT_ONCE, size), PIECE_BYTES)
    return [xxh3_64_intdigest(os.pread(descriptor, min(PIECE_BYTES, size - place), place)) for place in places]


def in_order(work: Callable[[Piece], Result], pieces: Sequence[Piece]) -> Generator[Result]:
    """What `work` returns for each piece, in order. It must be safe to call it from several threads.

    Threads are used only where they can run at the same time. When the iterator is closed, no work is under way.
    """
    if len(pieces) < THREADS or cores() < THREADS:
        yield from map(work, pieces)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(THREADS, thread_name_prefix="piece") as pool:
        try:
            for piece in pieces:
                waiting.append(pool.submit(work, piece))
                if len(waiting) >= AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def cores() -> int:
    """How many threads of this process can run at the same time."""
    if hasattr(os, "sched_getaffinity"):  # Linux: what the container or `taskset` leaves us
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

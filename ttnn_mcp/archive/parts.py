"""The parts of an archive: each holds some runs, and becomes visible as a whole when its index file is written.

A part has three files: the rows of ops, the rows of runs, and the index, a small JSON file that is written last and
removed first. So a writer that is killed leaves files that belong to no part, and never half a part. The name of a part
comes from its runs: whoever writes the same runs writes the same part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from threading import Lock
from typing import Any, NamedTuple

from ttnn_mcp.archive.places import Place
from ttnn_mcp.archive.schema import FORMAT

INDEX, RUNS_FILE, OPS_FILE = ".json", ".runs.parquet", ".ops.parquet"


class KeptRun(NamedTuple):
    """A run in a part: its key, when it was recorded, its number of ops, and the stamp of the file it came from."""

    run_key: str
    recorded_at: int
    ops: int
    stamp: str


class ArchivePart(NamedTuple):
    """Some runs that are stored together.

    Attributes:
        id: from the keys of its runs.
        runs: what its index says of them.
        size: bytes of its files.
    """

    id: str
    runs: tuple[KeptRun, ...]
    size: int

    @property
    def ops(self) -> int:
        """Its rows of ops."""
        return sum(run.ops for run in self.runs)

    @property
    def files(self) -> tuple[str, str, str]:
        """The names of its files, in the order in which they are removed."""
        return self.id + INDEX, self.id + RUNS_FILE, self.id + OPS_FILE


class Share(NamedTuple):
    """A part, and those of its runs that are read from another part."""

    part: ArchivePart
    elsewhere: frozenset[str]


def part_id(run_keys: Iterable[str]) -> str:
    """The name of the part of these runs."""
    return blake2b("\n".join(sorted(run_keys)).encode(), digest_size=16).hexdigest()


def written_index(runs: Sequence[KeptRun], size: int) -> bytes:
    """The contents of an index file."""
    return json.dumps({"format": FORMAT, "bytes": size, "runs": [list(run) for run in runs]}).encode()


def read_index(name: str, contents: bytes) -> ArchivePart | None:
    """The part of an index file; None for a file that we did not write, or that is damaged."""
    try:
        index: Any = json.loads(contents)
        if index["format"] != FORMAT:
            return None
        runs = tuple(KeptRun(str(key), int(at), int(ops), str(stamp)) for key, at, ops, stamp in index["runs"])
        size = int(index["bytes"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    identity = name.removesuffix(INDEX)
    return ArchivePart(identity, runs, size) if identity == part_id(run.run_key for run in runs) else None


class PartList:
    """The parts of a place. An index that was read once is not read again: no part ever changes."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._read: dict[str, ArchivePart | None] = {}
        self._lock = Lock()

    def now(self) -> list[ArchivePart]:
        """The parts as they are now, the largest first."""
        with self._lock:
            sizes = self._updated()
            parts = [part for part in self._read.values() if part is not None and _is_whole(part, sizes)]
        return sorted(parts, key=lambda part: (-len(part.runs), part.id))

    def _updated(self) -> dict[str, int]:
        """The sizes of all files by name, after the indexes that are new were read."""
        sizes = {entry.name: entry.size for entry in self._place.entries()}
        indexes = {name for name in sizes if name.endswith(INDEX)}
        for gone in self._read.keys() - indexes:
            del self._read[gone]
        for name in sorted(indexes - self._read.keys()):
            with suppress(FileNotFoundError):  # removed since it was listed
                self._read[name] = read_index(name, self._place.read(name))
        return sizes


def _is_whole(part: ArchivePart, sizes: Mapping[str, int]) -> bool:
    """Whether the part's files are there with the bytes that were written: one that is cut off would break all."""
    return {*part.files} <= sizes.keys() and sum(sizes[name] for name in part.files[1:]) == part.size


def shares(parts: Iterable[ArchivePart]) -> list[Share]:
    """The parts to read so that each run is read once, although a killed writer may have left it in two."""
    taken: set[str] = set()
    chosen: list[Share] = []
    for part in parts:
        keys = {run.run_key for run in part.runs}
        if not keys <= taken:
            chosen.append(Share(part, frozenset(keys & taken)))
            taken |= keys
    return chosen

"""Where an archive lies: a folder, or a bucket of an object store through fsspec. Files appear whole or not at all."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import importlib
import os
import tempfile
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

from ttnn_mcp.errors import ArchiveUnusable, shown, shown_path

BEGINNING, UNFINISHED = "ttnn-mcp-", ".unfinished"  # of the names of files that are being written


class StoredFile(NamedTuple):
    """A file of the archive: its name, its size, and when it was written, in seconds since 1970."""

    name: str
    size: int
    modified: float


class Place(Protocol):
    """What a store of files must be able to do."""

    @property
    def shown(self) -> str:
        """Where it is, for people."""
        ...

    def entries(self) -> list[StoredFile]:
        """All files; none where nothing was written yet."""
        ...

    def read(self, name: str) -> bytes:
        """The contents of a file."""
        ...

    def filled(self, name: str) -> Any:
        """A context with the path of a file to fill; it takes its place when the context ends without an error."""
        ...

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; absent ones are none."""
        ...

    def address(self, name: str) -> str:
        """What the engine opens the file by."""
        ...

    @property
    def filesystem(self) -> Any | None:
        """What the engine reads addresses with; None for its own."""
        ...


class FolderPlace:
    """A folder."""

    filesystem: Any | None = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def shown(self) -> str:
        """Where it is, for people."""
        return shown_path(self._folder)

    def entries(self) -> list[StoredFile]:
        """All files; none where nothing was written yet."""
        listed: list[StoredFile] = []
        with suppress(FileNotFoundError), os.scandir(self._folder) as listing:
            for file in listing:
                with suppress(OSError):
                    status = file.stat(follow_symlinks=False)
                    listed.append(StoredFile(file.name, status.st_size, status.st_mtime))
        return listed

    def read(self, name: str) -> bytes:
        """The contents of a file."""
        return (self._folder / name).read_bytes()

    @contextmanager
    def filled(self, name: str) -> Generator[Path]:
        """A path to fill; the file takes its place when the context ends without an error."""
        # readable for others as the user's files are: a lab shares it
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{BEGINNING}{uuid4().hex}{UNFINISHED}"
        try:
            yield path
            path.replace(self._folder / name)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; absent ones are none."""
        for name in names:
            (self._folder / name).unlink(missing_ok=True)

    def address(self, name: str) -> str:
        """What the engine opens the file by: it takes some characters for wildcards."""
        path = str(self._folder.absolute() / name)
        return "".join(f"[{char}]" if char in "*?[" else char for char in path)


class ObjectPlace:
    """A folder of an object store, or of anything else that fsspec knows."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self.filesystem, self._root = filesystem_of(self._url)

    @property
    def shown(self) -> str:
        """Where it is, for people."""
        return shown(self._url)

    def entries(self) -> list[StoredFile]:
        """All files; none where nothing was written yet."""
        self.filesystem.invalidate_cache()
        try:
            listing = self.filesystem.ls(self._root, detail=True)
        except FileNotFoundError:
            return []
        return [
            StoredFile(file["name"].rsplit("/", 1)[-1], int(file["size"] or 0), written_at(file))
            for file in listing
            if file["type"] == "file"
        ]

    def read(self, name: str) -> bytes:
        """The contents of a file."""
        return self.filesystem.cat_file(f"{self._root}/{name}")

    @contextmanager
    def filled(self, name: str) -> Generator[Path]:
        """A path to fill; the file is sent when the context ends without an error."""
        with tempfile.TemporaryDirectory(prefix=BEGINNING) as folder:
            path = Path(folder) / name
            yield path
            self.filesystem.put_file(str(path), f"{self._root}/{name}")

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; absent ones are none."""
        for name in names:
            with suppress(FileNotFoundError):
                self.filesystem.rm_file(f"{self._root}/{name}")

    def address(self, name: str) -> str:
        """What the engine opens the file by."""
        return f"{self._url}/{name}"


def place_of(folder: str | Path) -> Place:
    """The place that a path or a URL (`s3://bucket/folder`) names.

    Raises:
        ArchiveUnusable: a package for it is missing, or there is no such kind of place.
    """
    text = str(folder)
    return ObjectPlace(text) if "://" in text else FolderPlace(Path(folder))


def filesystem_of(url: str) -> tuple[Any, str]:
    """The file system of fsspec behind a URL, and the path in it.

    Raises:
        ArchiveUnusable: a package for it is missing, or there is no such kind of place.
    """
    protocol = url.split("://", 1)[0]
    try:
        return importlib.import_module("fsspec.core").url_to_fs(url)  # only object stores need it
    except ImportError:
        raise ArchiveUnusable(
            f"{shown(url)} needs the packages for {shown(protocol)}://. Install them: pip install 'ttnn-mcp[s3]' "
            "(other stores: fsspec's package for them)."
        ) from None
    except ValueError:
        raise ArchiveUnusable(
            f"{shown(protocol)}:// is no kind of place. Give a folder, or s3://BUCKET/FOLDER."
        ) from None


def written_at(file: dict[str, Any]) -> float:
    """When a file of a listing was written, in seconds since 1970; now where the store does not tell."""
    moment = file.get("LastModified") or file.get("created") or file.get("mtime")
    if moment is None:
        return time.time()
    return float(moment.timestamp()) if hasattr(moment, "timestamp") else float(moment)

"""The log as one JSON document, to keep, to share, to bring into another machine's log."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from ttnn_mcp.errors import QuestionRefused, ReportMissing, StoreUnusable, shown
from ttnn_mcp.experiments.experiment import Experiment, Target  # noqa: TC001 - pydantic reads the fields' types

FORMAT = "ttnn-mcp experiments"
LARGEST_BYTES = 20_000_000  # some 20,000 experiments


@dataclass(frozen=True, slots=True)
class Document:
    """Everything a store holds."""

    format: Literal["ttnn-mcp experiments"]
    version: Literal[1]
    experiments: tuple[Experiment, ...]
    targets: tuple[Target, ...]


def write_document(path: Path, experiments: list[Experiment], targets: list[Target]) -> None:
    """Write the document whole or not at all. Blocks.

    Raises:
        QuestionRefused: something else lies at the path.
        StoreUnusable: it cannot be written there.
    """
    try:
        if path.exists() and not _is_ours(path):
            raise QuestionRefused(f"{shown(path.name)} exists and is no export of ours. Choose another path.")
        path.parent.mkdir(parents=True, exist_ok=True)
        told = TypeAdapter(Document).dump_json(Document(FORMAT, 1, tuple(experiments), tuple(targets)), indent=1)
        _replace(path, told)
    except OSError as failed:
        raise StoreUnusable(f"The export cannot be written to {shown(path)} ({failed.strerror}).") from None


def _replace(path: Path, content: bytes) -> None:
    """A reader finds the old file or the new one, never half of it."""
    with NamedTemporaryFile(dir=path.parent, prefix=path.name, suffix=".part", delete=False) as part:
        try:
            part.write(content)
            part.flush()
            os.fsync(part.fileno())
            Path(part.name).replace(path)
        except OSError:
            Path(part.name).unlink(missing_ok=True)
            raise


def read_document(path: Path) -> Document:
    """Read a document. Blocks.

    Raises:
        ReportMissing: there is no file.
        QuestionRefused: it is no export, or of another version.
    """
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise QuestionRefused(f"{shown(path.name)} is too large for an export of experiments.")
        text = path.read_bytes()
    except OSError as failed:
        raise ReportMissing(f"{shown(path)} cannot be read ({failed.strerror}).") from None
    try:
        return TypeAdapter(Document).validate_json(text)
    except ValidationError:
        raise QuestionRefused(
            f"{shown(path.name)} is no export of experiments. Give a file that experiments(action='export') wrote."
        ) from None


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return f'"{FORMAT}"'.encode() in file.read(200)

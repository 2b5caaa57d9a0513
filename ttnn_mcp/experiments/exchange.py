"""The log as one JSON document, to keep, to share, to bring into another machine's log."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from ttnn_mcp.errors import QuestionRefused, ReportMissing, StoreUnusable, shown
from ttnn_mcp.experiments.experiment import Experiment, Target  # noqa: TC001 - pydantic reads the fields' types

FORMAT = "ttnn-mcp experiments"
LARGEST_BYTES = 20_000_000  # some 20,000 experiments
MOST = 50_000  # experiments, and targets


@dataclass(frozen=True, slots=True)
class Document:
    """Everything a store holds."""

    format: Literal["ttnn-mcp experiments"]
    version: Literal[1]
    experiments: Annotated[tuple[Experiment, ...], Field(max_length=MOST)]
    targets: Annotated[tuple[Target, ...], Field(max_length=MOST)]


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
    except (OSError, ValueError) as failed:
        raise StoreUnusable(f"The export cannot be written to {shown(path)} ({_reason(failed)}).") from None


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
        QuestionRefused: it is no export, of another version, or a value in it is of a wrong type, range or length.
    """
    try:
        if not path.is_file():  # a pipe or a device would never end
            raise ReportMissing(
                f"There is no file {shown(path)}. Give one that experiments(action='export') wrote."
            )
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as failed:
        raise ReportMissing(f"{shown(path)} cannot be read ({_reason(failed)}).") from None
    if len(content) > LARGEST_BYTES:
        raise QuestionRefused(f"{shown(path.name)} is too large for an export of experiments.")
    try:
        return TypeAdapter(Document).validate_json(content, strict=True)
    except ValidationError as off:
        place = off.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
        where = f" ({shown('.'.join(map(str, place)))} is missing or out of range)" if place else ""
        raise QuestionRefused(
            f"{shown(path.name)} is no export of experiments{where}; nothing was imported. "
            "Give a file that experiments(action='export') wrote."
        ) from None


def _reason(failed: OSError | ValueError) -> str:
    return (isinstance(failed, OSError) and failed.strerror) or "no name of a file"


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return f'"{FORMAT}"'.encode() in file.read(200)

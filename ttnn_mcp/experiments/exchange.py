"""Documents that the loop reads and writes, as JSON.

The log as a whole: for a backup, or to import on another machine. And what the script of `ttnn-mcp accuracy` found: the
PCC after each layer, and the first layer that drifts.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from ttnn_mcp import quoting
from ttnn_mcp.errors import QuestionRefused, StoreUnusable, shown, shown_path
from ttnn_mcp.experiments.experiment import MOST_LAYERS, Correlation, Experiment, LayerPcc, Number, Target
from ttnn_mcp.readers.regular_file import begin_of, begin_of_named
from ttnn_mcp.records import dataclass

FORMAT = "ttnn-mcp experiments"
LARGEST_BYTES = 20_000_000  # about 20,000 experiments
MOST = 50_000  # experiments; as many targets
LARGEST_PCCS_BYTES = 20_000_000  # a hundred bytes for each of 200,000 ops


class _Layer(BaseModel):
    layer: Number
    accumulated: Correlation | None


class _Pccs(BaseModel):
    format: Literal["ttnn-mcp accuracy"]
    version: Literal[1]
    layers: Annotated[tuple[_Layer, ...], Field(max_length=MOST_LAYERS)]
    first_drifting_layer: Number | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Drift:
    """`pccs` are layer numbers with the accumulated PCC after them."""

    pccs: tuple[LayerPcc, ...] = ()
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """All contents of a store."""

    format: Literal["ttnn-mcp experiments"]
    version: Literal[1]
    experiments: Annotated[tuple[Experiment, ...], Field(max_length=MOST)]
    targets: Annotated[tuple[Target, ...], Field(max_length=MOST)]


def write_document(path: Path, experiments: list[Experiment], targets: list[Target]) -> None:
    """Write the document as a whole or not at all. Blocks.

    Raises:
        QuestionRefused: the path holds a file that is no export.
        StoreUnusable: it cannot be written there.
    """
    try:
        if path.exists() and not _is_ours(path):
            raise QuestionRefused(f"{shown(path.name)} exists and is no export of ours. Choose another path.")
        path.parent.mkdir(parents=True, exist_ok=True)
        content = TypeAdapter(Document).dump_json(Document(FORMAT, 1, tuple(experiments), tuple(targets)), indent=1)
        _replace(path, content)
    except (OSError, ValueError) as failed:
        raise StoreUnusable(f"The export cannot be written to {shown_path(path)} ({_reason(failed)}).") from None


def _replace(path: Path, content: bytes) -> None:
    """Replace the file in one step: a reader gets the old one or the new one, never a part."""
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
        QuestionRefused: it is no export, has another version, or a value has a wrong type, range or length.
    """
    content = begin_of_named(path, LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise QuestionRefused(
            f"{shown(path.name)} is too large. Give a file that experiments(action='export') wrote."
        )
    try:
        return TypeAdapter(Document).validate_json(content, strict=True)
    except ValidationError as failure:
        place = failure.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
        hint = f" ({shown('.'.join(map(str, place)))} is missing or out of range)" if place else ""
        raise QuestionRefused(
            f"{shown(path.name)} is no export of experiments{hint}; nothing was imported. "
            "Give a file that experiments(action='export') wrote."
        ) from None


def _reason(failed: OSError | ValueError) -> str:
    return (isinstance(failed, OSError) and failed.strerror) or "no name of a file"


def _is_ours(path: Path) -> bool:
    return f'"{FORMAT}"'.encode() in begin_of(path, 200)


def read_drift(path: Path) -> Drift:
    """Read what the script wrote. Blocks.

    Raises:
        ReportMissing: there is no file.
        QuestionRefused: the script did not write it, or compared nothing.
    """
    content = begin_of_named(path, LARGEST_PCCS_BYTES)
    try:
        document = _Pccs.model_validate_json(content, strict=True)
    except ValidationError:
        raise QuestionRefused(
            f"{shown_path(path)} is not what the script of `ttnn-mcp accuracy` writes. Give its accuracy.json."
        ) from None
    pccs = tuple((one.layer, one.accumulated) for one in document.layers if one.accumulated is not None)
    if not pccs:
        raise QuestionRefused(
            f"{shown_path(path)} holds no PCC: {quoting.reason(document.why)}. Leave out `accuracy`."
        )
    return Drift(pccs, document.first_drifting_layer)

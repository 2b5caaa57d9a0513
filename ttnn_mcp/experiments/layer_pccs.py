"""What the script of `ttnn-mcp accuracy` found: the PCC after each layer, and the first layer that drifts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from ttnn_mcp import quoting
from ttnn_mcp.errors import QuestionRefused, shown_path
from ttnn_mcp.experiments.experiment import MOST_LAYERS, Correlation, LayerPcc, Number
from ttnn_mcp.readers.regular_file import begin_of_named
from ttnn_mcp.records import dataclass

LARGEST_BYTES = 20_000_000  # a hundred bytes for each of 200,000 ops


class _Layer(BaseModel):
    layer: Number
    accumulated: Correlation | None


class _Document(BaseModel):
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


def read_drift(path: Path) -> Drift:
    """Read what the script wrote. Blocks.

    Raises:
        ReportMissing: there is no file.
        QuestionRefused: the script did not write it, or compared nothing.
    """
    content = begin_of_named(path, LARGEST_BYTES)
    try:
        document = _Document.model_validate_json(content, strict=True)
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

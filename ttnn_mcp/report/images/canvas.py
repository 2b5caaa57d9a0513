"""What all pictures share: size, colours, and the way from a figure to a PNG. Matplotlib draws; it is an extra."""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import io
import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import QuestionRefused

if TYPE_CHECKING:
    from pathlib import Path

COLOURS = {  # the light ones of the page
    "compute": "#0b62c4",
    "dram": "#b3470b",
    "l1": "#1b7a3d",
    "overhead": "#7a3fa8",
    None: "#666d75",
}
NOT_MODELLED = "not modelled"
GAP, BAR, PLAIN, TEXT = "#e3e6ea", "#5b6b7c", "#666d75", "#1a1d21"
WIDTH, HEIGHT, DOTS = 10.0, 6.0, 100  # inches, inches, dots per inch: what a chat shows without scaling
TITLE_CHARS = 130  # of one line in this width


def check_drawable() -> None:
    """Whether pictures can be drawn here.

    Raises:
        QuestionRefused: the extra is not installed.
    """
    if find_spec("matplotlib") is None:
        raise QuestionRefused(
            "A picture needs matplotlib, which is not installed: install ttnn-mcp[picture], or leave `picture` out."
        )


def png(draw: Callable[[Any], None], caches: Path) -> bytes:
    """What `draw` puts on a figure; `caches` is where matplotlib keeps its list of fonts."""
    os.environ.setdefault("MPLCONFIGDIR", str(caches))
    import matplotlib as mpl  # noqa: PLC0415 - an extra
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context({"text.parse_math": False, "font.size": 9}):  # a name with dollars is no formula
        figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DOTS, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        content = io.BytesIO()
        figure.savefig(content, format="png", metadata={"Software": None})
    return content.getvalue()


def head(axes: Any, words: str, *, above: float = 6, chars: int = TITLE_CHARS) -> None:
    """A title in one line, `above` the picture by so many points, and no frame on the sides that carry no scale."""
    axes.set_title(words if len(words) <= chars else f"{words[: chars - 1]}…", loc="left", fontsize=9, pad=above)
    axes.spines[["top", "right"]].set_visible(False)

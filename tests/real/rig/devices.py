"""Mock devices: which chips a program sees is written into a cluster description before TTNN is imported.

Used inside the environment that `environment.ready` makes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from ttnn_mcp.replay.mock_chips import KINDS as MOCK_CHIPS
from ttnn_mcp.replay.mock_chips import T3000, Chips, description

L1_SMALL_BYTES = 32_768


KINDS = {**MOCK_CHIPS, "n300": Chips("wormhole_b0", "n300", harvested=768)}  # two rows off: 8x7 workers


def imported(kind: str) -> Any:
    """TTNN, seeing mock chips of that kind; once per process, before anything else imports it."""
    folder = Path(tempfile.mkdtemp(prefix="mock-chips-"))
    path = folder / f"{kind}.yaml"
    path.write_text(description(KINDS[kind]))
    os.environ["TT_METAL_MOCK_CLUSTER_DESC_PATH"] = str(path)
    os.environ.setdefault("TT_METAL_CACHE", str(folder / "cache"))
    # importing a report, TTNN asks git about the folder in which it is installed: not for this checkout's remote
    os.environ["GIT_CEILING_DIRECTORIES"] = str(Path(sys.prefix).parent)
    os.environ["TT_METAL_LOGGER_LEVEL"] = os.environ["TT_LOGGER_LEVEL"] = "FATAL"
    os.chdir(folder)  # TTNN writes a folder `generated` where it stands
    import_module("loguru").logger.remove()
    ttnn = import_module("ttnn")
    import_module("loguru").logger.remove()
    return ttnn


def opened(ttnn: Any, small: int = L1_SMALL_BYTES, **options: Any) -> Any:
    """One device. An n300 dispatches from a row of workers, as it does by default."""
    if Path(os.environ["TT_METAL_MOCK_CLUSTER_DESC_PATH"]).stem == "n300":
        options.setdefault("dispatch_core_config", ttnn.DispatchCoreConfig(ttnn.DispatchCoreType.WORKER))
    return ttnn.open_device(device_id=0, l1_small_size=small, **options)


def meshed(ttnn: Any) -> Any:
    """All chips of a mesh in one line."""
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    return ttnn.open_mesh_device(ttnn.MeshShape(1, len(T3000.places)), l1_small_size=L1_SMALL_BYTES)


def first_line(raised: BaseException) -> str:
    """What TTNN says, without its backtrace."""
    text = str(raised).split("backtrace:")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = lines[lines.index("info:") + 1] if "info:" in lines[:-1] else (lines or [""])[0]
    return f"{type(raised).__name__}: {said}"[:300]

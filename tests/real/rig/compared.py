"""The script of `ttnn-mcp accuracy` hears real TTNN compare its ops; on a mock device every PCC is meaningless, but there.

    PYTHON -m tests.real.rig.compared        within the environment

Run by the script itself, the same file is the model: three layers of a norm, a linear and a norm.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from ttnn_mcp.replay.mock_chips import KINDS, description
from ttnn_mcp.shell.capture.accuracy_check import SUSPECTS, main

LAYERS = 3
NORMS = {"risk": "a test", "names": ["layer_norm"], "layers": [layer for layer in (1, 2, 3) for _ in range(2)]}


def model() -> None:
    """What a user would run."""
    import torch
    import ttnn

    device = ttnn.open_device(device_id=0, l1_small_size=32768)
    x, weight = (
        ttnn.from_torch(torch.rand(64, 64), layout=ttnn.TILE_LAYOUT, device=device, dtype=ttnn.bfloat16)
        for _ in range(2)
    )
    for _ in range(LAYERS):
        x = ttnn.layer_norm(ttnn.linear(ttnn.layer_norm(x), weight))
    ttnn.close_device(device)


def checked() -> int:
    """Run it, and tell what of it was not heard."""
    folder = Path(tempfile.mkdtemp(prefix="compared-"))
    (folder / "n150.yaml").write_text(description(KINDS["n150"]))
    os.environ["TT_METAL_MOCK_CLUSTER_DESC_PATH"] = str(folder / "n150.yaml")
    os.environ["TT_METAL_CACHE"] = str(folder / "cache")
    SUSPECTS.append(NORMS)
    out = folder / "accuracy.json"
    with suppress(SystemExit):  # the model's own
        main(["--out", str(out), "--", __file__, "model"])
    ops = json.loads(out.read_text())["ops"]
    heard = [one["layer"] for one in ops if one["alone"] is not None and one["accumulated"] is not None]
    wrong = heard != NORMS["layers"]
    sys.stdout.write(f"{'DIFFERS ' if wrong else ''}compared: norms of layers {heard}, alone and accumulated\n")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(model() if sys.argv[1:] == ["model"] else checked())

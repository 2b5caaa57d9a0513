"""What TTNN captures of the device ops that scripts of replays run, a line of JSON each. For the environment with TTNN.

python -m tests.real.rig.arguments KIND SCRIPT ...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.real.rig.devices import imported, opened


def captured(ttnn: Any, device: Any, script: Path) -> str:
    """The printed attributes of the op that a script replays; empty where it needs a mesh, or is refused."""
    names: dict[str, Any] = {"__name__": "script"}
    exec(compile(script.read_text(), str(script), "exec"), names)  # noqa: S102 - what replay_op wrote
    calls = {name: names[name] for name in ("operands", "call", "reference")}
    replay = names["Replay"](ttnn, names["torch"], names["FACTS"], calls)
    if replay.facts["mesh"]:
        return ""
    device.clear_program_cache()
    settings = replay.settings(0)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    try:
        replay.call(device, names["_made"](replay, device, settings, None), settings)
    except RuntimeError:
        return ""
    finally:
        graph = ttnn.graph.end_graph_capture()
    for node in graph[::-1]:
        params = node.get("params") or {}
        if "program_factory_type" in params and names["_is_replayed"](replay, str(params.get("name", ""))):
            return str((node.get("arguments") or [""])[0])
    return ""


if __name__ == "__main__":
    scripts = [Path(one).resolve() for one in sys.argv[2:]]  # TTNN changes the folder
    ttnn = imported(sys.argv[1])
    device = opened(ttnn)
    for one in scripts:
        print(json.dumps({"script": one.name, "captured": captured(ttnn, device, one)}))  # noqa: T201
    ttnn.close_device(device)

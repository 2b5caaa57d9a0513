"""Captures the models of this folder on mock devices: TTNN's report of each, and beside it TTNN's own figures.

    PYTHON -m tests.real.rig.captured KIND FOLDER        within the environment

Every model runs twice: captured, its programs new; and again with the allocator asked after every step.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.real.rig.devices import KINDS, imported, opened
from tests.real.rig.models import MODELS, On, Steps

PEAKS = ("peak_cb", "peak_dataflow_buffer", "peak_l1", "peak_total")
SPACES = ("L1", "L1_SMALL", "DRAM")


def levels(on: On, steps: Steps) -> list[dict[str, int]]:
    """Bytes per bank that the allocator counts after every step."""
    found = []
    for _ in steps:
        views = {name: on.ttnn.get_memory_view(on.device, getattr(on.ttnn.BufferType, name)) for name in SPACES}
        found.append({name: int(view.total_bytes_allocated_per_bank) for name, view in views.items()})
    return found


def captured(on: On, name: str, kind: str, folder: Path) -> dict[str, Any]:
    """Write the report of one model; TTNN's figures of it."""
    model = MODELS[name]
    on.device.clear_program_cache()  # a cached program shows none of its buffers
    before = levels(on, iter([None]))[0]
    folder.mkdir(parents=True)
    graph_file = folder / "graph.json"
    with on.ttnn.graph.full_graph_capture(str(graph_file)):
        for _ in model(on):
            pass
    used = on.ttnn.graph.extract_resource_usage_per_core(json.loads(graph_file.read_text())["graph"])
    import_module("ttnn.graph_report").import_report(graph_file, folder)
    (folder / "config.json").write_text(json.dumps({"report_name": name}))
    info = import_module("ttnn._ttnn").reports.get_device_info(on.device)
    return {
        "before": before,
        "levels": levels(on, model(on)),
        "peaks": {peak: int(getattr(used, peak)) for peak in PEAKS},
        "arch": KINDS[kind].arch,
        "first_buffer": int(info.address_at_first_l1_cb_buffer),
        "worker_l1": int(info.worker_l1_size),
    }


def main(kind: str, folder: Path) -> None:
    """Capture all models."""
    ttnn = imported(kind)
    device = opened(ttnn)
    on = On(ttnn, device)
    figures = {name: captured(on, name, kind, folder / name) for name in MODELS}
    (folder / "figures.json").write_text(json.dumps(figures))
    ttnn.close_device(device)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())

"""Writes the demo's memory report: TTNN captures one pass of resources/demo/model.py on a mock n150.

    python -m tests.real.rig.demo FOLDER       within the environment that `environment.ready` makes

The report stays as TTNN writes it but for the folders of this machine, which take the names in `HOMES`. Pages of
buffers are not traced: each would be a row. FIGURES beside it is what TTNN says of the same pass, run dry as well:
only a dry capture has the buffers of every program.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.real.rig.devices import imported, opened
from tests.real.rig.environment import ROOT
from tests.real.rig.program_buffers import programs

DEMO = ROOT / "resources" / "demo"
FIGURES = "demo_figures.json"
HOME = "/home/user"


def main(out: Path) -> None:
    """Capture the model, import the capture, and keep TTNN's own figures."""
    ttnn = imported("n150")
    work = Path.cwd()
    model_path = Path(shutil.copy(DEMO / "model.py", work / "model.py"))
    model: dict[str, Any] = {"__name__": "model"}
    exec(compile(model_path.read_text("utf-8"), str(model_path), "exec"), model)  # noqa: S102 - ours
    device = opened(ttnn)
    weights, host = model["weights"](device), model["image"]()
    with ttnn.graph.full_graph_capture("graph_capture.json"):
        ttnn.graph.disable_detailed_buffer_tracing()
        model["forward"](host, device, weights)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    model["forward"](host, device, model["weights"](device))
    dry = ttnn.graph.end_graph_capture()
    ttnn.close_device(device)
    from ttnn.graph_report import import_report

    report = work / "made-sample"
    import_report("graph_capture.json", report)
    out.mkdir(parents=True, exist_ok=True)
    homes = {str(work): f"{HOME}/demo", sys.prefix: f"{HOME}/venv", os.path.realpath(sys.prefix): f"{HOME}/venv"}
    homes |= {str(ROOT): f"{HOME}/ttnn-mcp", sys.base_prefix: "/usr"}
    _without_folders(report / "db.sqlite", homes)
    for name in ("db.sqlite", "cluster_descriptor.yaml"):
        shutil.copy(report / name, out / name)
    (out / "config.json").write_text(json.dumps({"report_name": "demo"}) + "\n")
    captured = json.loads(Path("graph_capture.json").read_text())["graph"]
    figures = {
        "ttnn": version("ttnn"),
        "l1_peak_bytes_per_core": _peak(ttnn, dry),
        "l1_peak_by_what_the_report_holds": _peak(ttnn, captured),
        "device_ops": [{"name": name, "cores": cores, "bytes": size} for name, cores, size in programs(dry)],
    }
    (out / FIGURES).write_text(json.dumps(figures, indent=1) + "\n")


def _peak(ttnn: Any, graph: list[dict[str, Any]]) -> int:
    return int(ttnn.graph.extract_resource_usage_per_core(graph).peak_total)


def _without_folders(database: Path, homes: dict[str, str]) -> None:
    """Put the names of `homes` where stack traces name folders of this machine."""
    with closing(sqlite3.connect(database)) as connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall():
                if kind.lower() == "text":
                    for here, there in homes.items():
                        connection.execute(
                            f"UPDATE {table} SET {column} = replace({column}, ?, ?) WHERE instr({column}, ?)",
                            (here, there, here),
                        )
        connection.commit()
        connection.execute("VACUUM")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())

"""Runs a program while TTNN records its graph, and makes the memory report of it.

A file of its own, run by the user's Python, where nothing of ours is installed:

    python recorded.py FOLDER -m MODULE [ARGUMENT ...]
    python recorded.py FOLDER SCRIPT [ARGUMENT ...]

The program imports ttnn itself, so whatever it sets before that keeps its effect. Recording starts when it has opened a
device and ends before one is closed: TTNN 0.81.1 crashes where a recording starts without a device, or outlives it.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module, util
from typing import Any

OPENING = ("open_device", "open_mesh_device", "CreateDevice", "CreateDevices")
CLOSING = ("close_device", "close_mesh_device", "CloseDevice", "CloseDevices")
UNRECORDED = "ttnn-mcp: what runs after a device was closed, on others that are open, is not recorded."


class _Recorder:
    """Stands in the way of the import of ttnn once, and of the opening and closing of devices from then on."""

    def __init__(self, graph: str, recording: ExitStack, imported: Callable[[Any, Any], None]) -> None:
        self.graph, self.recording, self.imported = graph, recording, imported
        self.started = self.ended = self.told = False
        self.ran: Callable[[], int] = int  # device ops so far; none where TTNN does not count them
        self.ran_before_end = 0

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        if name != "ttnn":
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec: Any = util.find_spec(name)
        if spec is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            self.imported(run, module)
            # each device op counts once (tt-metal, ttnn/api/ttnn/device_operation.hpp)
            self.ran = getattr(getattr(module, "_ttnn", None), "get_device_operation_id", int)
            meshes = getattr(getattr(module, "distributed", None), "distributed", None)
            for place in (module, getattr(module, "device", None), meshes):
                for call in (call for call in (*OPENING, *CLOSING) if hasattr(place, call)):
                    wrap = self.started_after if call in OPENING else self.ended_before
                    setattr(place, call, wrap(module, getattr(place, call)))

        spec.loader.exec_module = exec_module
        return spec

    def started_after(self, ttnn: Any, opening: Any) -> Any:
        def opened(*arguments: Any, **named: Any) -> Any:
            device = opening(*arguments, **named)
            if not self.started:
                self.started = True
                self.recording.enter_context(ttnn.graph.full_graph_capture(self.graph))
            elif self.ended:
                self.tell()
            return device

        return opened

    def ended_before(self, _ttnn: Any, closing: Any) -> Any:
        def closed(*arguments: Any, **named: Any) -> Any:
            self.recording.close()
            self.tell_what_ran()
            self.ended, self.ran_before_end = self.started, self.ran()
            return closing(*arguments, **named)

        return closed

    def tell_what_ran(self) -> None:
        """Say so where ops ran since the recording ended."""
        if self.ended and self.ran() > self.ran_before_end:
            self.tell()

    def tell(self) -> None:
        """Say once that something is not recorded."""
        if not self.told:
            self.told = True
            sys.stderr.write(f"{UNRECORDED} Record one test at a time, and close its devices at its end.\n")


def _plainly(run: Callable[[Any], None], module: Any) -> None:
    run(module)


def recorded(folder: str, words: list[str], imported: Callable[[Any, Any], None] = _plainly) -> int:
    """Run the program as `python WORDS` would; its exit status. The report lies in `folder` afterwards.

    `imported` runs the module ttnn when the program imports it.
    """
    from_module = words[0] == "-m"
    program = words[1] if from_module else words[0]
    sys.argv = words[1:] if from_module else words
    sys.path[0] = os.getcwd() if from_module else os.path.dirname(os.path.abspath(program))  # noqa: PTH100, PTH109, PTH120
    graph = os.path.join(os.path.abspath(folder), "graph.json")  # noqa: PTH100, PTH118
    with ExitStack() as recording:
        recorder = _Recorder(graph, recording, imported)
        sys.meta_path.insert(0, recorder)  # type: ignore[arg-type]
        status = _status(program, from_module=from_module)
        recorder.tell_what_ran()
    if os.path.exists(graph):  # noqa: PTH110
        import_module("ttnn.graph_report").import_report(graph, os.path.dirname(graph))  # noqa: PTH120
    return status


def _status(program: str, *, from_module: bool) -> int:
    try:
        if from_module:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program, run_name="__main__")
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        sys.stderr.write(f"{ended.code}\n")
        return 1
    except Exception:  # noqa: BLE001 - as the interpreter does; what was recorded until then is still worth reading
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(recorded(sys.argv[1], sys.argv[2:]))

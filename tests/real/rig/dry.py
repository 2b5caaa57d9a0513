"""Captures one program without dispatching it, which is when TTNN tells the buffers of every device op.

    PYTHON -m tests.real.rig.dry NAME KIND FOLDER [FUNCTION]        within the environment

The program is one of `tests/real/models`, or one of `tests/real/proofs`: those name calls, each of which may be refused.
With a function of TTNN only the calls that name it run.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.real.rig.devices import L1_SMALL_BYTES, T3000, first_line, imported, meshed, opened
from tests.real.rig.proof_calls import Operands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PROOFS = Path(__file__).parents[1] / "proofs"


def main(name: str, kind: str, folder: Path, function: str = "") -> None:
    """Capture it, import the capture, and tell what of L1 lay free below its tensors."""
    ttnn = imported(kind)
    is_proof = (PROOFS / f"{name}.py").is_file()
    program = import_module(f"tests.real.{'proofs' if is_proof else 'models'}.{name}")
    on_mesh = len(T3000.places) > 1 and kind == "t3000"
    device = meshed(ttnn) if on_mesh else opened(ttnn, getattr(program, "L1_SMALL", L1_SMALL_BYTES))
    calls: Iterable[Callable[[], object]]
    if is_proof:
        calls = program.calls(Operands(ttnn, device))  # its operands are made dry, too: they take no room in L1
    else:
        kept = program.weights(device)
        calls = [lambda: program.run(device, kept)]
    room = min(_addresses(ttnn, device), default=None)
    graph_file = folder / "graph.json"
    mode = ttnn.graph.RunMode.NORMAL if getattr(program, "DISPATCHED", False) else ttnn.graph.RunMode.NO_DISPATCH
    with ttnn.graph.full_graph_capture(str(graph_file), run_mode=mode):
        for number, call in enumerate(calls):
            if function and function not in call.__code__.co_names:
                continue
            try:
                call()
            except Exception as refused:  # noqa: BLE001 - a refused call is no proof, and no harm
                sys.stderr.write(f"REFUSED {name} on {kind}, call {number}: {first_line(refused)}\n")
    import_module("ttnn.graph_report").import_report(graph_file, folder)
    (folder / "config.json").write_text(json.dumps({"report_name": name}))
    (folder / "room.json").write_text(json.dumps(room))
    (ttnn.close_mesh_device if on_mesh else ttnn.close_device)(device)


def _addresses(ttnn: Any, device: Any) -> list[int]:
    """Where the buffers lie that are in L1 now, by the bytes below them; L1_SMALL not counted."""
    blocks = ttnn.get_memory_view(device, ttnn.BufferType.L1).block_table
    return [int(block["address"]) for block in blocks if block["allocated"] == "yes"]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]).resolve(), *sys.argv[4:])

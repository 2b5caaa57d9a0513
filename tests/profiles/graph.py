"""The `captured_graph` JSON of one call, as the graph capture of its time wrote it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .model import BUFFER_NUMBERS, Tensor
from .text import grid_text, memory_config_text, shape_text

if TYPE_CHECKING:
    from .model import Call
    from .replay import Event, Replay

STYLES = ("2024", "2025", "2026", "lean")  # lean: 2026 with what a reader can do without left out, for small files


class GraphText:
    """Collects the nodes of one call."""

    def __init__(self, replay: Replay, call: Call, style: str, era: str) -> None:
        self.replay = replay
        self.call = call
        self.style = style
        self.era = era
        self.nodes: list[dict[str, Any]] = []

    def _node(
        self, kind: str, level: int, params: dict[str, str] | None = None, *, to: int = -1, ns: int = 0
    ) -> None:
        node: dict[str, Any] = {"counter": len(self.nodes), "node_type": kind, "params": params or {}}
        node["connections"] = [to] if to >= 0 else []
        if self.style in ("2025", "2026"):
            node |= {"arguments": [], "stacking_level": level}
        if self.style == "2026":
            node |= {"id": node["counter"], "input_tensors": [], "duration_ns": ns}
        self.nodes.append(node)

    def _tensor(self, tensor: Tensor) -> None:
        params = {"shape": shape_text(tensor, self.era), "tensor_id": str(tensor.id)}
        if self.style in ("2025", "2026"):
            params |= {"dtype": f"DataType::{tensor.dtype}", "layout": f"Layout::{tensor.layout}"}
            if tensor.placement is not None:
                address = self.replay.addresses[tensor]
                params |= {
                    "memory_config": memory_config_text(tensor.placement, self.era),
                    "device_id": "0",
                    "address": str(address),
                    "buffer_type": str(BUFFER_NUMBERS[tensor.placement.buffer]),
                }
                devices = [
                    {"device_id": n, "mesh_device_id": n, "address": address}
                    for n in range(self.replay.program.devices)
                ]
                params["device_tensors"] = json.dumps(devices)
        self._node("tensor", 1, params)

    def _buffer_params(self, tensor: Tensor, address: int) -> dict[str, str]:
        placement = tensor.placement
        assert placement is not None
        kind = "L1" if placement.buffer == "L1_SMALL" else placement.buffer
        params = {"size": str(tensor.pages * tensor.page_bytes), "type": kind, "layout": placement.memory_layout}
        if self.style != "2024":
            params |= {
                "page_size": str(tensor.page_bytes),
                "num_cores": str(len(placement.cores)),
                "device_id": "0",
            }
        if self.style == "2026":
            params |= {
                "exact_buffer_type": placement.buffer,
                "buffer_type": str(BUFFER_NUMBERS[placement.buffer]),
            }
        if self.style in ("2026", "lean"):
            params["max_size_per_bank"] = str(self.replay.bank_bytes(tensor))
        return {**params, "address": str(address)}

    def _event(self, event: Event, level: int, start: int) -> None:
        device = {} if self.style == "2024" else {"device_id": "0"}
        if event.kind == "allocate" and event.tensor:
            params = self._buffer_params(event.tensor, event.address)
            if self.style in ("2024", "2025", "2026"):
                brief = {name: params[name] for name in ("size", "type", "layout")}
                self._node("buffer", level, {**brief, **device})
            self._node("buffer_allocate", level, params)
        elif event.kind == "free" and event.tensor:
            params = self._buffer_params(event.tensor, event.address)
            self._node("buffer_deallocate", level, {**params, "size": "0"} if self.style == "2024" else params)
        elif event.kind == "cb_clear":
            self._node("circular_buffer_deallocate_all", level, device, to=start)
        elif event.kind == "cb" and event.buffer and event.op:
            params = {
                "address": str(event.address),
                "size": str(event.buffer.bytes),
                "core_range_set": grid_text(self.replay.grid_of(event.op, event.buffer)),
            }
            if self.style != "2024":
                params |= {"globally_allocated": str(int(event.buffer.over is not None)), "device_id": "0"}
            self._node("circular_buffer_allocate", level, params)

    def text(self) -> str:
        call, start = self.call, 0
        name = call.name if self.style in ("2026", "lean") else call.name.replace("ttnn.", "ttnn::")
        seconds = call.seconds or 0.0
        self._node("capture_start", 0)
        self._node("function_start", 1, {"inputs": str(len(call.inputs)), "name": name})
        for tensor in call.inputs:
            self._tensor(tensor)
        level = 2
        for event in self.replay.events[call]:
            if event.kind == "op_start" and event.op:
                start = len(self.nodes)
                self._node("function_start", 2, {"inputs": str(len(event.op.inputs)), "name": event.op.op_code})
                level = 3
            elif event.kind == "op_end" and event.op:
                level = 2
                if call.seconds is None and event.op is call.ops[-1]:
                    continue  # the op that died never ends
                self._node("function_end", 2, {"name": event.op.op_code})
            else:
                self._event(event, level, start)
        if call.seconds is None:
            error = {"error_type": "RuntimeError", "error_message": call.error or "", "error_operation": call.name}
            self._node("error", 1, error)
        else:
            self._node("function_end", 1, {"name": name}, ns=round(seconds * 1e9))
            for tensor in call.outputs:
                self._tensor(tensor)
        self._node("capture_end", 0)
        separators = (",", ":") if self.style == "lean" else None
        return json.dumps(self.nodes, separators=separators)


def graph_text(replay: Replay, call: Call, style: str, era: str) -> str:
    return GraphText(replay, call, style, era).text()

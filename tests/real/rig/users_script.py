"""A script as a user writes it, knowing nothing of mock devices; `ttnn-mcp capture` runs it in the part `mocks`.

python users_script.py [refused | full]
"""

from __future__ import annotations

import sys

import torch
import ttnn

device = ttnn.open_device(device_id=0, l1_small_size=32768, trace_region_size=1 << 20, num_command_queues=2)
kept = [ttnn.from_torch(torch.rand(1024, 1024), layout=ttnn.TILE_LAYOUT, device=device, dtype=ttnn.bfloat16)]
given = ttnn.from_torch(torch.rand(512, 1024), layout=ttnn.TILE_LAYOUT, device=device, dtype=ttnn.bfloat16)


def model() -> ttnn.Tensor:
    """One layer."""
    hidden = ttnn.linear(given, kept[0], activation="gelu", memory_config=ttnn.L1_MEMORY_CONFIG)
    normed = ttnn.layer_norm(hidden, memory_config=ttnn.L1_MEMORY_CONFIG)
    return ttnn.softmax(ttnn.add(normed, 1.0), dim=-1)


model()
ttnn.wait_for_event(1, ttnn.record_event(device, 0))
trace = ttnn.begin_trace_capture(device, cq_id=0)
result = model()
ttnn.end_trace_capture(device, trace, cq_id=0)
ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
if "refused" in sys.argv:
    ttnn.matmul(given, result)
while "full" in sys.argv:
    kept.append(ttnn.add(result, 1.0, memory_config=ttnn.L1_MEMORY_CONFIG))
print(ttnn.to_torch(result).shape)  # noqa: T201
ttnn.close_device(device)

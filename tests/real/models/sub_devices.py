"""Two sub-devices of one chip, each with work of its own, then the whole chip again."""

import torch
import ttnn

KIND = "n150"


def weights(device):
    return ttnn.from_torch(torch.randn(1, 1, 512, 512), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def cores(x0, y0, x1, y1):
    return ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(x0, y0), ttnn.CoreCoord(x1, y1))})


def run(device, kept):
    first, second = cores(0, 0, 3, 7), cores(4, 0, 7, 7)
    manager = device.create_sub_device_manager([ttnn.SubDevice([first]), ttnn.SubDevice([second])], 3200)
    device.load_sub_device_manager(manager)
    outputs = []
    for place in (first, second):
        memory = ttnn.MemoryConfig(
            ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1,
            ttnn.ShardSpec(place, [32, 512], ttnn.ShardOrientation.ROW_MAJOR),
        )
        x = ttnn.to_memory_config(kept, memory)
        outputs.append(ttnn.to_memory_config(ttnn.add(x, x, memory_config=memory), ttnn.DRAM_MEMORY_CONFIG))
    device.clear_loaded_sub_device_manager()
    device.remove_sub_device_manager(manager)
    return ttnn.linear(*outputs, memory_config=ttnn.L1_MEMORY_CONFIG)

"""Programs made for tests of their models: what a graph prints of them, on a Wormhole of 8x8 cores."""

from __future__ import annotations

from ttnn_mcp.analyses.from_graph.models import TtnnModels
from ttnn_mcp.analyses.from_graph.program import Machine
from ttnn_mcp.analyses.memory.left_out import Room
from ttnn_mcp.readers.graph.launches import Launch
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.printed.memory_config import Placement, ShardSpec

BANK = 1_360_544  # bytes of L1 above the first program buffer, L1_SMALL of 32 kB not counted
WORMHOLE = Machine((8, 8), "wormhole_b0", 12, BANK)
DTYPES = {"bf": "BFLOAT16", "b8": "BFLOAT8_B", "b4": "BFLOAT4_B", "f32": "FLOAT32"}
KERNEL = "ComputeKernelConfig(math_fidelity=HiFi2,fp32_dest_acc_en={},packer_l1_acc={})"


def tensor(*shape, dtype="bf", rows=False, place="DRAM"):
    """An interleaved tensor."""
    return Spec(shape, DTYPES[dtype], not rows, Placement("INTERLEAVED", place))


def sharded(*shape, layout, shard, cores, dtype="bf", buffer="L1", rows=False):
    """A tensor in shards on the first columns and rows of cores."""
    spec = ShardSpec((((0, 0), (cores[0] - 1, cores[1] - 1)),), shard)
    return Spec(shape, DTYPES[dtype], tiled=not rows, placement=Placement(f"{layout}_SHARDED", buffer, spec))


def modelled(name, inputs, out, *, factory="", attributes="", room=BANK, machine=WORMHOLE, **asked):
    """Bytes per core that the model of a device op tells."""
    outputs = out if isinstance(out, tuple) else (out,)
    launch = Launch(name, factory, attributes, tuple(inputs), outputs)
    return TtnnModels(machine, {1: asked}).bytes_per_core(launch, 1, Room(room, room))

"""Ops that laws are asked about, as engineers measured them; each test changes what it is about."""

from ttnn_mcp.analyses.laws.attention import AttentionDescription
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.matmuls import MatmulDescription
from ttnn_mcp.analyses.laws.moves import MoveDescription
from ttnn_mcp.analyses.laws.others import ElementwiseDescription, NormDescription

DRAM = "DRAM_INTERLEAVED"


def banked(chip="wormhole_b0", **how):
    """A decode matmul whose weights are sharded over the banks of DRAM."""
    asked = {"k": 4096, "n": 4096, "in1_dtype": "BFLOAT8_B", "fidelity": "HiFi2", "block_w": 16, **how}
    return MatmulDescription(chip, program="DRAM_SHARDED", **asked)


def spread(chip="wormhole_b0", **how):
    """A decode matmul on interleaved weights."""
    asked = {"k": 4096, "n": 4096, "in1_dtype": "BFLOAT8_B", "fidelity": "LoFi", "block_w": 8, "cores": 64, **how}
    return MatmulDescription(chip, program="1D", in1_place=DRAM, **asked)


def experts(active=8, slots=None, **how):
    """A sparse matmul of Blackhole over one row of tiles for each active expert."""
    asked = {"k": 2048, "n": 1536, "in1_dtype": "BFLOAT4_B", "block_w": 16, "per_core_n": 1, "cores": 48, **how}
    counted = {"active": active, "slots": active if slots is None else slots}
    return MatmulDescription("blackhole", program="SPARSE", in1_place=DRAM, fidelity="LoFi", **asked, **counted)


def many_rows(chip="blackhole", program="2D", **how):
    """A matmul of many rows, all in DRAM."""
    asked = {"rows": 2048, "k": 2048, "n": 2048, "fidelity": "HiFi2", "grid": (8, 8), **how}
    places = dict.fromkeys(("in0_place", "in1_place", "out_place"), DRAM)
    formats = dict.fromkeys(("in0_dtype", "in1_dtype", "out_dtype"), "BFLOAT16")
    return MatmulDescription(chip, program=program, **{**places, **formats, **asked})


def prefill(chip="blackhole", **how):
    asked = {"heads": 32, "kv_heads": 8, "queries": 4096, "keys": 4096, "head_size": 128, **how}
    chunks = {"q_chunk": 128, "k_chunk": 128, "causal": True, "kv_dtype": "BFLOAT8_B", "fidelity": "HiFi2"}
    return AttentionDescription(chip, **{"cores": 110, **chunks, **asked})


def decode(chip="blackhole", **how):
    asked = {"batch": 8, "heads": 32, "kv_heads": 8, "keys": 8192, "head_size": 128, **how}
    return AttentionDescription(chip, mode="decode", **{"cores": 110, "kv_dtype": "BFLOAT8_B", **asked})


def norm(chip="wormhole_b0", **how):
    """A layer norm in shards of 3 x 4 tiles."""
    asked = {"block_h": 3, "block_w": 4, "dtype": "BFLOAT16", "in_place": "L1_BLOCK_SHARDED", **how}
    return NormDescription(chip, rows=576, width=1024, **asked)


def addition(chip="blackhole", **how):
    asked = {"kind": "add", "tiles": 10_240, "inputs": 2, "dtype": "BFLOAT8_B", "cores": 110, **how}
    return ElementwiseDescription(chip, **{"in_place": DRAM, "out_place": DRAM, **asked})


def move(kind, chip="wormhole_b0", **how):
    asked = {"rows": 512, "width": 512, "cores": 64, "from_place": DRAM, "to_place": DRAM, **how}
    return MoveDescription(chip, kind=kind, **asked)


def us(op):
    """The expected time."""
    answer = expected(op)
    assert answer is not None, op
    return answer.us


def holds(op, measured_us):
    """Whether the interval holds what was measured."""
    answer = expected(op)
    return answer is not None and answer.low_us <= measured_us <= answer.high_us

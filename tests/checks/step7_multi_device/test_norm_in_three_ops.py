"""norm-in-three-ops: the halves of a norm over devices, the gather between them and what follows, as ops of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.checks.mesh_programs import mesh
from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, without
from tests.for_all import for_all
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.worth import USUAL

if TYPE_CHECKING:
    from tests.profiles import Program

LINE = {"dim": 3, "num_links": 4, "ring_size": 4, "topology": "Topology::Ring"}
NAMES = ("FusedRMSNormPreAllGather", "AllGatherAsync", "FusedRMSNormPostAllGather", "RotaryEmbeddingLlama")
NS = (25_000, 38_000, 39_000, 40_000)  # LTX-2.3, first stage


def put_norm(program, *, names=NAMES, also_read=(), rows=1216):
    """A quarter of 4096 columns on each of four chips."""
    x = put(program, DeviceOp("UnaryDeviceOperation", (program.tensor([1, 1, rows, 1024]),), (program.tensor([1, 1, rows, 1024]),), 9_000))  # fmt: skip
    made, parts = x, []
    for place, (name, width, took) in enumerate(zip(names, (32, 128, 1024, 1024), NS, strict=True)):
        given = (x, made) if place == 2 else (made,)
        out = program.tensor([1, 1, rows, width], "BFLOAT8_B" if place == 3 else "BFLOAT16")
        made = put(program, DeviceOp(f"{name}DeviceOperation", given, (out,), took, fidelity="HiFi4", attributes=LINE if place == 1 else {}))  # fmt: skip
        parts.append(made)
    for place in also_read:
        put(program, DeviceOp("UnaryDeviceOperation", (parts[place],), (program.tensor(parts[place].shape, "FLOAT32"),), 1_000))  # fmt: skip


def normed(**how):
    program: Program = mesh()
    put_norm(program, **how)
    return program


def test_all_but_the_bytes_of_one_op_can_go(check, tmp_path):
    outcome = check.ask(normed())
    (claim,) = outcome.claims
    streamed = outcome.case.roofline.dram_achievable_ns[claim.rows[2]]
    assert streamed > LAUNCH_FLOOR_NS
    assert claim.at_most_ns.tolist() == pytest.approx([25_000, 38_000, 39_000 - streamed, 40_000])
    assert (claim.is_trial, claim.gone.tolist()) == (True, claim.rows[[0, 1, 3]].tolist())
    assert claim.claim.startswith("Norms over devices run as three ops and more (1x, 142 us, ")
    assert "`ttnn.experimental.dit_fused_distributed_rmsnorm` (x" in claim.fix

    def beside(other_ns):
        made = normed()
        pass_time(made, other_ns)
        return made

    whole, saved = outcome.case.total_ns, claim.at_most_ns.sum()
    check.pair(lambda share: beside(saved / share - whole), silent=USUAL * 0.99, fires=USUAL * 1.01)
    short = check.ask(normed(rows=32)).claim
    assert short.at_most_ns[2] == 39_000 - LAUNCH_FLOOR_NS
    # so many rows were not read in this time: both halves say nothing
    assert check.ask(normed(rows=12_160)).claim.at_most_ns.tolist() == [0, 38_000, 0, 0]
    names = ("LayerNormPreAllGather", "AllGatherAsync", "LayerNormPostAllGather", "Unary")
    assert "(or `_layernorm`" in check.assert_sound(normed(names=names)).fix
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), normed())), "INPUT")


@for_all(
    ("how", "rows"),
    [
        ({"names": (*NAMES[:3], "Ternary")}, 4),
        ({"names": (*NAMES[:3], "RotaryEmbedding")}, 3),
        ({"also_read": (2,)}, 3),
        ({"also_read": (3,)}, 4),
        ({"also_read": (1,)}, 0),
        ({"names": ("Unary", *NAMES[1:])}, 0),
        ({"names": (NAMES[0], "ReduceScatter", *NAMES[2:])}, 0),
        ({"names": (*NAMES[:2], "Unary", NAMES[3])}, 0),
    ],
)
def test_what_follows_goes_in_where_nobody_else_reads_the_norm(check, how, rows):
    assert sum(len(claim.rows) for claim in check.ask(normed(**how)).claims) == rows

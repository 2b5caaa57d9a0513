"""The chunks of prefill attention: the largest that fit L1 and leave a chunk of queries for every core."""

from __future__ import annotations

import numpy as np
import pytest

from tests.checks.asking import Asker
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.programs.attention import Attention
from ttnn_mcp.checks.shared import attention_chunks
from ttnn_mcp.checks.shared.attention_chunks import fits, larger_chunks, printed_chunks

NO_CORES = "CORE COUNT"  # neither those an op used nor those there are


@pytest.fixture
def facts(tmp_path):
    asker = Asker("", tmp_path, iter(range(9)))

    def of(*ops, generation="C7", without="", clock_ghz=None, arch="wormhole_b0"):
        program = Program(arch, clock_ghz=clock_ghz)
        for op in ops:
            put(program, op(program))
        return asker.case(program, generation=generation, without=without)

    return of


def attention(chunks=(32, 32), *, heads=8, rows=4096, width=64, mask="", sums="0"):
    """`mask` is the data type of a mask, `sums` whether destination registers hold FLOAT32."""

    def made(program):
        operands = [program.tensor([1, heads, rows, width]) for _ in "QKV"]
        if mask:
            operands.append(program.tensor([1, 1, rows, rows], mask))
        out = program.tensor([1, heads, rows, width])
        op = DeviceOp("ScaledDotProductAttentionDeviceOperation", tuple(operands), (out,), 4_000_000)
        op.attributes = {
            "is_causal": False,
            "program_config": f"SDPAProgramConfig(q_chunk_size={chunks[0]},k_chunk_size={chunks[1]})",
            "compute_kernel_config": f"WormholeComputeKernelConfig(fp32_dest_acc_en={sums},packer_l1_acc=0)",
        }
        return op

    return made


@for_all(("arch", "chains"), [("wormhole_b0", False), ("blackhole", True)])
def test_cores_of_a_blackhole_may_pass_keys_on(facts, monkeypatch, arch, chains):
    told = []
    monkeypatch.setattr(attention_chunks, "Attention", lambda **how: told.append(how["chains"]) or Attention(**how))
    assert fits(facts(attention(), arch=arch), 0, 32, 32)
    assert told == [chains]


@for_all(("q", "k", "there"), [(0, 32, False), (32, 0, False), (32, 32, True)])
def test_chunks_of_nothing_fit_nowhere(facts, q, k, there):
    assert fits(facts(attention()), 0, q, k) is there


def pairs(chunks_of, case):
    return [tuple(pair) for pair in chunks_of(case, np.arange(len(case))).tolist()]


def larger(case):
    return pairs(larger_chunks, case)


def test_each_op_keeps_what_it_printed_and_is_given_its_own(facts):
    case = facts(attention((128, 64)), attention((32, 256), width=256), attention((128, 64)))
    assert pairs(printed_chunks, case) == [(128, 64), (32, 256), (128, 64)]
    assert larger(case) == [(256, 256), (128, 256), (256, 256)]


@for_all(
    ("width", "fitting"),
    [(192, (256, 256)), (256, (256, 128)), (512, (128, 128)), (768, (64, 64)), (1024, (64, 32))],
)
def test_wider_heads_leave_room_for_smaller_chunks(facts, width, fitting):
    assert larger(facts(attention(width=width))) == [fitting]


@for_all("printed", [(256, 32), (32, 256)])
def test_neither_chunk_is_made_smaller_for_the_others_sake(facts, printed):
    """At this width 128 x 128 fits, twice the area of what is printed, and nothing with a side of 256."""
    assert larger(facts(attention(printed, width=512))) == [printed]


def test_fewer_chunks_of_queries_than_cores_are_not_advised(facts):
    """8 heads of 8 chunks for 64 cores; 7 heads need 16 chunks each."""
    assert larger(facts(attention(heads=8, rows=2048))) == [(256, 256)]
    assert larger(facts(attention(heads=7, rows=2048))) == [(128, 256)]


def test_a_grid_nobody_tells_is_taken_for_64_cores(facts):
    assert larger(facts(attention(heads=8, rows=2048), without=NO_CORES)) == [(256, 256)]
    assert larger(facts(attention(heads=7, rows=2048), without=NO_CORES)) == [(128, 256)]


def test_chunks_of_keys_grow_where_queries_do_not_fill_the_cores_as_it_is(facts):
    assert larger(facts(attention((64, 32), heads=1, rows=2048))) == [(64, 128)]


def test_sums_in_float32_and_a_mask_take_room(facts):
    assert larger(facts(attention(width=192))) == [(256, 256)]
    assert larger(facts(attention(width=192, sums="1"))) == [(256, 128)]
    assert larger(facts(attention(width=192, mask="BFLOAT16"))) == [(256, 128)]
    assert larger(facts(attention(width=192), attention(width=192, mask="BFLOAT16"))) == [(256, 256), (256, 128)]


def test_without_all_operands_or_a_known_chip_nothing_is_known_to_fit(facts):
    assert larger(facts(attention(), without="INPUT_2")) == [(32, 32)]
    assert larger(facts(attention(), generation="C4", clock_ghz=0.7)) == [(32, 32)]

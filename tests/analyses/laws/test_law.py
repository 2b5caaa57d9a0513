"""What all laws keep: silence where nothing was measured, intervals, the roofline."""

import math
import timeit
from dataclasses import replace
from functools import partial
from itertools import product

import pytest

from tests.analyses.laws import asked
from tests.for_all import for_all
from ttnn_mcp.analyses.laws import attention, law, moves
from ttnn_mcp.analyses.laws import matmuls as of_matmuls
from ttnn_mcp.analyses.laws import others as of_others
from ttnn_mcp.analyses.laws.attention import AttentionDescription
from ttnn_mcp.analyses.laws.catalogue import LAWS, expected, silence
from ttnn_mcp.analyses.laws.law import fitted_laws
from ttnn_mcp.analyses.laws.matmuls import MatmulDescription
from ttnn_mcp.analyses.laws.moves import MoveDescription
from ttnn_mcp.analyses.laws.others import CollectiveDescription, ElementwiseDescription, NormDescription
from ttnn_mcp.hardware import FIDELITY_PHASES, TILE_BYTES

CHIPS = ("wormhole_b0", "blackhole", "grayskull")
SIDES = (1, 32, 48, 700, 4096, 33_000)
PLACES = ("DRAM_INTERLEAVED", "L1_INTERLEAVED", "L1_BLOCK_SHARDED", "L1_HEIGHT_SHARDED", "")
BANKED = LAWS[0]
FURTHER = 1.25  # outside of what was measured


def test_an_answer_has_an_interval_its_law_and_its_sources():
    answer = expected(asked.banked())
    assert answer.low_us < answer.us < answer.high_us
    assert answer.law == BANKED.name
    assert answer.source == "39 measurements of dram_sharding_n150, autoport_llama_8b (ttnn://laws)"


@for_all(
    "how",
    [{"in1_dtype": "BFLOAT16"}, {"fidelity": "HiFi4"}, {"fused": "SILU"}, {"batch": 2}, {"block_w": None}],
    ids=lambda how: next(iter(how)),
)
def test_what_was_not_measured_has_no_answer(how):
    assert expected(asked.banked()) is not None
    assert expected(replace(asked.banked(), **how)) is None


@for_all(
    ("op", "why"),
    [
        (asked.banked(in1_dtype="BFLOAT16"), f"{BANKED.name}: in1_dtype BFLOAT16, measured BFLOAT4_B BFLOAT8_B"),
        (asked.banked(in1_dtype=""), f"{BANKED.name}: in1_dtype unknown, measured BFLOAT4_B BFLOAT8_B"),
        (asked.banked(k=64_000), f"{BANKED.name}: k 64,000, measured 1,024 to 18,944"),
        (asked.banked(block_w=None), "no formula is about this form of it, or too little is told"),
        # the law with the fewest differences, though another one stands before it
        (asked.many_rows(n=33_000), "matmul of many rows, 2D: n 33,000, measured 32 to 13,312"),
        (asked.norm("blackhole"), "norm, sharded: none for blackhole that errs little enough"),
        (asked.addition("wormhole_b0"), "element-wise, two tensors: none for wormhole_b0 that errs little enough"),
        (asked.addition("grayskull"), "element-wise, two tensors: none for grayskull that errs little enough"),
    ],
    ids=lambda value: "",
)
def test_why_laws_are_silent_is_what_keeps_the_nearest(op, why):
    assert expected(op) is None
    assert silence(op) == why


NO_SHARDS = {"block_h": None, "in_place": asked.DRAM}
HEIGHT = {"in0_place": "L1_HEIGHT_SHARDED", "cores": 10}


@for_all(
    ("factors", "op", "changes"),
    [
        (of_matmuls.banked, asked.banked(), [{"program": "2D"}, {"rows": 33}, {"block_w": None}, {"fidelity": ""}]),
        (
            of_matmuls.spread,
            asked.spread(),
            [{"program": "2D"}, {"rows": 33}, {"block_w": None}, {"in1_place": "L1"}],
        ),
        (
            of_matmuls.one_by_one,
            asked.experts(),
            [
                {"rows": 33},
                {"cores": None},
                {"per_core_n": None, "subblock_w": 2},
                {"per_core_n": 2},
                {"active": None},
            ],
        ),
        (
            partial(of_matmuls.blocks, program="2D"),
            asked.many_rows(),
            [{"program": "1D"}, {"rows": 32}, {"fidelity": ""}, {"in0_place": "L1_HEIGHT_SHARDED"}, {"grid": None}],
        ),
        (
            of_matmuls.minimal,
            asked.many_rows(program="MINIMAL"),
            [{"program": "2D"}, {"batch": 2}, {"fidelity": ""}, {"grid": None}],
        ),
        (
            of_matmuls.height,
            asked.many_rows(program="1D", **HEIGHT),
            [{"program": "2D"}, {"fused": "SILU"}, {"in0_place": asked.DRAM}, {"cores": None}],
        ),
        (
            attention.prefill,
            asked.prefill(),
            [{"mode": "decode"}, {"q_chunk": None}, {"k_chunk": None}, {"cores": None}, {"fidelity": ""}],
        ),
        (attention.decode, asked.decode(), [{"mode": "prefill"}, {"kv_dtype": ""}, {"cores": None}]),
        (
            of_others.sharded_norm,
            asked.norm(),
            [{"block_h": None}, {"block_w": None}, {"in_place": asked.DRAM}, {"residual": True}],
        ),
        (
            of_others.interleaved_norm,
            asked.norm(cores=8, **NO_SHARDS),
            [{"in_place": "L1_BLOCK_SHARDED"}, {"cores": None}],
        ),
        (
            of_others.gather,
            CollectiveDescription("blackhole", kind="all_gather", devices=4, size=1e6, links=2, topology="ring"),
            [{"kind": "all_reduce"}, {"links": None}, {"topology": ""}, {"chip": "grayskull"}],
        ),
        (moves.untilized, asked.move("untilize"), [{"kind": "tilize"}, {"cores": None}]),
        (moves.resharded, asked.move("to_shards"), [{"kind": "clone"}, {"cores": None}]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_formula_is_about_its_own_kind_of_op_whatever_was_measured(factors, op, changes):
    assert factors(op) is not None
    for how in changes:
        assert factors(replace(op, **how)) is None, how


@for_all(
    ("chip", "how", "cores"),
    [
        ("wormhole_b0", {"grid": None}, 80),
        ("blackhole", {"grid": None}, 130),
        ("blackhole", {}, 64),
        ("blackhole", {"cores": 8}, 8),
        ("blackhole", {"cores": 4, "program": "DRAM_SHARDED"}, 130),  # those hold its operands
    ],
)
def test_no_op_is_faster_than_its_cores_multiply_or_those_of_the_largest_card(chip, how, cores):
    op = asked.many_rows(chip, rows=8192, k=8192, n=8192, fidelity="HiFi4", **how)
    assert op.floor_us == pytest.approx(op.engine_us(op.products / cores) / 1.05)


def test_a_p100_reads_from_seven_banks_at_its_own_rate():
    """Weights of a DRAM-sharded matmul: 448 columns of tiles are 64 on each of seven banks."""
    op = asked.banked("blackhole", n=14_336, in1_dtype="BFLOAT16", in1_place="DRAM_WIDTH_SHARDED", card_gb_s=448.0)
    read_us = 128 * 448 * TILE_BYTES["BFLOAT16"] / 448e3
    assert op.floor_us == pytest.approx(read_us / 1.05)
    assert of_matmuls.banked(op)[0] == pytest.approx(read_us)
    prompt = asked.prefill()
    assert attention.prefill(replace(prompt, card_gb_s=448.0)) == attention.prefill(prompt)
    assert asked.us(replace(asked.decode(), card_gb_s=448.0)) > 1.1 * asked.us(asked.decode())


def test_a_decode_matmul_on_few_cores_takes_its_passes():
    op = asked.spread("blackhole", k=4096, n=14336, block_w=16, cores=8, fidelity="HiFi4")
    answer = expected(op)
    assert answer.low_us == op.floor_us == pytest.approx(128 * 56 * 16 * 4 / 1350 / 1.05)  # 16 cycles a pass


def test_a_chip_without_measurements_has_no_answer():
    assert expected(asked.banked("grayskull")) is None


def test_sizes_may_lie_a_margin_outside_of_those_measured_and_no_further():
    most = fitted_laws()[BANKED.name]["wormhole_b0"].ranges["wormhole_b0"]["n"][1]
    inside = asked.banked(k=1024, block_w=4, n=int(most * FURTHER))
    assert expected(inside) is not None
    assert expected(replace(inside, n=inside.n + 32)) is None
    least = fitted_laws()[BANKED.name]["wormhole_b0"].ranges["wormhole_b0"]["k"][0]
    small = asked.banked(k=math.ceil(least / FURTHER), block_w=4)
    assert expected(small) is not None
    assert expected(replace(small, k=small.k - 32)) is None


def test_times_lie_no_further_outside_than_sizes(monkeypatch):
    fitted = fitted_laws()[BANKED.name]["wormhole_b0"]
    answer = BANKED.expected(asked.banked())
    for ends, speaks in (
        ((answer.us * FURTHER, 1e4), True),
        ((answer.us / FURTHER, 1e4), True),
        ((answer.us * FURTHER * 1.01, 1e4), False),
    ):
        ranges = {"wormhole_b0": {**fitted.ranges["wormhole_b0"], "us": ends}}
        other = {BANKED.name: {"wormhole_b0": replace(fitted, ranges=ranges)}}
        monkeypatch.setattr(law, "fitted_laws", lambda other=other: other)
        assert (BANKED.expected(asked.banked()) is not None) == speaks


def test_a_law_that_is_not_good_enough_is_silent(monkeypatch):
    fitted = fitted_laws()[BANKED.name]["wormhole_b0"]
    other = {BANKED.name: {"wormhole_b0": replace(fitted, good=False)}}
    monkeypatch.setattr(law, "fitted_laws", lambda: other)
    assert BANKED.expected(asked.banked()) is None
    assert BANKED.expected(asked.banked("blackhole")) is None


def test_no_law_answers_below_the_roofline(monkeypatch):
    fitted = fitted_laws()[BANKED.name]["wormhole_b0"]
    free = replace(fitted, coefficients=(0.0,) * len(fitted.coefficients), ranges={"wormhole_b0": {
        **fitted.ranges["wormhole_b0"], "us": (0.0, 1e9)}})  # fmt: skip
    monkeypatch.setattr(law, "fitted_laws", lambda: {BANKED.name: {"wormhole_b0": free}})
    op = replace(asked.banked(), in1_place="DRAM_WIDTH_SHARDED")
    answer = BANKED.expected(op)
    least_us = 128 * 128 * TILE_BYTES["BFLOAT8_B"] / 288e3 / 1.05
    assert answer.us == answer.low_us == pytest.approx(least_us)


def matmuls():
    programs = ("1D", "2D", "DRAM_SHARDED", "MINIMAL", "AUTO", "")
    for chip, program, m, k, n in product(CHIPS, programs, SIDES, SIDES, SIDES):
        place = PLACES[(m + k) % len(PLACES)]
        dtype, fidelity = [*TILE_BYTES][(k + n) % len(TILE_BYTES)], ["", *FIDELITY_PHASES][(m + n) % 5]
        yield MatmulDescription(
            chip, 64 if n % 3 else None, (8, 8) if k % 3 else None, fidelity, m, k, n, 1, dtype, dtype, dtype,
            place, "DRAM_INTERLEAVED", place, program, 2 if k % 5 else None, None, None,
        )  # fmt: skip
        yield asked.many_rows(chip, program or "2D", rows=m, k=k, n=n)


def others():
    for chip, rows, width, place in product(CHIPS, SIDES, SIDES, PLACES):
        for dtype in ("BFLOAT16", "BFLOAT8_B", ""):
            yield NormDescription(
                chip,
                64,
                rows=rows,
                width=width,
                dtype=dtype,
                in_place=place,
                out_place=place,
                block_h=rows // 32 or None,
                block_w=width // 32 or None,
            )
            for kind in ("add", "exp"):
                yield ElementwiseDescription(
                    chip,
                    64,
                    kind=kind,
                    tiles=rows * width // 1024,
                    inputs=1 + (kind == "add"),
                    dtype=dtype,
                    in_place=place,
                    out_place=place,
                )
            for kind in ("clone", "typecast", "tilize", "untilize", "to_shards", "from_shards"):
                yield MoveDescription(
                    chip,
                    64,
                    kind=kind,
                    rows=rows,
                    width=width,
                    dtype=dtype,
                    from_place=place,
                    to_place=place,
                    ragged=width % 32 > 0,
                )
            for mode in ("prefill", "decode"):
                yield AttentionDescription(
                    chip,
                    64,
                    fidelity="HiFi2",
                    mode=mode,
                    heads=32,
                    kv_heads=8,
                    queries=rows,
                    keys=width,
                    head_size=128,
                    q_chunk=128,
                    k_chunk=128,
                    kv_dtype=dtype,
                    causal=rows == width,
                )
        yield CollectiveDescription(
            chip, kind="all_gather", devices=4, size=rows * width * 2.0, links=4, topology="ring"
        )


def test_every_answer_is_a_number_at_or_above_the_roofline():
    answered = 0
    for op in (*matmuls(), *others()):
        answer = expected(op)
        if answer is None:
            continue
        answered += 1
        assert math.isfinite(answer.high_us), op
        assert 0 < op.floor_us <= answer.low_us <= answer.us <= answer.high_us or op.floor_us == 0 < answer.low_us
    assert answered > 400


def test_one_answer_takes_no_time_to_speak_of():
    ops = (asked.banked(), asked.spread(), asked.prefill(), asked.norm(), asked.move("untilize"))
    for op in ops:
        expected(op)
    each_s = min(timeit.repeat(lambda: [expected(op) for op in ops], number=5, repeat=50)) / 5 / len(ops)
    assert each_s < 50e-6

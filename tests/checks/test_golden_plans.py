"""Whole plans of five real models, as they were reviewed: (edit, where, share, expected, alone, then, relation) of each edit.

The file holds what the plan says. The ops behind it are added up here with the csv module alone, and what they save
follows by the bound that the finding states, of the rates that are published (`oracles/roofs.py`); what rests on a law
or a model instead is named. What changes a plan changes the file: look at each line before.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.asking import ask, reader
from tests.for_all import for_all
from tests.oracles.plan_sums import rows_of
from tests.oracles.roofs import (
    BLACKHOLE,
    GAP,
    LAUNCH_US,
    WORMHOLE,
    all_but,
    bytes_of,
    down_to,
    dram_us,
    engine_us,
    fewer_bytes,
    in_step,
    roof_us,
    rows_in,
    saved_together,
    sizes,
    us,
    without_padding,
)
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracles.roofs import Row, Rows, Saving

    Among = Callable[[Rows], list[int]]

GOLDEN = json.loads(Path(__file__).with_name("golden_plans.json").read_text("utf-8"))
COLUMNS = ("edit", "where", "share", "expected_us", "alone_us", "then_us", "relation")
ROOT = Path(__file__).parents[2]


@for_all("name", GOLDEN, sampled=2)
async def test_a_plan_is_what_was_reviewed(tmp_path, name):
    answer = await ask(reader(tmp_path), "optimization_check", run=str(shared(name)))
    plan = [[edit[column] for column in COLUMNS] for edit in rows_of(answer["plan"])]
    assert plan == GOLDEN[name]["edits"]
    assert [answer["total"][which] for which in ("before_us", "after_us")] == [
        GOLDEN[name][which] for which in ("before_us", "after_us")
    ]


@for_all("name", GOLDEN)
def test_what_is_left_of_a_window_is_what_the_edits_leave(name):
    plan = GOLDEN[name]
    saved = sum(then for *_, then, _ in plan["edits"])
    smaller_us = 0.005 * plan["before_us"]  # edits without a line save less than that each
    assert plan["after_us"] == pytest.approx(plan["before_us"] - saved, abs=smaller_us)
    for edit, _, share, expected, alone, then, relation in plan["edits"]:
        assert then <= alone <= (share + 1e-4) * plan["before_us"], edit  # a share has four decimals
        assert expected is None or expected <= alone, edit
        assert then == alone or relation, edit


def of_line(*wanted: int) -> Among:
    return lambda rows: [line for line in rows if line in wanted]


def named(code: str, column: str = "OP CODE", cell: str = "", since: int = 0) -> Among:
    """Ops of a name, of which a column begins so."""
    return lambda rows: [
        line
        for line, row in rows.items()
        if line >= since and row["OP CODE"].startswith(code) and row[column].startswith(cell)
    ]


def of_tiny_rows(rows: Rows) -> list[int]:
    """Reshapes, permutes and concats from or to rows of less than 64 bytes."""
    moves = (line for line, row in rows.items() if row["OP CODE"].startswith(("Reshape", "Permute", "Concat")))
    sides = ("INPUT_0", "OUTPUT_0")
    return [
        line
        for line in moves
        if any(
            rows[line][f"{side}_LAYOUT"] == "ROW_MAJOR" and 2 * sizes(rows[line], side)[-1] < 64 for side in sides
        )
    ]


def alike(line: int) -> Among:
    """MinimalMatmuls with the weights of one op."""
    shape = [f"INPUT_1_{axis}_PAD[LOGICAL]" for axis in "YX"]
    return lambda rows: [
        each
        for each in named("MinimalMatmul", since=938)(rows)
        if [rows[each][axis] for axis in shape] == [rows[line][axis] for axis in shape]
    ]


def roles(*lines: int) -> Among:
    """The ops that have the places of these in all of the encoder's 32 layers of 29 ops."""
    return lambda _: [line + 29 * layer for layer in range(32) for line in lines]


def runs(lines: list[int]) -> list[list[int]]:
    """Lines that follow one another, together."""
    groups: list[list[int]] = []
    for line in lines:
        if groups and groups[-1][-1] == line - 1:
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def beside_alike(rows: Rows) -> list[int]:
    """MinimalMatmuls next to others: Q, K and V."""
    return [line for run in runs(named("MinimalMatmul", since=938)(rows)) if len(run) > 1 for line in run]


def as_the_longest(rows: Rows, line: int) -> float:
    """Three matmuls as one take what the longest does."""
    (run,) = [run for run in runs(beside_alike(rows)) if line in run]
    return us(rows, line) * (1 - max(us(rows, each) for each in run) / us(rows, *run))


def around_softmax(before: int, after: int, since: int = 0) -> Among:
    return lambda rows: [
        line
        for softmax in named("Softmax", since=since)(rows)
        for line in range(softmax - before, softmax + after + 1)
    ]


def all_but_5_us_of_each(before: int) -> Saving:
    """One op in place of all, as which the first of them counts."""

    def saves(rows: Rows, line: int) -> float:
        leads = line + before in named("Softmax")(rows)
        return us(rows, line) - 5 * leads

    return saves


def weights(row: Row) -> float:
    """Bytes of 16 bits that 8 spare, with a block's exponents."""
    return bytes_of(row, "INPUT_1") * (1 - 8.5 / 16)


def output_of(*pairs: tuple[int, int]) -> Saving:
    """What one op writes and the next reads back."""
    of = {line: pair[0] for pair in pairs for line in pair}

    def saves(rows: Rows, line: int) -> float:
        return fewer_bytes(BLACKHOLE, lambda _: bytes_of(rows[of[line]], "OUTPUT_0"))(rows, line)

    return saves


def on_blackhole(row: Row) -> float:
    return roof_us(row, BLACKHOLE)


def shards_before_halo(rows: Rows) -> list[int]:
    """Copies into shards before a halo, directly or behind a move."""
    lines, codes = [*rows], [row["OP CODE"] for row in rows.values()]
    return [
        line
        for line, code, *after in zip(lines, codes, codes[1:], codes[2:], strict=False)
        if code.startswith("InterleavedToSharded") and after[after[0].startswith("Move")].startswith("Halo")
    ]


def but(among: Among, *lines: int) -> Among:
    return lambda rows: [line for line in among(rows) if line not in lines]


def reloading(rows: Rows) -> list[int]:
    """Convs that pack partial sums of more blocks of K than one with a bias, two without, and read them back."""

    def blocks(row: Row) -> float:
        width = re.search(r"act_block_w_ntiles=(\d+)", row["ATTRIBUTES"])
        return sizes(row, "INPUT_1")[2] / 32 / int(width[1]) if width else 0

    packed = [
        line for line in rows if "packer_l1_acc=0" in rows[line]["ATTRIBUTES"] and "Conv" in rows[line]["OP CODE"]
    ]
    few = {line: 1 if re.search(r"'has_bias': '(1|true)", rows[line]["ATTRIBUTES"]) else 2 for line in packed}
    return [line for line in packed if blocks(rows[line]) > few[line]]


MATMULS = named("MinimalMatmul", since=938)
MASKS = (814, 828, 857, 871, 915, 930, 964, 979, 1024, 1038, 1074, 1089, 1123, 1137, 1162, 1176)
PASSED = ((40, 41), (47, 48), (56, 57), (65, 66), (72, 73), (117, 118), (184, 185), (198, 199))
STREAMED = (41, 48, 50, 57, 59, 66, 73, 82, 118, 173, 187, 201, 323, 330, 350)
ALONE = (41, 50, 59, 73, 82, 118, 173, 187, 201, 215, 302, 309, 311, 330)  # activations behind matmuls
TO_ROW_MAJOR = down_to(lambda row: max(dram_us(row, BLACKHOLE), LAUNCH_US))
GONE = True  # whole ops, and the gaps before them
REVIEWED: list[
    tuple[str, str, list[tuple[Any, ...]]]
] = [  # an edit; of each claim its ops, what it saves of each at most, whether they go
    (
        CLIP,
        "attention-block",
        [
            (beside_alike, as_the_longest, roles(945, 946)),
            (around_softmax(2, 1, since=938), all_but_5_us_of_each(2), around_softmax(1, 1, since=938)),
            (roles(948, 949, 950, 951, 959, 960), in_step(1.0), GONE),
            (roles(952, 953), without_padding(WORMHOLE)),
            (roles(954), in_step(1.0), GONE),  # K as it was
        ],
    ),
    (CLIP, "as-elsewhere", [(alike(1873), lambda rows, line: us(rows, line) - us(rows, 1873))]),
    (CLIP, "norm-config", [(named("LayerNorm", "CORE COUNT", "1", since=938), in_step(0.9))]),  # ten times as fast
    (  # 20 heads of one row of tiles
        CLIP,
        "more-cores",
        [
            (
                named("Matmul", "INPUT_1_Z_PAD[LOGICAL]", "20", since=938),
                lambda rows, line: us(rows, line) * (1 - int(rows[line]["CORE COUNT"]) / 20),
            )
        ],
    ),
    (CLIP, "accumulation", [(named(code, since=938), in_step(0.6)) for code in ("LayerNorm", "Softmax")]),
    (CLIP, "weights-format", [(MATMULS, fewer_bytes(WORMHOLE, weights))]),
    (CLIP, "fusion", [(roles(965, 966, 967, 968, 969), in_step(1.0), GONE)]),
    (CLIP, "placement", [(roles(967, 968), all_but(LAUNCH_US))]),
    (
        DEEPLAB,
        "matmul-config",
        [
            (of_line(387), in_step(1 - 32 / 110)),
            (of_line(388), in_step(1 - 32 / 88)),
            (of_line(171, 184, 198, 212, 301), down_to(on_blackhole)),
            (of_line(172, 186, 200, 214, 308), down_to(on_blackhole)),  # minimal_matmul where TTNN chose
            (
                of_line(39, 40, 49, 58, 72, 79, 81, 117, 310, 329, 381),
                down_to(on_blackhole),
            ),  # and over 32,768 rows of a K below 768
        ],
    ),
    (DEEPLAB, "layout-chain", [(but(shards_before_halo, 112), in_step(1.0))]),  # 111 brought 112 out of shards
    (DEEPLAB, "placement", [(of_line(*STREAMED), all_but(LAUNCH_US))]),
    (DEEPLAB, "placement-2", [(of_line(*(line for pair in PASSED for line in pair)), output_of(*PASSED))]),
    (
        DEEPLAB,
        "more-cores",
        [(of_line(230, 261, 292), in_step(7 / 8)), (of_line(304), down_to(on_blackhole))],
    ),  # 8 tiles
    (DEEPLAB, "fusion", [(of_line(*ALONE), in_step(1.0))]),
    (
        DEEPLAB,
        "as-elsewhere",
        [
            (of_line(79), lambda rows, line: us(rows, line) - us(rows, 107)),
            (of_line(81), lambda rows, line: us(rows, line) - us(rows, 92)),
        ],
    ),
    (DEEPLAB, "activations-format", [(named("Typecast"), in_step(1.0))]),
    (OFT, "layout-chain", [(of_tiny_rows, TO_ROW_MAJOR)]),
    (OFT, "layout-chain-3", [(named("Reshape", "INPUT_0_LAYOUT", "TILE"), in_step(1.0))]),
    (OFT, "layout-chain-4", [(shards_before_halo, in_step(1.0))]),
    (
        OFT,
        "compute-config",
        [(named("OptimizedConv", "MATH FIDELITY", "HiFi4"), in_step(0.5))],
    ),  # two of four passes
    (OFT, "other-op", [(named("GridSample"), in_step(0.5))]),
    (OFT, "norm-config", [(of_line(14), in_step(1 - 8 / 20))]),  # on 8 of 20 cores
    (
        SEGFORMER,
        "attention-block",
        [
            (around_softmax(3, 2), all_but_5_us_of_each(3)),
            (of_line(806, 849), all_but(2.0)),  # a reshard in place of two moves
        ],
    ),
    (SEGFORMER, "layout-chain", [(shards_before_halo, in_step(1.0))]),
    (
        SEGFORMER,
        "more-cores",
        [
            (of_line(1129, 1168, 1179), in_step(1 - 8 / 64)),
            (of_line(1128, 1167), in_step(1.0)),  # the moves out of shards for them
        ],
    ),
    (SEGFORMER, "layout-chain-2", [(of_line(*MASKS), in_step(1.0))]),
    (SEGFORMER, "weights-format", [(of_line(1134, 1173), fewer_bytes(WORMHOLE, weights))]),
    *((name, "accumulation", [(reloading, in_step(0.1))]) for name in (SEGFORMER, OFT)),
    (
        DEEPSEEK,
        "balance",
        [
            (of_line(179), lambda rows, line: us(rows, line) - us(rows, *named("RingJointSDPA")(rows)) / 8),
            (
                of_line(203),
                lambda rows, _: max(us(rows, one) for one in named("RingJointSDPA")(rows)) - us(rows, 179),
            ),
        ],
    ),
    (
        DEEPSEEK,
        "exchange",
        [
            (of_line(11, 203), lambda rows, line: us(rows, {11: 3, 203: 195}[line])),  # beside a shorter matmul
            (of_line(11, 19, 99, 203), in_step(0.5)),  # both ways around
            (of_line(99), in_step(1 - 2 / 4)),  # two of four parts
            (of_line(112), in_step(1.0)),
        ],
    ),
    (DEEPSEEK, "compute-config", [(of_line(35, 195), in_step(0.5))]),  # one of two passes
]
MODELLED = {  # what no cell tells: bounds of laws and of models, which have tests of their own
    (CLIP, "matmul-config"): "the law of weights at DRAM's rate",
    (DEEPLAB, "conv-config"): "blocks, grids and moves by what fits L1",
    (DEEPLAB, "matmul-config-2"): "minimal_matmul where TTNN chose, down to the roofline",
    (OFT, "conv-config"): "blocks by what fits L1",
    (SEGFORMER, "conv-config"): "blocks and layouts by what fits L1",
    (
        DEEPLAB,
        "accumulation",
    ): "convs that wait for arithmetic, of which nothing is promised; its matmuls and packed sums are below",
    (OFT, "layout-chain-2"): "conversions that no op needs, by the flow of tensors",
}


def edit_of(name: str, edit: str) -> Any:
    (one,) = [told for told in GOLDEN[name]["edits"] if told[0] == edit]
    return SimpleNamespace(**dict(zip(COLUMNS, one, strict=True)))


def test_every_edit_is_added_up_or_said_to_be_modelled():
    added_up = {(name, edit) for name, edit, _ in REVIEWED}
    assert added_up | {*MODELLED} == {(name, edit) for name in GOLDEN for edit, *_ in GOLDEN[name]["edits"]}
    assert not added_up & {*MODELLED}


@for_all(("name", "edit", "claims"), REVIEWED, sampled=3)
def test_shares_and_bounds_are_those_of_the_ops_in_the_csv(name, edit, claims):
    rows, told = rows_in(shared(name)), edit_of(name, edit)
    savings: dict[int, list[float]] = {}
    gone: set[int] = set()
    for among, saves, *goes in claims:
        lines = among(rows)
        for line in lines:
            savings.setdefault(line, []).append(saves(rows, line))
        gone |= {*(lines if goes == [GONE] else goes[0](rows))} if goes else set()
    gaps = us(rows, *gone, column=GAP)
    assert told.share == pytest.approx((us(rows, *savings) + gaps) / GOLDEN[name]["before_us"], abs=1e-4)
    saved = sum(saved_together(rows[line], each) for line, each in savings.items())
    assert told.alone_us == pytest.approx(saved + gaps, abs=0.02 + 1e-6 * saved)


def test_a_law_s_edit_has_the_ops_of_the_csv():
    rows = rows_in(shared(CLIP))
    assert edit_of(CLIP, "matmul-config").share == pytest.approx(
        us(rows, *MATMULS(rows)) / GOLDEN[CLIP]["before_us"], abs=1e-4
    )


def test_a_register_of_16_bits_saves_half_of_the_matmuls_that_fill_four_tiles():
    rows = rows_in(shared(DEEPLAB))
    full = r"fp32_dest_acc_en=1.*out_subblock_h=(?:2.{1,20}=2|1.{1,20}=4|4.{1,20}=1)\b"
    filled = [line for line in named("Matmul")(rows) if re.search(full, rows[line]["ATTRIBUTES"])]
    bound = [line for line in filled if engine_us(rows[line], BLACKHOLE) > dram_us(rows[line], BLACKHOLE)]
    saved = sum(min(us(rows, line) / 2, us(rows, line) - on_blackhole(rows[line])) for line in bound)
    packed = 0.1 * us(rows, *reloading(rows))
    chosen = (
        "packer_l1_acc=0",
        "'program_config': 'std::nullopt'",
    )  # in blocks of at most 8 tiles of K: three and more
    packed += sum(
        min(us(rows, line) / 2, us(rows, line) - on_blackhole(rows[line]))
        for line in named("Matmul")(rows)
        if all(word in rows[line]["ATTRIBUTES"] for word in chosen) and sizes(rows[line], "INPUT_1")[2] > 512
    )
    assert edit_of(DEEPLAB, "accumulation").alone_us == pytest.approx(saved + packed, abs=0.02)


def test_half_of_the_passes_saves_half_of_what_the_config_above_leaves():
    above, below = edit_of(OFT, "conv-config"), edit_of(OFT, "compute-config")
    assert below.then_us == pytest.approx((2 * below.alone_us - above.alone_us) / 2, abs=0.02)


MEASURED = json.loads((ROOT / "ttnn_mcp/checks/cases.json").read_text("utf-8"))
BY_CASES = {  # edits that rest on kinds of measured cases: the middle part of their bounds that each brought
    "layout-chain": ("levers", "layout-chain"),
    (OFT, "layout-chain-2"): ("levers", "layout-chain", "checks", "tile-padding-waste"),
    "norm-config": ("checks", "norm-on-few-cores"),
    "more-cores": ("checks", "low-core-count"),
    (CLIP, "more-cores"): ("checks", "products-on-few-cores"),
}


@for_all("name", GOLDEN)
def test_what_cases_let_expect_is_their_part_of_the_bound(name):
    for edit, _, _, expected, alone, *_ in GOLDEN[name]["edits"]:
        of = BY_CASES.get((name, edit)) or BY_CASES.get(edit.rstrip("-0123456789"))
        if of and expected is not None:
            told = [MEASURED[kind][which] for kind, which in zip(of[::2], of[1::2], strict=True)]
            parts = [each["median"] if each else 0.0 for each in told]
            low, high = min(parts) * alone, max(parts) * alone
            assert min(max(expected, low), high) == pytest.approx(expected, rel=1e-4, abs=0.02), edit


@for_all("name", GOLDEN)
def test_an_alternative_saves_hardly_more(name):
    """The encoder's products go away with its attention, those of one layer apart: 24 of 2,585 us stay."""
    for edit, *_, alone, then, relation in GOLDEN[name]["edits"]:
        assert then <= 0.01 * alone or not (relation or "").startswith("instead of"), edit

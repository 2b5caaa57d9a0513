"""Whole plans of five real models, as they were reviewed: (edit, where, share, expected, alone, then, relation) of each edit.

The file holds what the plan says. The ops behind it are added up here with the csv module alone, and what they save
follows by the bound that the finding states; the rest of the bounds are rooflines and laws, which have tests of their
own. What changes a plan changes the file: look at each line before.
"""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.oracles.plan_sums import rows_of
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared

if TYPE_CHECKING:
    from collections.abc import Callable

    Among = Callable[["Rows"], list[int]]

GOLDEN = json.loads(Path(__file__).with_name("golden_plans.json").read_text("utf-8"))
COLUMNS = ("edit", "where", "share", "expected_us", "alone_us", "then_us", "relation")
KERNEL = "DEVICE KERNEL DURATION [ns]"
ROOT = Path(__file__).parents[2]
Row = dict[str, str]
Rows = dict[int, Row]


@pytest.mark.parametrize("name", GOLDEN)
async def test_a_plan_is_what_was_reviewed(tmp_path, name):
    answer = await ask(session(tmp_path), "optimization_check", run=str(shared(name)))
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
        if any(rows[line][f"{side}_LAYOUT"] == "ROW_MAJOR" and 2 * width(rows[line], side) < 64 for side in sides)
    ]


def width(row: Row, side: str) -> int:
    return int(row[f"{side}_X_PAD[LOGICAL]"].partition("[")[0])


def copied_before_halo(rows: Rows) -> list[int]:
    lines = [*rows]
    after = dict(pairwise(lines))
    return [
        line
        for line in named("InterleavedToSharded")(rows)
        if line in after and rows[after[line]]["OP CODE"].startswith("Halo")
    ]


def alike(line: int) -> Among:
    """MinimalMatmuls with the weights of one op."""
    shape = [f"INPUT_1_{axis}_PAD[LOGICAL]" for axis in "YX"]
    return lambda rows: [
        each
        for each in named("MinimalMatmul", since=938)(rows)
        if [rows[each][axis] for axis in shape] == [rows[line][axis] for axis in shape]
    ]


REVIEWED: list[
    tuple[str, str, Among, float | None]
] = [  # edit, its ops, and the part of their time that it saves at most
    (CLIP, "matmul-config", named("MinimalMatmul", since=938), None),
    (CLIP, "as-elsewhere", alike(1873), None),
    (CLIP, "norm-config", named("LayerNorm", "CORE COUNT", "1", since=938), 0.9),  # ten times as fast at best
    (DEEPLAB, "as-elsewhere", of_line(79, 81), None),
    (DEEPLAB, "activations-format", named("Typecast"), 1.0),
    (OFT, "layout-chain", of_tiny_rows, None),
    (OFT, "layout-chain-3", named("Reshape", "INPUT_0_LAYOUT", "TILE"), 1.0),
    (OFT, "layout-chain-4", copied_before_halo, 1.0),
    (OFT, "compute-config", named("OptimizedConv", "MATH FIDELITY", "HiFi4"), 0.5),  # two of four passes
    (OFT, "norm-config", of_line(14), 1 - 8 / 20),  # on 8 of 20 cores
    (SEGFORMER, "weights-format", of_line(1134, 1173), None),
    (DEEPSEEK, "balance", of_line(179), None),
    (DEEPSEEK, "compute-config", of_line(35, 195), 0.5),  # one of two passes
]


def rows_in(name: str) -> Rows:
    """The device ops of a report by their line."""
    with shared(name).open(newline="", encoding="utf-8") as file:
        return {line: row for line, row in enumerate(csv.DictReader(file), start=2) if row[KERNEL]}


def us(rows: Rows, *lines: int) -> float:
    return sum(float(rows[line][KERNEL]) for line in lines) / 1e3


def edit_of(name: str, edit: str) -> Any:
    (one,) = [told for told in GOLDEN[name]["edits"] if told[0] == edit]
    return SimpleNamespace(**dict(zip(COLUMNS, one, strict=True)))


@for_all(("name", "edit", "among", "saved"), REVIEWED)
def test_shares_and_bounds_are_those_of_the_ops_in_the_csv(name, edit, among, saved):
    rows, told = rows_in(name), edit_of(name, edit)
    took = us(rows, *among(rows))
    assert told.share == pytest.approx(took / GOLDEN[name]["before_us"], abs=2e-4)
    if saved is not None:
        assert told.alone_us == pytest.approx(saved * took, abs=0.02)


def test_a_precedent_saves_what_its_faster_op_takes_less():
    rows = rows_in(CLIP)
    slow = alike(1873)(rows)
    assert edit_of(CLIP, "as-elsewhere").alone_us == pytest.approx(
        us(rows, *slow) - len(slow) * us(rows, 1873), abs=0.02
    )


def test_an_even_balance_takes_the_mean_of_the_devices():
    rows = rows_in(DEEPSEEK)
    devices = named("RingJointSDPA")(rows)
    assert edit_of(DEEPSEEK, "balance").alone_us == pytest.approx(
        us(rows, 179) - us(rows, *devices) / len(devices), abs=0.02
    )


def test_half_of_the_passes_saves_half_of_what_the_config_above_leaves():
    above, below = edit_of(OFT, "conv-config"), edit_of(OFT, "compute-config")
    assert below.then_us == pytest.approx((2 * below.alone_us - above.alone_us) / 2, abs=0.02)


MEASURED = json.loads((ROOT / "ttnn_mcp/checks/cases.json").read_text("utf-8"))
BY_CASES = {  # edits that rest on one kind of measured case: the middle part of their bounds that it brought
    "layout-chain": ("levers", "layout-chain"),
    "norm-config": ("checks", "norm-on-few-cores"),
    "more-cores": ("checks", "low-core-count"),
    "exchange": ("levers", "exchange"),
}


@for_all("name", GOLDEN)
def test_what_cases_let_expect_is_their_part_of_the_bound(name):
    for edit, _, _, expected, alone, *_ in GOLDEN[name]["edits"]:
        of = BY_CASES.get(edit.rstrip("-0123456789"))
        if of and expected is not None:
            assert expected == pytest.approx(MEASURED[of[0]][of[1]]["median"] * alone, rel=1e-4, abs=0.02), edit


@for_all("name", GOLDEN)
def test_an_alternative_saves_nothing_more(name):
    for edit, *_, then, relation in GOLDEN[name]["edits"]:
        assert then == 0 or not (relation or "").startswith("instead of"), edit

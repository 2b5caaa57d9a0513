"""Whole plans of five real models, as they were reviewed: (edit, where, share, expected, alone, then, relation) of each edit.

The file holds what the plan says; the ops behind the shares are added up here with the csv module alone. What changes a
plan changes the file: look at each line before.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.oracles.plan_sums import rows_of
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = json.loads(Path(__file__).with_name("golden_plans.json").read_text("utf-8"))
COLUMNS = ("edit", "where", "share", "expected_us", "alone_us", "then_us", "relation")
KERNEL = "DEVICE KERNEL DURATION [ns]"
Row = dict[str, str]


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


def of_line(*wanted: int) -> Callable[[int, Row], bool]:
    return lambda line, _: line in wanted


def named(code: str, since: int = 0) -> Callable[[int, Row], bool]:
    return lambda line, row: line >= since and row["OP CODE"].startswith(code)


REVIEWED: list[tuple[str, str, Callable[[int, Row], bool]]] = [
    (CLIP, "matmul-config", named("MinimalMatmul", since=938)),
    (
        CLIP,
        "norm-config",
        lambda line, row: named("LayerNorm", since=938)(line, row) and int(row["CORE COUNT"]) < 2,
    ),
    (DEEPLAB, "as-elsewhere", of_line(79, 81)),
    (OFT, "compute-config", lambda _, row: "Conv" in row["OP CODE"] and row["MATH FIDELITY"] == "HiFi4"),
    (OFT, "norm-config", of_line(14)),
    (SEGFORMER, "weights-format", of_line(1134, 1173)),
    (DEEPSEEK, "balance", of_line(179)),
    (DEEPSEEK, "compute-config", of_line(35, 195)),
]


@for_all(("name", "edit", "among"), REVIEWED)
def test_a_share_is_the_time_of_its_ops_in_the_csv(name, edit, among):
    with shared(name).open(newline="", encoding="utf-8") as file:
        rows = [(line, row) for line, row in enumerate(csv.DictReader(file), start=2) if row[KERNEL]]
    us = sum(float(row[KERNEL]) for line, row in rows if among(line, row)) / 1e3
    (share,) = [told[2] for told in GOLDEN[name]["edits"] if told[0] == edit]
    assert share == pytest.approx(us / GOLDEN[name]["before_us"], abs=2e-4)

"""Filters of list_ops on real reports: what is told of the ops that are left agrees with the CSV itself."""

import csv
import random
from collections import Counter

import pytest

from tests.asking import ask, reader
from tests.for_all import for_all
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.errors import QuestionRefused

REPORTS = (CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER)
SEED = 20261122
QUESTIONS = 25
KERNEL = "DEVICE KERNEL DURATION [ns]"
CLIP_PASS, CLIP_FIRST_LAYER, CLIP_LAYER, CLIP_LAYERS = 936, 5, 29, 32  # counted by hand in the file


def rows_of(name):
    """The timed rows by line; of the encoder its second pass, of the others all."""
    with shared(name).open(newline="") as lines:
        rows = {line: row for line, row in enumerate(csv.DictReader(lines), start=2) if row[KERNEL]}
    return dict(list(rows.items())[CLIP_PASS:]) if name == CLIP else rows


async def listed(at, path, **asked):
    """Every row of all pages, and the last page's answer."""
    rows, cursor = {}, None
    while True:
        page = await ask(at, "list_ops", run=path, limit=200, **asked, **({"cursor": cursor} if cursor else {}))
        columns = page["ops"]["columns"]
        rows |= {row[0]: dict(zip(columns, row, strict=True)) for row in page["ops"]["rows"]}
        cursor = page.get("next_cursor")
        if cursor is None:
            return rows, page


def layer_of_clip(position):
    layer = (position - CLIP_FIRST_LAYER) // CLIP_LAYER + 1
    return layer if position >= CLIP_FIRST_LAYER and layer <= CLIP_LAYERS else None


def questions(name, rows, bounds):
    """Random filters, each with the lines that it should leave."""
    chance = random.Random(f"{SEED}{name}")  # noqa: S311
    layers = {line: layer_of_clip(place) for place, line in enumerate(rows)} if name == CLIP else {}
    codes, devices = (
        sorted({row["OP CODE"] for row in rows.values()}),
        sorted({row["DEVICE ID"] for row in rows.values()}),
    )
    for _ in range(QUESTIONS):
        asked, left = {}, rows
        if chance.random() < 0.4:
            asked["max_cores"] = chance.choice([1, 8, 20, 32, 64, 110])
            left = {line: row for line, row in left.items() if float(row["CORE COUNT"]) <= asked["max_cores"]}
        if chance.random() < 0.4:
            asked["bound"] = chance.choice(["compute", "dram", "l1", "overhead"])
            left = {line: row for line, row in left.items() if bounds[line] == asked["bound"]}
        if chance.random() < 0.3:
            asked["op_code"] = chance.choice(codes)
            left = {line: row for line, row in left.items() if row["OP CODE"] == asked["op_code"]}
        if len(devices) > 1 and chance.random() < 0.5:
            asked["device"] = int(chance.choice(devices))
            left = {line: row for line, row in left.items() if int(row["DEVICE ID"]) == asked["device"]}
        if layers and chance.random() < 0.5:
            asked["layer"] = chance.randint(1, CLIP_LAYERS)
            left = {line: row for line, row in left.items() if layers[line] == asked["layer"]}
        if asked:  # without a filter nothing is left out: that was listed before
            yield asked, left


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REPORTS)
async def test_whatever_is_asked_for_totals_and_shares_are_those_of_the_file_or_of_the_device_asked_for(
    tmp_path, name
):
    at, path, rows = reader(tmp_path), str(shared(name)), rows_of(name)
    everything, _ = await listed(at, path)
    assert {*everything} == {*rows}
    bounds = {line: told["bound"] for line, told in everything.items()}
    for asked, left in questions(name, rows, bounds):
        kernel_us = sum(float(row[KERNEL]) for row in left.values()) / 1e3
        devices = {str(asked["device"])} if "device" in asked else {row["DEVICE ID"] for row in rows.values()}
        total_us = sum(float(row[KERNEL]) for row in rows.values() if row["DEVICE ID"] in devices) / 1e3
        told, page = await listed(at, path, **asked)
        assert {*told} == {*left}, asked
        assert page["total"] == {"count": len(left), "kernel_us": pytest.approx(kernel_us, abs=0.01)}, asked
        for line, row in told.items():
            assert row["kernel_us"] == pytest.approx(float(rows[line][KERNEL]) / 1e3, abs=0.006)
            assert row["share"] == pytest.approx(float(rows[line][KERNEL]) / 1e3 / total_us, abs=6e-5)
            assert row["cores"] == float(rows[line]["CORE COUNT"])
        groups = (await ask(at, "list_ops", run=path, group_by="op_code", limit=200, **asked))["groups"]
        folded = [dict(zip(groups["columns"], row, strict=True)) for row in groups["rows"]]
        assert {group["key"]: group["count"] for group in folded} == Counter(
            row["OP CODE"] for row in left.values()
        )
        assert sum(group["kernel_us"] for group in folded) == pytest.approx(
            kernel_us, abs=0.01 * len(folded) + 0.01
        )
        for group in folded:
            members = [float(row[KERNEL]) for row in left.values() if row["OP CODE"] == group["key"]]
            assert group["share"] == pytest.approx(sum(members) / 1e3 / total_us, abs=6e-5)
            assert group["heaviest_us"] == pytest.approx(max(members) / 1e3, abs=0.006)
            assert all(0 <= (group.get(rate) or 0) <= 1 for rate in ("share", "flop_share", "dram_share"))


@for_all(
    "marks",
    [
        ("Topdown started", "Topdown finished"),
        ("Slicing started", "Slicing finished"),
        ("Oft module", "Head started"),
    ],
)
async def test_between_two_signposts_are_all_ops_that_the_file_has_there(tmp_path, marks):
    """Of one pass: its eight equal blocks, or slices of one tensor, are no iterations."""
    with shared(OFT).open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    start, end = ([row["OP CODE"] for row in rows].index(mark) for mark in marks)
    times = [float(row[KERNEL]) for row in rows[start:end] if row[KERNEL]]
    asked = {"start_signpost": marks[0], "end_signpost": marks[1], "group_by": "op_code"}
    total = (await ask(reader(tmp_path), "list_ops", run=str(shared(OFT)), **asked))["total"]
    assert total == {"count": len(times), "kernel_us": pytest.approx(sum(times) / 1e3, abs=0.01)}


async def test_a_layer_asked_for_alone_differs_as_it_does_among_all(tmp_path):
    at, path = reader(tmp_path), str(shared(CLIP))

    def differ(answer):
        place = answer["groups"]["columns"].index("differ")
        return {row[0]: row[place] for row in answer["groups"]["rows"]}

    together = differ(await ask(at, "list_ops", run=path, group_by="layer", limit=200))
    assert any(together.values())
    for layer in range(1, CLIP_LAYERS + 1):
        alone = differ(await ask(at, "list_ops", run=path, group_by="layer", layer=layer))
        assert alone == {f"layer {layer}": together[f"layer {layer}"]}


@for_all("name", [CLIP, DEEPLAB])
async def test_fewer_steps_explain_no_less_of_the_window(tmp_path, name):
    at, path = reader(tmp_path), str(shared(name))
    whole = await ask(at, "optimization_check", run=path)
    for steps in ([1], [2, 5], [7]):
        part = await ask(at, "optimization_check", run=path, steps=steps)
        assert (part["unexplained_us"], part["unexplained"]) == (whole["unexplained_us"], whole["unexplained"])
        assert {finding["step"] for finding in part["findings"]} <= {*steps}


async def test_a_device_without_such_an_op_is_refused_not_answered_with_another(tmp_path):
    with pytest.raises(QuestionRefused, match="There is: 0, 1"):
        await ask(reader(tmp_path), "list_ops", run=str(shared(DEEPSEEK)), device=8)

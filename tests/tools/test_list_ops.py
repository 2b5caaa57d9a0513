"""list_ops: filters, groups and pages that join to the whole."""

import json
import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import (
    Iteration,
    Program,
    header_of,
    performance_rows,
    write_memory_report,
    write_performance_report,
    write_rows,
    write_run,
)
from tests.programs import LAYERS, block, layered
from tests.shared_reports import CLIP, MEMORY, OFT, shared
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused
from ttnn_mcp.tools.list_ops import Arguments


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


@pytest.fixture
def run(tmp_path):
    return str(write_performance_report(tmp_path / "perf", block(layers=6)))


def column(table, name):
    place = table["columns"].index(name)
    return [row[place] for row in table["rows"]]


async def test_the_slowest_op_comes_first_and_shares_are_of_the_window(at, run):
    said = await ask(at, "list_ops", run=run)
    times = column(said["ops"], "kernel_us")
    assert times == sorted(times, reverse=True)
    assert sum(column(said["ops"], "share")) == pytest.approx(1, abs=0.001)
    assert said["total"] == {"count": 13, "kernel_us": pytest.approx(sum(times))}
    assert said["window"]["iteration"] == 2


async def test_pages_join_to_the_whole(at, run):
    whole = (await ask(at, "list_ops", run=run, sort="order"))["ops"]["rows"]
    pages, cursor = [], None
    while True:
        page = await ask(at, "list_ops", run=run, sort="order", limit=4, **({"cursor": cursor} if cursor else {}))
        pages += page["ops"]["rows"]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert pages == whole


async def test_a_cursor_of_another_question_is_refused(at, run):
    cursor = (await ask(at, "list_ops", run=run, limit=2))["next_cursor"]
    with pytest.raises(QuestionRefused, match="another question"):
        await ask(at, "list_ops", run=run, limit=3, cursor=cursor)


async def test_an_op_is_found_by_any_of_its_names(at, run):
    for name in ("Matmul", "MatmulDeviceOperation"):
        assert (await ask(at, "list_ops", run=run, op_code=name))["total"]["count"] == 6


async def test_wrong_names_are_answered_with_the_nearest(at, run):
    with pytest.raises(QuestionRefused, match="MatmulDeviceOperation"):
        await ask(at, "list_ops", run=run, op_code="Matmull")
    with pytest.raises(QuestionRefused, match="matmul"):
        await ask(at, "list_ops", run=run, category="matmuls")
    with pytest.raises(QuestionRefused, match="There is: 0"):
        await ask(at, "list_ops", run=run, device=3)
    with pytest.raises(ArgumentsInvalid, match="Did you mean limit"):
        await ask(at, "list_ops", run=run, limmit=3)


@for_all("group_by", ["op_code", "signature", "category"])
async def test_groups_hold_every_op_once(at, run, group_by):
    said = await ask(at, "list_ops", run=run, group_by=group_by, limit=100)
    assert sum(column(said["groups"], "count")) == 13
    assert sum(column(said["groups"], "share")) == pytest.approx(1, abs=0.001)
    assert sum(column(said["groups"], "kernel_us")) == pytest.approx(said["total"]["kernel_us"], abs=0.1)


async def test_ops_below_a_share_are_dropped_but_not_from_the_total(at, run):
    said = await ask(at, "list_ops", run=run, min_share=0.1)
    assert min(column(said["ops"], "share")) >= 0.1
    assert said["total"]["count"] == 13


async def test_groups_below_a_share_are_dropped_but_not_from_the_total(at, run):
    answer = await ask(at, "list_ops", run=run, group_by="op_code", min_share=0.1)
    assert column(answer["groups"], "key") == ["MatmulDeviceOperation"]
    assert answer["total"]["count"] == 13


async def test_a_category_keeps_its_ops(at, run):
    answer = await ask(at, "list_ops", run=run, category="matmul")
    assert {*column(answer["ops"], "op_code")} == {"MatmulDeviceOperation"}
    assert answer["total"]["count"] == 6


async def test_in_the_order_of_the_run_neither_kernels_nor_gaps_count(at, tmp_path):
    program = Program("wormhole_b0")
    for width in range(1, 5):
        x = program.tensor([1, 1, 32, 32 * width])
        program.op("UnaryDeviceOperation", [x], kernel_ns=10_000 * width, gap_ns=1_000 * width)
    answer = await ask(at, "list_ops", run=str(write_performance_report(tmp_path, program)), sort="order")
    assert column(answer["ops"], "kernel_us") == [10, 20, 30, 40]


async def test_the_op_of_the_row_before_with_other_shapes_is_written_out(at, tmp_path):
    program = Program("wormhole_b0", devices=2)
    for width, times in ((32, (100_000, 10_000)), (64, (20_000, 90_000))):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, width])], shape=[1, 1, 32, width])
        program.device_ops[-1].kernel_ns = list(times)
    answer = await ask(at, "list_ops", run=str(write_performance_report(tmp_path, program)))
    assert column(answer["ops"], "kernel_us") == [100, 90, 20, 10]
    first, second, third, fourth = column(answer["ops"], "shapes")
    assert (third, fourth) == ("as above", first)
    assert first != second


def many(count, name="Unary", inputs=1):
    """So many ops, no two alike."""
    program = Program("wormhole_b0")
    for width in range(1, count + 1):
        read = [program.tensor([1, 1, 32, 32 * width]) for _ in range(inputs)]
        program.op(f"{name}DeviceOperation", read, shape=[1, 1, 32, 32 * width])
    return program


async def test_a_page_has_twenty_rows_where_they_are_short(at, tmp_path):
    answer = await ask(at, "list_ops", run=str(write_performance_report(tmp_path, many(40))))
    assert len(answer["ops"]["rows"]) == 20


async def test_a_page_of_long_rows_fills_its_thousand_tokens(at, tmp_path):
    run = str(write_performance_report(tmp_path, many(40, "AnOpWithALongName" * 8, inputs=8)))
    answer = await ask(at, "list_ops", run=run)
    row = len(json.dumps(answer["ops"]["rows"][0], separators=(",", ":")))
    assert 4_000 - row - 50 <= len(json.dumps(answer, separators=(",", ":"))) <= 4_000


async def test_source_lines_need_a_linked_memory_report(at, run, tmp_path):
    with pytest.raises(QuestionRefused, match="memory report"):
        await ask(at, "list_ops", run=run, group_by="source_line")
    made = write_run(tmp_path / "both", block())
    await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory), name="both")
    lines = column((await ask(at, "list_ops", run="both", group_by="source_line"))["groups"], "key")
    assert all("model.py:" in line for line in lines)


async def test_a_compiler_s_run_is_grouped_by_its_locations(at, tmp_path):
    path = write_performance_report(tmp_path, block(), generation="tt-torch")
    said = await ask(at, "list_ops", run=str(path), group_by="source_line")
    assert said["groups"]["rows"]


@pytest.fixture
def memory(tmp_path):
    return str(write_memory_report(tmp_path / "memory", block()))


def operations_of(path):
    with closing(sqlite3.connect(path / "db.sqlite")) as database:
        return database.execute(
            "SELECT operation_id, name, duration FROM operations ORDER BY operation_id"
        ).fetchall()


async def test_a_memory_report_alone_lists_operations_with_host_time(at, memory):
    said = await ask(at, "list_ops", run=memory)
    assert "ops" not in said
    assert said["host"]["operations"] == len(block().calls)
    assert "host durations" in said["caveat"]


def report_of_operations(folder, seconds, unfinished=0):
    """Operations that took so long, each name's one after the other; so many at the end never returned."""
    memory = write_memory_report(folder, block(layers=12))
    with closing(sqlite3.connect(memory)) as database, database:
        ids = [id_ for (id_,) in database.execute("SELECT operation_id FROM operations ORDER BY operation_id")]
        times = [*seconds, *[0.0] * (len(ids) - len(seconds) - unfinished), *[None] * unfinished]
        database.executemany(
            "UPDATE operations SET duration = ? WHERE operation_id = ?", zip(times, ids, strict=True)
        )
    return str(memory), ids


async def test_operations_that_never_returned_are_named_as_far_as_it_is_short(at, tmp_path):
    memory, ids = report_of_operations(tmp_path / "memory", [], unfinished=23)
    assert (await ask(at, "list_ops", run=memory))["host"]["unfinished"] == ids[-23:][:20]


async def test_operations_are_folded_by_name_and_small_ones_dropped(at, tmp_path):
    memory, ids = report_of_operations(tmp_path / "memory", [0.001, 0.009, 0.002])
    groups = (await ask(at, "list_ops", run=memory, group_by="op_code"))["host"]["groups"]["rows"]
    assert [row[:3] for row in groups[:2]] == [["ttnn.relu", 12, 9], ["ttnn.linear", 12, 3]]
    in_order = (await ask(at, "list_ops", run=memory, group_by="op_code", sort="order"))["host"]["groups"]["rows"]
    assert [row[3] for row in in_order] == [*ids[:2], ids[-1]]
    alone = (await ask(at, "list_ops", run=memory, op_code="relu"))["host"]
    assert (alone["operations"], alone["host_ms"]) == (12, 9)
    assert [row[2] for row in alone["listed"]["rows"][:2]] == [9, 0]
    heavy = (await ask(at, "list_ops", run=memory, group_by="op_code", min_share=0.5))["host"]["groups"]["rows"]
    assert [row[0] for row in heavy] == ["ttnn.relu"]


@for_all("name", MEMORY)
async def test_a_memory_report_alone_obeys_its_arguments(at, name):
    path = shared(name)
    rows = operations_of(path)
    times = Counter()
    for _, operation, seconds in rows:
        times[operation] += seconds or 0.0
    ordered = (await ask(at, "list_ops", run=str(path), sort="order", limit=200))["host"]["listed"]
    assert [(row[0], row[1]) for row in ordered["rows"]] == [(id_, operation) for id_, operation, _ in rows][:200]
    longest = (await ask(at, "list_ops", run=str(path), limit=200))["host"]["listed"]["rows"]
    assert [row[2] or 0 for row in longest] == sorted((row[2] or 0 for row in longest), reverse=True)
    groups = (await ask(at, "list_ops", run=str(path), group_by="op_code", limit=200))["host"]["groups"]["rows"]
    assert {row[0]: row[1] for row in groups} == Counter(operation for _, operation, _ in rows)
    assert {row[0]: row[2] for row in groups} == {
        operation: pytest.approx(seconds * 1e3, abs=1e-3) for operation, seconds in times.items()
    }
    named = (await ask(at, "list_ops", run=str(path), op_code=groups[0][0].removeprefix("ttnn."), limit=200))[
        "host"
    ]
    assert named["operations"] == groups[0][1]
    assert {row[1] for row in named["listed"]["rows"]} == {groups[0][0]}
    if total := sum(times.values()):
        heavy = (await ask(at, "list_ops", run=str(path), min_share=0.2, limit=200))["host"]["listed"]["rows"]
        assert len(heavy) == sum((seconds or 0) >= 0.2 * total for *_, seconds in rows)


async def test_pages_of_operations_join_to_the_whole(at, memory):
    whole = (await ask(at, "list_ops", run=memory, limit=200))["host"]["listed"]["rows"]
    pages, cursor = [], None
    while True:
        page = await ask(at, "list_ops", run=memory, limit=2, **({"cursor": cursor} if cursor else {}))
        pages += page["host"]["listed"]["rows"]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert pages == whole


@for_all(
    "asked",
    [
        {"category": "matmul"},
        {"device": 0},
        {"max_cores": 1},
        {"bound": "dram"},
        {"layer": 1},
        {"group_by": "layer"},
        {"group_by": "signature"},
        {"group_by": "category"},
        {"group_by": "source_line"},
        {"group_by": "role"},
        {"sort": "gap"},
        {"iteration": 1},
        {"start_signpost": "a"},
        {"end_signpost": "b"},
    ],
    sampled=4,
)
async def test_a_memory_report_alone_refuses_what_chooses_among_device_ops(at, memory, asked):
    with pytest.raises(QuestionRefused, match=f"'{next(iter(asked))}' (needs device times|chooses rows)"):
        await ask(at, "list_ops", run=memory, **asked)


async def test_an_operation_that_is_not_there_is_answered_with_the_nearest(at, memory):
    with pytest.raises(QuestionRefused, match=r"ttnn\.linear"):
        await ask(at, "list_ops", run=memory, op_code="ttnn.linea")


def test_every_argument_is_obeyed_or_refused_by_a_memory_report_alone():
    """So that a new argument is put on one side: this list and the tests above are made by hand."""
    refused = {"category", "device", "max_cores", "bound", "layer", "iteration", "start_signpost", "end_signpost"}
    assert {*Arguments.model_fields} == {
        "run",
        "op_code",
        "group_by",
        "sort",
        "min_share",
        "limit",
        "cursor",
    } | refused


async def test_several_devices_are_listed_apart(at, tmp_path):
    path = write_performance_report(tmp_path, block(devices=2), [Iteration(cold=True), Iteration()])
    said = await ask(at, "list_ops", run=str(path), device=1)
    assert set(column(said["ops"], "device")) == {1}
    assert sum(column(said["ops"], "share")) == pytest.approx(1, abs=0.001)  # of what that device spends
    folded = await ask(at, "list_ops", run=str(path), device=1, group_by="op_code")
    assert sum(column(folded["groups"], "share")) == pytest.approx(1, abs=0.001)
    everywhere = await ask(at, "list_ops", run=str(path), group_by="op_code")
    assert column(everywhere["groups"], "share") == pytest.approx(column(folded["groups"], "share"), abs=0.01)


async def test_a_default_list_stays_short_on_many_devices_and_its_pages_still_join(at, tmp_path):
    path = str(write_performance_report(tmp_path, block(devices=8, layers=3)))
    seen, cursor = [], None
    while True:
        page = await ask(at, "list_ops", run=path, sort="order", **({"cursor": cursor} if cursor else {}))
        assert len(json.dumps(page, separators=(",", ":"))) <= 4096
        seen += page["ops"]["rows"]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert len(seen) == page["total"]["count"] == len({row[0] for row in seen})


async def test_the_gap_before_a_window_is_no_part_of_it(at, run):
    said = await ask(at, "list_ops", run=run, sort="order")
    gaps = column(said["ops"], "gap_us")
    assert gaps[0] is None
    assert None not in gaps[1:]
    assert max(gaps[1:]) < 1000
    by_gap = await ask(at, "list_ops", run=run, sort="gap")
    assert column(by_gap["ops"], "gap_us") == [*sorted(gaps[1:], reverse=True), None]


async def test_a_gap_that_was_not_measured_is_not_zero(at, tmp_path):
    rows = performance_rows(block())
    for row in rows:
        row["OP TO OP LATENCY [ns]"] = ""
    path = write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))
    said = await ask(at, "list_ops", run=str(path), group_by="op_code")
    assert set(column(said["groups"], "median_gap_us")) == {None}


@pytest.fixture
def layers(tmp_path):
    return str(
        write_performance_report(tmp_path / "layers", layered(3, 40_000), [Iteration(cold=True), Iteration()])
    )


async def test_the_layers_of_one_op_hold_only_its_time(at, layers):
    answer = await ask(at, "list_ops", run=layers, group_by="layer", op_code="LayerNorm")
    rows = column(answer["groups"], "count")
    assert rows == [1] * LAYERS


@for_all(("group_by", "kinds", "differ"), [("layer", LAYERS, "2"), ("role", 4, "3")])
async def test_layers_and_roles_hold_every_op_once_and_name_what_differs(at, layers, group_by, kinds, differ):
    said = await ask(at, "list_ops", run=layers, group_by=group_by, limit=100)
    assert sum(column(said["groups"], "count")) == 4 * LAYERS + 2
    assert len([key for key in column(said["groups"], "key") if key.startswith(group_by)]) == kinds
    assert {*column(said["groups"], "differ")} == {differ, None}
    assert "6 layers of 4 ops" in said["caveat"]


@for_all(
    ("role", "name"),
    [
        (22, "up: widens 4 times"),
        (28, "down: narrows 4 times"),
        (13, "attention scores: softmax follows"),
        (16, "attention times values: softmax precedes"),
    ],
)
async def test_a_real_matmul_is_called_what_its_shapes_and_neighbours_make_it(at, role, name):
    said = await ask(at, "list_ops", run=str(shared(CLIP)), group_by="role", limit=40)
    (key,) = [key for key in column(said["groups"], "key") if key.startswith(f"role {role} of 29")]
    assert key.endswith(f"({name})")


@for_all(
    ("before", "after", "name"),
    [
        (None, "NlpCreateHeadsDeviceOperation", "QKV: NlpCreateHeads follows"),
        ("NLPConcatHeadsDeviceOperation", None, "attention output: NLPConcatHeads precedes"),
    ],
)
async def test_heads_beside_a_matmul_name_it(at, tmp_path, before, after, name):
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 512])
    for _ in range(4):
        x = program.op("LayerNormDeviceOperation", [x])
        x = program.op(before, [x]) if before else x
        x = program.op("MatmulDeviceOperation", [x, program.weight([1, 1, 512, 512])], fidelity="HiFi2")
        x = program.op(after, [x]) if after else x
        x = program.op("UnaryDeviceOperation", [x])
    path = write_performance_report(tmp_path / "p", program, [Iteration(cold=True), Iteration()])
    keys = column((await ask(at, "list_ops", run=str(path), iteration="all", group_by="role"))["groups"], "key")
    assert [key for key in keys if key.endswith(f"({name})")]


async def test_roles_carry_the_line_of_the_model_where_the_reports_are_linked(at, tmp_path):
    made = write_run(tmp_path / "both", layered())
    await ask(at, "open_run", performance=str(made.performance), memory=str(made.memory), name="both")
    keys = column((await ask(at, "list_ops", run="both", group_by="role", limit=100))["groups"], "key")
    assert all("model.py:" in key for key in keys if key.startswith("role"))


async def test_layers_by_real_signposts_have_no_roles_where_their_ops_differ(at):
    path = str(shared(OFT))
    groups = (await ask(at, "list_ops", run=path, group_by="layer"))["groups"]
    assert sum(column(groups, "count")) == 621
    assert "outside the layers" in column(groups, "key")
    with pytest.raises(QuestionRefused, match="No roles in this window: 16 layers by signposts"):
        await ask(at, "list_ops", run=path, group_by="role")


async def test_a_layer_can_be_asked_for(at, layers):
    assert (await ask(at, "list_ops", run=layers, layer=6))["total"]["count"] == 4
    with pytest.raises(QuestionRefused, match="there are 6 layers"):
        await ask(at, "list_ops", run=layers, layer=7)


@for_all("asked", [{"group_by": "layer"}, {"group_by": "role"}, {"layer": 1}])
async def test_a_run_without_layers_says_so(at, run, asked):
    with pytest.raises(QuestionRefused, match="No layers"):
        await ask(at, "list_ops", run=run, **asked)


async def test_ops_are_filtered_by_cores_and_by_what_binds_them(at):
    everything = (await ask(at, "list_ops", run="demo", limit=200))["ops"]
    few = (await ask(at, "list_ops", run="demo", limit=200, max_cores=32))["ops"]
    assert 0 < len(few["rows"]) < len(everything["rows"])
    assert max(column(few, "cores")) <= 32
    bound = (await ask(at, "list_ops", run="demo", limit=200, bound="compute"))["ops"]
    assert {*column(bound, "bound")} == {"compute"}
    assert len(bound["rows"]) == column(everything, "bound").count("compute")


async def test_a_group_tells_its_arithmetic_its_bytes_and_what_it_reached(at):
    said = await ask(at, "list_ops", run=str(shared(CLIP)), group_by="op_code", op_code="MinimalMatmul")
    (row,) = said["groups"]["rows"]
    told = dict(zip(said["groups"]["columns"], row, strict=True))
    useful = 2 * 19 * 32 * (4 * 1280 * 1280 + 2 * 1280 * 5120)  # four projections and two of the MLP in 32 layers
    performed = useful / 19 * 32
    assert told["gflop"] == pytest.approx(useful / 1e9, abs=0.01)
    assert told["padded_gflop"] == pytest.approx(performed / 1e9, abs=0.01)
    assert told["tflop_s"] == pytest.approx(useful / told["kernel_us"] / 1e6, abs=0.01)
    assert told["flop_share"] == pytest.approx(useful * 4 / (4096 * 64) / (told["kernel_us"] * 1e3), rel=0.01)
    assert told["gb_s"] == pytest.approx(told["dram_mb"] * 1e3 / told["kernel_us"], abs=0.1)
    assert told["dram_share"] == pytest.approx(told["gb_s"] / 288, abs=0.001)


async def test_shapes_are_not_repeated_for_each_device(at, tmp_path):
    path = write_performance_report(tmp_path, block(devices=4), [Iteration(cold=True), Iteration()])
    shapes = column((await ask(at, "list_ops", run=str(path), limit=8))["ops"], "shapes")
    assert shapes.count("as above") >= 3


async def test_ops_without_time_reached_nothing(at, tmp_path):
    rows = performance_rows(block())
    for row in rows:
        row["DEVICE KERNEL DURATION [ns]"] = "0"
    path = write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))
    groups = (await ask(at, "list_ops", run=str(path), group_by="op_code"))["groups"]
    assert not {"tflop_s", "flop_share", "gb_s", "dram_share"} & {*groups["columns"]}

"""Groups of ops: what they are called, and the rates of the ops in them that show any."""

from __future__ import annotations

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
)
from tests.programs import block, layered
from ttnn_mcp.errors import QuestionRefused

PASSES = (Iteration(cold=True), Iteration())


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


async def grouped(at, path, group_by):
    table = (await ask(at, "list_ops", run=str(path), group_by=group_by))["groups"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return {row["key"]: row for row in rows}


@for_all("group_by", ["layer", "role"])
async def test_what_lies_before_and_after_the_layers_are_groups_of_their_own(at, tmp_path, group_by):
    """An embedding, six layers of four ops, and a head."""
    groups = await grouped(at, write_performance_report(tmp_path / "perf", layered()), group_by)
    assert (groups["before the layers"]["count"], groups["after the layers"]["count"]) == (1, 1)
    before, after = (groups[f"{place} the layers"]["heaviest_op"] for place in ("before", "after"))
    assert after - before == 25
    inside = {key: row["count"] for key, row in groups.items() if not key.endswith("the layers")}
    assert [*inside.values()] == ([4] * 6 if group_by == "layer" else [6] * 4)
    numbered = (
        [f"layer {number}" for number in range(1, 7)]
        if group_by == "layer"
        else [f"role {n} of 4" for n in range(1, 5)]
    )
    assert sorted(key.partition(":")[0] for key in inside) == numbered


async def test_layers_of_different_ops_are_groups_and_have_no_roles(at, tmp_path):
    rows = performance_rows(layered(), [Iteration()])
    signposts = [{"OP CODE": f"layer {number}", "OP TYPE": "signpost"} for number in range(2)]
    written = [rows[0], signposts[0], *rows[1:8], signposts[1], *rows[8:]]
    path = write_rows(tmp_path / "perf" / "report.csv", written, header_of(rows, "C7"))
    groups = await grouped(at, path, "layer")
    assert {key: row["count"] for key, row in groups.items() if key.startswith("layer")} == {
        "layer 1": 7,
        "layer 2": 18,
    }
    with pytest.raises(QuestionRefused, match="No roles in this window: 2 layers by signposts"):
        await grouped(at, path, "role")


async def test_a_group_tells_its_middle_gap_and_its_heaviest_op(at, tmp_path):
    groups = await grouped(at, write_performance_report(tmp_path / "perf", block(), PASSES), "op_code")
    matmul = groups["MatmulDeviceOperation"]
    assert [matmul[name] for name in ("kernel_us", "median_gap_us", "min_cores", "heaviest_us")] == [
        60,
        1.5,
        64,
        40,
    ]


@for_all(("layers", "named"), [(8, "1, 2, 3, 4, 5, 6, 7, 8"), (10, "1, 2, 3, 4, 5, 6, 7, 8 and 2 more"), (0, None)])
async def test_eight_layers_that_differ_are_named_and_the_others_counted(at, tmp_path, layers, named):
    program = Program("wormhole_b0")
    x = program.op("EmbeddingsDeviceOperation", [program.tensor([1, 1, 32, 512])])
    for layer in range(30):
        y = program.op("LayerNormDeviceOperation", [x])
        operands = [y, program.weight([1, 1, 512, 512])]
        y = program.op("MatmulDeviceOperation", operands, kernel_ns=40_000 if layer < layers else 20_000)
        x = program.op("BinaryNgDeviceOperation", [x, program.op("UnaryDeviceOperation", [y])])
    groups = await grouped(at, write_performance_report(tmp_path / "perf", program), "role")
    (matmul,) = [row for key, row in groups.items() if "Matmul" in key]
    assert matmul["differ"] == named


async def test_lines_of_the_model_are_refused_with_the_reason_that_the_reports_are_not_linked(at, tmp_path):
    performance = write_performance_report(tmp_path / "perf", block())
    memory = write_memory_report(tmp_path / "memory", layered())
    opened = await ask(at, "open_run", performance=str(performance), memory=str(memory))
    with pytest.raises(QuestionRefused, match="not known: the memory report launched 26 device ops"):
        await ask(at, "list_ops", run=opened["id"], group_by="source_line")


async def test_rates_are_of_the_ops_that_show_what_they_computed_and_moved(at, tmp_path):
    """Two equal matmuls; the row of the second lost its weights."""
    program = Program("wormhole_b0")
    for _ in range(2):
        operands = [program.tensor([1, 1, 512, 512]), program.weight([1, 1, 512, 512])]
        program.op("MatmulDeviceOperation", operands, fidelity="HiFi2", kernel_ns=10_000)
    rows = performance_rows(program, [Iteration()])
    header = header_of(rows, "C7")
    bare = {name: cell for name, cell in rows[1].items() if not name.startswith("INPUT_1")}
    path = write_rows(tmp_path / "perf" / "report.csv", [rows[0], bare], header)
    (matmul,) = (await grouped(at, path, "op_code")).values()
    assert matmul["count"] == 2
    clocks = 512**3 * 2 * 2 / 4096 / 64  # on all cores, in the two passes of HiFi2
    assert matmul["flop_share"] == pytest.approx(clocks / 10_000, abs=0.001)
    assert matmul["tflop_s"] == pytest.approx(2 * 512**3 / 10_000 / 1e3, abs=0.01)
    assert matmul["gb_s"] == pytest.approx(5 * 512 * 512 * 2 / 20_000, abs=0.1)
    assert matmul["dram_share"] == pytest.approx(5 * 512 * 512 * 2 / 20_000 / 288, abs=0.001)
    assert matmul["dram_mb"] == pytest.approx(5 * 512 * 512 * 2 / 1e6, abs=0.01)
    assert matmul["gflop"] == matmul["padded_gflop"] == pytest.approx(2 * 512**3 / 1e9, abs=0.01)
    assert (matmul["kernel_us"], matmul["heaviest_us"], matmul["heaviest_op"]) == (20, 10, 2)
    bare = {name: cell for name, cell in bare.items() if not name.startswith(("INPUT", "OUTPUT"))}
    path = write_rows(tmp_path / "bare" / "report.csv", [bare], header)
    (matmul,) = (await grouped(at, path, "op_code")).values()
    assert not {"tflop_s", "gb_s"} & matmul.keys()


def model(add_layer, layers=4):
    """An embedding, layers, and a head that is no layer."""
    program = Program("wormhole_b0")
    x = program.op("EmbeddingsDeviceOperation", [program.tensor([1, 1, 32, 320])])
    for _ in range(layers):
        x = add_layer(program, program.op("LayerNormDeviceOperation", [x]))
    program.op("ArgMaxDeviceOperation", [x], shape=[1, 1, 32, 32])
    return program


def widened(width):
    """A layer's MLP, from 320 to this width and back."""

    def layer(program, x):
        for inner, outer in ((320, width), (width, 320)):
            weight = program.weight([1, 1, inner, outer])
            x = program.op("MatmulDeviceOperation", [x, weight], shape=[1, 1, 32, outer], fidelity="HiFi2")
            x = program.op("UnaryDeviceOperation", [x])
        return x

    return layer


def attention(between):
    """A layer's scores, so many ops between, softmax, and its values."""

    def layer(program, x):
        keys = program.tensor([1, 8, 320, 320])
        scores = program.op("MatmulDeviceOperation", [x, keys], shape=[1, 8, 320, 320], fidelity="HiFi2")
        for _ in range(between):
            scores = program.op("BinaryNgDeviceOperation", [scores, keys])
        scores = program.op("SoftmaxDeviceOperation", [scores])
        return program.op("MatmulDeviceOperation", [scores, keys], shape=[1, 1, 32, 320], fidelity="HiFi2")

    return layer


async def names(at, run):
    """What stands in brackets behind each role's op and shapes; the op where nothing does."""
    table = (await ask(at, "list_ops", run=str(run), group_by="role", limit=100, sort="order"))["groups"]
    place = table["columns"].index("key")
    keys = sorted(row[place] for row in table["rows"] if row[place].startswith("role"))
    return [
        key.partition(": ")[2].split(" ")[0] if key[-1] != ")" else key[key.index(" (") + 2 : -1] for key in keys
    ]


@for_all(
    ("width", "up", "down"),
    [
        (640, "up: widens 2 times", "down: narrows 2 times"),
        (480, "MatmulDeviceOperation", "MatmulDeviceOperation"),
    ],
)
async def test_a_matmul_that_doubles_the_width_is_one_of_an_mlp(at, tmp_path, width, up, down):
    run = write_performance_report(tmp_path, model(widened(width)), PASSES)
    unary = "UnaryDeviceOperation"
    assert await names(at, run) == ["LayerNormDeviceOperation", up, unary, down, unary]


@for_all(
    ("between", "scores"),
    [(1, "attention scores: softmax follows"), (2, "MatmulDeviceOperation")],
)
async def test_one_op_may_stand_between_scores_and_softmax(at, tmp_path, between, scores):
    run = write_performance_report(tmp_path, model(attention(between)), PASSES)
    assert await names(at, run) == [
        "LayerNormDeviceOperation",
        scores,
        *["BinaryNgDeviceOperation"] * between,
        "SoftmaxDeviceOperation",
        "attention times values: softmax precedes",
    ]


async def test_a_compiler_s_run_names_the_lines_of_the_model(at, tmp_path):
    run = write_performance_report(tmp_path, model(widened(640)), PASSES, generation="tt-torch")
    assert all(".py:" in name for name in await names(at, run))


@for_all(
    ("lost", "named"),
    [
        (tuple(f"INPUT_{number}_" for number in range(2, 10)), True),
        (tuple(f"INPUT_{number}_" for number in range(1, 10)), False),
        (("OUTPUT_",), False),
    ],
)
async def test_a_matmul_is_named_where_both_its_operands_and_its_output_are_told(at, tmp_path, lost, named):
    rows = performance_rows(model(widened(640)), PASSES)
    header = [name for name in header_of(rows, "C7") if not name.startswith(lost)]
    assert ("up: widens 2 times" in await names(at, write_rows(tmp_path / "ops.csv", rows, header))) is named


@for_all("blank", ["INPUT_0_", "OUTPUT_0_"])
async def test_a_matmul_whose_width_is_not_told_is_not_named(at, tmp_path, blank):
    rows = performance_rows(model(widened(640)), PASSES)
    for row in rows:
        if row["OP CODE"] == "MatmulDeviceOperation":
            row.update({name: "" for name in row if name.startswith(blank)})
    run = write_rows(tmp_path / "ops.csv", rows, header_of(rows, "C7"))
    assert (await names(at, run)).count("LostShape") == 2


async def test_a_filter_changes_no_name(at, tmp_path):
    """Among matmuls alone, each would seem to be the neighbour of the next."""
    run = write_performance_report(tmp_path, model(attention(1)), PASSES)

    async def named(**chosen):
        table = (await ask(at, "list_ops", run=str(run), group_by="role", **chosen))["groups"]
        return {row[table["columns"].index("key")] for row in table["rows"]}

    matmuls = {name for name in await named() if "Matmul" in name}
    assert len([name for name in matmuls if "attention" in name]) == 2
    assert await named(op_code="Matmul") == matmuls
    assert matmuls <= await named(layer=3)


async def test_each_block_of_layers_has_names(at, tmp_path):
    program = model(widened(640))
    x = program.op("EmbeddingsDeviceOperation", [program.tensor([1, 1, 32, 320])])
    for _ in range(4):
        x = attention(1)(program, program.op("LayerNormDeviceOperation", [x]))
    run = write_performance_report(tmp_path, program, [Iteration()])
    found = await names(at, run)
    assert {"up: widens 2 times", "attention scores: softmax follows"} <= {*found}
    assert len(found) == 10

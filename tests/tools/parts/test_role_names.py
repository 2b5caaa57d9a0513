"""What the roles of a layer are called in `list_ops(group_by="role")`."""

import pytest

from tests.asking import ask, session
from tests.profiles import Iteration, Program, header_of, performance_rows, write_performance_report, write_rows

PASSES = (Iteration(cold=True), Iteration())


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("blank", ["INPUT_0_", "OUTPUT_0_"])
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

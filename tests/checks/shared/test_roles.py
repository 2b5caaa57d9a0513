"""What a finding says about layers: the roles of its ops, where they are the same in nearly all layers."""

import csv
import statistics

import numpy as np
import pytest

from tests.asking import ask, reader
from tests.checks.asking import real_case
from tests.checks.rows import case_of
from tests.for_all import for_all
from tests.profiles import Program
from tests.programs import layered
from tests.shared_reports import CLIP, DEEPLAB, shared
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.checks.shared.roles import place_in_layers
from ttnn_mcp.wire import bytes_of

NAMES = ("LayerNorm", "Permute", "Unary", "Matmul", "Softmax", "Typecast", "Tilize", "Untilize", "Concat")


def csv_times(name: str, op_code: str) -> list[float]:
    """The kernel times of some ops, as the file has them."""
    with shared(name).open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if op_code in row["OP CODE"]]
    return [float(row["DEVICE KERNEL DURATION [ns]"]) for row in rows]


def layers(count: int, slow: tuple[int, ...] = (), slow_ns: int = 30_000) -> Program:
    """An embedding, then layers of nine ops; all of a slow layer take longer."""
    program = Program()
    x = program.op("EmbeddingsDeviceOperation", [program.tensor([1, 1, 32, 32])])
    for layer in range(1, count + 1):
        for name in NAMES:
            x = program.op(f"{name}DeviceOperation", [x], kernel_ns=slow_ns if layer in slow else 20_000)
    return program


def rows_of(case, *roles: int, among: int = 99):
    """The rows with these roles in the first layers."""
    here = case.layering_here
    return np.flatnonzero(np.isin(here.role, roles) & (here.layer <= among))


@pytest.fixture(scope="module")
def ten(tmp_path_factory):
    return case_of(tmp_path_factory.mktemp("ten"), layers(10))


def test_a_window_without_layers_has_no_places_in_them(tmp_path):
    case = case_of(tmp_path, layers(1))
    assert case.layering_here is None
    assert place_in_layers(case, np.arange(3)) == ""


@for_all(
    ("roles", "place"),
    [
        ((5,), "role 5 of 9 in each of 10 layers: 20 us x 10"),
        ((2, 5), "roles 2, 5 of 9 in each of 10 layers: 40 us x 10"),
        ((2, 3, 4, 9), "roles 2-4, 9 of 9 in each of 10 layers: 80 us x 10"),
        ((1, 3, 5, 7), "roles 1, 3, 5, 7 of 9 in each of 10 layers: 80 us x 10"),
        ((1, 3, 5, 7, 9), ""),
    ],
)
def test_few_stretches_of_roles_are_named(ten, roles, place):
    assert place_in_layers(ten, rows_of(ten, *roles)) == place


def test_nearly_all_layers_are_enough(ten):
    assert place_in_layers(ten, rows_of(ten, 5, among=9)) == "role 5 of 9 in 9 of 10 layers: 20 us x 9"
    assert place_in_layers(ten, rows_of(ten, 5, among=8)) == ""


def test_one_role_in_too_few_layers_leaves_no_place(ten):
    rows = np.union1d(rows_of(ten, 5), rows_of(ten, 6, among=8))
    assert place_in_layers(ten, rows) == ""


def test_no_ops_have_no_place(ten):
    assert place_in_layers(ten, np.array([], dtype=np.int64)) == ""


@for_all(("count", "place"), [(2, ""), (3, "role 4 of 9 in each of 3 layers: 20 us x 3")])
def test_two_alike_blocks_are_not_yet_layers(tmp_path, count, place):
    case = case_of(tmp_path, layers(count))
    assert case.layering_here.count == count
    assert place_in_layers(case, rows_of(case, 4)) == place


@for_all(
    ("names", "place"),
    [
        (("Matmul",), "role 4 of 12 in each of 5 layers (1-5): 20 us x 5"),
        (("Conv2d",), "role 11 of 12 in each of 3 layers (6-8): 20 us x 3"),
        (("Matmul", "Conv2d"), ""),
    ],
)
def test_the_places_of_one_block_of_layers_are_told_by_its_layers(tmp_path, names, place):
    """Five layers of nine ops, then three layers of others."""
    program = layers(5)
    x = program.op("EmbeddingsDeviceOperation", [program.tensor([1, 1, 32, 32])])
    for _ in range(3):
        for name in ("LayerNorm", "Conv2d", "Unary"):
            x = program.op(f"{name}DeviceOperation", [x], kernel_ns=20_000)
    case = case_of(tmp_path, program)
    rows = np.concatenate([np.flatnonzero(case.named(name)) for name in names])
    assert place_in_layers(case, rows) == place


@for_all(("beside", "place"), [(1, "role 4 of 9 in each of 9 layers: 20 us x 9"), (2, "")])
def test_nearly_all_ops_stand_in_layers(tmp_path, beside, place):
    program = layers(9)
    for _ in range(beside):
        program.op("MatmulDeviceOperation", [program.tensor([1, 1, 32, 32])])
    case = case_of(tmp_path, program)
    assert place_in_layers(case, np.flatnonzero(case.named("Matmul"))) == place


@for_all(
    ("slow", "ending"),
    [
        ((), "in each of 10 layers: 20 us x 10"),
        ((7,), "in each of 10 layers: 20 us x 10; layer 7 differs"),
        ((3, 7), "in each of 10 layers: 20 us x 10; layers 3 and 7 differ"),
        ((3, 5, 7), "in each of 10 layers: 20 us x 10; 3 layers differ"),
    ],
)
def test_layers_that_differ_are_named_or_counted(tmp_path, slow, ending):
    case = case_of(tmp_path, layers(10, slow))
    assert place_in_layers(case, rows_of(case, 4)).endswith(ending)


def test_the_ops_of_another_role_do_not_say_that_a_layer_differs(tmp_path):
    case = case_of(tmp_path, layered(3, 90_000))  # the matmul of layer 3
    assert "layer 3 differs" in place_in_layers(case, rows_of(case, 2))
    assert "differ" not in place_in_layers(case, rows_of(case, 1))


def test_the_findings_on_a_real_encoder_say_their_roles():
    case = real_case(CLIP)
    places = {one.check: one.claim.rpartition("; role")[2] for one in diagnose(case, CATALOGUE).findings}
    times = csv_times(CLIP, "LayerNorm")[-65:-1]  # two in each of the last window's layers, and one behind them
    usual = statistics.median(first + second for first, second in zip(times[::2], times[1::2], strict=True))
    assert places["norm-on-few-cores"] == f"s 1, 21 of 29 in each of 32 layers: {usual / 1e6:.3g} ms x 32"
    assert places["hot-operands-in-dram"].startswith("s 25-26 of 29 in each of 32 layers: ")
    assert places["hot-operands-in-dram"].endswith(" us x 32; 4 layers differ")
    assert places["unfused-attention"].startswith("s 12-16 of 29 in each of 32 layers")
    assert places["minimal-matmul-on-few-rows"].startswith("s 2-4, 19, 22, 28 of 29 in each of 32 layers: ")


def test_a_real_model_without_layers_has_no_roles():
    assert not [one.claim for one in diagnose(real_case(DEEPLAB), CATALOGUE).findings if "role" in one.claim]


async def test_the_answer_stays_small(tmp_path):
    answer = await ask(reader(tmp_path), "optimization_check", run=str(shared(CLIP)))
    assert " of 29 in each of 32 layers" in str(answer["findings"])
    assert bytes_of(answer) <= 6_300


@for_all(("kernel_ns", "told"), [(9_940, "9.9 us x 5"), (10_000, "10 us x 5"), (1_240_000, "1.2 ms x 5")])
def test_the_time_in_a_layer_is_told_as_finely_as_it_needs(tmp_path, kernel_ns, told):
    case = case_of(tmp_path, layers(5, (1, 2, 3, 4, 5), kernel_ns))
    assert place_in_layers(case, rows_of(case, 4)).endswith(told)


def test_a_layer_that_runs_in_several_passes_is_counted_once(tmp_path):
    """Two tokens in one iteration: each runs all ten layers."""
    program = Program()
    program.calls = [*layers(10).calls, *layers(10).calls]
    for number in range(1, 8):  # or a pass would be an iteration
        program.op("CopyDeviceOperation", [program.tensor([1, 1, 32, 32 * number])])
    case = case_of(tmp_path, program)
    assert place_in_layers(case, rows_of(case, 5)) == "role 5 of 9 in each of 10 layers: 40 us x 10"

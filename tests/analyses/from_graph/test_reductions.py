"""Reductions against what dry captures of TTNN 0.81.1 showed on mock devices."""

import pytest

from tests.analyses.from_graph.programs import modelled, sharded, tensor

X, B8, F32 = (tensor(1, 8, 256, 512, dtype=dtype) for dtype in ("bf", "b8", "f32"))
W, H = "ReduceMultiCoreWProgramFactory", "ReduceMultiCoreHProgramFactory"
LEAST = "ReduceParams(ReduceOpMath::MAX, ReduceOpDim::W, std::nullopt, 1, 1, ScalerMode::PostMul, 0)"
CASES = [  # device op, factory, attributes, operand, output, measured
    ("FastReduceNC", "FastReduceNCProgramFactory", "", X, tensor(1, 1, 256, 512), 38_912),
    ("Reduce", W, "", X, tensor(1, 8, 256, 1), 22_528),
    ("Reduce", W, "", tensor(1, 1, 64, 64), tensor(64, 1), 10_240),
    ("Reduce", W, "", tensor(1, 1, 8192, 64), tensor(8192, 1), 22_528),  # four rows a core
    ("Reduce", H, "", tensor(1, 1, 1024, 512), tensor(1, 1, 4, 512), 26_624),  # cut across cores
    ("Reduce", H, "", tensor(2, 3, 96, 160), tensor(2, 3, 1, 160), 10_240),
    ("Reduce", H, "", tensor(1, 1, 784, 64, rows=True), tensor(25, 64, dtype="f32", rows=True), 45_056),
    ("Reduce", W, "", tensor(1, 1, 196, 512, rows=True), tensor(196, 1), 59_392),
    ("Reduce", W, LEAST, tensor(1, 1, 8192, 64, dtype="b8"), tensor(8192, 1, dtype="b8"), 15_104),
    ("WelfordReduce", "", "", tensor(2, 2, 512, 1280), tensor(2, 2, 512, 1), 86_016),
    ("WelfordReduce", "", "", tensor(2, 1, 1024, 128), tensor(2, 1, 1, 128), 69_632),
    ("WelfordReduce", "", "", tensor(1, 1, 8192, 64), tensor(1, 1, 1, 1), 548_864),
    ("WelfordReduce", "", "", tensor(1, 1, 256, 320, dtype="f32"), tensor(1, 1, 1, 1, dtype="f32"), 61_440),
    ("ProdNc", "ProdNcProgramFactory", "", F32, F32, 16_384),
    ("Bcast", "BcastMultiCoreHWProgramFactory", "", X, X, 8192),
]
MOST = 9000  # bytes that the most of a rule may be above one case of it


@pytest.mark.parametrize("case", CASES)
def test_reductions_are_never_too_few(case):
    name, factory, attributes, x, out, measured = case
    size = modelled(f"{name}DeviceOperation", [x], out, factory=factory, attributes=attributes)
    assert measured <= size <= measured + MOST


def test_the_least_of_block_floats_along_columns_is_not_guessed():
    assert modelled("ReduceDeviceOperation", [B8], B8, factory=H, attributes=LEAST) is None


def test_batch_norms_take_two_tiles_of_nine_tensors():
    assert modelled("BatchNormOperation", [X, X, X], X) == 36_864
    assert modelled("RunningStatistics", [X], X) == 36_864


@pytest.mark.parametrize(
    ("x", "measured"),
    [
        (tensor(1, 1, 32, 64), 10_240),
        (tensor(1, 1, 128, 6400), 10_240),  # three or four columns for a core
        (tensor(1, 1, 256, 8192), 22_528),
        (tensor(5, 1, 64, 2048), 22_528),
        (sharded(1, 1, 256, 1024, layout="WIDTH", shard=(256, 128), cores=(8, 1)), 10_240),
    ],
)
def test_along_columns_eight_tiles_are_read_once_cores_have_several_columns(x, measured):
    assert modelled("ReduceDeviceOperation", [x], tensor(*x.shape[:-2], 1, x.shape[-1]), factory=H) == measured


@pytest.mark.parametrize(("columns", "measured"), [(2, 10_240), (16, 22_528)])
def test_along_a_row_eight_tiles_are_read_unless_the_row_is_short(columns, measured):
    for rows in (1, 32):
        x = tensor(1, 1, rows, 32 * columns)
        assert modelled("ReduceDeviceOperation", [x], tensor(1, 1, rows, 1), factory=W) == measured

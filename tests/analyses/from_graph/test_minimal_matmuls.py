"""MinimalMatmul against dry captures of TTNN 0.81.1 on mock devices, Wormhole."""

from tests.analyses.from_graph.programs import KERNEL, modelled, tensor
from tests.for_all import for_all

NONE = "std::nullopt"
NAME = "MinimalMatmulDeviceOperation"


def printed(config=NONE, fused=NONE, scalar=NONE, kernel=(1, 1), swiglu=0):
    before = f"MinimalMatmulParams({config}, {fused}, {NONE}, {NONE}, {scalar}, "
    return f"{before}{KERNEL.format(*kernel)}, 1, -1, {swiglu})"


def operands(m, k, n, *others, dtype="bf"):
    shapes = {"bias": (1, n), "added": (1, 1, m, n), "row": (1, 1, 1, n)}
    return [tensor(1, 1, m, k, dtype=dtype), tensor(k, n, dtype=dtype),
            *(tensor(*shapes[one], dtype=dtype) for one in others)]  # fmt: skip


CASES = [  # m, k, n, other operands, data type, printed, measured
    (1024, 1024, 1024, (), "bf", {}, 1_048_576),
    (4096, 512, 2048, (), "b8", {}, 679_936),
    (1024, 1024, 2048, ("bias",), "bf", {"fused": "<BasicUnaryWithParam>"}, 1_064_960),
    (1024, 1024, 1024, ("bias", "added", "row"), "bf", {"scalar": 1}, 1_212_416),
    (512, 2048, 512, ("added", "row"), "bf", {"scalar": "0.5"}, 1_196_032),
    (4096, 1024, 4096, ("added", "row"), "bf", {"scalar": 1, "kernel": (0, 0)}, 1_064_960),
    (1024, 1024, 2048, (), "bf", {"swiglu": 1}, 917_504),
    (2048, 1024, 4096, ("bias",), "b8", {"swiglu": 1}, 619_008),
    (1024, 1024, 2048, ("bias",), "bf", {"config": "MinimalMatmulConfig(4, 8, 4, 2, 2, <xy_pair>)"}, 401_408),
    (1024, 1024, 3072, (), "bf", {"config": "MinimalMatmulConfig(2, 4, 6, 2, 2, <xy_pair>)"}, 229_376),
]


@for_all("case", CASES, ids=str)
def test_the_buffers_are_ttnn_s(case):
    m, k, n, others, dtype, asked, measured = case
    inputs, out = operands(m, k, n, *others, dtype=dtype), tensor(1, 1, m, n, dtype=dtype)
    assert modelled(NAME, inputs, out, attributes=printed(**asked)) == measured


def test_graphs_before_0_81_print_less():
    x, w = operands(1024, 1024, 1024)
    attributes = f"MinimalMatmulParams({NONE}, {NONE}, {NONE}, {KERNEL.format(1, 1)}, 3, -1)"
    assert modelled(NAME, [x, w], x, attributes=attributes) == 1_048_576
    assert modelled(NAME, [x], x, attributes=attributes) is None
    assert modelled(NAME, [x, w], x, attributes="unsupported type") is None
    assert modelled(NAME, [x, w], x, attributes=printed("MinimalMatmulConfig(4, 8, 4, <xy_pair>)")) is None
    assert modelled(NAME, [x, w, x], x, attributes=printed(scalar=1)) == 1_048_576 + 8 * 2048  # then it is a bias

"""What routes tokens to experts, and adds up what they gave, against dry captures of TTNN 0.81.1 on mock devices."""

from dataclasses import replace

from tests.analyses.from_graph.programs import WORMHOLE, modelled, tensor
from tests.for_all import for_all
from ttnn_mcp.readers.graph.specs import Spec

BLACKHOLE = replace(WORMHOLE, arch="blackhole", grid=(12, 10))
TOKENS = [  # tokens of a chip, hidden size, choices, experts, chips that tokens go to; sent, returned, of each expert
    (32, 1024, 8, 64, 8, 15_712, 26_272, 336),
    (8, 7168, 8, 256, 8, 39_328, 468_688, 1_248),
    (64, 2880, 4, 128, 8, 34_656, 102_064, 640),
    (32, 1024, 8, 64, 4, 11_616, 26_272, 336),
    (8, 7168, 8, 256, 4, 38_304, 468_688, 1_248),
    (64, 2880, 4, 128, 4, 26_464, 102_064, 640),
]


def words(*shape):
    """Numbers of experts, in rows."""
    return Spec(shape, "UINT16", tiled=False, placement=None)


def rows(*shape):
    return tensor(*shape, rows=True)


@for_all("case", TOKENS, ids=str)
def test_tokens_go_to_the_chips_of_their_experts_and_come_back(case):
    tokens, hidden, choices, experts, chips, sent, returned, remapped = case
    every, chosen = tokens * chips, words(tokens, 1, 1, choices)
    of_experts, all_chosen = words(1, 1, experts, 8), words(1, every, 1, choices)
    inputs, outputs = [rows(tokens, 1, 1, hidden), chosen, of_experts], (rows(1, every, 1, hidden), all_chosen)
    assert modelled("AllToAllDispatchDeviceOperation", inputs, outputs) == sent
    assert modelled("AllToAllDispatchDeviceOperation", inputs, outputs, machine=BLACKHOLE) is None
    inputs, out = [rows(experts // 8, every, 1, hidden), of_experts, all_chosen], rows(choices, tokens, 1, hidden)
    assert modelled("AllToAllCombineDeviceOperation", inputs, out) == returned
    assert modelled("AllToAllCombineDeviceOperation", inputs, out, machine=BLACKHOLE) is None
    inputs = [rows(1, every, 1, experts), of_experts, all_chosen]
    outputs = (rows(1, every, 1, experts // 8), words(1, 1, every // 32, experts // 8))
    assert modelled("MoeExpertTokenRemapDeviceOperation", inputs, outputs) == remapped


def test_tokens_in_tiles_and_calls_without_all_operands_are_not_guessed():
    x, y = rows(32, 1, 1, 1024), tensor(32, 1, 1, 1024)
    for name in ("AllToAllDispatch", "AllToAllCombine", "MoeExpertTokenRemap"):
        full = [x, words(32, 1, 1, 8), words(1, 1, 64, 8)]
        assert modelled(f"{name}DeviceOperation", full, (x, x)) is not None
        assert modelled(f"{name}DeviceOperation", full[:2], (x, x)) is None
        assert modelled(f"{name}DeviceOperation", [y, *full[1:]], (x, x)) is None
        assert modelled(f"{name}DeviceOperation", full, x) is None or name == "AllToAllCombine"


def test_the_gate_takes_256_experts():
    choice = (tensor(1, 1, 32, 8), words(1, 1, 32, 8))
    name = "DeepseekGroupedGateDeviceOperation"
    assert modelled(name, [tensor(1, 1, 512, 256)] * 2, choice) == 184_320
    assert modelled(name, [tensor(1, 1, 32, 128)] * 2, choice) is None
    assert modelled(name, [tensor(1, 1, 32, 256, dtype="f32")] * 2, choice) is None


@for_all(
    ("experts", "dtype", "measured"),
    [
        (8, "bf", 38_912),
        (6, "bf", 30_720),
        (4, "bf", 22_528),
        (12, "bf", 30_720),
        (20, "bf", 26_624),
        (12, "b8", 17_280),
        (4, "b8", 12_928),
    ],
)
def test_experts_are_summed_as_many_at_a_time_as_divide_them(experts, dtype, measured):
    x, out = tensor(experts, 1, 32, 7168, dtype=dtype), tensor(1, 1, 32, 896, dtype=dtype)
    name, attributes = "DeepseekMoEFastReduceNCDeviceOperation", "DeepseekMoEFastReduceNCParams(0, 896, MC)"
    assert modelled(name, [x], (out,) * 8, attributes=attributes) == measured
    assert modelled(name, [x], (out,) * 8, attributes="unsupported type") is None
    assert modelled(name, [x], (out,) * 8, attributes=attributes.replace("(0,", "(4,")) is None

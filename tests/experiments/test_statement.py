"""What is read from the words of a change, and from its step."""

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.engaged import Engaged
from ttnn_mcp.experiments.statement import statement_of

WEIGHTS = Engaged("data type", "Matmul", "in1 BFLOAT16 -> BFLOAT8_B")
LOFI = Engaged("fidelity", "Matmul", "fidelity HiFi4 -> LoFi")
SHARDED = Engaged("placement", "LayerNorm", "in0 DRAM_INTERLEAVED -> L1_BLOCK_SHARDED, cores 8 -> 64")
CONFIG = Engaged("config", "Matmul", "program_config.in0_block_w")
FUSED = Engaged("fusion", "Matmul", "Matmul + Unary -> Matmul")
GONE = Engaged("fusion", "Typecast", "Typecast gone")
TRACED = Engaged("trace", "all", "replayed")
ALL = (WEIGHTS, LOFI, SHARDED, CONFIG, FUSED, GONE, TRACED)


@for_all(
    ("change", "step", "meant"),
    [
        ("weights to bfloat8_b", None, [WEIGHTS]),
        ("FF1 in bfp8", 3, [WEIGHTS]),
        ("LoFi everywhere", 1, [LOFI]),
        ("bf8 weights with LoFi", None, [WEIGHTS, LOFI]),
        ("block-sharded layer norm", None, [SHARDED]),
        ("activations into L1", None, [SHARDED]),
        ("in0_block_w from 2 to 8", None, [CONFIG]),
        ("fused relu", None, [FUSED, GONE]),
        ("removed a typecast", None, [FUSED, GONE]),
        ("Metal Trace", 4, [TRACED]),
        ("tuning", 1, [WEIGHTS, LOFI]),
        ("tuning", 2, [FUSED, GONE]),
        ("tuning", 3, [SHARDED, CONFIG]),
        ("tuning", 4, [TRACED]),
        ("tuning", 5, []),
        ("tuning", 6, [WEIGHTS, SHARDED, CONFIG]),
        ("tuning", None, []),
        ("tuning", 7, []),
    ],
)
def test_the_words_come_before_the_step(change, step, meant):
    assert statement_of(change, step).meant(ALL) == meant


def test_another_value_of_the_same_setting_is_not_meant():
    assert statement_of("LoFi", None).meant([Engaged("fidelity", "Matmul", "fidelity HiFi4 -> HiFi2")]) == []


def test_only_settings_are_meant_by_their_names():
    trace = statement_of("Metal Trace without the softmax and its program_config", None)
    assert trace.meant([Engaged("added", "Softmax", "Softmax new")]) == []
    assert trace.meant([CONFIG]) == [CONFIG]


def test_how_it_was_read_is_told():
    assert statement_of("weights to bfp8", 3).basis == "BFLOAT8_B: by the words of the change"
    assert statement_of("tuning", 3).basis == "placement, config, cores: by step 3"
    assert "neither words nor step" in statement_of("tuning", None).basis


@for_all("change", ["traceback fixed", "a flagrant formatter", "refused an emergency of lofiness"])
def test_words_inside_other_words_mean_nothing(change):
    assert statement_of(change, None).kinds == ()

"""formats-untried: fewer bits of weights and activations, where no rule tells what they bring: a trial."""

from __future__ import annotations

import pytest

from tests.checks.matmul_programs import decoding
from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Placement, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, matmul
from ttnn_mcp.checks.fixes import marked

FEWER_BYTES = 1 - 1.0625 / 2


def linear(
    program, *, m=4096, weights="BFLOAT4_B", result="BFLOAT8_B", ns=600_000, n=2048, k=4096, fidelity="LoFi"
):
    """Nothing to try as it is; arithmetic takes 0.26 ms at LoFi and outweighs the bytes."""
    x, w = program.tensor([1, 1, m, k], "BFLOAT8_B"), program.weight([1, 1, k, n], weights)
    put(program, matmul(x, w, program.tensor([1, 1, m, n], result), ns, fidelity=fidelity))
    return program


def of(**how):
    return linear(Program("wormhole_b0"), **how)


def texts(outcome):
    return [claim.claim.partition(" or not")[0] for claim in outcome.claims]


def test_what_is_as_narrow_as_it_can_be_is_clean(check):
    assert check.ask(of()).status == "clean"


@for_all(
    ("weights", "fix"), [("BFLOAT8_B", "ttnn.bfloat4_b"), ("BFLOAT16", "ttnn.bfloat8_b"), ("FLOAT32", "bfloat8_b")]
)
def test_weights_that_no_byte_count_speaks_of_are_told(check, weights, fix):
    claim = check.ask(of(weights=weights)).claims[0]
    assert claim.claim.startswith("1 matmul could do with narrower weights or not (600 us, 100.0%): ")
    assert fix in claim.fix
    assert claim.expected is None
    assert claim.at_most_ns.tolist() == [pytest.approx(FEWER_BYTES * 600_000)]


def test_weights_that_wait_for_bytes_are_another_checks_but_beside_narrower_ones(check):
    """17.8 MB take 74 us of 100."""
    waiting = {"m": 32, "n": 4096, "ns": 100_000, "weights": "BFLOAT8_B"}
    assert check.ask(of(**waiting)).status == "clean"
    assert texts(check.ask(linear(of(**waiting)))) == ["1 matmul could do with narrower weights"]
    check.pair(lambda n: of(**{**waiting, "n": n, "ns": 25 * n}), silent=31_968, fires=32_000)  # a head


def test_results_of_matmuls_in_bfloat16_are_told(check):
    claim = check.ask(of(result="BFLOAT16")).claim
    assert "narrower results" in claim.claim
    assert claim.expected is None
    assert "dtype=ttnn.bfloat8_b for the result" in claim.fix


def test_results_in_l1_are_told_as_those_in_dram(check):
    """Fc of Janus-Pro's tower wrote BFLOAT16 into L1: 134 us became 125 in BFLOAT8_B, and what read it 103 to 96."""
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 4096, 4096], "BFLOAT8_B"), program.weight([1, 1, 4096, 2048], "BFLOAT4_B")
    y = program.tensor([1, 1, 4096, 2048], "BFLOAT16", placement=L1)
    put(program, matmul(x, w, y, 600_000, fidelity="LoFi"))
    assert texts(check.ask(program)) == ["1 matmul could do with narrower results"]


def test_bytes_below_a_tenth_of_the_time_are_not_told(check):
    """16.8 MB of results take 69.9 us at 240 GB/s; all that weights of BFLOAT8_B move 144.9."""
    check.pair(lambda ns: of(result="BFLOAT16", ns=ns), silent=704_000, fires=694_000)
    check.pair(lambda ns: of(weights="BFLOAT8_B", ns=ns), silent=1_510_000, fires=1_420_000)


@for_all(("keys", "told"), [("BFLOAT16", True), ("BFLOAT8_B", False)])
def test_keys_and_values_of_attention_are_told_not_its_result(check, keys, told):
    program = Program("wormhole_b0")  # its result takes 4.4 us; LoFi would spare half of its arithmetic, 8.4 us
    q, k, v, y = (program.tensor([1, 8, 1024, 64], dtype) for dtype in ("BFLOAT16", keys, keys, "BFLOAT16"))
    put(program, DeviceOp("ScaledDotProductAttentionDeviceOperation", (q, k, v), (y,), 30_000, fidelity="HiFi2"))
    outcome = check.ask(program)
    assert outcome.fires is told
    if told:
        assert "k and v as ttnn.bfloat8_b" in outcome.claim.fix
        assert marked(outcome.claim.fix) == outcome.claim.fix  # no argument: attention takes no dtype
        assert outcome.claim.expected is None  # seven of ten tries gained: too few


@for_all(
    ("fidelity", "windowed", "dtype", "told"),
    [
        ("HiFi4", True, "BFLOAT8_B", True),
        ("HiFi3", True, "BFLOAT8_B", True),
        ("HiFi2", True, "BFLOAT8_B", False),
        ("LoFi", True, "BFLOAT8_B", False),
        ("HiFi4", False, "BFLOAT8_B", False),
        ("HiFi4", True, "FLOAT32", False),
    ],
)
def test_passes_of_attention_whose_arithmetic_no_report_tells_are_told(check, fidelity, windowed, dtype, told):
    """Mistral Medium's ring attention took 886 us at HiFi4 and 663 at HiFi2."""
    program = Program("wormhole_b0")
    q, k, v, y = (program.tensor([1, 8, 1024, 64], dtype) for _ in range(4))
    code = f"{'Windowed' * windowed}ScaledDotProductAttentionDeviceOperation"
    put(program, DeviceOp(code, (q, k, v), (y,), 90_000, fidelity=fidelity))
    claims = [claim for claim in check.ask(program).claims if "HiFi2" in claim.fix]
    assert bool(claims) is told
    for claim in claims:
        assert claim.fix.startswith("math_fidelity=ttnn.MathFidelity.HiFi2 in its compute_kernel_config")
        assert claim.at_most_ns.tolist() == [90_000 * (1 - 2 / {"HiFi4": 4, "HiFi3": 3}[fidelity])]
    program.device_ops[0].kernel_ns = 4_900
    assert not [claim for claim in check.ask(program).claims if "HiFi2" in claim.fix]


def test_attention_of_as_many_passes_is_not_told_beside_one_of_more(check):
    program = Program("wormhole_b0")
    for heads, fidelity in ((8, "HiFi4"), (4, "HiFi2")):
        q, k, v, y = (program.tensor([1, heads, 1024, 64], "BFLOAT8_B") for _ in range(4))
        code = "WindowedScaledDotProductAttentionDeviceOperation"
        put(program, DeviceOp(code, (q, k, v), (y,), 90_000, fidelity=fidelity))
    (claim,) = (claim for claim in check.ask(program).claims if "HiFi2" in claim.fix)
    assert claim.rows.tolist() == [0]


def test_passes_of_a_rotation_by_pairs_are_told(check):
    def rotate(program, fidelity="HiFi4", name="RotaryEmbeddingLlama", *, heads=8, dtype="BFLOAT8_B", ns=17_000):
        x, angles, y = (program.tensor([1, heads, 512, 128], dtype) for _ in range(3))
        put(program, DeviceOp(f"{name}DeviceOperation", (x, angles), (y,), ns, fidelity=fidelity))

    def rotated(*how):
        program = of()
        rotate(program, *how)
        return program

    found = check.pair(rotated, silent="LoFi", fires="HiFi2")
    assert found.claim.at_most_ns.tolist() == [pytest.approx(0.5 * 17_000)]  # one pass of two
    assert check.ask(rotated("HiFi4")).claim.at_most_ns.tolist() == [pytest.approx(0.6 * 17_000)]
    assert "math_fidelity=ttnn.MathFidelity.LoFi" in found.claim.fix
    assert check.ask(rotated("HiFi4", "RotaryEmbedding")).status == "clean"
    for other in ({"fidelity": "LoFi"}, {"dtype": "FLOAT32"}, {"ns": 4_900}):  # each beside one that is told
        program = rotated("HiFi4")
        rotate(program, heads=4, **other)
        (passes,) = (claim for claim in check.ask(program).claims if "fewer passes" in claim.claim)
        assert len(passes.rows) == 1


def test_rows_that_update_a_cache_keep_16_bits(check):
    """Real TTNN: "decode update repacks into the cache dtype and should not receive low-precision packed input"."""
    program = Program("wormhole_b0")
    q, y = (program.tensor([1, 8, 32, 64]) for _ in "qy")
    cache = program.tensor([8, 8, 4096, 64])
    put(program, DeviceOp("SdpaDecodeDeviceOperation", (q, cache, cache), (y,), 900_000, fidelity="HiFi2"))
    assert "cache of k and v as ttnn.bfloat8_b; updates go on with BFLOAT16 rows" in check.ask(program).claim.fix


def test_texts_are_short_and_cells_its_own(check):
    for how in ({"weights": "BFLOAT8_B"}, {"result": "BFLOAT16"}):
        check.assert_sound(of(**how))


def test_arithmetic_stays(check):
    """69 Gflop take 262 us at LoFi on 64 cores."""
    claim = check.ask(of(weights="BFLOAT8_B", ns=300_000)).claim
    assert claim.at_most_ns.tolist() == [pytest.approx(300_000 - 262_144, rel=0.01)]


def test_five_microseconds_and_one_percent_of_the_window_are_worth_telling(check):
    check.pair(lambda ns: of(m=512, n=512, k=512, ns=ns, result="BFLOAT16"), silent=4_900, fires=5_100)
    check.share_pair(lambda program: linear(program, result="BFLOAT16"), 0.01, of="saving")


def test_passes_above_lofi_are_told_where_arithmetic_takes_half_of_the_time(check):
    """At HiFi2 524 us, of which one pass of two stays; from 70 % of the time on another check tells it."""

    def fewer(used, weights="BFLOAT8_B"):
        claims = check.ask(of(ns=round(524_288 / used), fidelity="HiFi2", weights=weights)).claims
        return [claim for claim in claims if "fewer passes" in claim.claim]

    (claim,) = fewer(0.504)
    assert "math_fidelity=ttnn.MathFidelity.LoFi" in claim.fix
    assert claim.at_most_ns.tolist() == [pytest.approx(520_000, rel=0.01)]
    assert claim.expected is None
    assert fewer(0.496) == fewer(0.71) == []
    assert fewer(0.6, "BFLOAT4_B") == [], "fidelity-above-operands asks for it"


@for_all(
    ("name", "nnz", "fidelity", "weights", "told"),
    [("SparseMatmul", "std::nullopt", "HiFi4", "BFLOAT4_B", 0.75), ("SparseMatmul", "std::nullopt", "LoFi", "BFLOAT4_B", 0),
     ("SparseMatmul", "std::nullopt", "HiFi2", "BFLOAT8_B", 0.5), ("SparseMatmul", "std::nullopt", "HiFi4", "BFLOAT16", 0),
     ("SparseMatmul", "2", "HiFi4", "BFLOAT4_B", 0), ("Matmul", "std::nullopt", "HiFi4", "BFLOAT4_B", 0)],
)  # fmt: skip
def test_passes_of_experts_that_nobody_counts_are_told(check, *, name, nnz, fidelity, weights, told):
    """Of a matmul whose operands do not fit nothing is known."""
    program = of()
    k = 480 if name == "Matmul" else 512
    x, w, y = (program.tensor([1, *sides], weights) for sides in ((1, 1, k), (16, 512, 512), (16, 32, 512)))
    put(program, DeviceOp(f"{name}DeviceOperation", (x, w), (y,), 100_000, fidelity=fidelity, attributes={"nnz": nnz}))  # fmt: skip
    claims = [claim for claim in check.ask(program).claims if "fewer passes" in claim.claim]
    assert [claim.at_most_ns.tolist() for claim in claims] == [[pytest.approx(told * 100_000)]] * (told > 0)


def test_half_of_the_bytes_of_float32_may_go_and_all_of_a_cast_to_it(check):
    """Beside a matmul: a sum of two tensors in FLOAT32, and a cast that nothing narrows again."""

    def told(dtype, ns=10_000):
        program = of()
        x, y, z = (program.tensor([1, 1, 256, 256], each) for each in ("BFLOAT16", dtype, dtype))
        put(program, DeviceOp("TypecastDeviceOperation", (x,), (y,), ns))
        put(program, DeviceOp("BinaryNgDeviceOperation", (y, y), (z,), ns))
        return [claim for claim in check.ask(program).claims if "16 bits for 32" in claim.claim]

    (claim,) = told("FLOAT32")
    assert claim.at_most_ns.tolist() == [pytest.approx(10_000), pytest.approx(5_000)]
    assert claim.claim.startswith("2 ops could do with 16 bits for 32 or not (20 us, ")
    assert "dtype=ttnn.bfloat16" in claim.fix
    assert claim.expected is None
    assert not told("BFLOAT16")
    assert told("FLOAT32", 5_100)
    assert not told("FLOAT32", 4_900)


def test_what_no_chip_can_do_in_its_time_is_not_tried(check):
    """A sum of three tensors of 4 MB in 10 us, and a matmul of 69 Gflop in 10: operands or times are false."""
    program = of(ns=10_000, result="BFLOAT16")
    x, y, z = (program.tensor([1, 1, 1024, 1024], "FLOAT32") for _ in range(3))
    put(program, DeviceOp("BinaryNgDeviceOperation", (x, y), (z,), 10_000))
    assert check.ask(program).status == "clean"


def test_float32_between_casts_is_another_checks(check):
    program = of()
    kinds = ("BFLOAT16", "FLOAT32", "FLOAT32", "BFLOAT16")
    w, x, y, z = (program.tensor([1, 1, 1024, 1024], each) for each in kinds)
    for name, read, written in (("Typecast", w, x), ("Unary", x, y), ("Typecast", y, z)):
        put(program, DeviceOp(f"{name}DeviceOperation", (read,), (written,), 20_000))
    assert not any("16 bits for 32" in claim.claim for claim in check.ask(program).claims)


def banked(weights, *, fidelity="HiFi2", ns=94_000, k=4096, n=6144, m=32):
    """DRAM-sharded weights of one token on Blackhole: eight cores multiply, and passes are the limit."""
    program = Program("blackhole", grid=(11, 10))
    config = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=4,per_core_M=1,per_core_N=6)"
    decoding(program, m=m, k=k, n=n, inner=weights, where=Placement("DRAM", "WIDTH_SHARDED"), fidelity=fidelity,
             program_config=config, kernel_ns=ns)  # fmt: skip
    return program


def narrower(outcome):
    (claim,) = (claim for claim in outcome.claims if "narrower weights" in claim.claim)
    return claim


@for_all(("weights", "told"), [("BFLOAT16", True), ("BFLOAT8_B", False), ("FLOAT32", False)])
def test_of_wide_weights_four_bits_are_told_too_whether_or_not_they_wait_for_bytes(check, weights, told):
    """The head of BitNet: BFLOAT4_B took 58 % off. Bytes need 141 us: twice that is the most that counts of 350."""
    for ns, most_ns in ((160_000, 114_053.27), (350_000, 200_977.07)):
        claims = check.ask(linear(of(m=32, n=4096, ns=ns, weights=weights))).claims
        four = [claim for claim in claims if "weights of four bits" in claim.claim]
        assert bool(four) is told
        if told and ns == 160_000:  # it waits for bytes: wide-weights tells of eight bits
            assert [*claims] == four
        for claim in four:
            assert "dtype=ttnn.bfloat4_b" in claim.fix
            assert claim.at_most_ns.tolist() == [pytest.approx(most_ns)]


def test_four_bits_leave_the_arithmetic_of_what_does_not_wait_for_bytes(check):
    for ns, most_ns in ((600_000, 600_000 - 262_144), (1_500_000, 1_500_000 * (1 - 4.5 / 16))):
        claims = check.ask(of(weights="BFLOAT16", ns=ns)).claims
        (four,) = (claim for claim in claims if "weights of four bits" in claim.claim)
        assert four.at_most_ns.tolist() == [pytest.approx(most_ns, rel=0.01)]


def test_passes_that_narrower_weights_have_no_bits_for_go_with_them_and_the_law_tells_both(check):
    """Music3's QKV took 168 us in BFLOAT16 at HiFi4, 94 in BFLOAT8_B at HiFi2 and 58 at LoFi."""
    wide = narrower(check.ask(banked("BFLOAT16", fidelity="HiFi4", ns=168_000)))
    assert "dtype=ttnn.bfloat8_b" in wide.fix
    assert "; math_fidelity=ttnn.MathFidelity.HiFi2 in its compute_kernel_config" in wide.fix
    assert wide.expected.basis == "law: decode matmul, DRAM-sharded weights"
    assert wide.expected.saved_ns.tolist() == [pytest.approx(168_000 - 94_000, rel=0.05)]
    assert wide.at_most_ns.tolist() == [pytest.approx(84_000)]
    eight = narrower(check.ask(banked("BFLOAT8_B")))
    assert "dtype=ttnn.bfloat4_b" in eight.fix
    assert "MathFidelity.LoFi" in eight.fix


def test_passes_stay_where_arithmetic_takes_less_than_half_of_the_time(check):
    """At HiFi2 72.8 us on the cores of the banks."""
    needed = check.ask(banked("BFLOAT8_B")).case.roofline.compute_used_ns[0]
    fixes = [narrower(check.ask(banked("BFLOAT8_B", ns=round(needed / used)))).fix for used in (0.51, 0.49)]
    assert ["MathFidelity.LoFi" in fix for fix in fixes] == [True, False]


def test_of_weights_that_no_law_knows_nothing_is_expected(check, measured):
    """K is beyond what laws know; 142.6 MB take 320 us at 445 GB/s."""

    def expected(used, m=32, weights="BFLOAT8_B"):
        program = Program("blackhole", grid=(11, 10))
        beside = {"into": DRAM, "program_config": None, "fidelity": "LoFi"}
        decoding(program, k=512, n=512, inner="BFLOAT4_B", kernel_ns=4_000, **beside)
        decoding(program, m=m, k=32_768, n=4096, inner=weights, kernel_ns=round(320_000 / used), **beside)
        return narrower(check.ask(program)).expected

    measured("formats-untried")
    assert expected(0.73) is expected(0.67) is expected(0.73, m=64) is None


def test_where_one_of_the_weights_is_not_streamed_such_tries_tell_nothing(check):
    program = of(weights="BFLOAT8_B", m=32, k=32_768, ns=620_000)
    linear(linear(program), weights="BFLOAT8_B", m=32, k=32_768, ns=400_000)
    assert narrower(check.ask(program)).expected is None


def test_short_ops_operands_that_are_made_and_element_wise_ops_have_no_weights_and_keys(check):
    short = {"m": 512, "n": 512, "k": 512, "weights": "BFLOAT8_B", "fidelity": "HiFi4"}
    check.pair(lambda ns: of(ns=ns, **short), silent=4_900, fires=5_100)
    program = of()
    x, y, made = (program.tensor([1, 1, 2048, 2048], "BFLOAT16") for _ in range(3))
    put(program, binary("ADD", x, y, made, 200_000))
    activation, result = (
        program.tensor([1, 1, 2048, 2048], "BFLOAT8_B"),
        program.tensor([1, 1, 2048, 2048], "BFLOAT8_B"),
    )
    put(program, matmul(activation, made, result, 600_000, fidelity="LoFi"))
    assert check.ask(program).status == "clean"


def test_a_run_without_matmuls_and_attention_is_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_without_a_second_operand_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), of(weights="BFLOAT16"))), "INPUT_n")

"""minimal-matmul-for-many-rows: matmuls of thousands of rows far from their roofline."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, rewritten, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Placement, Program, height_sharded
from tests.profiles.ops import matmul


def multiplied(
    program, *, rows=4096, batch=1, k=1024, n=3072, ns=800_000, pairs=False, where=DRAM, weights=DRAM, into=DRAM
):
    x = program.tensor([1, batch, rows // batch, k], placement=where)
    w = program.tensor([1, batch if pairs else 1, k, n], placement=weights)
    put(program, matmul(x, w, program.tensor([1, batch, rows // batch, n], placement=into), ns))


def of(**how):
    program = Program("wormhole_b0")
    multiplied(program, **how)
    return program


def test_the_call_stands_with_blocks_and_grid(check):
    claim = check.assert_sound(of())
    assert claim.claim.startswith("1 matmul over 4096 rows and more (800 us, 100.0%) at ")
    assert claim.fix.startswith(
        "ttnn.experimental.minimal_matmul(x, w, config=ttnn.MinimalMatmulConfig(M_block_size=8, K_block_size=8, "
        "N_block_size=8, subblock_h=2, subblock_w=2, compute_with_storage_grid_size=ttnn.CoreCoord(8, 8)), "
    )
    assert claim.caveat.endswith("against configs it lost below 4096 rows")
    applying = of()
    applying.device_ops[0].attributes["user_fused_activation"] = "(op_type=UnaryOpType::SILU,param={})"
    applying.device_ops[0].attributes["transpose_b"] = True
    assert check.ask(applying).claim.fix.endswith("; w stored as [K, N] (no transpose_b)")
    assert "minimal_matmul(x, w, fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU), config=" in (
        check.ask(applying).claim.fix
    )


def test_a_turned_first_operand_stays(check):
    """minimal_matmul has no transpose_a."""
    turned = of()
    turned.device_ops[0].attributes["transpose_a"] = True
    assert check.ask(turned).status == "clean"


def test_bias_and_type_go_with_the_call(check):
    """Real TTNN gives the type of x where the call says none."""
    made = of()
    op = made.device_ops[0]
    op.inputs = (*op.inputs, made.weight([1, 1, 1, 3072]))
    op.outputs[0].dtype = "BFLOAT8_B"
    assert "minimal_matmul(x, w, bias_tensor=bias, dtype=ttnn.bfloat8_b, config=" in check.ask(made).claim.fix


def test_blocks_of_wide_values_fit_l1(check):
    """Real TTNN refuses 8 x 8 x 8 tiles in FLOAT32: 1.7 MB of 1.5."""
    made = of()
    for tensor in (*made.device_ops[0].inputs, *made.device_ops[0].outputs):
        tensor.dtype = "FLOAT32"
    assert "M_block_size=8, K_block_size=4, N_block_size=8" in check.ask(made).claim.fix
    # TTNN multiplies what pads K to whole blocks: a K of 128 in blocks of 8 tiles would be 256
    for k, depth in ((128, 4), (160, 5), (256, 8), (288, 5), (384, 6), (640, 7), (768, 8), (800, 7), (1024, 8)):
        assert f"M_block_size=8, K_block_size={depth}, N_block_size=8" in check.ask(of(k=k)).claim.fix


def given(rows, batch=1):
    """With a config of the caller's."""
    program = of(rows=rows, batch=batch)
    name = "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8;y=8);in0_block_w=1)"
    program.device_ops[0].attributes["program_config"] = name
    return program


def test_4096_rows_in_all_batches_are_the_line_and_256_of_what_ttnn_chose(check, measured):
    check.pair(given, silent=4064, fires=4096)
    check.pair(lambda rows: given(rows, batch=4), silent=3968, fires=4096)
    found = check.pair(lambda rows: of(rows=rows), silent=224, fires=225)  # padded to 256
    assert "over 256 rows and more" in found.claim.claim
    measured("minimal-matmul-for-many-rows")
    told = [check.ask(of(rows=rows)).claim.expected is not None for rows in (4064, 4096)]
    assert told == [False, True]


def test_so_is_a_k_of_128_and_below_768_it_is_a_trial(check):
    """AlphaFold 2's linears: 82,944 rows, a K of 128 to 512, 36 to 89 % less."""
    check.pair(lambda k: of(k=k), silent=96, fires=128)
    assert [check.ask(of(k=k)).claim.is_trial for k in (736, 768)] == [True, False]
    check.pair(lambda k: of(k=k, rows=4064), silent=736, fires=768)  # what TTNN chose for fewer rows


def test_three_fifths_of_the_roofline_are_well_used(check):
    outcome = check.ask(of())
    least = 800_000 - outcome.at_most_ns
    check.pair(lambda share: of(ns=round(least / share)), silent=0.601, fires=0.599)


@for_all(
    "how",
    [
        {"batch": 4, "pairs": True},
        {"where": height_sharded(64, 1024, 64)},
        {"into": height_sharded(64, 3072, 64)},
        {"weights": Placement("DRAM", "WIDTH_SHARDED")},
    ],
    ids=["pairs", "input", "output", "weights"],
)
def test_what_it_does_not_take_is_left_alone(check, how):
    assert check.ask(of(**how)).status == "clean"


def test_operands_in_l1_may_go_with_it(check):
    assert check.ask(of(where=L1)).status == "found"


def test_one_percent_is_worth_telling(check):
    saving = check.ask(of()).at_most_ns

    def longer(share):
        program = of()
        pass_time(program, saving / share - 800_000)
        return program

    check.pair(longer, silent=0.00995, fires=0.01005)


def test_several_are_one_claim(check):
    program = of()
    multiplied(program, rows=8192, ns=2_000_000)
    assert check.ask(program).claim.claim.startswith("2 matmuls over 4096 rows and more (2.8 ms, 99.9%) at ")


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no Matmul ops"


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("_MEMORY", "_MEMORY"), ("MATH FIDELITY", "FIDELITY")])
def test_without_its_cells_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of())), word)
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_1", "INPUT_2"), of())), "INPUT_n")


def test_on_an_unknown_chip_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(rewritten(tmp_path, of(), DEVICE_ARCH="later_chip")), "architecture")

"""minimal-matmul-blocks: blocks that are larger than what a core has to do."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops, rewritten, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import kernel_config
from ttnn_mcp.analyses.window_facts import WindowFacts

CONFIG = "MinimalMatmulConfig(M_block_size={},K_block_size=8,N_block_size={},subblock_h=2,subblock_w=2{})"
GRID = ",compute_with_storage_grid_size=(x=8,y=9)"


def multiplied(
    program, *, rows=1024, k=6144, n=2304, block=(8, 8), grid=GRID, ns=870_000, config="", name="MinimalMatmul"
):
    """FLUX.2's first projection of an image: 32 x 72 tiles; 3.6 rows of tiles by 9 columns a core."""
    x, w = program.tensor([1, 1, rows, k]), program.weight([1, 1, k, n])
    attributes = {
        "config": config or CONFIG.format(*block, grid),
        "compute_kernel_config": kernel_config("HiFi2"),
    }
    y = program.tensor([1, 1, rows, n])
    put(program, DeviceOp(f"{name}DeviceOperation", (x, w), (y,), ns, fidelity="HiFi2", attributes=attributes))


def of(**how):
    program = Program("wormhole_b0", grid=(8, 9))
    multiplied(program, **how)
    return program


def test_blocks_that_fit_the_shares_are_told(check):
    claim = check.assert_sound(of())
    assert claim.claim.startswith(
        "1 minimal_matmul call works in blocks larger than a core's share (870 us, 100.0%): 8 x 8 tiles for 4 x 9, "
    )
    assert (
        "MinimalMatmulConfig(M_block_size=4, K_block_size=8, N_block_size=9, subblock_h=2, subblock_w=1, "
        in claim.fix
    )
    assert "ttnn.CoreCoord(8, 9)" in claim.fix


def test_the_blocks_fit_the_whole_grid(check):
    """A config copied from a smaller chip keeps its grid: shares of all cores are told, as grid-left-idle does."""
    claim = check.ask(of(grid=",compute_with_storage_grid_size=(x=4,y=4)", rows=512)).claim
    assert "8 x 8 tiles for 4 x 18, " in claim.claim
    assert "M_block_size=2, K_block_size=8, N_block_size=9, " in claim.fix
    assert "ttnn.CoreCoord(8, 9)" in claim.fix


@for_all(("cards", "columns", "told"), [((13, 10), 8, "11, 10"), ((13, 10), 12, "12, 10"), ((7, 7), 6, "6, 10")])
def test_no_more_columns_than_tt_metal_uses_are_added(check, cards, columns, told):
    program = Program("blackhole", grid=cards)
    multiplied(program, grid=f",compute_with_storage_grid_size=(x={columns},y=10)")
    assert f"ttnn.CoreCoord({told})" in check.ask(program).claim.fix


def test_what_the_call_has_stays(check):
    """Real TTNN gives the type of x where the call says none, and applies what it is told."""
    made = of()
    op = made.device_ops[0]
    op.inputs = (*op.inputs, made.weight([1, 1, 1, 2304]))
    op.outputs[0].dtype = "BFLOAT8_B"
    op.attributes = {**op.attributes, "fused_activation": "(op_type=UnaryOpType::SILU,param={})"}
    call = "minimal_matmul(x, w, bias_tensor=bias, dtype=ttnn.bfloat8_b, fused_activation=ttnn.UnaryWithParam("
    assert call in check.ask(made).claim.fix


@for_all(("key", "value"), [("chunks", "3"), ("fuse_swiglu", "true"), ("fused_ternary_scalar", "1.0")])
def test_what_does_more_than_multiply_keeps_its_call(check, key, value):
    made = of()
    made.device_ops[0].attributes[key] = value
    fix = check.ask(made).claim.fix
    assert fix.startswith("config=ttnn.MinimalMatmulConfig(M_block_size=4, ")
    assert fix.endswith("), all else as now")


def test_blocks_fit_l1(check):
    """Real TTNN refuses 12 x 8 x 12 tiles of 16 bits, whose sums have 32: 2.1 MB of 1.5."""
    made = of(rows=108 * 32, n=24 * 8 * 32, block=(14, 14), ns=8_000_000)
    assert "M_block_size=6, K_block_size=8, N_block_size=8" in check.ask(made).claim.fix
    halved = of(rows=96 * 32, n=81 * 32, block=(14, 14), ns=8_000_000)
    assert "M_block_size=12, K_block_size=4, N_block_size=9" in check.ask(halved).claim.fix
    shallow = of(rows=96 * 32, n=95 * 32, block=(14, 14), ns=8_000_000)  # of 12 x 11 two tiles of K would fit
    assert "M_block_size=6, K_block_size=8, N_block_size=11" in check.ask(shallow).claim.fix
    for k, depth in ((64, 2), (384, 6), (640, 7)):  # TTNN multiplies what pads K to whole blocks
        fix = check.ask(of(k=k)).claim.fix
        assert f"M_block_size=4, K_block_size={depth}, N_block_size=9" in fix


def test_l1_that_holds_no_block_gets_the_smallest(check, monkeypatch):
    """A memory report may tell of any size."""
    monkeypatch.setattr(WindowFacts, "safe_l1_bytes", 1_000)
    assert "M_block_size=1, K_block_size=1, N_block_size=1" in check.ask(of()).claim.fix


@for_all(
    ("how", "silent", "fires"),
    [
        (lambda block: {"block": (block, 8)}, 4, 5),  # rows over y
        (lambda block: {"block": (4, block)}, 9, 10),  # columns over x
        (lambda block: {"block": (block, 1), "n": 128}, 4, 5),  # more rows than columns: over x
        (lambda block: {"block": (4, block), "n": 128}, 1, 2),
        (lambda block: {"rows": 2304, "block": (block, 8)}, 8, 9),  # as many rows as columns: rows over y
        (lambda rows: {"rows": rows, "k": 1024, "n": 18432, "block": (2, 8)}, 320, 288),
    ],
)
def test_a_block_larger_than_a_share_is_the_line(check, how, silent, fires):
    check.pair(lambda each: of(**how(each)), silent=silent, fires=fires)


def test_without_a_config_blocks_are_of_eight(check):
    told = check.ask(of(config="std::nullopt")).claim.claim
    assert "8 x 8 tiles for 4 x 9" in told


def test_without_a_printed_grid_the_whole_one_counts(check):
    assert "8 x 8 tiles for 4 x 9" in check.ask(of(grid="")).claim.claim


def test_a_wide_share_is_cut_into_equal_parts(check):
    """26 columns of tiles a core: two blocks of 13 are too wide, so one half of it."""
    assert "N_block_size=2, subblock_h=2, subblock_w=2, " in check.ask(of(n=26 * 8 * 32, ns=5_000_000)).claim.fix
    assert "N_block_size=12, " in check.ask(of(n=24 * 8 * 32, ns=5_000_000)).claim.fix


def test_three_fifths_of_the_roofline_are_well_used(check):
    """72 cores of 1 GHz multiply for 196,608 ns."""
    check.pair(lambda ns: of(ns=ns), silent=327_680, fires=327_681)


def test_without_a_fidelity_the_roofline_is_not_known(check):
    made = of()
    made.device_ops[0].fidelity = ""
    assert check.ask(made).status == "clean"


def test_five_microseconds_are_the_least(check):
    small = {"rows": 64, "k": 64, "n": 64}
    check.pair(lambda ns: of(**small, ns=ns), silent=4_999, fires=5_000)


def test_one_row_of_tiles_is_another_checks(check):
    check.pair(lambda rows: of(rows=rows, ns=2_000_000), silent=32, fires=64)


def test_forms_fused_with_an_exchange_are_left_alone(check):
    assert check.ask(of(name="AllGatherMinimalMatmulAsync")).status == "not_applicable"


def test_one_percent_is_worth_telling(check):
    saving = check.ask(of()).at_most_ns

    def longer(share):
        program = of()
        pass_time(program, saving / share - 870_000)
        return program

    check.pair(longer, silent=0.00995, fires=0.01005)


def test_several_are_one_claim(check):
    program = of()
    multiplied(program, rows=512, ns=710_000)
    multiplied(program, rows=512, ns=710_000, name="Matmul", config="std::nullopt")
    assert check.ask(program).claim.claim.startswith("2 minimal_matmul calls work in blocks larger")


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no minimal_matmul ops"


def test_on_an_unknown_chip_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(rewritten(tmp_path, of(), DEVICE_ARCH="later_chip")), "architecture")


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_without_its_cells_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of())), word)

"""matmul-without-config: configs never given, where TTNN's guess is far from the roofline."""

from __future__ import annotations

from tests.checks.matmul_programs import config, linear, of_linear
from tests.checks.rows import put
from tests.checks.step3_programs import cells
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul, unary

TIME, CONFIG = "DEVICE KERNEL DURATION [ns]", "ATTRIBUTES.program_config"


def test_a_config_never_given_is_told_below_20_percent_of_the_roofline(check):
    """A vision tower's at 19 % gained from one, its matmul at 25 % lost by the best of a sweep."""
    outcome = check.pair(lambda ns: of_linear(kernel_ns=ns), silent=131_072, fires=131_073)
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.claim.startswith("1 matmul was given no program config and reaches 20% of the roofline (131 us")
    assert "in0_block_w=8" in claim.fix
    assert claim.fix.endswith("; keep compute_kernel_config")
    assert cells(outcome) == [(line, TIME), (line, CONFIG)]
    assert claim.evidence[1].value == "std::nullopt"


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(of_linear(kernel_ns=150_000))


@for_all(("rows", "share"), [(96, 0.35), (128, 0.2)])
def test_for_few_rows_a_guess_is_told_from_35_percent_on(check, rows, share):
    moved = (1024 * 1024 + 2 * rows * 1024) * 2 / 240
    check.pair(
        lambda used: of_linear(m=rows, kernel_ns=round(moved / used)), silent=share + 0.005, fires=share - 0.005
    )


def test_a_config_or_a_core_grid_is_no_guess(check):
    for given in ({"program_config": config()}, {"core_grid": "(x=8,y=8)"}):
        assert check.ask(of_linear(kernel_ns=150_000, **given)).status == "clean"


def test_a_guess_on_few_cores_is_another_checks(check):
    """60 % of 64 cores."""
    check.pair(lambda cores: of_linear(cores=cores, kernel_ns=200_000), silent=38, fires=39)


def test_a_guess_with_operands_in_l1_is_another_checks(check):
    def program(placement):
        program = Program("wormhole_b0")
        x, w = program.tensor([1, 1, 1024, 1024], placement=placement), program.weight([1, 1, 1024, 1024])
        put(program, matmul(x, w, program.tensor([1, 1, 1024, 1024]), 150_000))
        return program

    check.pair(program, silent=L1, fires=DRAM)


def test_a_matmul_of_attention_that_is_written_out_is_another_checks(check):
    def program(softmax):
        program = Program("wormhole_b0")
        heads = [1, 16, 256, 256]
        q, k, v = (
            put(program, unary("RELU", program.tensor(heads), program.tensor(heads), 4_000)) for _ in range(3)
        )
        scores = put(program, matmul(q, k, program.tensor(heads), 200_000))
        scores = put(program, DeviceOp(softmax, (scores,), (program.tensor(heads),), 20_000, fidelity="HiFi4"))
        put(program, matmul(scores, v, program.tensor(heads), 200_000))
        return program

    outcome = check.pair(program, silent="SoftmaxDeviceOperation", fires="UnaryDeviceOperation")
    assert len(outcome.claim.rows) == 2


def test_tall_products_of_heads_have_no_config_that_fits(check):
    def program(rows, heads=20):
        made = Program("blackhole")
        x, w, y = (made.tensor([1, heads, *sides]) for sides in ((rows, 768), (768, 256), (rows, 256)))
        op = matmul(x, w, y, 9_000_000)
        op.cores = 110
        put(made, op)
        return made

    check.pair(program, silent=1024, fires=992)
    check.pair(lambda heads: program(1024, heads), silent=2, fires=1)


def in_single_tiles(
    *, m=1024, k=1056, n=1024, kernel_ns=60_000, cores=64, where=DRAM, batch=1, weights=1, given="std::nullopt"
):
    """33 tiles of K, which 8 columns do not divide; 27 us at 240 GB/s."""
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, batch * weights, m, width], placement=where) for width in (k, n))
    op = matmul(x, program.weight([1, weights, k, n]), y, kernel_ns, program_config=given)
    op.cores = cores
    put(program, op)
    return program


def test_k_that_the_columns_of_the_grid_do_not_divide_is_taken_one_tile_at_a_time(check):
    """By TTNN 0.81.1; at 60 % of the roofline it is used well."""
    claim = check.pair(lambda k: in_single_tiles(k=k), silent=1024, fires=1056).claim
    assert "ProgramConfig(" in claim.fix
    check.pair(lambda k: in_single_tiles(k=k, kernel_ns=40_000), silent=480, fires=544)  # 15 and 17 tiles
    check.pair(lambda ns: in_single_tiles(kernel_ns=ns), silent=44_000, fires=46_000)
    check.pair(lambda n: in_single_tiles(m=256, n=n, kernel_ns=80_000), silent=2560, fires=2048)  # one side: 1D
    check.pair(lambda batch: in_single_tiles(weights=batch, kernel_ns=60_000 * batch), silent=2, fires=1)
    assert check.ask(in_single_tiles(batch=2, kernel_ns=120_000)).status == "found"  # its batches come one by one
    check.pair(lambda cores: in_single_tiles(cores=cores), silent=63, fires=64)  # another choice than TTNN's rule
    check.pair(lambda where: in_single_tiles(where=where), silent=L1, fires=DRAM)
    check.pair(lambda given: in_single_tiles(given=given), silent=config(), fires="std::nullopt")


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(lambda program: linear(program, kernel_ns=150_000), 0.01, of="saving")


def test_one_row_over_a_deep_k_employs_few_cores(check):
    """CosyVoice: 4096 x 1024 on 32 cores by TTNN, half the time on 16."""

    def program(k):
        made = Program("blackhole", grid=(13, 10))
        x, w, y = made.tensor([1, 1, 1, k]), made.weight([1, 1, k, 1024]), made.tensor([1, 1, 1, 1024])
        op = matmul(x, w, y, 69_000)
        op.cores = 32
        put(made, op)
        return made

    outcome = check.pair(program, silent=4064, fires=4096)
    assert outcome.claim.fix.endswith("half of the time over a deep K (CosyVoice)")
    assert "CoreGrid" not in check.ask(of_linear(m=32, k=4064, n=1024, kernel_ns=300_000)).claim.fix
    assert "CoreGrid" in check.ask(of_linear(m=32, k=4096, n=1024, kernel_ns=300_000)).claim.fix
    assert "CoreGrid" not in check.ask(of_linear(m=64, k=4096, n=1024, kernel_ns=300_000)).claim.fix

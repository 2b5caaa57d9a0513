"""minimal-matmul-on-many-rows: far from the roofline, where a 2D multicast config fits L1."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, rewritten, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp

LEAST_NS = 2 * 8192 * 1024 * 4096 * 2 / (110 * 4096 * 1.35)  # arithmetic at HiFi2 on 110 cores at 1.35 GHz: 226 us


def minimal(
    program,
    *,
    rows=8192,
    n=4096,
    kernel_ns=510_000,
    fidelity="HiFi2",
    name="MinimalMatmulOp",
    batch=1,
    into=DRAM,
    dtype="BFLOAT16",
):
    x, y = program.tensor([1, batch, rows, 1024], dtype), program.tensor([1, batch, rows, n], dtype, placement=into)
    w = program.tensor([1, batch, 1024, n], "BFLOAT8_B")
    put(program, DeviceOp(name, (x, w), (y,), kernel_ns, fidelity=fidelity))


def program_of(**how):
    program = Program("blackhole", grid=(11, 10))
    minimal(program, **how)
    return program


def test_a_minimal_matmul_far_from_the_roofline_is_told(check):
    """510 us became 424 with a 2D config."""
    outcome = check.ask(program_of())
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(510_000 - LEAST_NS, rel=1e-3)]
    assert 86_000 <= outcome.at_most_ns <= 5 * 86_000
    assert claim.claim == (
        "1 minimal_matmul call over 32 rows (510 us, 100.0%) at 44% of the roofline: 8192x1024 * 1024x4096 -> "
        f"8192x4096 at line {line}"
    )
    assert "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(11, 10)" in claim.fix
    assert "per_core_M=26, per_core_N=16" in claim.fix, "12 columns of tiles each would leave 8 to the last core"
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "INPUT_1_DATATYPE")]


def test_the_config_takes_over_the_function(check):
    """A minimal matmul applies it beside its config, and an ordinary one would leave it out."""
    made = program_of()
    made.device_ops[0].attributes = {"fused_activation": "(op_type=UnaryOpType::SILU,param={})"}
    assert check.ask(made).claim.fix.endswith(
        "fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU)), compute_kernel_config=<as now>)"
    )


@for_all(
    ("key", "value"),
    [
        ("chunks", "3"),
        ("fuse_swiglu", "true"),
        ("fused_ternary_scalar", "1.0"),
        ("fused_activation", "(op_type=UnaryOpType::EXP,param={})"),
    ],
)
def test_what_does_more_than_multiply_is_no_linear(check, key, value):
    def doing(told):
        made = program_of()
        made.device_ops[0].attributes = {key: told}
        return made

    check.pair(doing, silent=value, fires="std::nullopt")


def test_a_type_of_its_own_stays(check):
    made = program_of(n=1024, kernel_ns=200_000)
    made.device_ops[0].outputs[0].dtype = "BFLOAT8_B"
    assert "ttnn.linear(x, w, dtype=ttnn.bfloat8_b, program_config=" in check.ask(made).claim.fix
    made = program_of(n=1024, kernel_ns=200_000, into=L1)
    assert "ttnn.linear(x, w, memory_config=<as now>, program_config=" in check.ask(made).claim.fix


@for_all("cell", ["", "A_LATER_TYPE"])
def test_a_type_that_ttnn_has_not_is_not_written(check, tmp_path, cell):
    rows = [{**row, "OUTPUT_0_DATATYPE": cell} for row in performance_rows(program_of(n=1024, kernel_ns=900_000))]
    made = write_rows(tmp_path / "ops_perf_results_made.csv", rows, header_of(rows, "C7"))
    assert " dtype=" not in check.ask(made).claim.fix


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(program_of())


def test_sixty_percent_of_the_roofline_is_well_used(check):
    """At HiFi3, of which no law speaks."""
    least, passes = LEAST_NS * 3 / 2, "HiFi3"
    check.pair(
        lambda ns: program_of(fidelity=passes, kernel_ns=ns),
        silent=round(least / 0.601),
        fires=round(least / 0.599),
    )


def test_one_row_of_tiles_is_another_check(check):
    check.pair(lambda rows: program_of(rows=rows, kernel_ns=600_000), silent=32, fires=64)


def test_a_2d_config_must_fit_l1(check):
    """With the output in L1 half of it is for other tensors; in DRAM the op may have three quarters."""
    check.pair(lambda rows: program_of(rows=rows, kernel_ns=2_000_000), silent=24_576, fires=8192)
    check.pair(lambda into: program_of(into=into), silent=L1, fires=DRAM)
    check.pair(lambda rows: program_of(rows=rows, into=L1, kernel_ns=900_000), silent=6144, fires=4096)


def test_columns_that_no_grid_divides_have_no_such_config(check):
    """127 columns of tiles are a prime number; of 128 each of 8 columns of cores gets 16."""
    check.pair(lambda columns: program_of(n=columns * 32), silent=127, fires=128)


def test_batched_weights_have_no_such_config(check):
    assert check.ask(program_of(batch=2, rows=4096, kernel_ns=900_000)).status == "clean"


def test_without_a_fidelity_its_roofline_is_not_known(check):
    assert check.ask(program_of(fidelity=None)).status == "clean"


def test_an_op_of_a_few_microseconds_is_about_its_launch(check):
    check.pair(lambda ns: program_of(rows=64, n=32, kernel_ns=ns), silent=4_999, fires=5_000)


def test_several_are_one_claim(check):
    program = program_of()
    pass_time(program, 1_000)
    minimal(program, rows=4096)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 2]
    assert claim.claim.startswith("2 minimal_matmul calls over 32 rows (1.0 ms, 99.6%) at 33% of the roofline")


def test_one_percent_is_worth_telling(check):
    check.share_pair(lambda program: minimal(program, rows=2048), 0.01, of="saving")


def test_other_matmuls_are_not_applicable(check):
    assert check.ask(no_such_ops()).why == "no minimal_matmul ops"
    program = program_of(name="MatmulDeviceOperation")
    minimal(program, rows=32)
    assert check.ask(program).status == "clean"


def test_without_its_cells_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), program_of())), "INPUT_n")
    assert_cannot_tell(
        check.ask(rewritten(tmp_path / "arch", program_of(), DEVICE_ARCH="later_chip")), "architecture"
    )

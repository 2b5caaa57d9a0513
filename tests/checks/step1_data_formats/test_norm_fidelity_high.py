"""norm-fidelity-high: norms at HiFi4 whose time is more than their bytes."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, rewritten, timeless, without
from tests.for_all import for_all
from tests.profiles import L1, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import kernel_config

BYTES_NS = 2 * 16_384 * 1024 * 2 / 240  # 279.6 us of a Wormhole's DRAM, without gamma and beta


def put_norm(
    program,
    *,
    name="LayerNorm",
    fidelity="HiFi4",
    kernel_ns=500_000,
    dtype="BFLOAT16",
    cores=64,
    rows=16_384,
    place=None,
):
    how = {"placement": place} if place else {}
    x, y = (program.tensor([1, 1, rows, 1024], dtype, **how) for _ in range(2))
    attributes = {"compute_kernel_config": kernel_config(fidelity, fp32=True, packer=True)}
    put(
        program,
        DeviceOp(
            f"{name}DeviceOperation", (x,), (y,), kernel_ns, cores=cores, fidelity=fidelity, attributes=attributes
        ),
    )


def norm(**how):
    program = Program("wormhole_b0")
    put_norm(program, **how)
    return program


def test_a_norm_at_hifi4_is_told(check):
    outcome = check.ask(norm())
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(500_000 - BYTES_NS, rel=1e-3)]
    assert claim.claim == (
        f"1 norm multiplies at HiFi4 (500 us, 100.0%): LayerNorm 16384x1024 -> 16384x1024 at line {line}"
    )
    assert "math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=True, fp32_dest_acc_en=True" in claim.fix
    assert cells(outcome) == [
        (line, "MATH FIDELITY"), (line, "DEVICE KERNEL DURATION [ns]"), (line, "INPUT_0_DATATYPE"),
    ]  # fmt: skip


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(norm())


def test_the_bound_is_in_step_with_the_passes(check):
    assert check.ask(norm(kernel_ns=1_000_000)).claim.at_most_ns.tolist() == [500_000]
    assert check.ask(norm(kernel_ns=1_200_000, fidelity="HiFi3")).claim.at_most_ns.tolist() == [
        pytest.approx(400_000)
    ]


def test_nothing_is_expected_as_nothing_tells_what_its_passes_take(check):
    """Measured changes of compute configs speak of matmuls, whose arithmetic is known."""
    claim = check.ask(norm(kernel_ns=1_000_000)).claim
    assert (claim.passes.tolist(), claim.expected) == ([0.5], None)


@for_all("name", ["LayerNorm", "RMSNorm"])
def test_both_kinds_are_told(check, name):
    assert check.ask(norm(name=name)).fires


@for_all("dtype", ["BFLOAT16", "BFLOAT8_B"])
def test_narrow_inputs_are_told(check, dtype):
    assert check.ask(norm(dtype=dtype)).fires


def test_hifi2_is_enough(check):
    check.pair(lambda fidelity: norm(fidelity=fidelity), silent="HiFi2", fires="HiFi3")


def test_a_norm_of_float32_wants_its_accuracy(check):
    assert check.ask(norm(dtype="FLOAT32", kernel_ns=5_000_000)).status == "clean"


def test_a_norm_that_waits_for_dram_gains_nothing(check):
    check.pair(lambda ns: norm(kernel_ns=ns), silent=round(BYTES_NS * 0.999), fires=round(BYTES_NS * 1.02))


def test_cores_come_first(check):
    check.pair(lambda cores: norm(cores=cores), silent=31, fires=32)


def test_below_five_microseconds_an_op_is_about_its_launch(check):
    check.pair(lambda ns: norm(rows=32, place=L1, kernel_ns=ns), silent=4_999, fires=5_000)


def test_only_those_above_count(check):
    program = norm(fidelity="HiFi2")
    put_norm(program)
    put_norm(program, name="Softmax")
    put_norm(program)
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [1, 3]
    assert claim.claim.startswith("2 norms multiply at HiFi4")


def test_one_percent_is_worth_telling(check):
    check.share_pair(put_norm, 0.01, of="saving")


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(norm())).status == "clean"


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_without_operands_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), norm())), "INPUT_n")


def test_without_a_bandwidth_it_cannot_tell(check, tmp_path):
    unknown = rewritten(tmp_path, norm(), DEVICE_ARCH="later_chip")
    assert_cannot_tell(check.ask(unknown), "architecture")

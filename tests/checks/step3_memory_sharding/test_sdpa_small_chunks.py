"""sdpa-small-chunks: fused attention over 2048 rows and more in chunks of 32, given or by default."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, timeless, without
from tests.profiles import Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp

SMALL = (32, 32)


def sdpa(
    program, *, rows=4096, chunks=None, kernel_ns=4_000_000, name="ScaledDotProductAttention", fidelity="HiFi2"
):
    """34.4 GFLOP over 4096 rows: 262 us at HiFi2 on 64 cores."""
    shape = [1, 8, rows, 64]
    q, k, v = (program.tensor(shape) for _ in range(3))
    config = (
        f"SDPAProgramConfig(q_chunk_size={chunks[0]},k_chunk_size={chunks[1]},exp_approx_mode=0)"
        if chunks
        else None
    )
    op = DeviceOp(f"{name}DeviceOperation", (q, k, v), (program.tensor(shape),), kernel_ns, fidelity=fidelity)
    op.attributes = {"is_causal": False, "program_config": config}
    put(program, op)


def attending(**how):
    program = Program("wormhole_b0")
    sdpa(program, **how)
    return program


def test_sdpa_in_chunks_of_32_over_a_long_sequence_is_told(check):
    outcome = check.ask(attending(chunks=SMALL))
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.at_most_ns.tolist() == [pytest.approx(4_000_000 * (1 - 1 / 3.75))]
    assert claim.claim.startswith(
        "1 fused attentions over 4096 rows work in chunks of 32 (4.0 ms, 100.0%): 8x4096x64 * "
    )
    assert claim.claim.endswith(f"at line {line}")
    assert "q_chunk_size=128, k_chunk_size=128, exp_approx_mode=False" in claim.fix
    assert "compute_with_storage_grid_size=device.compute_with_storage_grid_size()" in claim.fix
    assert f"op_detail(op={line})" in claim.verify
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]"), (line, "ATTRIBUTES")]


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(attending())


def test_no_config_is_told_as_such(check):
    assert "over 4096 rows have no program config (4.0 ms" in check.ask(attending()).claim.claim


def test_the_heaviest_tells_whether_a_config_was_given(check):
    program = attending()
    sdpa(program, chunks=SMALL, rows=2048, kernel_ns=5_000_000)
    outcome = check.ask(program)
    assert "2 fused attentions over 2048 rows work in chunks of 32 (9.0 ms" in outcome.claim.claim
    assert len(outcome.claim.evidence) == 4


def test_four_cells_are_enough(check):
    program = Program("wormhole_b0")
    for rows in (2048, 4096, 8192):
        sdpa(program, rows=rows, kernel_ns=1_000 * rows)
    assert len(check.ask(program).claim.evidence) == 4


@pytest.mark.parametrize("chunks", [(64, 64), (128, 256), (33, 64)])
def test_larger_chunks_are_fine(check, chunks):
    assert check.ask(attending(chunks=chunks)).status == "clean"


def test_chunks_of_32_are_small(check):
    check.pair(lambda chunk: attending(chunks=(chunk, chunk)), silent=33, fires=32)


@pytest.mark.parametrize("chunks", [(32, 128), (128, 32)])
def test_the_smaller_chunk_counts(check, chunks):
    assert check.ask(attending(chunks=chunks)).fires


def test_a_chunk_that_is_not_given_does_not_count(check):
    """0 stands for 'choose'."""
    assert check.ask(attending(chunks=(0, 128))).status == "clean"


def test_sdpa_over_a_short_sequence_is_left_alone(check):
    check.pair(lambda rows: attending(rows=rows), silent=2047, fires=2048)


def test_the_engine_saturates_at_three_quarters(check):
    """262,144 ns of arithmetic, 349,525 at 75 %: of 700 us 350 stay, more than 700 / 3.75."""
    assert check.ask(attending(kernel_ns=700_000)).at_most_ns == pytest.approx(700_000 - 262_144 / 0.75, abs=2)
    check.pair(lambda ns: attending(kernel_ns=ns), silent=349_525, fires=354_000)  # 1 % of 354 us


def test_what_is_moved_stays(check):
    """33.6 MB of Q in and out: 284 us at 240 GB/s; short K and V leave little arithmetic."""
    program = Program("wormhole_b0")
    q, y = program.tensor([16, 8, 2048, 64]), program.tensor([16, 8, 2048, 64])
    k, v = program.tensor([16, 8, 32, 64]), program.tensor([16, 8, 32, 64])
    op = DeviceOp("ScaledDotProductAttentionDeviceOperation", (q, k, v), (y,), 500_000, fidelity="LoFi")
    op.attributes = {"is_causal": False, "program_config": None}
    put(program, op)
    assert check.ask(program).at_most_ns == pytest.approx(500_000 - 2 * (q.bytes + k.bytes) / 240)


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(sdpa, 0.01, of="saving")


@pytest.mark.parametrize("name", ["JointScaledDotProductAttention", "RingJointSDPA", "SDPA"])
def test_joint_and_ring_forms_have_chunks_too(check, name):
    assert check.ask(attending(name=name)).fires


@pytest.mark.parametrize("name", ["ScaledDotProductAttentionDecode", "SdpaDecode", "FlashMLADecode", "FlashMLA"])
def test_decode_attention_has_no_chunks_of_q(check, name):
    assert check.ask(attending(name=name)).status == "not_applicable"


def test_other_attention_beside_it_is_left_out(check):
    program = attending(name="ScaledDotProductAttentionDecode")
    sdpa(program)
    assert len(check.ask(program).claim.rows) == 1


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(attending(chunks=(128, 128)))).status == "clean"


def test_a_compiler_has_an_option_instead(check):
    fix = check.ask(attending(), generation="tt-torch").claim.fix
    assert "optimization_level" in fix
    assert fix.endswith("chooses SDPA chunks on builds since September 2026")


def test_a_run_without_fused_attention_is_not_applicable(check):
    outcome = check.ask(no_such_ops())
    assert (outcome.status, outcome.why) == ("not_applicable", "no prefill SDPA ops")


@pytest.mark.parametrize(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "no ATTRIBUTES")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,))), word)


def test_one_op_with_attributes_is_enough_to_look(check, tmp_path):
    program = attending(rows=2080)
    sdpa(program)
    rows = performance_rows(program)
    for row in rows[1::2]:
        row["ATTRIBUTES"] = ""
    assert check.ask(write_rows(tmp_path / "ops_perf_results_made.csv", rows, header_of(rows, "C7"))).fires

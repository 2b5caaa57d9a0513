"""Step 5: bytes where a memory report has them, questions where it has not, never a saving."""

from __future__ import annotations

import pytest
from ttnn_mcp.checks.case import Case

from tests.checks.rows import case_of, pass_time
from tests.profiles import Iteration, Program, write_run
from ttnn_mcp.checks.check import CannotTell
from ttnn_mcp.checks.step5_multi_cq.input_transfer_exposed import CHECK
from ttnn_mcp.session.opening import read_run


def fed(megabytes: float = 2, *, call: str = "ttnn.to_device", extra: tuple[str, ...] = ()) -> Program:
    """A model whose input is written in front of 1 ms of work; 5 % of it are 0.05 MB at 1 GB/s."""
    program = Program("wormhole_b0")
    rows = round(megabytes * 1_000_000 / 2 / 64)
    host = program.tensor([1, 1, rows, 64], layout="ROW_MAJOR", placement=None)
    there = program.tensor([1, 1, rows, 64], layout="ROW_MAJOR")
    if call == "ttnn.copy_host_to_device_tensor":
        program.call(call, (host, there))
    else:
        program.call(call, (host,), (there,))
    for name in extra:
        program.call(name)
    program.op("TanhDeviceOperation", [there], kernel_ns=1_000_000)
    return program


async def look(tmp_path, program):
    made = write_run(tmp_path, program, [Iteration()])
    run = await read_run("x", "x", made.performance, made.memory)
    return list(CHECK.look(Case(run, run.scope())))


def test_a_performance_report_alone_cannot_tell_and_asks_three_questions(tmp_path):
    program = Program("wormhole_b0")
    pass_time(program, 2_500_000)
    (said,) = CHECK.look(case_of(tmp_path, program))
    assert isinstance(said, CannotTell)
    for asked in ("input bytes", "time T", "is trace on (none seen)", "min(T, 2.50 ms)"):
        assert asked in said.why


@pytest.mark.parametrize("call", ["ttnn.to_device", "ttnn.from_torch", "ttnn.copy_host_to_device_tensor"])
async def test_a_memory_report_gives_the_bytes_and_still_no_saving(tmp_path, call):
    (claim,) = await look(tmp_path, fed(call=call))
    assert "2.00 MB" in claim.claim
    assert call in claim.claim
    assert (len(claim.rows), claim.at_most_ns.sum(), claim.gap_ns) == (0, 0, None)
    assert "only after Metal Trace" in claim.caveat
    assert any(one.unit == "B" and one.value == 2_000_000 for one in claim.evidence)


@pytest.mark.parametrize(("megabytes", "fires"), [(0.0512, True), (0.0499, False)])
async def test_five_percent_of_the_step_at_the_slowest_rate_is_the_line(tmp_path, megabytes, fires):
    assert bool(await look(tmp_path, fed(megabytes))) is fires


async def test_a_run_with_events_uses_two_queues_already(tmp_path):
    assert not await look(tmp_path, fed(extra=("ttnn.record_event", "ttnn.wait_for_event")))


async def test_a_memory_report_without_transfers_asks_like_none(tmp_path):
    program = Program("wormhole_b0")
    program.op("TanhDeviceOperation", [program.tensor([1, 1, 32, 32])], kernel_ns=1_000_000)
    (said,) = await look(tmp_path, program)
    assert isinstance(said, CannotTell)

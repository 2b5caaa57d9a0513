"""input-transfer-exposed: bytes where a memory report has them, questions where it has not, never a saving."""

import sqlite3
from contextlib import closing

from tests.checks.asking import case_of_reports
from tests.checks.rows import pass_time
from tests.for_all import for_all
from tests.profiles import DRAM, Iteration, Program, write_run

WARM = [Iteration()]


def fed(megabytes: float = 2, *, call: str = "ttnn.to_device", extra: tuple[str, ...] = ()) -> Program:
    """A model whose input is written in front of 1 ms of work; 5 % of it are 0.05 MB at 1 GB/s."""
    program = Program("wormhole_b0")
    write(program, megabytes, call)
    for name in extra:
        program.call(name)
    program.op("TanhDeviceOperation", [program.tensors[-1]], kernel_ns=1_000_000)
    return program


def write(program: Program, megabytes: float, call: str = "ttnn.to_device", placement=DRAM) -> None:
    rows = round(megabytes * 1_000_000 / 2 / 64)
    host = program.tensor([1, 1, rows, 64], layout="ROW_MAJOR", placement=None)
    there = program.tensor([1, 1, rows, 64], layout="ROW_MAJOR", placement=placement)
    if call == "ttnn.copy_host_to_device_tensor":
        program.call(call, (host, there))
    else:
        program.call(call, (host,), (there,))


def ask(check, program):
    return check.ask(program, WARM, memory="3.3")


def test_five_percent_of_the_step_at_the_slowest_rate_is_the_line(check):
    check.pair(lambda megabytes: check.case(fed(megabytes), WARM, memory="3.3"), silent=0.0499, fires=0.0512)


def test_a_performance_report_alone_cannot_tell_and_asks_three_questions(check):
    program = Program("wormhole_b0")
    pass_time(program, 2_500_000)
    outcome = check.ask(program)
    assert outcome.status == "cannot_tell"
    for question in ("input bytes", "time T", "is trace on (none seen)", "min(T, 2.50 ms)"):
        assert question in outcome.why


@for_all("call", ["ttnn.to_device", "ttnn.from_torch", "ttnn.copy_host_to_device_tensor"])
def test_a_memory_report_gives_the_bytes_and_still_no_saving(check, call):
    claim = ask(check, fed(call=call)).claim
    assert "2.00 MB" in claim.claim
    assert call in claim.claim
    assert (len(claim.rows), claim.at_most_ns.sum(), claim.gap_ns) == (0, 0, None)
    assert "only after Metal Trace" in claim.caveat
    assert any(one.unit == "B" and one.value == 2_000_000 for one in claim.evidence)


def test_the_largest_of_several_is_named(check):
    program = Program("wormhole_b0")
    write(program, 1)
    write(program, 3)
    program.op("TanhDeviceOperation", [program.tensors[-1]], kernel_ns=1_000_000)
    claim = ask(check, program).claim
    assert claim.claim.startswith("4.00 MB in 2 tensors are written")
    assert "3.00 MB of it by ttnn.to_device (operation 2)" in claim.claim


@for_all("event", ["ttnn.record_event", "ttnn.wait_for_event"])
def test_a_run_with_events_uses_two_queues_already(check, event):
    assert ask(check, fed(extra=(event,))).status == "clean"


def changed(tmp_path, program, *statements):
    """The case of a run whose memory report was changed by hand."""
    made = write_run(tmp_path, program, WARM)
    with closing(sqlite3.connect(made.memory)) as database, database:
        for statement in statements:
            database.execute(statement)
    return case_of_reports(made.performance, made.memory)


@for_all(("queues", "status"), [((0, 0), "found"), ((0, 1), "clean")])
def test_launches_on_two_queues_need_no_second_one(check, tmp_path, queues, status):
    columns = "operation_id int, device_id int, global_call_count int, runtime_id int, program_id int"
    rows = ", ".join(
        f"({operation}, 0, {operation}, 0, 0, {queue})" for operation, queue in enumerate(queues, start=1)
    )
    table = f"CREATE TABLE operation_executions ({columns}, command_queue_id int)"
    case = changed(tmp_path, fed(), table, f"INSERT INTO operation_executions VALUES {rows}")
    assert check.ask(case).status == status


def test_a_tensor_of_unknown_size_gives_no_bytes(check, tmp_path):
    case = changed(tmp_path, fed(), "UPDATE tensors SET dtype = 'DataType::UNHEARD_OF'")
    assert check.ask(case).status == "cannot_tell"


def test_what_stays_on_the_host_is_no_transfer(check):
    program = Program("wormhole_b0")
    write(program, 2, "ttnn.from_torch", placement=None)
    program.op("TanhDeviceOperation", [program.tensor([1, 1, 32, 32])], kernel_ns=1_000_000)
    assert ask(check, program).status == "cannot_tell"


def test_a_memory_report_without_transfers_asks_like_none(check):
    program = Program("wormhole_b0")
    program.op("TanhDeviceOperation", [program.tensor([1, 1, 32, 32])], kernel_ns=1_000_000)
    assert ask(check, program).status == "cannot_tell"


def test_the_fix_orders_the_queues_both_ways(check):
    """Without the event from compute to copy the next input overwrites the one that is being read."""
    fix = ask(check, fed()).claim.fix
    waits = [fix.index(wait) for wait in ("wait_for_event(1, used)", "wait_for_event(0, e)")]
    assert waits == sorted(waits)
    assert (
        fix.index("e = ttnn.record_event(device, 1)") < waits[1] < fix.index("used = ttnn.record_event(device, 0)")
    )
    assert len(fix) <= 260

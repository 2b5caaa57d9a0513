"""What the checks on a memory report share: what must be there, and how operations and cells are named."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.checks.asking import asker, case_of_reports
from tests.checks.step3_programs import BANK, USABLE, altered, assert_cannot_tell, held, rewritten
from tests.for_all import for_all
from tests.profiles import CircularBuffer, DatabaseStyle, Program, write_memory_report, write_performance_report

CHECKS = ("l1-pressure", "late-free", "long-lived-l1-tensor", "weights-in-l1")
NEED_GRAPHS = ("l1-pressure", "weights-in-l1")


def full():
    """A late tensor of 80 kB at the peak, which leaves nothing free."""
    program = held(80_000, 3, peak=None)
    program.device_ops[2].circular_buffers = [CircularBuffer(BANK - 80_000)]
    return program


@pytest.fixture
def ask(tmp_path):
    return lambda check, case: asker(check, tmp_path).ask(case)


@for_all("check", CHECKS)
def test_a_report_that_was_not_replayed_cannot_be_judged(tmp_path, ask, check):
    case = asker(check, tmp_path).case(full(), memory="3.3", replayed=False)
    assert ask(check, case).why == "the memory report was not replayed; ask memory_summary"


@for_all("check", CHECKS)
def test_a_report_without_operations_has_nothing_to_replay(tmp_path, ask, check):
    outcome = ask(check, altered(tmp_path, full(), "DELETE FROM operations"))
    assert (outcome.status, outcome.why[:30]) == ("cannot_tell", "the memory report was not repl")


@for_all("check", CHECKS)
def test_a_bank_nobody_tells_the_size_of_cannot_be_full(tmp_path, ask, check):
    memory = write_memory_report(tmp_path / "memory", full())
    with closing(sqlite3.connect(memory)) as database:
        database.execute("DELETE FROM devices")
        database.commit()
    case = case_of_reports(rewritten(tmp_path, full(), DEVICE_ARCH="quasar"), memory)
    outcome = ask(check, case)
    assert outcome.status == "cannot_tell"
    assert outcome.why.startswith("no devices table and no known architecture: L1 capacity unknown; profile with")


@for_all("check", CHECKS)
def test_only_the_peak_needs_graphs(tmp_path, check):
    outcome = asker(check, tmp_path).ask(full(), memory="G1")
    if check in NEED_GRAPHS:
        assert_cannot_tell(outcome, "no captured graphs")
    else:
        assert outcome.status in ("clean", "found")


def test_the_architecture_tells_the_capacity_where_no_devices_table_does(tmp_path, ask):
    claim = ask("late-free", altered(tmp_path, full(), "DELETE FROM devices")).claim
    assert (claim.evidence[-1].row, claim.evidence[-1].value) == ("devices", USABLE)


def test_claims_are_about_the_linked_ops_of_the_window(tmp_path, ask):
    """The op that reads the tensor last is the second of the program."""
    assert ask("late-free", asker("late-free", tmp_path).case(full(), memory="3.3")).claim.rows.tolist() == [1]


def test_reports_of_different_runs_leave_a_claim_without_ops(tmp_path, ask):
    other = Program()
    x = other.tensor([1, 1, 96, 96])
    for _ in range(3):
        x = other.op("MadeUpDeviceOperation", [x])
    csv = write_performance_report(tmp_path / "perf", other)
    claim = ask("late-free", case_of_reports(csv, write_memory_report(tmp_path / "memory", full()))).claim
    assert claim.rows.tolist() == []
    assert claim.at_most_ns.tolist() == []


def test_operations_are_named_with_their_line_where_it_is_known(tmp_path, ask):
    named = ask("late-free", altered(tmp_path / "named", full())).claim.fix
    assert "right after operation 2 ttnn.made_up (model.py:6); all:" in named
    csv = write_performance_report(tmp_path / "perf", full())
    memory = write_memory_report(tmp_path / "memory", full(), style=DatabaseStyle(stack_traces=False))
    unnamed = ask("late-free", case_of_reports(csv, memory)).claim.fix
    assert "right after operation 2 ttnn.made_up; all:" in unnamed


def test_a_tensor_is_cited_from_the_snapshot_after_the_operation(tmp_path, ask):
    cell = ask("late-free", altered(tmp_path, full())).claim.evidence[0]
    assert cell.source == "db.sqlite"
    assert cell.row.startswith("buffers:operation_id=2,address=")
    assert (cell.column, cell.value, cell.unit) == ("max_size_per_bank", 80_000, "bytes")


def test_a_tensor_is_cited_from_the_graph_that_allocates_it_where_there_is_no_snapshot(tmp_path, ask):
    cell = ask("late-free", altered(tmp_path, full(), "DELETE FROM buffers")).claim.evidence[0]
    assert (cell.row, cell.column, cell.value) == ("captured_graph:1", "captured_graph", 80_000)


def test_one_tensor_and_several(tmp_path, ask):
    assert ask("late-free", altered(tmp_path / "one", full())).claim.claim.startswith("1 tensor in L1 freed late")

"""The ledger: each op's time under one name, and the sum is the window."""

import asyncio

import pytest

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective
from ttnn_mcp.analyses.time_budget.ledger import ledger_of
from ttnn_mcp.analyses.window_facts import facts_of


def ledger(folder, program):
    """Nanoseconds by name, without the gaps; per op where a name is asked for."""
    run = asyncio.run(session(folder).run(str(write_performance_report(folder, program, [Iteration()]))))
    facts = facts_of(run, run.scope("all", None, None))
    entries = ledger_of(facts.ops, facts.least_times, facts.timeline, facts.balance)
    assert sum(entry.time_ns for entry in entries) == pytest.approx(facts.timeline.wall_ns)
    assert all(entry.time_ns and (entry.per_op_ns >= 0).all() for entry in entries)
    return {entry.name: entry.per_op_ns.tolist() for entry in entries if entry.name != "gaps"}


def test_an_op_without_a_bound_counts_whole_and_so_does_one_that_only_moves(tmp_path):
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 1024, 512])
    program.op("UnaryDeviceOperation", [x], kernel_ns=50_000, cores=64)
    program.call("ttnn.made_up", (), (), (DeviceOp("MadeUpDeviceOperation", (), (), 30_000),))
    program.op("TransposeDeviceOperation", [x], kernel_ns=40_000)
    entries = ledger(tmp_path, program)
    assert entries["no_bound"] == [0, 30_000, 0]
    assert entries["movement"] == [0, 0, 40_000]
    assert entries["roofline"] == pytest.approx([2 * 1024 * 512 * 2 / 288, 0, 0])
    assert [part > 0 for part in entries["above_bounds"]] == [True, False, False]
    assert "side_by_side" not in entries


ON_LINKS_NS, SKEW_NS = 1024 * 2048 * 2 / 2 / (2 * 2 * 12), 374


@for_all(("fastest_ns", "waiting_ns"), [(850_000, 50_000), (1_000, 900_000 - ON_LINKS_NS - SKEW_NS)])
def test_time_in_an_exchange_above_the_fastest_devices_is_waiting(tmp_path, fastest_ns, waiting_ns):
    """Both work as long, and device 0 takes longer in all, so the window is told of it."""
    program = Program("wormhole_b0", devices=2)
    x, y = program.tensor([1, 1, 1024, 1024]), program.tensor([1, 1, 1024, 2048])
    program.op("UnaryDeviceOperation", [x], kernel_ns=90_000)
    op = collective("AllGatherAsync", x, y, [900_000, fastest_ns], ring_size=2)
    program.call("ttnn.all_gather", op.inputs, op.outputs, (op,))
    assert ledger(tmp_path, program)["waiting"] == pytest.approx([0, waiting_ns])


def test_one_device_waits_for_nobody(tmp_path):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 1024, 1024]), program.tensor([1, 1, 1024, 2048])
    op = collective("AllGatherAsync", x, y, 900_000, ring_size=2)
    program.call("ttnn.all_gather", op.inputs, op.outputs, (op,))
    assert "waiting" not in ledger(tmp_path, program)

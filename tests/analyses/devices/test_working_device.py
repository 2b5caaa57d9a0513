"""The device that works longest, however long others wait in collectives."""

from dataclasses import replace

from tests.checks.mesh_programs import mesh
from tests.checks.rows import case_of, put
from tests.for_all import for_all
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective
from ttnn_mcp.analyses.devices.working_device import led_by_work

GATHER, LOCAL = "AllGatherAsync", "Concat"


def device(folder, work, kernel=(500_000, 20_000), op=GATHER, gap_ns=1_000):
    """Of an op of its own on each of two devices, then an op of both."""
    program = mesh(devices=2)
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 128])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), work))
    put(program, collective(op, x, y, kernel, ring_size=2))
    program.device_ops[-1].gap_ns = gap_ns
    return case_of(folder, program).scope.critical_device


def test_without_collectives_nobody_waits_and_gaps_are_the_hosts(tmp_path):
    """Device 1 has most kernel time, and device 0 the longer pass."""
    assert device(tmp_path / "a", (100_000, 500_000), (20_000, 20_000), LOCAL, gap_ns=(900_000, 1_000)) == 1
    assert device(tmp_path / "b", (100_000, 500_000), (20_000, 20_000), GATHER, gap_ns=(900_000, 1_000)) == 0


def test_a_window_that_is_led_stays_so(tmp_path):
    program = mesh(devices=2)
    x = program.tensor([1, 1, 32, 64])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), (100_000, 500_000)))
    put(program, collective(GATHER, x, program.tensor([1, 1, 32, 128]), (420_000, 20_000), ring_size=2))
    case = case_of(tmp_path, program)
    scopes = [replace(case.run.scope(), lead=lead) for lead in (None, 0)]
    assert [led_by_work(scope, case.run.chip).critical_device for scope in scopes] == [1, 0]


@for_all(
    ("op", "works_longest"),
    [(GATHER, 1), ("MatmulReduceScatterAsync", 0), ("LayerNormPreAllGather", 0), (LOCAL, 0)],  # the others work too
)
def test_a_device_that_waits_in_a_collective_does_not_work(tmp_path, op, works_longest):
    assert device(tmp_path, (120_000, 580_000), op=op) == works_longest


@for_all(("work", "works_longest"), [((99_550, 100_000), 0), ((99_450, 100_000), 1)], ids=str)
def test_of_devices_that_work_as_long_it_is_that_with_most_kernel_time(tmp_path, work, works_longest):
    """Within AS_SLOW, half a percent; gaps do not decide."""
    assert device(tmp_path, work, gap_ns=(1_000, 481_000)) == works_longest


@for_all(("gather_ns", "works_longest"), [(800_500, 1), (801_500, 1), (1_000_000, 0)], ids=str)
def test_a_device_whose_pass_is_short_is_not_waited_for(tmp_path, gather_ns, works_longest):
    """Device 1 works longer, and is done after 901 us: not within AS_LONG, a tenth, of a pass of 1.1 ms."""
    assert device(tmp_path, (100_000, 880_000), (gather_ns, 20_000)) == works_longest

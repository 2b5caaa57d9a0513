"""The critical device: that for which the others wait, in kernels of exchanges, whatever kernel time they have."""

from tests.checks.mesh_programs import mesh
from tests.checks.rows import COLD_THEN_WARM, ONE_PASS, put
from tests.for_all import for_all
from tests.profiles import header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.window import scope_of

GATHER, FUSED, LOCAL = "AllGatherAsync", "AllGatherMatmulAsync", "Concat"


def scope(folder, work, kernel=(500_000, 20_000), *, gaps=(1_000, 1_000), op=GATHER, passes=COLD_THEN_WARM, lost=0):
    """An op of its own on each of two devices, then an op of both."""
    program = mesh(devices=2)
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 128])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), work))
    second = collective(op, x, y, kernel, ring_size=2)
    second.gap_ns = gaps
    put(program, second)
    rows = performance_rows(program, passes)
    rows = rows[: len(rows) - lost]
    return scope_of(Performance(read_performance_csv(write_rows(folder / "ops.csv", rows, header_of(rows, "C7")))))


@for_all(
    ("op", "critical"), [(GATHER, 1), (FUSED, 1), ("MatmulReduceScatterAsync", 1), ("RMSAllGather", 1), (LOCAL, 0)]
)
def test_a_device_that_waits_in_an_exchange_is_not_critical(tmp_path, op, critical):
    assert scope(tmp_path, (100_000, 400_000), op=op).critical_device == critical


def test_others_wait_for_a_device_that_the_host_feeds_late(tmp_path):
    late = {"work": (100_000, 100_000), "gaps": (1_000, 400_000)}
    assert scope(tmp_path / "warm", **late).critical_device == 1
    assert scope(tmp_path / "cold", passes=ONE_PASS, **late).critical_device == 0  # its gaps are compile time
    assert scope(tmp_path / "alone", op=LOCAL, **late).critical_device == 0  # without exchanges nobody waits
    assert scope(tmp_path / "lost", lost=1, **late).critical_device == 0  # lost rows look like gaps


def test_the_gap_before_the_window_is_not_counted(tmp_path):
    program = mesh(devices=2)
    x = program.tensor([1, 1, 32, 64])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), (100_000, 100_000), gap_ns=(1_000, 800_000)))
    put(program, collective(GATHER, x, program.tensor([1, 1, 32, 128]), (500_000, 20_000), ring_size=2))
    rows = performance_rows(program, COLD_THEN_WARM)
    report = read_performance_csv(write_rows(tmp_path / "ops.csv", rows, header_of(rows, "C7")))
    assert scope_of(Performance(report)).critical_device == 0


@for_all(("work", "critical"), [((99_550, 100_000), 0), ((99_450, 100_000), 1)], ids=str)
def test_of_devices_that_work_as_long_that_with_most_kernel_time_is_critical(tmp_path, work, critical):
    """Within AS_SLOW, half a percent."""
    assert scope(tmp_path, work, gaps=(0, 0)).critical_device == critical


@for_all(
    ("work", "kernel", "as_slow"),
    [
        ((99_600, 100_000), (20_000, 20_000), True),
        ((99_400, 100_000), (20_800, 20_000), False),  # in work of its own
        ((99_600, 100_000), (19_000, 20_000), False),  # in all of its kernels
    ],
)
def test_a_device_is_as_slow_where_its_work_and_its_kernels_are(tmp_path, work, kernel, as_slow):
    one = scope(tmp_path, work, kernel, gaps=(0, 0))
    assert (one.critical_device, one.as_slow(0), one.as_slow(1), one.as_slow(7)) == (1, as_slow, True, False)

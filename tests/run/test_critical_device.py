"""The critical device: that which works longest, however long others wait in collectives."""

from tests.checks.mesh_programs import mesh
from tests.checks.rows import COLD_THEN_WARM, put
from tests.for_all import for_all
from tests.profiles import header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.window import scope_of

GATHER, LOCAL = "AllGatherAsync", "Concat"


def scope(folder, work, kernel=(500_000, 20_000), op=GATHER):
    """An op of its own on each of two devices, then an op of both."""
    program = mesh(devices=2)
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 128])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), work))
    put(program, collective(op, x, y, kernel, ring_size=2))
    rows = performance_rows(program, COLD_THEN_WARM)
    return scope_of(Performance(read_performance_csv(write_rows(folder / "ops.csv", rows, header_of(rows, "C7")))))


@for_all(
    ("op", "critical"),
    [(GATHER, 1), ("MatmulReduceScatterAsync", 0), ("LayerNormPreAllGather", 0), (LOCAL, 0)],  # the others work too
)
def test_a_device_that_waits_in_a_collective_is_not_critical(tmp_path, op, critical):
    assert scope(tmp_path, (100_000, 400_000), op=op).critical_device == critical


@for_all(("work", "critical"), [((99_550, 100_000), 0), ((99_450, 100_000), 1)], ids=str)
def test_of_devices_that_work_as_long_that_with_most_kernel_time_is_critical(tmp_path, work, critical):
    """Within AS_SLOW, half a percent."""
    assert scope(tmp_path, work).critical_device == critical


@for_all(
    ("work", "kernel", "as_slow"),
    [
        ((99_600, 100_000), (20_000, 20_000), True),
        ((99_400, 100_000), (20_800, 20_000), False),  # in work of its own
        ((99_600, 100_000), (19_000, 20_000), False),  # in all of its kernels
    ],
)
def test_a_device_is_as_slow_where_its_work_and_its_kernels_are(tmp_path, work, kernel, as_slow):
    one = scope(tmp_path, work, kernel)
    assert (one.critical_device, one.as_slow(0), one.as_slow(1), one.as_slow(7)) == (1, as_slow, True, False)

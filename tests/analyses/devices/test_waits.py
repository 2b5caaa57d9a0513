"""What exchanges wait in their kernels for a chip that is late."""

import pytest

from tests.checks.mesh_programs import PAYLOAD, Gather, mesh
from tests.checks.rows import COLD_THEN_WARM, case_of, put, read
from tests.for_all import for_all
from tests.profiles import header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective

LEAST_NS = PAYLOAD / (2 * 2 * 48)  # over two links, both ways, at Blackhole's specified 48 GB/s


def of_ops(*gathers_ns, chips=4):
    """An op of 100 us and gathers, on so many chips; the host is late to feed the last one, if there are several."""
    program = mesh(devices=chips)
    x = program.tensor([1, 1, 1024, 1024])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), 100_000))
    for kernel_ns in gathers_ns:
        Gather(kernel_ns).put(program, x)
        program.device_ops[-1].gap_ns = [1_000] * (chips - 1) + [400_000]
    return program


@for_all(
    ("gather_ns", "waits_ns"),
    [
        ([400_000, 300_000, 200_000, 100_000], 300_000),
        ([400_000] * 4, 0),
        ([40_000, 20_000, 20_000, 20_000], 40_000 - LEAST_NS),  # the payload takes longer than the quickest says
    ],
)
def test_a_chip_waits_no_longer_than_the_one_that_takes_least_and_not_in_its_payload(tmp_path, gather_ns, waits_ns):
    case = case_of(tmp_path, of_ops(gather_ns))
    assert case.waits.by_device[0].tolist() == [0, pytest.approx(max(waits_ns, 0))]


@for_all(("chips", "waits_ns"), [([400_000, 400_000, 400_000, 150_000], 250_000), ([400_000] * 4, 0), (400_000, 0)])
def test_of_an_exchange_that_is_fused_with_work_the_quickest_chip_tells_how_long_the_work_takes(
    tmp_path, chips, waits_ns
):
    program = mesh(devices=1 if chips == 400_000 else 4)
    x, y, w = program.tensor([1, 1, 128, 64]), program.tensor([1, 1, 128, 256]), program.weight([1, 1, 256, 256])
    put(program, DeviceOp("AllGatherMatmulAsyncDeviceOperation", (x, w), (y,), chips, attributes={"ring_size": 4}))
    assert case_of(tmp_path, program).waits.by_device[0].tolist() == [waits_ns]


def test_no_pass_takes_less_than_the_work_of_the_chip_that_works_longest(tmp_path):
    case = case_of(tmp_path, of_ops([400_000, 300_000, 200_000, 100_000], [50_000] * 4))
    assert case.working_ns == pytest.approx(250_000)


def late(*gaps_ns, before):
    """Ops of 100 us, each with these gaps on two chips, then a gather; `before` is what the first gaps differ by."""
    program = mesh(devices=2)
    x, y = program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 128])
    for gap_ns in gaps_ns:
        put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), 100_000, gap_ns=gap_ns))
    put(program, collective("AllGatherAsync", x, y, [400_000, 20_000], ring_size=2))
    program.device_ops[-1].gap_ns = 1_000
    rows = performance_rows(program, COLD_THEN_WARM)
    warm = len(rows) // 2
    for chip in (0, 1):  # the first op of the warm pass on each
        row = next(row for row in rows[warm:] if str(row["DEVICE ID"]) == str(chip))
        row["OP TO OP LATENCY [ns]"] = str(int(float(row["OP TO OP LATENCY [ns]"])) + before[chip])
    return rows


@for_all(
    ("gaps_ns", "before", "waits_ns"),
    [
        (((0, 0), (1_000, 51_000)), (0, 0), 50_000),  # no longer than another chip's gaps beyond traced ones
        (((0, 0), (1_000, 51_000), (1_000, 21_000)), (0, 0), 70_000),
        (((0, 0), (51_000, 1_000)), (0, 0), 0),  # its own gap makes it late itself
        (((0, 0), (1_000, 900_000)), (0, 0), 380_000),  # no longer than beyond the quickest
        (((0, 0), (1_000, 1_000)), (0, 30_000), 0),  # before the window is another pass
        (((0, 0), (1_000, 1_000)), (30_000, 0), 0),
    ],
)
def test_an_exchange_waits_for_the_host_no_longer_than_another_chip_had_gaps(tmp_path, gaps_ns, before, waits_ns):
    rows = late(*gaps_ns, before=before)
    case = read(write_rows(tmp_path / "ops.csv", rows, header_of(rows, "C7")))
    assert case.waits.by_device[0].tolist()[-1] == pytest.approx(waits_ns, abs=400)  # its launch is no waiting
    assert case.waits.by_device[0].tolist()[:-1] == [0] * len(gaps_ns)


def test_of_chips_that_ran_other_ops_nothing_bounds_how_long_one_waits(tmp_path):
    rows = late((0, 0), (1_000, 1_000), before=(0, 0))
    for row in rows:
        if str(row["DEVICE ID"]) == "1":
            row["OP CODE"] = {"UnaryDeviceOperation": "Tanh"}.get(row["OP CODE"], "AllReduceAsync")
    case = read(write_rows(tmp_path / "ops.csv", rows, header_of(rows, "C7")))
    assert case.waits.by_device[0].tolist() == [0, 0, pytest.approx(400_000, abs=400)]


def test_of_one_chip_of_a_mesh_all_beyond_the_payload_may_be_waiting(tmp_path):
    """As the other chips are not in the report; a transfer whose payload is not known keeps its launch."""
    assert case_of(tmp_path / "gather", of_ops(400_000, chips=1)).waits.by_device[0].tolist() == [
        0,
        400_000 - LEAST_NS,
    ]
    program = mesh(devices=1)
    x = program.tensor([1, 1, 32, 32])
    put(program, collective("PointToPoint", x, x, 50_000, ring_size=4))
    assert case_of(tmp_path / "point", program).waits.by_device[0].tolist() == [50_000 - 370]

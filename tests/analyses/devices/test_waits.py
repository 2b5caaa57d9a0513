"""What exchanges wait in their kernels for a chip that is late."""

import pytest

from tests.checks.mesh_programs import PAYLOAD, Gather, mesh
from tests.checks.rows import case_of, put
from tests.for_all import for_all
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective

LEAST_NS = PAYLOAD / (2 * 2 * 48)  # over two links, both ways, at Blackhole's specified 48 GB/s


def of_ops(*gathers_ns, chips=4):
    """An op of 100 us and gathers, on so many chips."""
    program = mesh(devices=chips)
    x = program.tensor([1, 1, 1024, 1024])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (x,), 100_000))
    for kernel_ns in gathers_ns:
        Gather(kernel_ns).put(program, x)
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
    assert case.waits_by_device[0].tolist() == [0, pytest.approx(max(waits_ns, 0))]
    assert case.scope.critical_device == 0  # all work as long, and it has most kernel time


@for_all(("chips", "waits_ns"), [([400_000, 400_000, 400_000, 150_000], 250_000), ([400_000] * 4, 0), (400_000, 0)])
def test_of_an_exchange_that_is_fused_with_work_the_quickest_chip_tells_how_long_the_work_takes(
    tmp_path, chips, waits_ns
):
    program = mesh(devices=1 if chips == 400_000 else 4)
    x, y, w = program.tensor([1, 1, 128, 64]), program.tensor([1, 1, 128, 256]), program.weight([1, 1, 256, 256])
    put(program, DeviceOp("AllGatherMatmulAsyncDeviceOperation", (x, w), (y,), chips, attributes={"ring_size": 4}))
    assert case_of(tmp_path, program).waits_by_device[0].tolist() == [waits_ns]


def test_no_pass_takes_less_than_the_work_of_the_chip_that_works_longest(tmp_path):
    case = case_of(tmp_path, of_ops([400_000, 300_000, 200_000, 100_000], [50_000] * 4))
    assert case.working_ns == pytest.approx(250_000)


def test_of_one_chip_of_a_mesh_all_beyond_the_payload_may_be_waiting(tmp_path):
    """As the other chips are not in the report; a transfer whose payload is not known keeps its launch."""
    assert case_of(tmp_path / "gather", of_ops(400_000, chips=1)).waits_by_device[0].tolist() == [
        0,
        400_000 - LEAST_NS,
    ]
    program = mesh(devices=1)
    x = program.tensor([1, 1, 32, 32])
    put(program, collective("PointToPoint", x, x, 50_000, ring_size=4))
    assert case_of(tmp_path / "point", program).waits_by_device[0].tolist() == [50_000 - 370]

"""dispatch-on-workers: ops on all of the 56 workers that dispatch leaves on a chip of an n300."""

from __future__ import annotations

from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import L1, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective, matmul


def full(program, *, kernel_ns=400_000, cores=56):
    x, w, y = (program.tensor([1, 1, 1024, 1024]) for _ in range(3))
    put(program, matmul(x, w, y, kernel_ns, cores=cores))


def program(grid=(8, 7), *, arch="wormhole_b0", **how):
    made = Program(arch, grid=grid)
    full(made, **how)
    return made


@for_all("grid", [(8, 7), (7, 8)])
def test_an_eighth_more_workers_is_what_ethernet_dispatch_gives(check, grid):
    claim = check.assert_sound(program(grid))
    assert claim.at_most_ns.tolist() == [50_000]
    assert claim.claim.startswith(
        "Dispatch occupies 8 of 64 workers; 1 ops use all 56 that are left (400 us, 100.0%)"
    )
    assert "ttnn.DispatchCoreConfig(ttnn.DispatchCoreType.ETH)" in claim.fix
    assert [(one.column, one.value) for one in claim.evidence][1:] == [
        ("AVAILABLE WORKER CORE COUNT", 56),
        ("CORE COUNT", 56),
    ]


@for_all("grid", [(8, 8), (8, 9), (7, 9), (8, 6)])
def test_other_grids_are_left_alone(check, grid):
    assert check.ask(program(grid, cores=grid[0] * grid[1])).status == "not_applicable"


def test_a_blackhole_refuses_ethernet_dispatch(check):
    assert check.ask(program(arch="blackhole")).status == "not_applicable"


def test_an_op_on_fewer_cores_leaves_workers_idle_already(check):
    check.pair(lambda cores: program(cores=cores), silent=55, fires=56, silent_is="not_applicable")


def test_a_collective_is_no_evidence(check):
    made = Program("wormhole_b0", grid=(8, 7), devices=2)
    x, y = made.tensor([1, 1, 32, 1024]), made.tensor([1, 1, 32, 2048])
    op = collective("AllGatherAsync", x, y, 400_000, ring_size=2)
    op.cores = 56
    put(made, op)
    assert check.ask(made).status == "not_applicable"


def test_dram_bytes_stay(check):
    """6.3 MB pass a Wormhole's DRAM in 22 us at best: more cores do not help."""
    made = program(kernel_ns=24_000)
    assert check.ask(made).status == "clean"
    put(made, DeviceOp("MadeUpOfNoFamily", (made.tensor([1, 1, 32, 32]),), (made.tensor([1, 1, 32, 32]),), cores=1))
    full(made)
    assert check.ask(made).claim.rows.tolist() == [2]


def test_a_launch_stays(check):
    made = Program("wormhole_b0", grid=(8, 7))
    x, y = made.tensor([1, 1, 32, 32], placement=L1), made.tensor([1, 1, 32, 32], placement=L1)
    put(made, DeviceOp("UnaryDeviceOperation", (x,), (y,), 400, cores=56))
    assert check.ask(made).at_most_ns == 400 - 370


def test_one_percent_of_the_window_is_the_line(check):
    def at(share):
        made = program()
        x, y = (made.tensor([1, 1, 32, 224], "UINT16", placement=L1) for _ in range(2))
        put(made, DeviceOp("MadeUpOfNoFamily", (x,), (y,), round(50_000 / share) - 400_000, cores=8))
        return made

    check.pair(at, silent=0.0099, fires=0.0101)


def test_without_the_number_of_workers_it_is_silent(check):
    assert check.ask(program(), without="AVAILABLE WORKER CORE COUNT").status == "not_applicable"


def test_an_op_faster_than_its_arithmetic_shows_another_ops_operands(check):
    """2048 rows, columns and sums at HiFi4 take 300 us on 56 cores."""

    def at(kernel_ns):
        made = Program("wormhole_b0", grid=(8, 7))
        x, w, y = (made.tensor([1, 1, 2048, 2048]) for _ in range(3))
        put(made, matmul(x, w, y, kernel_ns, cores=56, fidelity="HiFi4"))
        return made

    check.pair(at, silent=150_000, fires=400_000)

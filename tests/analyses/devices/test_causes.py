"""The cause of uneven work is named only where the attributes and the times show it."""

import pytest

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.analyses.devices.causes import said_of, shows_ring, slow_device, uneven_ring
from ttnn_mcp.analyses.window_facts import facts_of

ATTRIBUTES = {"is_causal": "true", "is_balanced": "false", "ring_size": "2"}
RISING = [1_000, 1_000, 2_000, 2_000]
KINDS = ("Unary", "Softmax", "Binary", "Reduce", "Permute")


@pytest.fixture
def mesh(tmp_path):
    """Ops and their balance: ring attention of these times, then one op per kind with these times, all in us."""

    async def facts(times, rest=(), **changed):
        program = Program("blackhole", devices=len(times))
        query = program.tensor([1, 8, 1024, 128])
        attributes = {key: value for key, value in (ATTRIBUTES | changed).items() if value}
        program.op("RingJointSDPADeviceOperation", [query] * 3, attributes=attributes, kernel_ns=times)
        for name, of_kind in rest:
            program.op(f"{name}DeviceOperation", [query], kernel_ns=of_kind)
        run = await session(tmp_path).run(str(write_performance_report(tmp_path, program, [Iteration()])))
        found = facts_of(run, run.scope("all", None, None))
        return found.scope.ops, found.balance

    return facts


async def test_a_causal_ring_that_is_not_balanced(mesh):
    assert "zigzag order evens it" in uneven_ring(*await mesh(RISING), 0)


@for_all("changed", [{"is_causal": "false"}, {"is_balanced": "true"}, {"ring_size": "1"}, {"ring_size": ""}])
async def test_anything_else(mesh, changed):
    assert uneven_ring(*await mesh(RISING, **changed), 0) is None


@for_all(
    ("times", "ring", "rises"),
    [
        ([1_000, 2_000], 2, True),
        ([1_000, 2_000, 1_000, 2_000], 2, True),  # parts along the other side of the mesh
        ([1_000, 1_000, 2_000, 2_000], 2, True),
        ([2_000, 2_000, 1_000, 1_000], 2, False),  # the wrong way round
        ([2_000, 1_000, 1_000, 1_000], 2, False),
        ([1_000, 1_000, 1_000, 1_200], 2, False),
        ([1_000, 1_000, 2_000], 2, False),  # no mesh of rings of two
        ([1_000, 3_000, 5_000], 3, True),
        ([1_000, 5_000, 3_000], 3, False),
        ([1_000, 1_000, 3_000], 3, True),
        ([1_000, 1_500], 2, True),  # a quarter of what pairs add
        ([1_000, 1_499], 2, False),
        ([1_000, 3_150], 2, True),  # at most three times, and five per cent
        ([1_000, 3_151], 2, False),
        ([1_000, 1_050, 2_000, 2_100], 2, True),  # devices with equal work
        ([1_000, 1_051, 2_000, 2_000], 2, False),
        ([0, 0, 2_000, 2_000], 2, False),
        ([1, 2], 2, True),
    ],
)
async def test_later_parts_take_longer_as_their_pairs_are_more(mesh, times, ring, rises):
    ops, balance = await mesh(times)
    assert shows_ring(ops, balance, 0, ring) == rises


async def test_times_that_do_not_rise_leave_the_cause_open(mesh):
    told = uneven_ring(*await mesh([1_000, 1_000, 1_000, 1_500]), 0)
    assert "up to 3x" in told
    assert told.endswith("do not rise like that: cause not known")


def at(place, ratio, devices=4, kinds=KINDS):
    return [(name, [round(1_000 * ratio) if one == place else 1_000 for one in range(devices)]) for name in kinds]


async def test_a_slow_device_is_left_out_of_a_ring_and_named(mesh):
    ops, balance = await mesh([1_000, 2_000, 2_000, 2_000], [*at(1, 2), *at(1, 2)])
    assert shows_ring(ops, balance, 0, 2)
    assert slow_device(ops, balance) == (1, 2.0)
    assert said_of(ops, balance).startswith("device 1 is slower in nearly all its ops (2.00x)")


async def test_a_part_of_which_only_a_slow_device_is_known_shows_nothing(mesh):
    ops, balance = await mesh([1_000, 3_000], [*at(1, 3, 2), *at(1, 3, 2)])
    assert slow_device(ops, balance) is not None
    assert not shows_ring(ops, balance, 0, 2)


@for_all(("ratio", "slow"), [(1.05, False), (1.051, True)])
async def test_five_per_cent_are_noise(mesh, ratio, slow):
    ops, balance = await mesh([1_000, 1_000, 1_000, 1_000], [*at(2, ratio), *at(2, ratio)])
    assert (slow_device(ops, balance) is not None) == slow


@for_all(("even", "slow"), [(1, True), (2, False)])
async def test_nine_ops_of_ten_show_a_slow_device(mesh, even, slow):
    rest = [*at(3, 2), *at(3, 2)][: 10 - even] + [("Tanh", [1_000] * 4)] * (even - 1)
    ops, balance = await mesh([1_000] * 4, rest)
    assert (slow_device(ops, balance) is not None) == slow
    assert (said_of(ops, balance) is not None) == slow


@for_all(("kinds", "slow"), [(KINDS[:3], False), (KINDS[:4], True)])
async def test_work_of_few_kinds_may_be_uneven_by_itself(mesh, kinds, slow):
    ops, balance = await mesh([1_000, 2_000, 1_000, 1_000], at(1, 2, 4, kinds))
    assert (slow_device(ops, balance) is not None) == slow


async def test_one_device_is_not_slower_than_others(mesh):
    assert slow_device(*await mesh([1_000], at(0, 2, 1))) is None


async def test_devices_that_took_no_time_make_no_ratio(mesh):
    ops, balance = await mesh([0, 2, 0, 0], [(name, [0, 2, 0, 0]) for name in KINDS])
    assert slow_device(ops, balance) == (1, 2.0)

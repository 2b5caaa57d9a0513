"""Buffers of programs on the cores of a grid: sums, and the address that they reach."""

import json

import numpy as np

from tests.analyses.memory.small_tables import asked, event, real
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.core_load import Circular, OnCores, on_cores, reach_on_cores
from ttnn_mcp.readers.graph.graph_memory import read_graph_memory

CORNER, FIRST = (((63, 63), (63, 63)),), (((0, 0), (0, 0)),)
BASE = 1_000


def circular(address, size, ranges=FIRST, op=0, **more):
    return event("circular", address, size, op=op, ranges=ranges, **more)


def test_loads_add_up_on_the_cores_of_their_ranges():
    grid = on_cores([((((0, 0), (1, 2)),), 5), ((((1, 2), (3, 3)),), 7)])
    assert (grid[0, 0], grid[1, 2], grid[3, 3], grid[4, 4]) == (5, 12, 7, 0)
    assert grid.sum() == 6 * 5 + 6 * 7


def test_a_load_without_ranges_counts_on_every_core():
    assert (on_cores([((), 5)]) == 5).all()
    assert on_cores([(CORNER, 3)]).sum() == 3


def test_ranges_beyond_any_chip_are_cut():
    assert on_cores([((((60, 60), (999, 999)),), 5)]).sum() == 4 * 4 * 5


def test_the_reach_is_the_highest_end_above_the_base():
    buffers = [Circular(0, BASE, 100, FIRST), Circular(0, BASE + 100, 50, CORNER), Circular(0, BASE, 20, ())]
    grid = reach_on_cores(buffers, BASE)
    assert (grid[0, 0], grid[63, 63], grid[5, 5]) == (100, 150, 20)


@for_all("base", [0, BASE])
def test_buffers_without_an_address_add_up_instead(base):
    grid = reach_on_cores([Circular(0, 0, 100, FIRST), Circular(0, 0, 50, FIRST)], base)
    assert grid[0, 0] == grid.max() == 150


def test_one_program_reaches_as_high_as_its_tallest_buffer():
    running = OnCores(BASE)
    for address, size, fullest in ((BASE, 100, 100), (BASE + 100, 50, 150), (BASE, 120, 150)):
        running.add(circular(address, size))
        assert running.fullest == fullest
    (buffers, count), *others = running.mark
    assert (len(buffers), count, others) == (3, 3, [])


def test_buffers_over_a_tensor_take_nothing():
    running = OnCores()
    running.add(circular(-1, 100, over_tensor=True))
    assert (running.fullest, running.mark) == (0, ())


def test_dry_buffers_add_up_on_the_fullest_core_of_the_fullest_chip():
    running = OnCores(BASE)
    for chip, size, ranges in ((0, 100, FIRST), (0, 50, FIRST), (0, 70, CORNER), (1, 160, FIRST)):
        running.add(circular(0, size, ranges, of=chip))
    assert running.fullest == 160
    running.add(circular(0, 20, FIRST, op=1, of=0))
    assert running.fullest == 170


def test_the_end_of_a_device_op_drops_its_own_buffers_only():
    running = OnCores(BASE)
    running.add(circular(BASE, 100, op=0))
    running.add(circular(BASE, 300, op=1))
    running.drop(event("end", op=1))
    assert running.fullest == 100
    running.drop(event("end", op=7))
    assert running.fullest == 100
    running.drop(event("end", op=0))
    assert (running.fullest, running.mark) == (0, ())


def test_a_clear_drops_them_all():
    running = OnCores(BASE)
    running.add(circular(BASE, 100, op=0))
    running.add(circular(BASE, 300, op=1))
    running.drop(event("clear", op=1))
    assert (running.fullest, running.mark) == (0, ())


def test_placed_and_dry_buffers_count_alike_whatever_comes_first():
    orders = ([0, BASE], [BASE, 0])
    fullest = []
    for order in orders:
        running = OnCores(BASE)
        for address in order:
            running.add(circular(address, 100))
        fullest.append(running.fullest)
    assert fullest == [200, 200]


def test_real_programs_reach_as_far_as_their_highest_buffer_ends():
    """Real: each graph of `resnet50_stages` that shows buffers of programs, against plain arithmetic on its JSON."""
    folder, base = real("resnet50_stages"), 105_824
    tried = 0
    for operation, text in asked(folder, "SELECT operation_id, captured_graph FROM captured_graph"):
        told = [node["params"] for node in json.loads(text) if node["node_type"] == "circular_buffer_allocate"]
        ends = [
            int(one["address"]) + int(one["size"]) for one in told if one["globally_allocated"] in ("0", 0, False)
        ]
        if not ends:
            continue
        tried += 1
        events = [one for one in read_graph_memory(text, operation=operation).events if one.kind == "circular"]
        running = OnCores(base)
        for one in events:
            running.add(one)
        assert running.fullest == max(ends) - base
        marked = [one for buffers, count in running.mark for one in buffers[:count]]
        assert np.max(reach_on_cores(marked, base)) == max(ends) - base
    assert tried > 5

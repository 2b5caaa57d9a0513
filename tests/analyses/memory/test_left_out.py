"""Programs whose buffers a graph leaves out: what they take, and the level they make."""

import pytest

from ttnn_mcp.analyses.memory.left_out import Completing, LeftOut, Room

ROOM = Room(500, 400)


class Models:
    """Each program takes as much as its launch says; a collective is listed three times."""

    def __init__(self):
        self.asked = []

    def bytes_per_core(self, launch, operation, room):
        self.asked.append((launch, operation, room))
        return launch

    def times_listed(self, name):
        return 3 if name == "AllGather" else 1


def program(carried=None, launch=None, models=None, name="Matmul"):
    return LeftOut(name, 7, carried, launch, models)


def test_the_first_launch_tells_before_any_model():
    models = Models()
    known = program(300, 900, models)
    assert (known.bytes_per_core(ROOM), known.bytes_found, models.asked) == (300, 300, [])
    modelled = program(None, 900, models)
    assert (modelled.bytes_per_core(ROOM), modelled.bytes_found, models.asked) == (900, 900, [(900, 7, ROOM)])


@pytest.mark.parametrize("unknown", [program(), program(None, 900), program(None, None, Models())])
def test_what_nobody_knows_counts_nothing_and_is_not_found(unknown):
    assert unknown.bytes_per_core(ROOM) == 0
    assert unknown.bytes_found is None


def test_a_model_is_asked_only_about_a_launch_that_is_printed():
    models = Models()
    program(None, None, models).bytes_per_core(ROOM)
    assert models.asked == []


def test_a_collective_is_listed_for_every_chip():
    assert program(models=Models(), name="AllGather").times_listed == 3
    assert program(models=Models()).times_listed == 1
    assert program(name="AllGather").times_listed == 1


class Rooms:
    """Less room each time."""

    def __init__(self):
        self.left = 1_000

    def __call__(self):
        self.left -= 100
        return self.left


def test_a_level_is_tensors_and_program_at_its_end():
    models, rooms = Models(), Rooms()
    left_out = {3: program(None, 200, models, "AllGather"), 4: program(None, 50, models)}
    level = Completing(left_out, rooms, 100)
    for device_op in (3, 3, 4):
        level.goes_on(device_op)
    level.ends(3, 150)
    assert models.asked == [(200, 7, Room(900, 700))]  # before: at its first event
    assert (level.level, level.listed) == (350, 750)
    level.ends(4, 150)
    assert (level.level, level.listed) == (350, 750)


def test_other_programs_change_nothing_and_cost_no_look_at_the_room():
    rooms = Rooms()
    level = Completing({3: program(300)}, rooms, 100)
    level.goes_on(5)
    level.ends(5, 9_000)
    assert (level.level, level.listed, rooms.left) == (100, 100, 1_000)

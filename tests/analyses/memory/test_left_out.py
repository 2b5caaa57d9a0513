"""Programs whose buffers a graph leaves out: what they take, and the level they make."""

from tests.for_all import for_all
from ttnn_mcp.analyses.memory.left_out import Completing, LeftOut, Room

ROOM = Room(500, 400)


class Models:
    """Each program takes as much as its launch says."""

    def __init__(self):
        self.asked = []

    def bytes_per_core(self, launch, operation, room):
        self.asked.append((launch, operation, room))
        return launch


def program(carried=None, launch=None, models=None, name="Matmul"):
    return LeftOut(name, 7, carried, launch, models)


def test_the_first_launch_tells_before_any_model():
    models = Models()
    known = program(300, 900, models)
    assert (known.bytes_per_core(ROOM), known.bytes_found, models.asked) == (300, 300, [])
    modelled = program(None, 900, models)
    assert (modelled.bytes_per_core(ROOM), modelled.bytes_found, models.asked) == (900, 900, [(900, 7, ROOM)])


@for_all("unknown", [program(), program(None, 900), program(None, None, Models())])
def test_what_nobody_knows_counts_nothing_and_is_not_found(unknown):
    assert unknown.bytes_per_core(ROOM) == 0
    assert unknown.bytes_found is None


def test_a_model_is_asked_only_about_a_launch_that_is_printed():
    models = Models()
    program(None, None, models).bytes_per_core(ROOM)
    assert models.asked == []


class Rooms:
    """Less room each time."""

    def __init__(self):
        self.left = 1_000

    def __call__(self):
        self.left -= 100
        return self.left


def test_a_program_is_asked_about_at_its_end_with_the_room_from_its_first_event():
    models = Models()
    completing = Completing({3: program(None, 200, models), 4: program(None, 50, models)}, Rooms())
    for device_op in (3, 3, 4):
        completing.goes_on(device_op)
    assert (completing.ends(3), completing.ends(4)) == (200, 50)
    assert models.asked == [(200, 7, Room(900, 700)), (50, 7, Room(800, 600))]


def test_other_programs_take_nothing_and_cost_no_look_at_the_room():
    rooms = Rooms()
    completing = Completing({3: program(300)}, rooms)
    completing.goes_on(5)
    assert (completing.ends(5), rooms.left) == (0, 1_000)

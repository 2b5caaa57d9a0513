"""Which parts are packed together, and what leaves for room."""

from tests.for_all import for_all
from ttnn_mcp.archive.parts import ArchivePart, KeptRun
from ttnn_mcp.archive.passes import keep_within, pack_small


class Shelf:
    """An archive that notes what is done to it."""

    def __init__(self, *parts):
        self.held, self.packed, self.forgotten = parts, [], []

    def parts(self):
        return self.held

    def pack(self, parts):
        self.packed.append([part.id for part in parts])

    def forget(self, keys):
        self.forgotten += sorted(keys)
        return len(keys)


def part(day, ops, *, runs=1, size=1000):
    each = tuple(KeptRun(f"{day:03}.{run}", day * 10 + run, ops // runs, "") for run in range(runs))
    return ArchivePart(f"part {day}", each, size)


@for_all(("count", "packed"), [(32, 0), (33, 33)])
def test_more_than_thirty_two_small_parts_are_packed(count, packed):
    shelf = Shelf(*(part(day, 100) for day in range(count)))
    assert pack_small(shelf) == packed
    assert len(shelf.packed) == (packed > 0)


def test_a_pack_holds_about_a_million_ops_of_days_that_follow_each_other():
    shelf = Shelf(*(part(day, 125_000) for day in reversed(range(41))))
    assert pack_small(shelf) == 41
    days = [int(name.split()[1]) for pack in shelf.packed for name in pack]
    assert [len(pack) for pack in shelf.packed] == [8, 8, 8, 8, 8]
    assert days == list(range(40))  # the newest is left: a pack of one would only be written anew


def test_a_part_of_half_a_million_ops_is_not_read_only_to_be_written_again():
    large = [part(100 + day, 500_000) for day in range(3)]
    shelf = Shelf(*large, *(part(day, 499_999 if day else 100) for day in range(33)))
    pack_small(shelf)
    assert not {each.id for each in large} & {name for pack in shelf.packed for name in pack}


def test_runs_leave_by_their_share_of_the_bytes_the_earliest_first():
    """A run's rows are its ops and one more: 25 of 100 rows are a quarter of the bytes."""
    shelf = Shelf(part(2, 96, runs=4, size=4000), part(1, 24, size=1000))
    assert [keep_within(shelf, most) for most in (5000, 4999, 4000, 3999, 3000)] == [0, 1, 1, 2, 2]
    assert shelf.forgotten == ["001.0", "001.0", "001.0", "002.0", "001.0", "002.0"]

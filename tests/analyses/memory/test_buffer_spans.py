"""Spans of buffers: when they are live, and which of them lies lowest."""

from tests.analyses.memory.small_tables import asked, numbers, real, spans
from ttnn_mcp.analyses.memory.buffer_spans import SpanLog, Spans, before, inside
from ttnn_mcp.readers.memory.spaces import DRAM, L1, key_of

LAST_ID = 2**47  # of an operation, as the reader of snapshots packs it


def test_a_moment_is_before_an_operation_or_within_it():
    assert [moment(place) for place in (0, 1, 2) for moment in (before, inside)] == [0, 1, 2, 3, 4, 5]


def test_a_buffer_is_live_from_its_start_until_just_before_its_end():
    life = spans((4096, 16, before(1), inside(3)))
    moments = [place for place in range(10) if len(life.live_at(place))]
    assert moments == [2, 3, 4, 5, 6]


def test_what_nobody_frees_outlives_every_operation_a_report_can_name():
    life = spans((4096, 16, 0, None))
    assert life.live_at(inside(LAST_ID)).tolist() == [0]
    assert len(life) == 1
    assert life.addresses.tolist() == [4096]


def test_the_lowest_address_is_one_of_its_own_type_and_no_higher_than_asked():
    log = SpanLog()
    rows = ((8192, L1), (1024, DRAM), (6144, L1))
    live = {key_of(*place): log.open(key_of(*place), place[1], 16, 16, 0, recorded=True) for place in rows}
    assert log.lowest_of(live, L1, otherwise=10_000) == 6144
    assert log.lowest_of(live, L1, otherwise=5_000) == 5_000
    assert log.lowest_of({}, L1, otherwise=10_000) == 10_000


def test_the_snapshots_of_a_real_report_are_its_live_spans():
    """Real: the buffers after each operation of `views`, one span per row of the table."""
    folder = real("views")
    rows = asked(
        folder, "SELECT operation_id, address, max_size_per_bank, buffer_type FROM buffers ORDER BY operation_id"
    )
    columns = [
        numbers(*column)
        for column in zip(
            *((key_of(at, code), code, size, size, before(op), before(op + 1)) for op, at, size, code in rows),
            strict=True,
        )
    ]
    life = Spans(*columns, recorded=columns[0] > 0)
    counted = dict(asked(folder, "SELECT operation_id, count(*) FROM buffers GROUP BY operation_id"))
    assert {op: len(life.live_at(inside(op))) for op in counted} == counted

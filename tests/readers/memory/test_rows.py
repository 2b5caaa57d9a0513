"""Cells of a database as numbers: what no run counts to is not said, however SQLite stores it."""

from tests.for_all import for_all
from tests.readers.memory.small_reports import TABLES, made, opened
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES

LAST = 2**40 - 1
ABSURD = (None, "text", "0x40", b"\xff", 1e300, float("inf"), 4.5, -1, -5, -(2**63), 2**63 - 1, LAST + 1)
WITH_TYPES_OF_ALL_KINDS = {**TABLES, "input_tensors": "operation_id int, input_index text, tensor_id"}


async def integers(folder, table, columns, **asked):
    async with opened(folder) as rows:
        return [column.tolist() for column in await rows.integers(table, columns, **asked)]


async def test_a_number_that_no_run_counts_to_is_not_said(tmp_path):
    counted = (0, 5, "7", 4.0, LAST)
    folder = made(
        tmp_path / "r", WITH_TYPES_OF_ALL_KINDS, input_tensors=[(one, one, one) for one in (*ABSURD, *counted)]
    )
    columns = await integers(folder, "input_tensors", ("operation_id", "input_index", "tensor_id"))
    assert columns == [[-1] * len(ABSURD) + [0, 5, 7, 4, LAST]] * 3


async def test_a_device_is_one_of_a_few_thousand(tmp_path):
    folder = made(tmp_path / "r", buffers=[(1, one, 0, 0, 0) for one in (0, 4094, 4095, LAST, -2)])
    assert await integers(folder, "buffers", ("device_id",)) == [[0, 4094, -1, -1, -1]]


@for_all("spelling", ["{}", "BufferType.{}", "BufferType::{}", "buffertype.{}"])
async def test_a_buffer_type_may_be_a_name(tmp_path, spelling):
    named = [(1, 0, 0, 0, spelling.format(name)) for name in BUFFER_TYPES]
    folder = made(tmp_path / "r", buffers=named)
    assert await integers(folder, "buffers", ("buffer_type",)) == [[*range(len(BUFFER_TYPES))]]


async def test_a_buffer_type_is_one_of_those_that_there_are(tmp_path):
    count = len(BUFFER_TYPES)
    folder = made(tmp_path / "r", buffers=[(1, 0, 0, 0, one) for one in (0, count - 1, count, 17, "L9", *ABSURD)])
    [codes] = await integers(folder, "buffers", ("buffer_type",))
    assert codes == [0, count - 1, *[-1] * (3 + len(ABSURD))]


async def test_columns_are_sorted_by_the_first_of_them(tmp_path):
    links = [(2, 0, 5), (1, 1, 6), (1, 0, 7)]
    folder = made(tmp_path / "r", input_tensors=links)
    columns = ("operation_id", "input_index", "tensor_id")
    assert await integers(folder, "input_tensors", columns, order=2) == [[1, 1, 2], [0, 1, 0], [7, 6, 5]]
    assert await integers(folder, "input_tensors", columns) == [[2, 1, 1], [0, 1, 0], [5, 6, 7]]
    assert await integers(folder, "input_tensors", columns, operation=2) == [[2], [0], [5]]


async def test_what_is_not_there_reads_as_empty_or_not_said(tmp_path):
    folder = made(tmp_path / "r", input_tensors=[(1, 0, 5)])
    assert await integers(folder, "input_tensors", ("operation_id", "later")) == [[1], [-1]]
    assert await integers(folder, "buffer_chunks", ("operation_id", "bank_id")) == [[], []]
    async with opened(folder) as rows:
        assert await rows.few("errors", ["1"]) == []
        assert [text for (text,) in await rows.few("input_tensors", [rows.text("input_tensors", "no")])] == [None]


async def test_rows_come_in_batches_and_few_rows_are_a_thousand(tmp_path):
    folder = made(tmp_path / "r", input_tensors=[(at, 0, 5) for at in range(8001)])
    batches = []
    async with opened(folder) as rows:
        await rows.each_batch("input_tensors", ["operation_id"], lambda batch: batches.append(len(batch)))
        assert len(await rows.few("input_tensors", ["operation_id"])) == 1000
        assert len(await rows.few("input_tensors", ["operation_id"], limit=1001)) == 1001
    assert batches == [8000, 1]


async def test_foreign_text_is_cut(tmp_path):
    folder = made(tmp_path / "r", operations=[(1, "x" * 20_001, 0.1)])
    async with opened(folder) as rows:
        cut = [rows.text("operations", "name"), rows.text("operations", "name", 7)]
        assert [[len(text) for text in row] for row in await rows.few("operations", cut)] == [[20_000, 7]]

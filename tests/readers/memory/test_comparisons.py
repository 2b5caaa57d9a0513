"""Records of comparison mode: those that name a tensor and a verdict, with bounds that can be."""

from tests.for_all import for_all
from tests.readers.memory.small_reports import TABLES, made
from ttnn_mcp.readers.memory.comparisons import ComparedTensor
from ttnn_mcp.readers.memory.report import read_memory_report

RECORDS = (
    "tensor_id int, golden_tensor_id int, matches int, desired_pcc bool, actual_pcc float"  # as TTNN makes them
)
LOCAL, GLOBAL = "local_tensor_comparison_records", "global_tensor_comparison_records"


async def comparisons(folder, columns=RECORDS, **records):
    tables = {**TABLES, LOCAL: columns, GLOBAL: RECORDS}
    return (await read_memory_report(made(folder, tables, **records))).comparisons


async def test_records_of_both_kinds_are_read(tmp_path):
    records = {LOCAL: [(0, 9, 1, 0.99, 0.9999)], GLOBAL: [(5, 9, 0, 0.99, 0.5)]}
    assert await comparisons(tmp_path / "r", **records) == (
        ComparedTensor(0, "local", True, 0.99, 0.9999),
        ComparedTensor(5, "global", False, 0.99, 0.5),
    )


@for_all(
    "record",
    [(None, 9, 1, 0.99, 0.9), (-(2**63), 9, 1, 0.99, 0.9), (4, 9, None, 0.99, 0.9), (4, 9, "x", 0.99, 0.9)],
)
async def test_a_record_without_tensor_or_verdict_is_none(tmp_path, record):
    assert await comparisons(tmp_path / "r", **{LOCAL: [record, (7, 9, 1, 0.99, 0.9)]}) == (
        ComparedTensor(7, "local", True, 0.99, 0.9),
    )


@for_all(
    ("desired", "actual", "told"),
    [
        (0.0, -1.0, (0.0, -1.0)),
        (1.0, 1.0, (1.0, 1.0)),
        (-0.1, -1.1, (None, None)),
        (1.1, 1.1, (None, None)),
        (None, "x", (None, None)),
        (float("inf"), float("-inf"), (None, None)),
    ],
)
async def test_a_correlation_lies_between_its_bounds(tmp_path, desired, actual, told):
    [record] = await comparisons(tmp_path / "r", **{LOCAL: [(4, 9, 1, desired, actual)]})
    assert (record.desired, record.actual) == told


async def test_a_table_that_lacks_a_column_is_not_read(tmp_path):
    assert await comparisons(tmp_path / "r", "tensor_id int, matches int", **{LOCAL: [(4, 1)]}) == ()


async def test_a_hundred_thousand_records_are_read(tmp_path):
    assert len(await comparisons(tmp_path / "r", **{LOCAL: [(4, 9, 1, 0.99, 0.9)] * 100_001})) == 100_000

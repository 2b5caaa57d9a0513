"""A table of ops: columns read once, rows in the order wanted, cells cited as the file has them."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ttnn_mcp.readers.performance.frame import Frame, TextColumn
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.written_kinds import written_kinds


def column(*texts, alike=None):
    distinct = [*dict.fromkeys(text for text in texts if text)]
    codes = np.array([distinct.index(text) if text else -1 for text in texts])
    return TextColumn(codes, tuple(distinct), alike)


def table(**columns):
    """A table of these columns: texts, or numbers."""
    first = next(iter(columns.values()))
    rows = len(first.codes if isinstance(first, TextColumn) else first)
    report = SimpleNamespace(frame=Frame(rows, columns), path=Path("x.csv"), headers={}, logical_shapes=True)
    return OpTable.of(report)


def operand(name, *widths):
    """An operand of 32 rows, as wide as each row says; absent where it says nothing."""
    height = column(*("32" if width else "" for width in widths))
    ones = column(*("1" if width else "" for width in widths))
    return {f"{name}_W": ones, f"{name}_Z": ones, f"{name}_Y": height, f"{name}_X": column(*widths)}


def test_a_column_is_made_once():
    ops = table(kernel_ns=np.array([1, 2, 3]), op_code=column("A", "B", "A"))
    assert ops.numbers("kernel_ns") is ops.numbers("kernel_ns")
    assert ops.texts("op_code") is ops.texts("op_code")


def test_rows_are_alike_by_op_code_and_operands_alone():
    codes, operands, others = (np.array(numbers, dtype=np.int32) for numbers in ([0, 1, 1], [0, 0, 1], [0, 1, 2]))
    ops = table(
        op_code=column("A", "B", "B", alike=codes),
        INPUT_0_Y=column("32", "32", "64", alike=operands),
        INPUT_0_X=column("32", "32", "64", alike=operands),
        attributes=column("a", "b", "c", alike=others),
    )
    assert [numbers.tolist() for numbers in ops.alike()] == [[0, 1, 1], [0, 0, 1]]
    assert [numbers.tolist() for numbers in ops.take(np.array([2, 0])).alike()] == [[1, 0], [1, 0]]


def test_kinds_are_the_same_whether_or_not_the_rows_were_compared_when_they_were_read():
    alike = np.array([0, 1, 0], dtype=np.int32)
    compared = table(op_code=column("A", "B", "A", alike=alike), **operand("INPUT_0", "32", "32", "64"))
    assert compared.alike() is None
    assert written_kinds(compared).tolist() == [0, 1, 2]
    assert written_kinds(table(op_code=column("A", "B", "A", alike=alike))).tolist() == [0, 1, 0]


def test_all_rows_in_their_order_are_the_table_itself():
    ops = table(op_code=column("A", "B", "C"))
    assert ops.take(np.array([True, True, True])) is ops
    assert ops.take(np.array([0, 1, 2])) is ops
    assert ops.take(np.array([2, 1, 0])).lines.tolist() == [4, 3, 2]
    assert ops.take(np.array([0, 1])).lines.tolist() == [2, 3]
    assert ops.take(np.array([False, True, False])).lines.tolist() == [3]


def test_rows_are_chosen_by_lines_of_the_file():
    ops = table(device=np.zeros(7)).take(np.array([1, 2, 5]))
    lines = ops.lines.tolist()
    for asked in ([], [lines[2], lines[0]], [1, lines[1] + 1, 99, lines[1]], [99]):
        assert ops.at_lines(np.array(asked, dtype=np.int64)).tolist() == [line in asked for line in lines]
    assert ops.take(np.array([], dtype=np.int64)).at_lines(ops.lines).tolist() == []


def test_shapes_name_only_the_operands_that_a_row_has():
    ops = table(
        op_code=column("A", "B", "C"),
        **operand("INPUT_0", "64", "64", ""),
        **operand("INPUT_1", "96", "", ""),
        **operand("OUTPUT_0", "32", "32", ""),
        **operand("OUTPUT_1", "", "160", ""),
    )
    assert [ops.shapes(row) for row in range(3)] == ["32x64 * 32x96 -> 32x32", "32x64 -> 32x32 * 32x160", " -> "]


def test_a_report_has_the_columns_of_its_headers():
    frame = Frame(1, {"device": np.zeros(1), "cores": np.zeros(1)})
    headers = {"device": "DEVICE"}
    ops = OpTable.of(SimpleNamespace(frame=frame, path=Path("x.csv"), headers=headers, logical_shapes=True))
    assert (ops.has("device"), ops.has("cores")) == (True, False)
    assert [ops.cite(0, name).column for name in ("device", "cores")] == ["DEVICE", "CORE COUNT"]


def test_ops_of_a_family_are_masked_for_all_that_ask():
    mask = table(op_code=column("MatmulDeviceOperation", "UnaryDeviceOperation")).of_family("matmul", "conv")
    assert (mask.tolist(), mask.flags.writeable) == ([True, False], False)


def test_a_table_with_other_cells_is_another_one():
    numbers = {name: np.array([1.0, 2.0]) for name in ("device", "fw_start_cycle", "fw_end_cycle")}
    memory = column("L1", "DRAM")
    ops = table(
        op_code=column("A", "B"),
        attributes=column("a", "b"),
        **numbers,
        **operand("INPUT_0", "64", "64"),
        INPUT_0_MEMORY=memory,
    )
    assert np.isnan([ops.without_cycles().numbers(name) for name in ("fw_start_cycle", "fw_end_cycle")]).all()
    assert ops.of_one_device().numbers("device").tolist() == [0, 0]
    assert [ops.with_attributes("c").texts("attributes")[row] for row in range(2)] == ["c", "c"]
    lost = ops.renamed(np.array([True, False]), "Lost")
    told = [[lost.texts(name)[row] for row in range(2)] for name in ("op_code", "attributes")]
    assert (told, lost.inputs[0].present.tolist()) == ([["Lost", "B"], ["", "b"]], [False, True])
    assert [ops.texts("attributes")[row] for row in range(2)] == ["a", "b"]
    cited = lost.cite_operand(1, lost.inputs[0], "MEMORY")
    assert (cited.source, cited.row, cited.column, cited.value) == ("x.csv", 3, "INPUT_0_MEMORY", "DRAM")


def test_only_times_that_were_corrected_are_cited_from_the_firmware():
    ops = table(kernel_ns=np.array([1.0, 2.5, np.nan]), cores=np.array([8, 8, 8]))
    told = ops.corrected(
        kernel_ns=np.array([7.0, 2.5, np.nan]), gap_ns=np.zeros(3), corrected_rows=np.array([True, False, False])
    )
    assert [told.cite(row, "kernel_ns").column.split()[1] for row in range(3)] == ["FW", "KERNEL", "KERNEL"]
    assert told.cite(0, "gap_ns").column == "DEVICE FW END CYCLE"
    assert told.cite(0, "cores").column == "CORE COUNT"
    assert ops.cite(0, "kernel_ns").column == "DEVICE KERNEL DURATION [ns]"
    assert [told.cite(row, "kernel_ns").value for row in range(3)] == [7, 2.5, None]


def test_a_line_break_within_a_cell_moves_the_rows_below_it():
    assert table(op_code=column("A", "B", "C")).lines.tolist() == [2, 3, 4]
    assert table(op_code=column("A\nA", "B", "")).lines.tolist() == [2, 4, 5]
    broken = table(op_code=column("A\nA", "B", "C"), attributes=column("", "b\n\nb", "c\n"))
    assert broken.lines.tolist() == [2, 4, 7]

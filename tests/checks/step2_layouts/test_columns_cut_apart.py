"""columns-cut-apart: the wide result of a matmul, cut into its columns by slices."""

from __future__ import annotations

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, without
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul
from ttnn_mcp.checks.fixes import marked
from ttnn_mcp.report.code_block import code_block


def cut(program, *, widths=(2048, 4096), taken=None, rows=32, part_rows=None, read=False, name="Slice"):
    """One linear for all columns, then a slice of each part."""
    x, w = program.tensor([1, 1, rows, 4096]), program.weight([1, 1, 4096, sum(widths)], "BFLOAT8_B")
    y = put(program, matmul(x, w, program.tensor([1, 1, rows, sum(widths)]), 200_000))
    for width in taken or widths:
        part = program.tensor([1, 1, part_rows or rows, width])
        put(program, DeviceOp(f"{name}DeviceOperation", (y,), (part,), 10_000))
    if read:
        put(program, DeviceOp("ReduceDeviceOperation", (y,), (program.tensor([1, 1, rows, 1]),), 9_000))
    return program


def of(**how):
    return cut(Program("blackhole"), **how)


def test_slices_of_all_columns_are_told(check):
    outcome = check.ask(of())
    claim, case = outcome.claim, outcome.case
    assert (claim.rows.tolist(), claim.at_most_ns.tolist()) == ([1, 2], [10_000, 10_000])
    assert claim.claim.startswith(
        "2 slices cut the results of 1 matmul into their columns (20 us, 9.0%): 32x6144 -> 32x2048"
    )
    assert claim.fix.startswith(
        f"separate matmuls for the one at line {case.line(0)}: at load time w1, w2 = torch.split(torch_w, [2048, 4096], "
    )
    assert code_block(marked(claim.fix), 80)[-7:-2] == [
        "w1, w2 = torch.split(torch_w, [2048, 4096], dim=-1)",
        "w1 = ttnn.from_torch(w1, **REST)",
        "w2 = ttnn.from_torch(w2, **REST)",
        "# then",
        "ttnn.linear(x, w1)",
    ]
    assert case.line(0) in {cell.row for cell in claim.evidence}


def test_the_heaviest_slices_are_those_of_their_own_matmul(check):
    program = cut(of(), widths=(3072, 3072))
    program.device_ops[-1].kernel_ns = 20_000
    claim, case = check.ask(program).claim, check.case(program)
    assert claim.claim.startswith("4 slices cut the results of 2 matmuls into their columns")
    assert f"the one at line {case.line(3)}: at load time w1, w2 = torch.split(torch_w, [3072, 3072]" in claim.fix


def test_the_parts_are_told_in_the_order_of_their_columns(check):
    """Weights cut in the order of the slices would give each matmul the columns of another."""
    program = of(widths=(4096, 2048), taken=(2048, 4096))
    for op, start in zip(program.device_ops[1:], (4096, 0), strict=True):
        op.attributes = {"slice_start": f"Shape([0, 0, 0, {start}])"}
    assert "torch.split(torch_w, [4096, 2048], dim=-1)" in check.ask(program).claim.fix


def test_weights_that_the_op_turns_have_their_columns_as_rows(check):
    program = of()
    program.device_ops[0].attributes["transpose_b"] = True
    assert "torch.split(torch_w, [2048, 4096], dim=-2)" in check.ask(program).claim.fix
    assert "the bias likewise, all else as now" in check.ask(program).claim.fix


def test_parts_of_1024_columns_and_more_are_told(check):
    check.pair(lambda width: of(widths=(width, 4096)), silent=992, fires=1024)


def test_what_is_not_all_of_it_or_read_whole_stays(check):
    assert check.ask(of(taken=(2048, 2048))).status == "clean"
    assert check.ask(of(rows=64, part_rows=32)).status == "clean"
    assert check.ask(of(read=True)).status == "clean"
    assert check.ask(of(name="Untilize")).status == "not_applicable"
    assert check.ask(cut(of(name="Split"), widths=(992, 4096))).status == "clean"  # not by slices, and too narrow
    added = of()
    added.device_ops[0].op_code = "BinaryNgDeviceOperation"
    assert check.ask(added).status == "clean"


def test_without_its_cells_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("PUT_",), of())), "INPUT_n")


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(of(), above=2)


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(cut, 0.01, of="saving")

"""sort-for-top-k: a whole row sorted, its first places read."""

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, without
from tests.profiles import Program
from tests.profiles.model import DeviceOp


def put_sort(program: Program, *, width=128_256, us=30_000, reads=(("Slice", 32),)) -> None:
    x = program.tensor([1, 1, 32, width])
    y = put(program, DeviceOp("SortDeviceOperation", (x,), (program.tensor(x.shape),), 1000 * us, cores=1))
    for name, columns in reads:
        put(program, DeviceOp(f"{name}DeviceOperation", (y,), (program.tensor([1, 1, 32, columns]),), 5_000))


def sorting(**how) -> Program:
    program = Program("wormhole_b0")
    put_sort(program, **how)
    return program


def test_a_sort_for_32_places_is_a_top_k(check):
    outcome = check.ask(sorting())
    claim, case = outcome.claim, outcome.case
    assert claim.rows.tolist() == [0]
    assert claim.claim.startswith("128256 columns are sorted (1x, 30.0 ms, 100.0%) of which 32 are read")
    assert claim.fix.startswith("ttnn.topk(x, k=32, dim=-1) on 4 parts of 32768 columns, then one over")
    assert {cell.row for cell in claim.evidence} == {case.line(0), case.line(1)}
    bytes_ns = 2 * 2 * 32 * 128_256 / 240
    assert claim.at_most_ns[0] == pytest.approx(30e6 - bytes_ns, rel=0.01)


def test_texts_are_short(check):
    claim = check.ask(sorting()).claim
    assert len(claim.claim) <= 200
    assert len(claim.fix) <= 260


def test_one_part_needs_no_second_choice(check):
    assert "parts" not in check.ask(sorting(width=32_768)).claim.fix
    assert "on 2 parts" in check.ask(sorting(width=32_800)).claim.fix


def test_64_places_are_the_most(check):
    check.pair(lambda kept: sorting(reads=(("Slice", kept),)), silent=65, fires=64)


def test_all_readers_must_keep_few(check):
    assert check.ask(sorting(reads=(("Slice", 32), ("Slice", 8)))).fires
    assert check.ask(sorting(reads=(("Slice", 32), ("Accumulation", 128_256)))).status == "clean"
    assert check.ask(sorting(reads=(("Accumulation", 32),))).status == "clean"
    assert check.ask(sorting(reads=())).status == "clean"


def test_the_first_places_of_a_sort_are_those_of_a_top_k(check):
    def cut(start):
        made = sorting()
        made.device_ops[1].attributes = {"slice_start": f"Shape([0, 0, {start}])", "step": "Shape([1, 1, 1, 1])"}
        return made

    check.pair(cut, silent="0, 128224", fires="0, 0")
    check.pair(cut, silent="32, 10", fires="32, 0")


def test_a_rising_sort_gives_the_least(check):
    """`ttnn.sort` rises unless it is told to fall, and TopK takes the greatest unless it is told."""

    def fix(falls):
        made = sorting()
        made.device_ops[0].attributes = {"descending": falls}
        return check.ask(made).claim.fix

    assert fix(False).startswith("ttnn.topk(x, k=32, dim=-1, largest=False) on 4 parts")
    assert fix(False).endswith("padded with inf, uses many cores")
    assert fix(True).startswith("ttnn.topk(x, k=32, dim=-1) on 4 parts")
    assert fix(True).endswith("padded with -inf, uses many cores")


def test_other_ops_may_be_cut(check):
    program = sorting()
    y = put(program, DeviceOp("UnaryDeviceOperation", (program.tensor([1, 1, 64, 256]),), (program.tensor([1, 1, 64, 256]),), 900_000))  # fmt: skip
    put(program, DeviceOp("SliceDeviceOperation", (y,), (program.tensor([1, 1, 64, 32]),), 5_000))
    assert check.ask(program).claim.rows.tolist() == [0]


def test_a_sort_of_few_columns_keeps_all(check):
    assert check.ask(sorting(width=64, reads=(("Slice", 64),))).status == "clean"


def test_the_heaviest_is_the_example(check):
    program = sorting(us=3_000)
    put_sort(program, width=65_536, us=9_000, reads=(("Slice", 16),))
    claim = check.ask(program).claim
    assert claim.rows.tolist() == [0, 2]
    assert claim.claim.startswith("65536 columns are sorted (2x")
    assert "k=16" in claim.fix


def test_one_percent_is_worth_telling(check):
    check.share_pair(put_sort, 0.01, of="saving")


def test_without_sorts_or_operands(check, tmp_path):
    program = Program("wormhole_b0")
    put(
        program,
        DeviceOp("TopKDeviceOperation", (program.tensor([1, 1, 32, 64]),), (program.tensor([1, 1, 32, 8]),), 9),
    )
    assert check.ask(program).why == "no Sort ops"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), sorting())), "INPUT_n")

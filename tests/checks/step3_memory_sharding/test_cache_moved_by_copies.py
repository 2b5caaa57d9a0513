"""cache-moved-by-copies: a slice and a concat of a whole cache, to add a row."""

from __future__ import annotations

import pytest

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp


def put_moved(
    program, *, whole=(1, 16, 256, 64), left=None, added=None, layout="TILE", between=False, times=(78_300, 128_900),
    names=("Slice", "Concat"), again=None,
):  # fmt: skip
    """CosyVoice: 255 of 256 rows, and a new one behind them."""
    kept = list(left or (*whole[:2], whole[2] - 1, whole[3]))
    new = list(added or [*whole[:2], whole[2] - kept[2] or 1, whole[3]])
    x, rest = program.tensor(list(whole), layout=layout), program.tensor(kept, layout=layout)
    rest = put(program, DeviceOp(f"{names[0]}DeviceOperation", (x,), (rest,), times[0]))
    if between:
        rest = put(program, DeviceOp("UnaryDeviceOperation", (rest,), (program.tensor(kept, "FLOAT32", layout=layout),), 5_000))  # fmt: skip
    out = program.tensor(list(again or whole), layout=layout)
    put(
        program,
        DeviceOp(f"{names[1]}DeviceOperation", (rest, program.tensor(new, layout=layout)), (out,), times[1]),
    )


def moved(**how):
    program = Program("blackhole")
    put_moved(program, **how)
    return program


def test_one_row_moves_all_of_a_cache(check):
    """207.2 us; update_cache took 3.7."""
    outcome = check.ask(moved())
    claim, line = outcome.claim, outcome.case.line(1)
    assert claim.rows.tolist() == [0, 1]
    assert claim.at_most_ns.sum() == pytest.approx(207_200 - 3_700)
    assert claim.claim.startswith("1 tensors are moved on by 1 rows with a slice and a concat (207 us, 99.3%)")
    assert claim.fix.startswith("ttnn.update_cache(cache, x, position)")
    assert cells(outcome)[0] == (line, "DEVICE KERNEL DURATION [ns]")


def test_texts_are_short(check):
    check.assert_sound(moved())


def test_a_pair_quicker_than_a_write_saves_nothing(check):
    assert check.ask(moved(times=(1_000, 2_700))).at_most_ns == 0
    assert check.ask(moved(times=(1_000, 2_800))).at_most_ns == pytest.approx(100)
    assert check.ask(moved(times=(0, 0))).at_most_ns == 0


def test_whole_rows_of_tiles_move_in_one_piece(check):
    check.pair(lambda rows: moved(left=(1, 16, rows, 64)), silent=224, fires=225)


@for_all(
    "change",
    [
        {"layout": "ROW_MAJOR"},
        {"between": True},
        {"again": (1, 16, 257, 64), "added": (1, 16, 2, 64)},
        {"left": (1, 15, 256, 64)},
        {"left": (1, 15, 255, 64)},
        {"left": (1, 16, 255, 63)},
        {"left": (1, 16, 256, 63)},
        {"whole": (2, 16, 256, 64), "left": (1, 16, 255, 64)},
        {"names": ("Clone", "Concat")},
        {"names": ("Slice", "Binary")},
    ],
    ids=str,
)
def test_other_copies_are_no_cache(check, change):
    assert not check.ask(moved(**change)).fires


def test_only_a_concat_adds_a_row(check):
    """Beside a concat of other tensors."""

    def beside(name):
        program = moved(names=("Slice", name))
        parts = [program.tensor([1, 1, 32, 64]) for _ in range(2)]
        put(program, DeviceOp("ConcatDeviceOperation", parts, (program.tensor([1, 1, 64, 64]),), 5_000))
        return program

    check.pair(beside, silent="Pad", fires="Concat")


def test_without_a_concat_it_is_not_applicable(check):
    assert check.ask(moved(names=("Slice", "Pad"))).status == "not_applicable"


def test_a_concat_of_what_no_op_made_is_none(check):
    """Its place would be that of the last op, a slice."""
    program = Program("blackhole")
    parts = [program.tensor([1, 16, rows, 64]) for rows in (200, 56)]
    put(program, DeviceOp("ConcatDeviceOperation", parts, (program.tensor([1, 16, 256, 64]),), 50_000))
    x, y = program.tensor([1, 16, 256, 64]), program.tensor([1, 16, 255, 64])
    put(program, DeviceOp("SliceDeviceOperation", (x,), (y,), 50_000))
    assert check.ask(program).status == "clean"


def test_the_heaviest_of_two_is_shown(check):
    program = moved()
    put_moved(program, whole=(1, 8, 512, 64), left=(1, 8, 509, 64), times=(300_000, 20_000))
    claim = check.ask(program).claim
    assert claim.claim.startswith("2 tensors are moved on by 3 rows")
    assert claim.rows.tolist() == [0, 1, 2, 3]


def test_half_a_percent_of_the_window_is_worth_telling(check):
    check.share_pair(put_moved, 0.005, of="saving")


@for_all("lost", [("INPUT_",), ("OUTPUT_",)])
def test_without_operands_it_cannot_tell(check, tmp_path, lost):
    assert_cannot_tell(check.ask(without(tmp_path, lost, moved())), lost[0].rstrip("_"))


def test_padded_shapes_do_not_tell_the_rows(check):
    assert_cannot_tell(check.ask(moved(), generation="C3"), "padded shapes only")

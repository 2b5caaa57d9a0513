"""logits-leave-the-device: the pass ends with logits, then the device waits."""

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Iteration, Program
from tests.profiles.model import DeviceOp

KERNEL_NS = 200_000_000


def put_head(
    program, *, deep=1024, wide=32_768, behind=("Untilize",), last=0, weights=True, norm=0, normed_by="LayerNorm"
):
    pass_time(
        program, KERNEL_NS - 300_000 - 50_000 * len(behind) - (0 if weights else 4_000) - (9_000 if norm else 0)
    )
    x, w = program.tensor([1, 1, 32, deep]), program.tensor([1, 1, deep, wide])
    if norm:
        row = [1, 1, 32, norm]
        y = put(
            program, DeviceOp(f"{normed_by}DeviceOperation", (program.tensor(row),), (program.tensor(row),), 9_000)
        )
        x = y if norm == deep else x
    if not weights:
        w = put(program, DeviceOp("UnaryDeviceOperation", (w,), (program.tensor([1, 1, deep, wide]),), 4_000))
    y = put(program, DeviceOp("MatmulDeviceOperation", (x, w), (program.tensor([1, 1, 32, wide]),), 300_000))
    for place, name in enumerate(behind):
        width = last if last and place == len(behind) - 1 else wide
        y = put(program, DeviceOp(f"{name}DeviceOperation", (y,), (program.tensor([1, 1, 32, width]),), 50_000))


def head(*, devices=1, **how) -> Program:
    program = Program("blackhole", grid=(11, 10), devices=devices)
    put_head(program, **how)
    return program


def waiting(ns=42_000_000):
    return (Iteration(cold=True), Iteration(before_ns=ns), Iteration(before_ns=ns))


def test_logits_that_no_op_reads_are_told_without_a_figure(check):
    outcome = check.ask(head(), waiting())
    claim, case = outcome.claim, outcome.case
    assert (claim.rows.tolist(), claim.at_most_ns.tolist()) == ([1], [0])
    assert claim.claim == (
        "The pass ends with logits of 32768 columns that no op reads; then the device waits 42.0 ms: "
        f"32x1024 * 1024x32768 -> 32x32768 at line {case.line(1)}"
    )
    assert {row for row, _ in cells(outcome)} == {case.line(0), case.line(1)}


def test_texts_are_short(check):
    claim = check.ask(head(), waiting()).claim
    assert len(claim.claim) <= 200
    assert len(claim.fix) <= 260


def test_a_tenth_of_the_kernel_time_is_the_line(check):
    for waited, fires in ((19_000_000, False), (21_000_000, True)):
        assert check.ask(head(), waiting(waited)).fires == fires


def test_ten_milliseconds_are_the_least(check):
    program = Program("blackhole", grid=(11, 10))
    x, w = program.tensor([1, 1, 32, 1024]), program.tensor([1, 1, 1024, 32_768])
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (program.tensor([1, 1, 32, 32_768]),), 300_000))
    for waited, fires in ((9_900_000, False), (10_100_000, True)):
        assert check.ask(program, waiting(waited)).fires == fires


def test_thirty_thousand_columns_are_the_line(check):
    for wide, fires in ((29_984, False), (30_016, True)):
        assert check.ask(head(wide=wide), waiting()).fires == fires


def test_columns_count_over_all_devices_where_rows_are_whole(check):
    assert check.ask(head(wide=16_032, norm=1024), waiting()).status == "clean"
    assert check.ask(head(wide=16_032, devices=2), waiting()).status == "clean"
    assert check.ask(head(wide=16_032, devices=2, norm=2048), waiting()).status == "clean"
    assert check.ask(head(wide=16_032, devices=2, norm=1024, normed_by="Unary"), waiting()).status == "clean"
    assert check.ask(head(wide=16_032, devices=2, norm=1024), waiting()).fires
    assert check.ask(head(wide=32_768, devices=2), waiting()).fires


def test_a_head_is_twice_as_wide_as_deep(check):
    for deep, fires in ((16_416, False), (16_384, True)):
        assert check.ask(head(deep=deep), waiting()).fires == fires


@for_all("behind", [(), ("AllGatherAsync", "Slice"), ("ShardedToInterleaved", "Untilize")], ids=str)
def test_moves_and_exchanges_pass_logits_on(check, behind):
    assert check.ask(head(behind=behind), waiting()).fires


@for_all("behind", [("TopK",), ("Untilize", "ArgMax"), ("Softmax",), ("Unary", "Untilize")], ids=str)
def test_what_reads_logits_is_a_choice(check, behind):
    assert check.ask(head(behind=behind), waiting()).status == "clean"


@for_all("how", [{"behind": ("Slice",), "last": 64}, {"weights": False}], ids=str)
def test_others_are_none(check, how):
    assert check.ask(head(**how), waiting()).status == "clean"


def test_a_cold_pass_waits_for_compiling(check):
    assert check.ask(head(), (Iteration(cold=True, before_ns=5_000_000),)).status == "clean"


def test_without_matmuls_or_operands(check, tmp_path):
    program = Program("blackhole")
    pass_time(program, 9_000)
    assert check.ask(program).why == "no matmuls"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), head())), "INPUT_n")

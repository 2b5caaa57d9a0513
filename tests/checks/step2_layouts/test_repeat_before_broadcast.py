"""repeat-before-broadcast: what is repeated only for an op that broadcasts."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, tilize, unary, untilize

SMALL, LARGE = [1, 1, 1, 4096], [1, 1, 1024, 4096]
ROWS = "ROW_MAJOR"


def repeated(
    program, *, small=SMALL, large=LARGE, into=LARGE, converts=True, also_read=False, before_read=False,
    name="BinaryNgDeviceOperation", first=False, dtype="BFLOAT8_B",
):  # fmt: skip
    """Untilize 8 us, repeat 60, tilize 75, multiply 110."""
    x = program.tensor(small)
    if converts:
        x = put(program, untilize(x, program.tensor(small, layout=ROWS), 8_000))
        if before_read:
            read(program, x)
    x = put(program, DeviceOp("RepeatDeviceOperation", (x,), (program.tensor(into, layout=x.layout),), 60_000))
    if also_read:
        read(program, x)
    if converts:
        x = put(program, tilize(x, program.tensor(into), 75_000))
    a = program.tensor(large, dtype)
    op = binary("MUL", *((x, a) if first else (a, x)), program.tensor(large, "BFLOAT8_B"), 110_000)
    op.op_code = name
    put(program, op)


def read(program, x):
    put(program, DeviceOp("MadeUp", (x,), (program.tensor([1, 1, 32, 32], "UINT16"),), 1_000))


def of_repeated(**how):
    program = Program("wormhole_b0")
    repeated(program, **how)
    return program


@for_all("how", [{}, {"first": True}, {"dtype": "BFLOAT16"}], ids=["second", "first", "alike"])
def test_the_repeat_and_what_serves_it_go(check, how):
    claim = check.assert_sound(of_repeated(**how))
    assert claim.rows.tolist() == [0, 1, 2]
    assert claim.at_most_ns.sum() == 143_000
    assert claim.claim.startswith("1 repeats (3 ops with those that serve them, 143 us, 55.5%) only feed ops")
    assert "read at line 9" in claim.claim
    assert "broadcast 1x4096 to 1024x4096 themselves" in claim.fix


def test_a_repeat_in_tiles_stands_alone(check):
    assert check.ask(of_repeated(converts=False, small=[1, 1, 32, 4096], large=[4, 8, 32, 4096], into=[4, 8, 32, 4096])).claim.rows.tolist() == [0]  # fmt: skip


def test_what_computes_the_small_tensor_stays(check):
    program = Program("wormhole_b0")
    x = put(program, unary("EXP", program.tensor([1, 1, 32, 4096]), program.tensor([1, 1, 32, 4096]), 8_000))
    big = put(program, DeviceOp("RepeatDeviceOperation", (x,), (program.tensor([4, 8, 32, 4096]),), 60_000))
    a, y = (program.tensor([4, 8, 32, 4096], "BFLOAT8_B") for _ in range(2))
    put(program, binary("MUL", a, big, y, 110_000))
    assert check.ask(program).claim.rows.tolist() == [1]


def test_a_repeat_that_nobody_reads_is_another_matter(check):
    program = of_repeated()
    x, y = program.tensor([1, 1, 1, 64]), program.tensor([1, 1, 1024, 64])
    put(program, DeviceOp("RepeatDeviceOperation", (x,), (y,), 60_000))
    assert len(check.ask(program).claim.rows) == 3


def test_another_reader_of_the_repeated_tensor_needs_it(check):
    check.pair(lambda one: of_repeated(also_read=one), silent=True, fires=False)


def test_what_another_op_reads_too_stays(check):
    assert check.ask(of_repeated(before_read=True)).claim.rows.tolist() == [2, 3]


def test_a_dim_above_one_is_no_broadcast(check):
    check.pair(lambda rows: of_repeated(small=[1, 1, rows, 4096]), silent=2, fires=1)


def test_the_other_operand_has_the_repeated_size(check):
    """A repeated operand that is broadcast itself must stay."""
    both = {"large": [1, 2, 1024, 4096]}
    check.pair(lambda how: of_repeated(**how), silent=both, fires={})


def test_a_repeat_that_changes_nothing_is_no_repeat(check):
    check.pair(lambda small: of_repeated(small=small), silent=LARGE, fires=SMALL)


def test_only_binary_ops_broadcast(check):
    check.pair(lambda name: of_repeated(name=name), silent="MadeUp", fires="BinaryDeviceOperation")


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(repeated, 0.01, of="time")


def test_a_run_without_repeats_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1_000)
    assert check.ask(program).status == "not_applicable"


def test_the_heaviest_repeat_is_the_example(check):
    program = of_repeated()
    repeated(program, small=[1, 1, 1, 2048], large=[1, 1, 512, 2048], into=[1, 1, 512, 2048], converts=False)
    program.device_ops[-2].kernel_ns = 90_000
    assert "1[32]x2048 -> 512x2048" in check.ask(program).claim.claim


def test_a_compilers_user_leaves_the_expand_out(check):
    assert ".expand()" in check.ask(of_repeated(), generation="tt-torch").claim.fix


def test_without_operands_it_cannot_tell(check):
    assert check.ask(of_repeated(), without="PUT_").status == "cannot_tell"

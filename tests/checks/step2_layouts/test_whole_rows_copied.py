"""whole-rows-copied: rows in one piece that are copied out of a tensor, or joined behind matmuls."""

from __future__ import annotations

from tests.checks.rows import ONE_PASS, pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Placement, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul, unary
from ttnn_mcp.checks.step2_layouts.whole_rows_copied import Part, lies_in_one_piece, part_of

WHOLE = (1, 1, 4096, 6144)  # 192 tiles across: a row of tiles ends on the last of 12 banks
ROWS, WIDE = 1024, 6144  # 192 tiles across: any row of tiles begins on the first of 12 or 8 banks


def shape(*dims):
    return f"Shape([{', '.join(map(str, dims))}])"


def sliced(
    program, *, whole=(1, 1, 4 * ROWS, WIDE), start=(0, 0, ROWS, 0), end=(1, 1, 2 * ROWS, WIDE), step=1, layout="TILE",
    where=DRAM, into=DRAM, kernel_ns=60_000,
):  # fmt: skip
    x = program.tensor(list(whole), layout=layout, placement=where)
    size = [stop - first for first, stop in zip(start, end, strict=True)]
    part = program.tensor(size, layout=layout, placement=into)
    attributes = {"slice_start": shape(*start), "slice_end": shape(*end), "step": shape(*[step] * 4)}
    put(program, DeviceOp("SliceDeviceOperation", (x,), (part,), kernel_ns, attributes=attributes))


def of_sliced(arch="wormhole_b0", **how):
    program = Program(arch)
    sliced(program, **how)
    return program


def joined(
    program, *, parts=3, dim=2, width=WIDE, rows=ROWS, maker="MatmulDeviceOperation", given=0, also_read=False,
    into=DRAM, kernel_ns=80_000,
):  # fmt: skip
    made = []
    for place in range(parts):
        y = program.tensor([1, 1, rows, width])
        if place >= given:
            x, w = program.tensor([1, 1, rows, 512]), program.weight([1, 1, 512, width])
            put(program, matmul(x, w, y, 90_000))
            program.device_ops[-1].op_code = maker
        made.append(y)
    if also_read:
        put(program, unary("EXP", made[-1], program.tensor([1, 1, rows, width], "BFLOAT8_B"), 9_000))
    size = [1, 1, rows, width]
    size[dim] *= parts
    op = DeviceOp("ConcatDeviceOperation", tuple(made), (program.tensor(size, placement=into),), kernel_ns)
    op.attributes = {"dim": dim}
    put(program, op)


def of_joined(**how):
    program = Program("wormhole_b0")
    joined(program, **how)
    return program


def test_a_view_takes_the_place_of_the_slice(check):
    claim = check.assert_sound(of_sliced())
    assert claim.claim.startswith(
        "1 slices and 0 concats (60 us, 100.0%) copy whole rows: 4096x6144 -> 1024x6144 at line 3"
    )
    assert "ttnn.narrow(x, dim=2, start=1024, length=1024)" in claim.fix
    assert claim.at_most_ns.tolist() == [60_000]


def test_a_part_must_begin_on_the_first_bank(check):
    """One row of tiles is 160 tiles: 8 banks of Blackhole divide it, 12 of Wormhole do not."""
    narrow = {"whole": (1, 1, 64, 5120), "start": (0, 0, 32, 0), "end": (1, 1, 64, 5120)}
    assert check.ask(of_sliced(**narrow)).status == "clean"
    assert check.ask(of_sliced("blackhole", **narrow)).status == "found"


@for_all(
    "how",
    [
        {"start": (0, 0, 0, 0), "end": (1, 1, 4 * ROWS, 32)},
        {"whole": (2, 1, 4 * ROWS, WIDE), "end": (2, 1, 2 * ROWS, WIDE)},
        {"start": (0, 0, ROWS, 0), "end": (1, 1, 2 * ROWS, 64)},
        {"end": (1, 1, 4 * ROWS, WIDE), "step": 2},
        {"where": L1},
        {"into": L1},
        {"where": Placement("DRAM", "WIDTH_SHARDED")},
        {"end": (1, 1, 2 * ROWS - 8, WIDE)},
        {"start": (0, 0, ROWS + 8, 0)},
        {"whole": (1, 1, 1, 6144), "start": (0, 0, 0, 0), "end": (1, 1, 1, 64)},
    ],
    ids=[
        "columns",
        "of each batch",
        "both",
        "every second",
        "from L1",
        "into L1",
        "over the banks",
        "part of a tile",
        "in a tile",
        "a row",
    ],
)
def test_what_no_view_can_name_is_copied(check, how):
    assert check.ask(of_sliced(**how)).status == "clean"


@for_all(
    "how",
    [
        {"whole": (8, 1, 64, 192), "start": (2, 0, 0, 0), "end": (3, 1, 64, 192)},
        {"whole": (1, 8, 64, 192), "start": (0, 2, 0, 0), "end": (1, 4, 64, 192)},
        {"layout": "ROW_MAJOR", "whole": (1, 1, 48, 100), "start": (0, 0, 24, 0), "end": (1, 1, 36, 100)},
    ],
    ids=["batch", "channels", "rows"],
)
def test_batches_channels_and_rows_lie_in_one_piece_too(check, how):
    assert check.ask(of_sliced(**how)).status == "found"


def test_rows_begin_on_the_first_bank_or_not(check):
    rows = {"layout": "ROW_MAJOR", "whole": (1, 1, 48, 100), "end": (1, 1, 48, 100)}
    check.pair(lambda first: of_sliced(start=(0, 0, first, 0), **rows), silent=25, fires=24)


def test_matmuls_write_where_the_concat_puts_it(check):
    claim = check.assert_sound(of_joined(), above=0)
    assert claim.claim.startswith("0 slices and 1 concats (80 us, 22.6%) copy whole rows")
    assert claim.rows.tolist() == [3]
    assert "optional_output_tensor=ttnn.narrow(whole, ...)" in claim.fix


@for_all(
    "how",
    [
        {"dim": 3},
        {"maker": "SoftmaxDeviceOperation"},
        {"given": 1},
        {"also_read": True},
        {"into": L1},
        {"width": 5120, "rows": 32},
    ],
    ids=["columns", "other ops", "one was there before", "read elsewhere", "into L1", "off the first bank"],
)
def test_other_concats_stay(check, how):
    check.pair(lambda one: of_joined(**one), silent=how, fires={})


def wrote(program, times, name="MatmulDeviceOperation", width=WIDE):
    for _ in range(times):
        x, w, y = (program.tensor(size) for size in ([1, 1, ROWS, 512], [1, 1, 512, width], [1, 1, ROWS, width]))
        put(program, DeviceOp(name, (x, w), (y,), 90_000, fidelity="HiFi2"))


@for_all(
    "before",
    [{"times": 1, "width": 3072}, {"times": 1, "name": "SoftmaxDeviceOperation"}],
    ids=["another size", "no matmul"],
)
def test_as_many_matmuls_as_parts_must_have_run(check, before):
    def at(told):
        program = Program("wormhole_b0")
        wrote(program, **told)
        joined(program, given=1)
        return program

    check.pair(at, silent=before, fires={"times": 1})


def test_matmuls_of_the_size_elsewhere_make_no_parts(check):
    program = Program("wormhole_b0")
    wrote(program, 3)
    joined(program, maker="SoftmaxDeviceOperation")
    assert check.ask(program).status == "clean"


def test_concats_of_fewer_parts_than_others_have_their_own(check):
    program = of_joined(parts=4)
    joined(program, parts=2)
    assert len(check.ask(program).claim.rows) == 2


def test_a_concat_that_tells_no_dim_stays(check):
    program = of_sliced()
    joined(program)
    program.device_ops[-1].attributes = {"groups": 1}
    assert check.ask(program).claim.rows.tolist() == [0]


@for_all(("lost", "word"), [("PUT_", "INPUT_n"), ("ATTRIBUTES", "ATTRIBUTES")])
def test_what_it_cannot_see_it_cannot_tell(check, tmp_path, lost, word):
    assert_cannot_tell(check.ask(without(tmp_path, (lost,), of_sliced())), word)


def test_a_concat_of_what_nobody_made_stays(check):
    assert check.ask(of_joined(given=3)).status == "clean"


def test_slices_and_concats_go_together(check):
    """What tt-metal's routed experts lost was both: 943 of 9424 us."""
    program = of_sliced()
    joined(program)
    claim = check.assert_sound(program)
    assert claim.rows.tolist() == [0, 4]
    assert claim.at_most_ns.tolist() == [60_000, 80_000]
    assert "at line 7" in claim.fix
    assert "at line 11" in claim.fix


@for_all("build", [sliced, joined])
def test_one_percent_of_the_window_is_the_line(check, build):
    check.share_pair(build, 0.01, of="time")


def test_an_unknown_chip_has_unknown_banks(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("DEVICE ARCH", "FW"), of_sliced())), "DEVICE ARCH")


def test_a_run_without_slices_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1_000)
    assert check.ask(program).status == "not_applicable"


def test_a_compilers_user_slices_no_rows(check):
    assert "in the model" in check.ask(of_sliced(), generation="tt-torch").claim.fix


def test_slices_for_fills_of_single_users_are_told_elsewhere(check):
    def of(name):
        program = Program("wormhole_b0")
        for _ in range(4):
            sliced(program)
            part, cache = program.device_ops[-1].outputs[0], program.tensor([256, 8, 32, 128])
            put(program, DeviceOp(f"{name}DeviceOperation", (cache, part), (cache,), 1_000))
        return program

    whole = {"iterations": ONE_PASS, "chosen": "all"}
    check.pair(of, silent="PagedFillCache", fires="MadeUp", **whole)
    assert check.ask(
        of("PagedFillCache"), without="INPUT_[1-9]", **whole
    ).fires  # nothing tells whose rows they are


def test_the_part_is_the_one_dim_that_is_cut():
    assert part_of(WHOLE, (0, 0, 32, 0), (1, 1, 96, 6144)) == Part(2, 32, 64)
    assert part_of(WHOLE, (0, 0, 0, 64), (1, 1, 4096, 128)) == Part(3, 64, 64)
    assert part_of(WHOLE, (0, 0, 0, 0), WHOLE) is None
    assert part_of(WHOLE, (0, 0, 32, 0), (1, 1, 96, 64)) is None


@for_all("lost", [0, 1, 2])
def test_a_shape_of_other_dims_tells_no_part(lost):
    shapes = [WHOLE, (0, 0, 32, 0), (1, 1, 96, 6144)]
    shapes[lost] = shapes[lost][1:]
    assert part_of(*shapes) is None


@for_all(
    ("part", "whole", "layout", "lies"),
    [
        (Part(2, 32, 64), WHOLE, "TILE", True),
        (Part(2, 33, 64), WHOLE, "TILE", False),
        (Part(2, 32, 65), WHOLE, "TILE", False),
        (Part(2, 24, 65), WHOLE, "ROW_MAJOR", True),  # a page is a row
        (Part(2, 25, 65), WHOLE, "ROW_MAJOR", False),
        (Part(2, 32, 64), (1, 2, 4096, 6144), "TILE", False),
        (Part(1, 1, 1), (1, 2, 4096, 6144), "TILE", True),
        (Part(1, 1, 1), (1, 2, 4128, 32), "TILE", False),  # 129 pages before it
        (Part(3, 0, 32), (1, 1, 1, 64), "TILE", False),
        (Part(3, 0, 32), (1, 1, 1, 64), "ROW_MAJOR", False),
    ],
)
def test_a_view_begins_on_the_first_of_twelve_banks(part, whole, layout, lies):
    assert lies_in_one_piece(part, whole, layout, 12) == lies

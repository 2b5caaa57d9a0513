"""norm-over-devices: statistics gathered for a norm whose result is gathered too."""

from __future__ import annotations

from tests.checks.mesh_programs import mesh
from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, cells, without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp

LINE = {"dim": 3, "num_links": 2, "ring_size": 4, "topology": "Topology::Linear"}
NAMES = ("ReduceScatterMinimalAsync", "Binary", "LayerNormPreAllGather", "AllGatherAsync", "LayerNormPostAllGather", "AllGatherAsync")  # fmt: skip


def put_norm(program, *, names=NAMES, statistics_ns=79_000, also_read=(), apart=False, alone=False, made=True):
    """Qwen3.5 over eight chips: 1024 rows of 2048, in eight parts."""
    x = program.tensor([1, 1, 1024, 2048])
    if made:
        x = put(program, DeviceOp("MatmulDeviceOperation", (program.tensor([1, 1, 1024, 512]), program.tensor([1, 1, 512, 2048])), (x,), 41_000, fidelity="HiFi2"))  # fmt: skip
    widths = dict(zip(range(6), (256, 256, 32, 128, 256, 2048), strict=True))
    parts = {}
    for place, name in enumerate(names):
        if not name:
            continue
        given = [x]
        if place == 1:
            given = [program.tensor(x.shape), x] if apart else [x, program.tensor(x.shape)]
        if place == 4:
            given = [parts[1 if names[1] else 0], x] if not alone else [x]
        took = statistics_ns if place == 3 else 50_000
        attributes = LINE if place in {0, 3, 5} else {}
        y = program.tensor([1, 1, 1024, widths[place]])
        x = parts[place] = put(
            program, DeviceOp(f"{name}DeviceOperation", given, (y,), took, attributes=attributes)
        )
        if place in also_read:
            put(program, DeviceOp("UnaryDeviceOperation", (x,), (program.tensor(x.shape, "FLOAT32"),), 1_000))


def normed(**how):
    program: Program = mesh()
    put_norm(program, **how)
    return program


def test_the_statistics_are_one_exchange_too_many(check):
    check.assert_sound(normed())
    outcome = check.ask(normed())
    claim, line = outcome.claim, outcome.case.line(4)
    assert (claim.rows.tolist(), claim.at_most_ns.tolist()) == ([4], [79_000])
    assert claim.claim == (
        "Statistics of norms over devices are gathered, and their results again (1x, 79 us, 20.8%): "
        f"1024x32 -> 1024x128 at line {line}"
    )
    assert "ttnn.all_reduce(y)" in claim.fix
    assert cells(outcome) == [(line, "DEVICE KERNEL DURATION [ns]")]


def without_op(place, name=""):
    return {"names": (*NAMES[:place], name, *NAMES[place + 1 :])}


@for_all("change", [{}, without_op(1), {"apart": True}], ids=["sum", "no sum", "sum's other side"])
def test_the_residual_may_be_added_before(check, change):
    assert check.ask(normed(**change)).fires


@for_all(
    "change",
    [
        without_op(0),
        without_op(0, "Unary"),
        without_op(0, "AllReduceAsync"),
        without_op(0, "MatmulReduceScatterAsync"),
        without_op(1, "Unary"),
        without_op(2),
        without_op(3, "Unary"),
        without_op(4, "Unary"),
        without_op(5),
        without_op(5, "Unary"),
        {"also_read": (3,)},
        {"also_read": (4,)},
        {"names": (*NAMES[:4], "", "")},
    ],
    ids=str,
)
def test_other_norms_and_exchanges_stay(check, change):
    assert check.ask(normed(**change)).status == "clean"


@for_all(
    "change", [without_op(0), {"names": ("", "", *NAMES[2:]), "alone": True, "made": False}], ids=["sum", "norm"]
)
def test_what_no_op_made_is_not_what_the_last_one_made(check, change):
    program = normed(**change)
    x, y = program.tensor([1, 1, 64, 512]), program.tensor([1, 1, 64, 128])
    put(program, DeviceOp("ReduceScatterDeviceOperation", (x,), (y,), 50_000, attributes=LINE))
    assert check.ask(program).status == "clean"


def test_statistics_from_before_the_window_are_not_known(check):
    """The window ends with the first half of another norm."""
    program = normed(names=("", "", "", *NAMES[3:]), alone=True, made=False)
    x, y, z = (program.tensor([1, 1, 64, width]) for width in (512, 128, 32))
    put(program, DeviceOp("ReduceScatterDeviceOperation", (x,), (y,), 50_000, attributes=LINE))
    put(program, DeviceOp("LayerNormPreAllGatherDeviceOperation", (y,), (z,), 50_000))
    assert check.ask(program).status == "clean"


def test_one_percent_of_the_window_is_worth_telling(check):
    def program(ns):
        made = normed(statistics_ns=ns)
        made.device_ops[0].kernel_ns = 10_000_000 - 250_000 - ns
        return made

    check.pair(program, silent=99_000, fires=101_000)


def test_one_device_exchanges_nothing_and_without_operands_it_cannot_tell(check, tmp_path):
    program = Program("blackhole")
    put_norm(program)
    assert check.ask(program).status == "not_applicable"
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), normed())), "INPUT")

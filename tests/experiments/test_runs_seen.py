"""Digests of what ran and how long it took: the same for copies, another for whatever differs."""

from tests.analyses.tables import ops_of
from tests.for_all import for_all
from tests.profiles import L1, Program
from ttnn_mcp.experiments.experiment import RunSeen
from ttnn_mcp.experiments.runs_seen import are_other_rows, program_of, reading_of

SHAPE = [1, 1, 64, 64]


def table(folder, count=1, *, kernel_ns=5_000, name="SoftmaxDeviceOperation", shape=SHAPE, first=None, **settings):
    program = Program()
    x = program.tensor(shape, **{key: settings.pop(key) for key in ("dtype", "placement") if key in settings})
    for number in range(count):
        op = first if first and not number else name
        program.op(op, [x], kernel_ns=kernel_ns, **settings)
    return ops_of(folder, program)


@for_all(("count", "told"), [(9, False), (10, True)])
def test_a_reading_is_told_from_ten_ops_on(tmp_path, count, told):
    reading = reading_of(table(tmp_path, count))
    assert (reading is not None) == told
    assert not told or len(reading) == 16


def test_a_reading_is_that_of_its_times(tmp_path):
    one, same, other = (reading_of(table(tmp_path, 10, kernel_ns=time)) for time in (5_000, 5_000, 5_001))
    assert one == same != other


def test_a_program_is_the_same_whatever_its_times_and_addresses(tmp_path):
    plain = program_of(table(tmp_path, attributes={"axis": "0x1f00", "hash": "1234567"}))
    assert len(plain) == 16
    assert plain == program_of(table(tmp_path, kernel_ns=9, attributes={"axis": "0x2f00", "hash": "7654321"}))
    assert plain != program_of(table(tmp_path, attributes={"axis": "0x1f00", "hash": "123456"}))


@for_all(
    "other",
    [
        {"name": "UnaryDeviceOperation"},
        {"shape": [1, 1, 64, 128]},
        {"dtype": "BFLOAT8_B"},
        {"placement": L1},
        {"fidelity": "LoFi"},
        {"cores": 8},
        {"attributes": {"axis": 1}},
        {"count": 2},
    ],
)
def test_another_program_differs_in_any_of_these(tmp_path, other):
    assert program_of(table(tmp_path, **other)) != program_of(table(tmp_path))


@for_all("names", [("Softmax", "Softmax", "Unary"), ("Unary", "Softmax", "Unary")])
def test_the_order_of_ops_counts(tmp_path, names):
    one = table(tmp_path, 3, first="UnaryDeviceOperation")
    program = Program()
    x = program.tensor(SHAPE)
    for name in names:
        program.op(f"{name}DeviceOperation", [x], kernel_ns=5_000)
    assert program_of(ops_of(tmp_path, program)) != program_of(one)


@for_all(
    ("program", "kernel_ns", "are_other"),
    [("part", 50, True), ("whole", 50, False), ("part", 89, True), ("part", 90, False), ("part", 112, True)],
)
def test_other_rows_of_a_run_have_other_ops_and_take_another_time(program, kernel_ns, are_other):
    """The same ops at another clock, or several iterations of about the same time, are no other rows."""
    one, other = (
        RunSeen("a", "a", "/a.csv", None, time, warm=True, program=of)
        for time, of in ((100, "whole"), (kernel_ns, program))
    )
    assert are_other_rows(one, other) == are_other_rows(other, one) == are_other

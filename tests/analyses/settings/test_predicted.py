"""Choices of a setting beside the times to expect of them."""

from dataclasses import replace
from types import SimpleNamespace

from tests.analyses.tables import performance_of, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import binary, matmul
from tests.replay.made import CONFIG
from ttnn_mcp.analyses.laws.catalogue import expected
from ttnn_mcp.analyses.laws.law import Expected
from ttnn_mcp.analyses.settings.predicted import (
    LegalChoice,
    described_op,
    fastest,
    in_order,
    predicted,
    unlike_its_law,
    worth_a_trial,
)
from ttnn_mcp.run.chip import chip_of


def op_of(folder, code, us):
    """An op as it ran; None for a report without times."""
    program = Program("blackhole")
    x, y, z = (program.tensor([1, 1, 4096, 2560]) for _ in range(3))
    put(program, replace(binary("ADD", x, y, z, 150_000), op_code=code))
    performance = performance_of(folder, program)
    return SimpleNamespace(kernel_us=us, table=performance.ops, chip=chip_of(performance, None))


@for_all(
    ("code", "us", "trial", "told"),
    [
        ("BinaryNg", 150.0, {"broken": ()}, True),
        ("BinaryNg", None, {"broken": ()}, True),
        ("BinaryNg", 150.0, {"broken": ("a rule",)}, False),
        ("Softmax", 150.0, {"broken": ()}, False),
    ],
)
def test_a_legal_value_of_an_op_that_a_law_knows_is_predicted(tmp_path, code, us, trial, told):
    op, settings = op_of(tmp_path, f"{code}DeviceOperation", us), SimpleNamespace(changed=narrowed)
    answers = [predicted(op, settings, "", "", SimpleNamespace(effect=effect, **trial)) for effect in (False, True)]
    assert [answer is not None for answer in answers] == [told, told]
    if told:
        assert answers[0].us > answers[1].us
        assert answers[0].us == (us or expected(described_op(op.table, op.chip)).us)


def narrowed(now, *_):
    return replace(now, dtype="BFLOAT8_B")


def test_a_matmul_keeps_the_cores_that_a_report_tells_and_lacks_them_where_nobody_knows_the_grid(tmp_path):
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, 2048, 2048]) for _ in range(3))
    put(program, replace(matmul(x, w, y, 150_000), cores=32))
    performance = performance_of(tmp_path, program)
    chip = chip_of(performance, None)
    assert described_op(performance.ops, chip).cores == 32
    coreless = performance_of(tmp_path, program, without="CORE COUNT").ops
    assert described_op(coreless, chip).cores == 64
    assert described_op(coreless, replace(chip, worker_cores=61)).cores is None
    given = Program("wormhole_b0")
    x, w, y = (given.tensor([1, 1, 2048, 2048]) for _ in range(3))
    put(given, matmul(x, w, y, 150_000, program_config=CONFIG))
    assert described_op(performance_of(tmp_path, given, without="CORE COUNT").ops, chip).cores is None


def test_an_op_without_a_time_is_not_unlike_its_law(tmp_path, monkeypatch):
    assert unlike_its_law(op_of(tmp_path, "BinaryNgDeviceOperation", None)) is None
    assert unlike_its_law(op_of(tmp_path, "BinaryNgDeviceOperation", 150.0)) is None
    assert unlike_its_law(op_of(tmp_path, "BinaryNgDeviceOperation", 1500.0)).us < 1500
    for us, low_us, high_us, known in ((200, 50, 300, True), (110, 95, 105, True), (190, 95, 105, False)):
        monkeypatch.setattr(
            f"{unlike_its_law.__module__}.expected",
            lambda _op, low=low_us, high=high_us: Expected(100.0, low, high, "", ""),
        )
        assert (unlike_its_law(op_of(tmp_path, "BinaryNgDeviceOperation", us)) is None) == known, us


def choice(value, us=None, *, now=None, verdict="fits", at_most_ns=None):
    judged = SimpleNamespace(verdict=verdict, trial=SimpleNamespace(now=now, at_most_ns=at_most_ns))
    return LegalChoice(value, judged, None if us is None else Expected(us, us, us, "", ""))


@for_all(("value", "number"), [(8, 8), (True, None), ("LoFi", None)])
def test_a_switch_is_no_number(value, number):
    assert choice(value).number == number


@for_all(("value", "now", "is_now"), [(8, 8, True), (8, 4, False), (None, None, False)])
def test_what_the_report_does_not_tell_is_no_choice_of_today(value, now, is_now):
    assert choice(value, now=now).is_now == is_now


def test_the_fastest_choice_runs_and_a_law_tells_of_it():
    slow, fast = choice(4, 20.0, now=2), choice(8, 10.0, now=2)
    refused, untold = choice(16, 5.0, verdict="illegal", now=2), choice(32, now=2)
    assert fastest([slow, untold, fast, refused]) is fast
    assert fastest([choice(2, 10.0, now=2), refused, untold]) is None
    assert in_order([untold, refused, slow, fast]) == [fast, slow, untold, refused]


def test_a_trial_is_worth_its_bound_if_it_runs():
    small, large = choice(4, at_most_ns=10.0), choice(8, at_most_ns=20.0)
    refused = choice(16, at_most_ns=90.0, verdict="illegal")
    assert worth_a_trial([small, choice(2), large, refused]) is large
    assert worth_a_trial([refused, choice(2, at_most_ns=0.0)]) is None

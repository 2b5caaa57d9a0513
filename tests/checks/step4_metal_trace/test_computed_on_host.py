"""computed-on-host: calls on host tensors behind the first op of the device."""

from __future__ import annotations

from tests.checks.host_programs import WARM, of_unknown_size, unknown_sizes, worked
from tests.checks.rows import pass_time
from tests.for_all import for_all
from tests.profiles import DRAM, Program


def padded(*, name="ttnn.pad", megabytes=2.0, first=True, place=None, takes=True):
    """A call on the host, after the first op or before it."""
    program = Program("wormhole_b0")
    if first:
        worked(program)
    rows = round(megabytes * 1_000_000 / 2 / 64)
    given = program.tensor([1, 1, rows, 64], layout="ROW_MAJOR", placement=None)
    made = program.tensor([1, 1, rows, 64], layout="ROW_MAJOR", placement=place)
    program.call(name, (given,) if takes else (), (made,))
    worked(program, 2_000_000 if first else 3_000_000)
    return program


def ask(check, program):
    return check.ask(program, WARM, memory="3.3")


def test_a_call_on_host_tensors_runs_on_the_host(check):
    claim = ask(check, padded()).claim
    assert claim.claim.startswith("2.00 MB in 1 tensor are computed on the host; the largest, 2.00 MB, by ttnn.pad")
    assert "ttnn.to_device(x, device)" in claim.fix
    assert (len(claim.rows), claim.at_most_ns.sum(), claim.gap_ns) == (0, 0, None)
    assert [(one.column, one.unit) for one in claim.evidence] == [("name", None), ("size", "B")]
    texts = (claim.claim, claim.assumption, claim.fix, claim.verify, claim.caveat)
    assert all(len(text) <= most for text, most in zip(texts, (200, 120, 260, 120, 160), strict=True))


def test_five_percent_of_the_window_at_the_slowest_rate_is_the_line(check):
    """3 ms of kernels: 0.15 MB at 1 GB/s."""
    check.pair(
        lambda megabytes: check.case(padded(megabytes=megabytes), WARM, memory="3.3"), silent=0.1498, fires=0.1502
    )


@for_all(
    "how",
    [
        {"first": False},
        {"name": "ttnn.to_device", "place": None},
        {"name": "ttnn.from_torch"},
        {"name": "ttnn.to_torch"},
        {"name": "ttnn.deallocate"},
        {"name": "ttnn.load_tensor"},
        {"takes": False},
    ],
    ids=["before the first op", "a write", "from torch", "to torch", "a free", "loading", "nothing taken"],
)
def test_what_computes_nothing_on_the_host_is_left_alone(check, how):
    assert ask(check, padded(**how)).status == "clean"


def test_a_call_with_one_tensor_on_the_device_is_none(check):
    assert ask(check, padded(place=DRAM)).status == "clean"


@unknown_sizes
def test_tensors_of_unknown_size_are_left_out(check, tmp_path, statement):
    assert check.ask(of_unknown_size(tmp_path, padded(), statement)).status == "clean"


def test_a_window_without_kernel_time_and_without_calls_is_clean(check):
    program = Program("wormhole_b0")
    worked(program, 0)
    assert ask(check, program).status == "clean"


def test_without_a_memory_report_it_cannot_tell(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    outcome = check.ask(program)
    assert (outcome.status, outcome.why) == ("cannot_tell", "needs a memory report")

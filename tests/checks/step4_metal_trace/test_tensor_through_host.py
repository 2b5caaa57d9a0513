"""tensor-through-host: there and back by the memory report."""

from __future__ import annotations

from tests.checks.host_programs import WARM, of_unknown_size, unknown_sizes, worked
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import unary


def there_and_back(
    *, megabytes=2.0, read="ttnn.to_torch", write="ttnn.from_torch", other=0, order=("read", "write"), again=0
):
    """Device, host, device: as many elements again, `other` more or fewer."""
    program = Program("wormhole_b0")
    worked(program)
    count = round(megabytes * 1_000_000 / 2 / 64)
    moves = {"read": lambda: _read(program, read, count), "write": lambda: _write(program, write, count + other)}
    for name in (*order, *["read"] * again):
        moves[name]()
    worked(program)
    return program


def _read(program, name, rows):
    there = program.tensor([1, 1, rows, 64], layout="ROW_MAJOR")
    host = program.tensor([1, 1, rows, 64], layout="ROW_MAJOR", placement=None)
    program.call(name, (there,), (host,))


def _write(program, name, rows):
    host = program.tensor([1, rows, 1, 64], layout="ROW_MAJOR", placement=None)
    there = program.tensor([1, rows, 1, 64], layout="ROW_MAJOR")
    if name == "ttnn.copy_host_to_device_tensor":
        program.call(name, (host, there))
    else:
        program.call(name, (host,), (there,))


def ask(check, program):
    return check.ask(program, WARM, memory="3.3")


def case(check, program):
    return check.case(program, WARM, memory="3.3")


@for_all("read", ["ttnn.to_torch", "ttnn.from_device"])
@for_all("write", ["ttnn.from_torch", "ttnn.to_device", "ttnn.copy_host_to_device_tensor"])
def test_a_tensor_that_comes_back_is_told_without_a_saving(check, read, write):
    claim = ask(check, there_and_back(read=read, write=write)).claim
    assert claim.claim.startswith(
        f"2.00 MB in 1 tensor go to the host and come back; the largest, 2.00 MB, by {read}"
    )
    assert (len(claim.rows), claim.at_most_ns.sum(), claim.gap_ns) == (0, 0, None)
    assert "split_query_key_value_and_split_heads" in claim.fix
    assert [(one.column, one.unit) for one in claim.evidence] == [("name", None), ("size", "B")]
    assert claim.evidence[1].value == 2_000_000
    texts = (claim.claim, claim.assumption, claim.fix, claim.verify, claim.caveat)
    assert all(len(text) <= most for text, most in zip(texts, (200, 120, 260, 120, 160), strict=True))


def test_five_percent_of_the_window_at_the_slowest_rate_is_the_line(check):
    """2 ms of kernels: 0.1 MB at 1 GB/s."""
    check.pair(lambda megabytes: case(check, there_and_back(megabytes=megabytes)), silent=0.0998, fires=0.1002)


@for_all(
    "how",
    [{"other": 1}, {"other": -1}, {"order": ("write", "read")}, {"order": ("read",)}, {"order": ("write",)}],
    ids=["a larger tensor", "a smaller tensor", "written before", "read only", "written only"],
)
def test_what_does_not_come_back_is_no_trip(check, how):
    assert ask(check, there_and_back(**how)).status == "clean"


def test_what_an_op_makes_on_the_device_did_not_come_back(check):
    program = there_and_back(order=("read",))
    x, y = (program.tensor([1, 1, 15_625, 64], layout="ROW_MAJOR") for _ in range(2))
    put(program, unary("TANH", x, y, 1_000_000))
    assert ask(check, program).status == "clean"


@for_all("side", ["read", "write"])
def test_what_stays_on_the_host_is_no_transfer(check, side):
    """ttnn.to_torch of a host tensor, and ttnn.from_torch without a device: TTNN's tutorial has four of these."""
    program = there_and_back(order=())
    shape = [1, 1, 15_625, 64]
    host, other = (program.tensor(shape, layout="ROW_MAJOR", placement=None) for _ in range(2))
    there, back = (program.tensor(shape, layout="ROW_MAJOR") for _ in range(2))
    program.call("ttnn.to_torch", (host if side == "read" else there,), (host,))
    program.call("ttnn.from_torch", (host,), (other if side == "write" else back,))
    assert ask(check, program).status == "clean"


@unknown_sizes
def test_tensors_of_unknown_size_are_left_out(check, tmp_path, statement):
    assert check.ask(of_unknown_size(tmp_path, there_and_back(), statement)).status == "clean"


def test_one_write_brings_one_tensor_back(check):
    assert "2.00 MB in 1 tensor go" in ask(check, there_and_back(again=1)).claim.claim
    both = there_and_back(order=("read", "write", "read", "write"))
    assert "4.00 MB in 2 tensors go" in ask(check, both).claim.claim


def test_a_window_without_kernel_time_and_without_trips_is_clean(check):
    program = Program("wormhole_b0")
    worked(program, 0)
    assert ask(check, program).status == "clean"


def test_without_a_memory_report_it_cannot_tell(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    outcome = check.ask(program)
    assert (outcome.status, outcome.why) == ("cannot_tell", "needs a memory report")

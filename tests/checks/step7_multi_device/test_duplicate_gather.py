"""duplicate-gather: one op's output gathered again in the same way; what no op made is not guessed at."""

from tests.checks.asking import real_case
from tests.checks.mesh_programs import Gather, mesh
from tests.checks.rows import ONE_PASS, pass_time, put
from tests.for_all import for_all
from tests.profiles.ops import unary
from tests.shared_reports import DEEPSEEK


def relu(program, x=None):
    x = x or program.tensor([1, 1, 1024, 1024])
    return put(program, unary("RELU", x, program.tensor(x.shape), 10_000))


def other_ops(program):
    """So many that two gathers in a row are no iterations."""
    for width in range(1, 6):
        x, y = (program.tensor([1, 1, 32, 32 * width]) for _ in range(2))
        put(program, unary("RELU", x, y, 10_000))


def gathered_twice(first=None, second=None, *, between=False, **attributes):
    """relu, a gather, the same again (or changed), and other ops of 50 us."""
    program = mesh()
    x = relu(program)
    (first or Gather()).put(program, x)
    if between:
        x = relu(program, x)
    (second or Gather()).put(program, x, **attributes)
    other_ops(program)
    return program


def test_the_same_tensor_gathered_twice_is_gathered_once_too_often(check):
    claim = check.ask(gathered_twice(), ONE_PASS).claim
    assert claim.rows.tolist() == [2]
    assert claim.at_most_ns.tolist() == [200_000]
    assert "(1x, 200 us, 43.5%): 1024x1024 -> 1024x4096 at line 10 after line 6" in claim.claim
    assert "keep the tensor gathered at line 6" in claim.fix
    assert [(one.row, one.value) for one in claim.evidence] == [(10, 200_000), (6, 200_000)]


def test_half_a_percent_of_the_window_is_the_line(check):
    def repeated(share):
        program = gathered_twice()
        pass_time(program, 200_000 / share - 460_000)
        return program

    for silent, fires in ((0.00498, 0.00502),):
        assert check.ask(repeated(silent), ONE_PASS).status == "clean"
        assert check.ask(repeated(fires), ONE_PASS).fires


def test_every_repeat_counts_and_the_heaviest_is_the_example(check):
    program = mesh()
    x = relu(program)
    for kernel_ns in (100_000, 200_000, 300_000):
        Gather(kernel_ns).put(program, x)
    other_ops(program)
    claim = check.ask(program, ONE_PASS).claim
    assert claim.rows.tolist() == [2, 3]
    assert claim.at_most_ns.tolist() == [200_000, 300_000]
    assert "at line 14 after line 6" in claim.claim


@for_all(
    "change",
    [{"dim": 2}, {"gather_dim": 2}, {"cluster_axis": 0}, {"ring_size": 2}],
    ids=lambda change: next(iter(change)),
)
def test_a_gather_elsewhere_is_another_one(check, change):
    assert check.ask(gathered_twice(num_links=1), ONE_PASS).fires  # over other links it is the same
    assert check.ask(gathered_twice(**change), ONE_PASS).status == "clean"


def test_another_op_or_another_result_is_another_gather(check):
    assert check.ask(gathered_twice(second=Gather(kind="AllGatherMinimalAsync")), ONE_PASS).status == "clean"
    program = gathered_twice()
    program.device_ops[2].outputs = (program.tensor([1, 1, 4096, 1024]),)
    assert check.ask(program, ONE_PASS).status == "clean"


def test_another_tensor_is_another_gather(check):
    assert check.ask(gathered_twice(between=True), ONE_PASS).status == "clean"


def test_other_collectives_may_repeat(check):
    scatter = Gather(kind="ReduceScatterAsync")
    assert check.ask(gathered_twice(scatter, scatter), ONE_PASS).status == "clean"


def test_gathers_of_weights_are_not_guessed_to_be_one_tensor(check):
    program = mesh()
    Gather().put(program)
    Gather().put(program)
    other_ops(program)
    assert check.ask(program, ONE_PASS).status == "clean"


def test_without_operands_it_cannot_tell_who_reads_what(check):
    lost = check.ask(gathered_twice(), ONE_PASS, without="PUT_")
    assert lost.status == "cannot_tell"
    assert "no INPUT_n" in lost.why


def test_two_devices_have_something_to_gather(check):
    program = mesh(devices=2)
    x = relu(program)
    Gather([200_000] * 2).put(program, x)
    Gather([200_000] * 2).put(program, x)
    other_ops(program)
    assert check.ask(program, ONE_PASS).fires


def test_deepseek_gathers_nothing_twice(check):
    assert check.ask(real_case(DEEPSEEK)).status == "clean"

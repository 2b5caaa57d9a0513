"""host-trips-inside: gaps of milliseconds before ops whose input no op of the pass made."""

import pytest

from tests.checks.rows import COLD_THEN_WARM, ONE_PASS, pass_time
from tests.for_all import for_all
from tests.profiles import L1, Program, header_of, performance_rows, write_rows

MS = 1_000_000


def program(gap_ns=3 * MS, *, uploaded=True, waiting=2):
    """Matmuls of growing width; before the one at `waiting` the device waits."""
    made = Program("wormhole_b0")
    x = made.tensor([1, 1, 64, 512])
    for place in range(4):
        waits = place == waiting
        taken = made.tensor(x.shape, placement=L1) if waits and uploaded else x
        w = made.weight([1, 1, taken.shape[-1], 512 + 32 * place])
        waited = gap_ns if waits else 1_000
        shape = [1, 1, 64, 512 + 32 * place]
        x = made.op("MatmulDeviceOperation", [taken, w], shape=shape, kernel_ns=50_000, gap_ns=waited)
    return made


def test_a_gap_of_a_millisecond_before_an_uploaded_tensor_is_a_trip(check):
    outcome = check.pair(program, silent=999_000, fires=1_001_000, silent_is="not_applicable")
    assert len(outcome.claim.rows) == 1


def test_the_gaps_may_shrink_to_a_launch(check):
    claim = check.ask(program(5 * MS)).claim
    assert claim.gap_ns == (0.0, pytest.approx(5 * MS - 1_000, abs=100))
    assert claim.at_most_ns.tolist() == [0]
    assert claim.claim.startswith("1 gap of a millisecond and more (5.0 ms) before ops whose input no op made")


def test_one_percent_of_the_kernels_is_the_line(check):
    def beside(share):
        made = program(2 * MS)
        pass_time(made, round(2 * MS / share) - 200_000)
        return made

    check.pair(beside, silent=0.0099, fires=0.0101)


def test_what_an_op_made_and_weights_are_no_trip(check):
    assert check.ask(program(uploaded=False)).status == "clean"


@for_all(
    ("made", "status"),
    [((True, False), "found"), ((False, True), "found"), ((True, True), "clean"), ((True,), "clean")],
)
def test_either_operand_of_an_element_wise_op_may_come_from_the_host(check, made, status):
    after = program(waiting=None)
    x = after.calls[-1].outputs[0]
    taken = [x if was_made else after.tensor(x.shape, "FLOAT32") for was_made in made]
    after.op("BinaryNgDeviceOperation", taken, gap_ns=3 * MS)
    assert check.ask(after).status == status


@for_all(("behind", "status"), [(0, "found"), (1, "clean"), (4, "found")])
def test_where_the_profiler_wrote_calls_of_the_host_inside_the_pass_another_check_speaks(
    check, tmp_path, behind, status
):
    rows = performance_rows(program(), COLD_THEN_WARM)
    call = {"OP CODE": "(torch) softmax", "OP TYPE": "python_fallback", "GLOBAL CALL COUNT": ""}
    rows.insert(len(rows) - 4 + behind, {**dict.fromkeys(rows[0], ""), **call})
    assert check.ask(write_rows(tmp_path / "ops.csv", rows, header_of(rows, "C7"))).status == status


def test_the_gap_before_the_first_op_is_another_pass(check):
    assert check.ask(program(waiting=0)).status == "not_applicable"


def test_a_cold_pass_cannot_tell(check):
    assert check.ask(program(), ONE_PASS).status == "cannot_tell"
    assert check.ask(program(), COLD_THEN_WARM).fires

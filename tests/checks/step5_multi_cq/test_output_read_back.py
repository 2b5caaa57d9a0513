"""output-read-back: results that go to the host, logits before all."""

from __future__ import annotations

from tests.checks.rows import pass_time
from tests.for_all import for_all
from tests.profiles import Iteration, Program
from tests.profiles.ops import unary

WARM = [Iteration()]


def result(*, wide=128_256, rows=32, name="ttnn.to_torch", kernel_ns=1_000_000, extra=(), back=False, reads=1):
    """A step of 1 ms; 32 rows of a vocabulary are 8.2 MB."""
    program = Program("wormhole_b0")
    x, y = (program.tensor([1, 1, 32, 64]) for _ in range(2))
    program.call("ttnn.relu", (x,), (y,), (unary("RELU", x, y, kernel_ns),))
    for place in range(reads):
        there = program.tensor([1, 1, rows, wide + place], layout="ROW_MAJOR")
        host = program.tensor([1, 1, rows, wide + place], layout="ROW_MAJOR", placement=None)
        program.call(name, (there,), (host,))
        if back:
            again = program.tensor([1, 1, rows, wide + place], layout="ROW_MAJOR")
            program.call("ttnn.from_torch", (host,), (again,))
    for event in extra:
        program.call(event)
    return program


def ask(check, program):
    return check.ask(program, WARM, memory="3.3")


@for_all("name", ["ttnn.to_torch", "ttnn.from_device"])
def test_logits_are_told_with_the_token_as_the_way_out(check, name):
    claim = ask(check, result(name=name)).claim
    assert claim.claim == (
        f"8.21 MB in 1 tensor are read back to the host; the largest, 1x1x32x128256, by {name} (operation 2)"
    )
    assert "ttnn.argmax(logits, dim=-1, keepdim=True)" in claim.fix
    assert (len(claim.rows), claim.at_most_ns.sum(), claim.gap_ns) == (0, 0, None)
    assert claim.evidence[1].value == 32 * 128_256 * 2
    texts = (claim.claim, claim.assumption, claim.fix, claim.verify, claim.caveat)
    assert all(len(text) <= most for text, most in zip(texts, (200, 120, 260, 120, 160), strict=True))


def test_a_vocabulary_begins_at_8192(check):
    outcome = ask(check, result(wide=8191, rows=256))
    assert "num_command_queues=2" in outcome.claim.fix
    assert "cpu(blocking=False, cq_id=1)" in outcome.claim.fix
    assert "ttnn.argmax" in ask(check, result(wide=8192, rows=256)).claim.fix


def test_five_percent_of_the_step_at_the_slowest_rate_is_the_line(check):
    """1 ms: 50,000 bytes."""
    check.pair(lambda wide: check.case(result(wide=wide, rows=1), WARM, memory="3.3"), silent=24_990, fires=25_010)


def test_what_comes_back_is_another_checks(check):
    assert ask(check, result(back=True)).status == "clean"


@for_all("event", ["ttnn.record_event", "ttnn.wait_for_event"])
def test_two_queues_are_silence(check, event):
    assert ask(check, result(extra=(event,))).status == "clean"


def test_all_results_count_and_the_largest_is_shown(check):
    claim = ask(check, result(reads=2)).claim
    assert claim.claim.startswith("16.42 MB in 2 tensors are read back to the host; the largest, 1x1x32x128257,")


def test_a_run_that_reads_nothing_is_clean(check):
    assert ask(check, result(reads=0)).status == "clean"


def test_a_window_without_kernel_time_and_without_results_is_clean(check):
    assert ask(check, result(reads=0, kernel_ns=0)).status == "clean"


def test_without_a_memory_report_it_cannot_tell(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    outcome = check.ask(program)
    assert (outcome.status, outcome.why) == ("cannot_tell", "needs a memory report")

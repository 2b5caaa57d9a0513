"""stalled-on-host: gaps count where they are dispatch, and not where they are compiling, a sync or nothing measured."""

from tests.profiles import Iteration, Program


def model(gap_ns: int, ops: int = 20) -> Program:
    """Kernels of 10 us: 20 of them with 19 gaps are busy for 200 / (200 + 19 gap)."""
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 32, 32])
    for width in range(1, ops + 1):
        x = program.op("UnaryDeviceOperation", [x], shape=[1, 1, 32, 32 * width], kernel_ns=10_000, gap_ns=gap_ns)
    return program


def model_with_a_pause(pause_ns: int, gap_ns: int = 5_000) -> Program:
    """20 ops whose 19 gaps are 95 us together, and one op after a pause."""
    program = model(gap_ns)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 64, 96])], kernel_ns=10_000, gap_ns=pause_ns)
    return program


def test_kernels_that_fill_ninety_percent_of_the_time_are_fed_well_enough(check):
    check.pair(model, silent=1_165, fires=1_175)


def test_the_first_pass_compiles_and_is_no_evidence_of_a_slow_host(check):
    outcome = check.ask(model(20_000), [Iteration(cold=True)])
    assert outcome.status == "cannot_tell"
    assert "gaps are compile time. Profile 2 or more iterations" in outcome.why


def test_one_warm_looking_pass_is_a_first_pass_still(check):
    assert check.ask(model(20_000), [Iteration()]).status == "cannot_tell"

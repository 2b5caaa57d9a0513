"""A well-tuned run: nothing to find but what else could be tried. And the same run with one thing spoilt: that, and nothing made of it."""

from dataclasses import replace

from tests.asking import ask, session
from tests.checks.clean_programs import COLD_THEN_REPLAYED, cnn, decode, prefill
from tests.checks.rows import case_of
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import diagnose

COLD_THEN_WARM = (Iteration(cold=True), Iteration(before_ns=50_000))


TRIES = {check.id for check in CATALOGUE if check.lever.tries}


def found(folder, program: Program, iterations=COLD_THEN_REPLAYED) -> list[str]:
    findings = diagnose(case_of(folder, program, iterations), CATALOGUE).findings
    return [one.check for one in findings if one.check not in TRIES]


@for_all("model", [decode, prefill, cnn], sampled=5)
@for_all("iterations", [COLD_THEN_REPLAYED, COLD_THEN_WARM], ids=["traced", "warm"])
def test_a_well_tuned_model_leaves_nothing_but_tries_to_find(tmp_path, model, iterations):
    assert found(tmp_path, model(), iterations) == []


@for_all("model", [decode, prefill, cnn])
async def test_no_step_is_found_and_the_device_is_busy(tmp_path, model):
    run = str(write_performance_report(tmp_path, model(), COLD_THEN_REPLAYED))
    at = session(tmp_path)
    said = await ask(at, "optimization_check", run=run)
    assert {step["status"] for step in said["steps"]} <= {"clean", "not_applicable", "cannot_tell"}
    assert (await ask(at, "host_overhead", run=run))["verdict"] == "device_bound"


def spoilt(program: Program, op_code: str, **change) -> Program:
    """The program with its heaviest op of that name changed."""
    ops = [op for op in program.device_ops if op.op_code == op_code]
    heaviest = max(ops, key=lambda op: op.kernel_ns)
    for call in program.calls:
        call.ops = tuple(replace(op, **change) if op is heaviest else op for op in call.ops)
    return program


def test_one_fidelity_too_high_is_found_alone(tmp_path):
    assert found(tmp_path, spoilt(prefill(), "MatmulDeviceOperation", fidelity="HiFi4", kernel_ns=4_893_000)) == [
        "fidelity-above-operands"
    ]


def test_one_norm_on_one_core_is_found_alone(tmp_path):
    """By its cores, and by the run's own evidence: the other norms of its shape were faster on more."""
    assert found(tmp_path, spoilt(decode(), "LayerNormDeviceOperation", cores=1, kernel_ns=110_000)) == [
        "faster-elsewhere",
        "norm-on-few-cores",
    ]

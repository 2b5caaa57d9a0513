"""Of a chip whose rates and formats nobody here knows no bound is told, and no format is advised."""

import math

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import block
from ttnn_mcp.run.chip import Chip

STATED = "nothing is known here of architecture 'quasar': no rooflines, no advice on formats"


@pytest.fixture
def asked(tmp_path):
    """Answers about a report of a chip of this name."""

    def of(arch):
        rows = performance_rows(block(), [Iteration(cold=True), Iteration(), Iteration()])
        for row in rows:
            row["DEVICE ARCH"] = arch
        path = write_rows(tmp_path / f"{arch}.csv", rows, header_of(rows, "C7"))

        async def answer(tool, **arguments):
            return await ask(session(tmp_path), tool, run=str(path), **arguments)

        return answer

    return of


@for_all(("arch", "told"), [("quasar", True), ("wormhole_b0", False)])
async def test_an_architecture_that_is_not_known_is_said(asked, arch, told):
    assert (STATED in (await asked(arch)("open_run"))["caveats"]) == told


async def test_no_bound_is_told_without_a_rate(asked):
    told = await asked("quasar")("time_budget")
    assert (told["verdict"], told["floors"]["rows"]) == ("cannot_tell", [])
    assert told["why"].startswith("no rate of this architecture is known")
    assert (await asked("wormhole_b0")("time_budget"))["floors"]["rows"]


async def test_no_format_is_advised_and_no_size_of_one_told(asked):
    told = await asked("quasar")("tensor_formats")
    place = told["weights"]["columns"].index("as_bfloat8_b_megabytes")
    assert {row[place] for row in told["weights"]["rows"]} == {None}
    diagnosis = await asked("quasar")("optimization_check")
    assert next(step for step in diagnosis["steps"] if step["step"] == 1)["status"] == "cannot_tell"
    assert "BFLOAT8_B" not in str(diagnosis)
    known = await asked("wormhole_b0")("tensor_formats")
    assert None not in {row[place] for row in known["weights"]["rows"]}


@for_all(
    ("arch", "clock", "rate"),
    [("wormhole_b0", 1.0, 4096), (None, 1.0, 4096), ("blackhole", None, None), ("quasar", 1.0, None)],
)
def test_a_core_s_rate_is_known_of_chips_that_are(arch, clock, rate):
    told = Chip(arch, clock, 64, 64, None, None, ()).flop_per_ns_per_core
    assert math.isnan(told) if rate is None else told == rate

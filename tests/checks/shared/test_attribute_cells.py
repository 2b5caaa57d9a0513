"""One entry of an ATTRIBUTES cell as evidence, as it is written, cut where it is long."""

from __future__ import annotations

import pytest

from tests.checks.asking import asker
from tests.checks.conv_programs import put_conv
from tests.checks.rows import put
from tests.profiles import Program
from tests.profiles.ops import unary


@pytest.fixture
def cell(tmp_path):
    """The cited entry of the op behind a conv."""
    program = Program("wormhole_b0")
    x = put_conv(program)
    put(program, unary("RELU", x, program.tensor(x.shape, x.dtype, placement=x.placement), 20_000))
    outcome = asker("conv-activation-unfused", tmp_path).ask(program)
    return outcome.claim.evidence[0], outcome.case.line(1)


def test_it_is_found_by_line_and_key(cell):
    cited, line = cell
    assert (cited.row, cited.column) == (line, "ATTRIBUTES.op_chain")
    assert cited.source.startswith("ops_perf_results_")


def test_it_shows_the_part_that_proves_the_claim(cell):
    assert cell[0].value == "UnaryOpType::RELU"

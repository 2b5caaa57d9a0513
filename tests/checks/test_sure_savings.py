"""Savings that are sure: which checks have any, and that a run's own times prove them only for equal work."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.checks.asking import case_of_reports, real_case
from tests.checks.matmul_programs import config, linear
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import ask, diagnose

SURE = {  # why at least so much goes
    "copy-without-change": "the copy goes away: a memory report shows that nothing else needs it",
    "decode-heads-as-prefill": "the reshapes around the head op go away",
    "faster-elsewhere": "the run measured the same work with another config",
    "placement-round-trip": "both moves go away: a memory report shows that nothing between needs them",
    "shape-round-trip": "both changes go away: a memory report shows that nothing between needs them",
    "tilize-round-trip": "both conversions go away: a memory report shows that nothing between needs them",
    "typecast-round-trip": "both casts go away: a memory report shows that nothing between needs them",
}


def test_only_these_checks_are_ever_sure():
    modules = {check.id: sys.modules[check.look.__module__].__file__ or "" for check in CATALOGUE}
    sure = {name for name, path in modules.items() if "at_least_ns=" in Path(path).read_text(encoding="utf-8")}
    assert sure == set(SURE)


@for_all("second", ["0", "1"], ids=["one device", "two"])
def test_the_times_of_another_chip_prove_nothing(second, tmp_path):
    program = Program("wormhole_b0")
    for block, us in ((1, 100), (8, 41)):
        linear(program, kernel_ns=us * 1_000, program_config=config(block=block))
        x = program.tensor([1, 1, 32, 32 * block])
        put(program, DeviceOp("MadeUpOfNoFamily", (x,), (x,), 1_000))
    rows = performance_rows(program, [Iteration(cold=True)])
    for row in [row for row in rows if row["OP TYPE"] == "tt_dnn_device"][2:]:
        row["DEVICE ID"] = second
    case = case_of_reports(write_rows(tmp_path / "ops_perf_results_made.csv", rows, header_of(rows, "C7")))
    (check,) = (check for check in CATALOGUE if check.id == "faster-elsewhere")
    sure = [claim.at_least_ns.tolist() for claim in ask(check, case).claims if claim.at_least_ns is not None]
    assert sure == ([[59_000]] if second == "0" else [])


@for_all("report", [CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER])
def test_on_real_reports_nothing_is_sure_without_a_memory_report(report):
    """None runs one shape under two configs: where that changes, look at the rows."""
    case = real_case(report)
    assert [one.check for one in diagnose(case, CATALOGUE).findings if one.saving_us.at_least > 0] == []

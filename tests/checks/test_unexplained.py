"""What no finding explains is named by kind of op, the heaviest first."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.checks.programs import linear
from tests.checks.rows import case_of, pass_time, put
from tests.profiles import L1, Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.checks.check import Claim
from ttnn_mcp.checks.unexplained import KINDS, unexplained


def of_kinds(folder, *times, again=0):
    """Ops named A, B, C ..., each with a time; the first `again` times more."""
    program = Program()
    for place, ns in [*enumerate(times), *[(0, times[0] + 1)] * again]:
        x, y = (program.tensor([1, 1, 32, 32 * (place + 1)], "UINT16", placement=L1) for _ in range(2))
        put(program, DeviceOp(f"{chr(65 + place)}{chr(97 + place)}DeviceOperation", (x,), (y,), ns))
    return case_of(folder, program)


def claimed(case, rows, **how):
    promise = case.kernel_ns[rows] / 2
    claim = {"claim": "c", "assumption": "a", "evidence": case.cite(0), "fix": "f", "verify": "v", **how}
    return Claim(rows=np.array(rows), at_most_ns=claim.pop("at_most_ns", promise), **claim)


def test_the_heaviest_kinds_come_first_and_name_their_costliest_op(tmp_path):
    case = of_kinds(tmp_path, 10_000, 30_000, 5_000, again=1)
    left = unexplained(case, [])
    assert [(kind.name, kind.ops, kind.kernel_ns) for kind in left.kinds] == [
        ("Bb", 1, 30_000),
        ("Aa", 2, 20_001),
        ("Cc", 1, 5_000),
    ]
    assert [kind.heaviest for kind in left.kinds] == [1, 3, 2]
    assert left.share == pytest.approx(1)
    assert all(math.isnan(kind.roofline) for kind in left.kinds)  # all in L1, no arithmetic that is modelled


def test_five_kinds_are_named(tmp_path):
    left = unexplained(of_kinds(tmp_path, *range(10_000, 80_000, 10_000)), [])
    assert len(left.kinds) == KINDS == 5
    assert left.kinds[-1].kernel_ns == 30_000


def test_what_a_claim_names_is_explained(tmp_path):
    case = of_kinds(tmp_path, 10_000, 30_000)
    left = unexplained(case, [claimed(case, [1])])
    assert [kind.name for kind in left.kinds] == ["Aa"]
    assert left.share == pytest.approx(0.25)


@pytest.mark.parametrize("how", [{"gap_ns": (0.0, 9.0)}, {"at_most_ns": np.zeros(1)}], ids=["gaps", "a risk"])
def test_neither_gaps_nor_risks_explain_a_kernel(tmp_path, how):
    case = of_kinds(tmp_path, 10_000, 30_000)
    assert unexplained(case, [claimed(case, [1], **how)]).share == pytest.approx(1)


def test_an_op_at_seven_tenths_of_its_roofline_needs_no_explanation(tmp_path):
    """33.6 MB of weights and 0.5 of activations: 118.3 us at 288 GB/s."""

    def at(kernel_ns):
        program = Program()
        linear(program, 32, 4096, 4096, kernel_ns)
        pass_time(program, 10_000)
        return unexplained(case_of(tmp_path, program), [])

    assert [kind.name for kind in at(168_000).kinds] == ["MadeUpOfNoFamily"]
    far = at(170_500).kinds[0]
    assert (far.name, far.ops) == ("Matmul", 1)
    assert far.roofline == pytest.approx(0.695, abs=0.01)


def test_a_window_without_kernel_time_leaves_nothing(tmp_path):
    assert unexplained(of_kinds(tmp_path, 0, 0), []) == (unexplained(of_kinds(tmp_path, 0), []))
    assert unexplained(of_kinds(tmp_path, 0), []).kinds == ()

"""What earlier runs took for an op: which of them are shown, and which are quoted of one setting."""

from __future__ import annotations

import pytest

from tests.asking import session
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.archive.memory_of_ops import Remembered
from ttnn_mcp.archive.precedents import Earlier, Precedent, Timing
from ttnn_mcp.archive.settings_apart import Apart, Setup
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.tools.parts import op_seen
from ttnn_mcp.tools.parts.op_seen import seen_of, tried_before


def precedent(us, **settings) -> Precedent:
    """An earlier op of so many us, ours taking 100, with these settings."""
    earlier = Earlier(Setup(None, None), 0, Timing(4, us, 0.0), 1, f"run{us}.csv", 7)
    apart = tuple(Apart(name, "program_config", value) for name, value in settings.items())
    return Precedent(earlier, apart, 0.02, us / 100 - 1)


@pytest.fixture
async def run(tmp_path):
    """A pass of three ops, and another one."""
    program = Program("wormhole_b0")
    for name in ("Embeddings", "Unary", "ArgMax"):
        program.op(f"{name}DeviceOperation", [program.tensor([1, 1, 64, 64])])
    path = write_performance_report(tmp_path, program, [Iteration(cold=True), Iteration()])
    return await session(tmp_path).run(str(path))


@pytest.fixture
def known(monkeypatch):
    """`known(*precedents)`: what the archive says of the op at line 6; the lines that it was asked about."""
    asked = []

    def says(*precedents):
        def remembered(_run, ops, lines):
            asked.append((ops.lines.tolist(), lines.tolist()))
            return {6: Remembered(Timing(4, 100.0, 0.0), precedents)} if precedents else {}

        monkeypatch.setattr(op_seen, "remembered", remembered)
        return asked

    return says


def test_three_earlier_ops_are_shown_the_slower_one_among_them(run, known):
    known(*(precedent(us, in0_block_w=str(us)) for us in (60, 70, 80, 100, 130)))
    rows = seen_of(run, 6).rows
    assert [row[:3] for row in rows] == [
        ("faster", 60, "in0_block_w=60"),
        ("faster", 70, "in0_block_w=70"),
        ("slower", 130, "in0_block_w=130"),
    ]
    known(precedent(100))
    assert seen_of(run, 6).rows == (("alike", 100, "the same", "run100.csv", 7, 4, 1, 0.02),)
    known()
    assert seen_of(run, 6) is None


def test_the_two_that_differ_in_least_else_are_quoted_of_a_setting(run, known):
    known(
        precedent(60, in0_block_w="8", out_subblock_w="4"),
        precedent(70, in0_block_w="8"),
        precedent(75, in0_block_w="4"),
        precedent(80, out_subblock_w="8"),
        precedent(85, in0_block_w="8", out_subblock_w="4", per_core_M="2"),
    )
    assert tried_before(run, 6, "in0_block_w", 8) == (
        "faster, 70.0 us with in0_block_w=8 (run70.csv, line 7); "
        "faster, 60.0 us with in0_block_w=8, out_subblock_w=4 (run60.csv, line 7); 100.0 here, noise 2%"
    )
    assert "75.0 us with in0_block_w=4" in tried_before(run, 6, "in0_block_w", 4)
    assert "run70.csv, line 7); faster, 75.0" in tried_before(run, 6, "in0_block_w", None)
    assert tried_before(run, 6, "in0_block_w", 2) is None
    assert tried_before(run, 6, "per_core_N", None) is None


def test_a_grid_is_found_by_the_name_that_its_config_prints(run, known):
    known(precedent(60, compute_with_storage_grid_size="8x4"), precedent(70, grid_size="8x8"))
    assert "60.0 us" in tried_before(run, 6, "core_grid", "8x4")
    assert "70.0 us" in tried_before(run, 6, "core_grid", "8x8")


def test_an_op_is_compared_among_those_of_its_window_and_alone_outside_of_it(run, known):
    """Lines 2 to 4 are the first pass, 5 to 7 the window."""
    asked = known()
    assert seen_of(run, 6) is None
    assert seen_of(run, 3) is None
    assert tried_before(run, 6, "in0_block_w", None) is None
    assert asked == [([5, 6, 7], [6]), ([3], [3]), ([5, 6, 7], [6])]
    with pytest.raises(QuestionRefused, match="No op at line 99"):
        seen_of(run, 99)

"""What ops read, write and compute, doubted: a pair at each line, on made reports."""

from tests.analyses.tables import performance_of
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import matmul
from ttnn_mcp.analyses.roofline.beyond_peak import doubted_by_work
from ttnn_mcp.analyses.roofline.roofline import roofline_of
from ttnn_mcp.run.run import Run

PEAK = "beyond_peak: more bytes or arithmetic than 105% of the chip's peak at 1 op (line "


def doubts(folder, *, fit=0, unfit=0, too_quick=False, some_ops=True):
    """Those of a window with so many matmuls, and perhaps 256 MiB read from DRAM in 5 us."""
    program = Program("wormhole_b0")
    for k in (128,) * fit + (32,) * unfit:
        x, w, y = (program.tensor([1, 1, *sides]) for sides in ((64, k), (128, 96), (64, 96)))
        program.call("ttnn.linear", (x, w), (y,), (matmul(x, w, y, 20_000),))
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 64, 64])], kernel_ns=20_000)
    if too_quick:
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 8192, 16384])], kernel_ns=5_000)
    run = Run("made", "made", performance_of(folder, program), None)
    scope = run.scope("all")
    bounds = roofline_of(scope.critical, run.chip.on(scope.critical_device))
    return [str(doubt) for doubt in doubted_by_work(scope, bounds, some_ops=some_ops).doubts]


def test_what_the_chip_can_do_is_not_doubted(tmp_path):
    assert doubts(tmp_path, fit=2) == []


def test_an_op_beyond_the_peak_is_doubted(tmp_path):
    (doubt,) = doubts(tmp_path, fit=2, too_quick=True)
    assert doubt.startswith(PEAK)


@for_all(("fit", "unfit", "doubted"), [(9, 1, False), (17, 2, True), (0, 1, True), (0, 0, False)])
def test_more_than_a_tenth_of_matmuls_that_do_not_fit_means_exchanged_columns(tmp_path, fit, unfit, doubted):
    listed = [doubt.partition(":")[0] for doubt in doubts(tmp_path, fit=fit, unfit=unfit)]
    assert listed == ["operands_at_odds"] * doubted


@for_all(("some_ops", "codes"), [(True, ["operands_at_odds", "beyond_peak"]), (False, ["operands_at_odds"])])
def test_doubts_of_some_ops_may_be_left_to_others(tmp_path, some_ops, codes):
    told = doubts(tmp_path, unfit=1, too_quick=True, some_ops=some_ops)
    assert [doubt.partition(":")[0] for doubt in told] == codes

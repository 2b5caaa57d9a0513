"""Each lie, told alone, is named, and no other; what it was told of is never called faster."""

import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest

from tests import lies
from tests.analyses.comparison.test_comparison import opened
from tests.for_all import for_all
from tests.pairs import Model, write
from tests.profiles import Iteration, Program, write_performance_report
from tests.shared_reports import CLIP, DEEPSEEK, OFT, shared
from ttnn_mcp.analyses.comparison.comparability import judgement_of
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.matching_windows import like_windows, measured
from ttnn_mcp.analyses.comparison.reasons import CODES, DO, OF_CREDIT

TOLD = [(code, lie) for code, told in lies.LIES.items() for lie in told]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return lies.made(tmp_path_factory.mktemp("honest"))


@pytest.fixture(params=["made", "real"])
def honest(request, made):
    return made if request.param == "made" else lies.clip(shared(CLIP))


def run_in(folder, path):
    run = opened(path)
    run.id = folder
    return run


@lru_cache(maxsize=2)  # nearly always one of the two honest ones
def run_before(path):
    return run_in("before", path)


def judged(baseline, candidate):
    return judgement_of(Comparison(*like_windows(run_before(baseline), run_in("after", candidate))))


def codes(judgement):
    return [reason.code for reason in judgement.reasons]


def test_an_honest_gain_is_faster_and_nothing_is_suspicious(honest, tmp_path):
    told = judged(honest.path, lies.store(tmp_path / "after.csv", honest.changed()))
    assert (told.verdict, codes(told)) == ("faster", [])


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("code", "lie"), TOLD, ids=lambda value: getattr(value, "__name__", value))
def test_a_lie_alone_is_named_and_no_other(honest, tmp_path, code, lie):
    told = judged(honest.path, lies.store(tmp_path / "after.csv", lie(honest, honest.changed())))
    assert codes(told) == [code]
    if code in OF_CREDIT:
        assert (told.verdict, told.credit) == ("faster", "unproven")
    else:
        assert told.verdict != "faster"
    assert code in told.why or told.verdict != "unproven"


def test_a_baseline_that_lost_rows_is_named(honest, tmp_path):
    before = lies.store(tmp_path / "before.csv", lies.rows_dropped(honest, honest.rows))
    told = judged(before, lies.store(tmp_path / "after.csv", honest.changed()))
    assert (told.verdict, codes(told), told.credit) == ("unproven", ["baseline_damaged"], "unproven")
    told = judged(before, honest.path)  # nothing became faster
    assert (told.verdict, told.credit) == ("unproven", None)


@for_all(
    ("lost", "gain", "verdict"),
    [(0, 0.7, "unproven"), (1, 0.7, "slower"), (None, 0.7, "slower"), (0, 1.0, "unproven"), (1, 1.0, "unproven")],
)
def test_a_loss_stands_beside_lost_rows_of_the_candidate_alone(made, tmp_path, lost, gain, verdict):
    """Its lost rows hide more of it; those of the baseline may be all of it. Unchanged may be a loss that is hidden."""
    sides = [made.changed(gain), made.rows]
    if lost is not None:
        sides[lost] = lies.rows_dropped(made, sides[lost])
    paths = [lies.store(tmp_path / f"{place}.csv", rows) for place, rows in enumerate(sides)]
    assert judged(*paths).verdict == verdict


def test_fewer_layers_are_told_by_the_arithmetic_where_ops_are_too_many_to_align(tmp_path, monkeypatch):
    monkeypatch.setattr("ttnn_mcp.analyses.comparison.alignment.CELLS_AT_MOST", -1)
    before, after = (write(tmp_path / str(layers), Model(layers=layers)) for layers in (4, 2))
    told = judged(Path(before), Path(after))
    assert told.verdict == "unproven"
    assert told.reasons[0].code == "ops_missing"
    assert "of the baseline's arithmetic" in told.reasons[0].what
    assert "nothing_aligned" not in codes(told)


def test_a_file_that_was_not_written_to_its_end_is_named(made, tmp_path):
    told = judged(made.path, lies.store(tmp_path / "after.csv", lies.tail_cut_off(made, made.changed())))
    assert (told.verdict, codes(told)) == ("unproven", ["dropped_rows"])


def test_signs_of_lost_rows_that_both_sides_share_are_a_caveat(honest, tmp_path):
    before = lies.store(tmp_path / "before.csv", lies.rows_dropped(honest, honest.rows))
    told = judged(before, lies.store(tmp_path / "after.csv", lies.rows_dropped(honest, honest.changed())))
    assert (told.verdict, codes(told)) == ("faster", [])
    assert any(caveat.startswith("both sides: 7 call counts are missing") for caveat in told.caveats)


def test_a_clock_that_changes_nothing_about_the_verdict_is_a_caveat(honest, tmp_path):
    """Faster in cycles and in time: whatever DRAM does at another clock, it is faster."""
    told = judged(honest.path, lies.store(tmp_path / "after.csv", lies.at_clock(honest.changed(), 0.98)))
    assert (told.verdict, codes(told)) == ("faster", [])
    assert any("cycles at the baseline's clock" in caveat for caveat in told.caveats)


def test_fewer_cycles_on_a_hotter_chip_are_not_slower(honest, tmp_path):
    told = judged(honest.path, lies.store(tmp_path / "after.csv", lies.at_clock(honest.changed(), 0.8)))
    assert (told.verdict, codes(told)) == ("unproven", ["other_clock"])
    [reason] = told.reasons
    assert "clock 1 -> 0.8 GHz: -" in reason.what
    assert "% in cycles, +" in reason.what


def test_a_wrapped_counter_makes_no_gain(made, tmp_path):
    """Durations told from firmware ends are good to within a gap: no gain may rest on them."""
    rows = made.changed()
    gap = "OP TO OP LATENCY [ns]"
    for row, after in pairwise(rows):
        if made.widens(row):
            row[lies.KERNEL] = str(int(row[lies.KERNEL]) + 6_920_000_000)
            row[gap] = str(int(row[gap]) - 6_920_000_000)
            row["DEVICE FW END CYCLE"] = str(int(row["DEVICE FW END CYCLE"]) - 40_000)
            after[gap] = str(int(after[gap]) + 40_000)
    told = judged(made.path, lies.store(tmp_path / "after.csv", rows))
    assert (told.verdict, codes(told)) == ("unproven", ["impossible_times"])


@for_all(("before", "worse"), [(1.0, False), (0.985, False), (0.8, True)])
def test_a_real_mesh_where_one_device_became_slower(tmp_path, before, worse):
    """Attention became faster on all devices; device 1 needs as long as it did, or less in the baseline."""
    honest = lies.Honest(shared(DEEPSEEK), 1, "", ())
    rows, changed = honest.rows, honest.rows
    for number, (row, other) in enumerate(zip(rows, changed, strict=True)):
        if row["DEVICE ID"] == "1":
            lies.scale(row, before)
        elif "SDPA" in row["OP CODE"]:
            lies.scale(other, 0.9)
        if "SDPA" in row["OP CODE"]:
            other["MATH FIDELITY"] = "LoFi"
        lies.scale(other, 1 - 1e-4 * (number % 3))
    baseline = lies.store(tmp_path / "before.csv", rows)
    told = judged(baseline, lies.store(tmp_path / "after.csv", changed))
    assert (told.verdict, codes(told)) == (("unproven", ["device_worse"]) if worse else ("faster", []))


def test_whole_files_with_the_same_signposts_say_so(tmp_path):
    path = shared(OFT)
    honest = lies.Honest(path, 1, "", ())
    rows = honest.rows
    for number, row in enumerate(row for row in rows if row[lies.KERNEL]):
        lies.scale(row, 0.95 + 1e-4 * (number % 3))
    told = judged(path, lies.store(tmp_path / "after.csv", rows))
    [said] = [caveat for caveat in told.caveats if "signpost" in caveat]
    assert "'OftNet module started'" in said
    assert "start_signpost, end_signpost choose a part" in said
    assert told.verdict == "faster"


def test_every_reason_is_on_its_page_and_has_something_to_do():
    page = (Path(__file__).parents[3] / "resources" / "suspicious.md").read_text(encoding="utf-8")
    assert {*re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)} == {*CODES}
    assert {*DO} == {*CODES}


KINDS = ("Softmax", "Unary", "LayerNorm", "Reduce", "Transpose", "Typecast")


def in_order(names):
    program = Program()
    x = program.tensor([1, 1, 64, 64])
    for number, name in enumerate(names):
        program.op(f"{name}DeviceOperation", [x], kernel_ns=5_000 + 7 * number)
    return program


@for_all(("left", "named"), [(KINDS, True), ((*KINDS, *KINDS[:3]), False), ((*KINDS, *KINDS[::-1]), False)])
def test_half_of_every_kind_of_op_is_half_of_the_passes(tmp_path, left, named):
    """Two passes in another order each: no iteration is recognised, the counts tell."""
    paths = [
        write_performance_report(tmp_path / name, in_order(ops), [Iteration(cold=True)])
        for name, ops in (("a", (*KINDS, *KINDS[::-1])), ("b", left))
    ]
    told = judged(*paths)
    assert ("collapsed" in codes(told)) == named
    if named:
        assert "one of every 2 ops of each kind" in told.reasons[0].what


@for_all(("passes", "collapsed"), [((5, 5), False), ((5, 4), True), ((4, 5), False), ((2, 1), True)])
def test_whole_files_of_fewer_passes_are_named(tmp_path, passes, collapsed):
    sides = []
    for name, count in zip("ab", passes, strict=True):
        made = Model(jitter=0.001 if name == "b" else 0.0)
        path = write_performance_report(
            tmp_path / name, made.program(), [Iteration(cold=True)] + [Iteration()] * (count - 1)
        )
        sides.append(measured(run_in(name, path), "all"))
    told = judgement_of(Comparison(*sides))
    assert ("collapsed" in codes(told)) == collapsed
    assert (told.verdict == "not_comparable") == (passes[0] != passes[1])


def test_of_too_many_ops_without_arithmetic_nobody_knows_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("ttnn_mcp.analyses.comparison.alignment.CELLS_AT_MOST", -1)
    paths = [
        write_performance_report(tmp_path / name, in_order(ops), [Iteration(cold=True)])
        for name, ops in (("a", (*KINDS, *KINDS[::-1])), ("b", (*KINDS, *KINDS[:1:-1])))
    ]
    told = judged(*paths)
    assert told.verdict == "unproven"
    [reason] = [reason for reason in told.reasons if reason.code == "nothing_aligned"]
    assert reason.what.startswith("there are too many ops to align")

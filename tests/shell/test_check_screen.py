"""The first screen of `check`: one terminal that says how fast it is, how fast it could be, and what to do first."""

from tests.for_all import for_all
from tests.shell.test_check_report import ANSWER, FINDING
from ttnn_mcp.shell import check_screen
from ttnn_mcp.shell.questions import command

COLUMNS = ANSWER["plan"]["columns"]


def screen(answer, width=80, **colour):
    return check_screen.check_screen({"kernel_ms": 5.0, **answer}, run="demo", width=width, **colour)


def windowed(**changed):
    return {**ANSWER, "window": {**ANSWER["window"], **changed}}


def planned(*edits):
    return {**ANSWER, "plan": {"columns": COLUMNS, "rows": list(edits)}}


def edit(rank, what="ops on more cores", where="line 57", expected=1000.0, accuracy="none", *, basis=None):
    basis = basis or ("law" if expected else "trial")
    return [rank, f"edit-{rank}", what, where, 0.5, expected, basis, 2500.0, 2500.0, accuracy, None]


def test_the_first_lines_say_run_window_times_and_what_they_mean():
    assert screen(windowed(warm=False, rows=1)).splitlines()[:4] == [
        "demo: iteration 3 of 3, not warm, 1 op",
        "kernels 5.000 ms; wall time unknown: not a warm window; speed of light 0.800 ms",
        "6.2 times its speed of light. The plan saves 1.000 ms (20%) as far as known, at",
        "most 2.600 ms (52%).",
    ]
    assert screen(ANSWER).splitlines()[:2] == [
        "demo: iteration 3 of 3, warm, 1,200 ops",
        "kernels 5.000 ms; wall time unknown: it has no gaps; speed of light 0.800 ms",
    ]
    part = screen({**ANSWER, "total": {**ANSWER["total"], "modelled_share": 0.4103}}, width=200).splitlines()
    assert part[1].endswith("; speed of light at least 0.800 ms, of the 41% that can be told")
    assert part[2].startswith("At most 6.2 times its speed of light. The plan")


def test_a_warm_window_has_a_wall_time_and_a_share_that_waits():
    total = {**ANSWER["total"], "of": "kernels and gaps", "before_us": 10_000.0, "expected_after_us": 10_000.0}
    assert screen({**ANSWER, "total": total}).splitlines()[1:4] == [
        "kernels 5.00 ms; wall time 10.00 ms; speed of light 0.80 ms",
        "12.5 times its speed of light, 50% of it waiting between kernels. The plan is",
        "all trials, at most 7.60 ms (76%).",
    ]
    assert (
        screen({**ANSWER, "total": total, "kernel_ms": 10.0})
        .splitlines()[2]
        .startswith("12.5 times its speed of light, 0% of it waiting")
    )
    side_by_side = screen({**ANSWER, "total": total, "kernel_ms": 10.01}).splitlines()[2]
    assert side_by_side.startswith("12.5 times its speed of light. The plan is")


def test_the_plan_is_a_table_of_what_where_expected_at_most_and_accuracy():
    lines = screen(ANSWER).splitlines()
    assert lines[4:9] == [
        "",
        " # what                  where         expected   at most  accuracy",
        " 1 ops on more cores     line 57       1.000 ms  2.500 ms  -",
        " 2 data type of weights  lines 57, 58     trial  0.400 ms  may cost",
        "   and 3 more: --all; trial: only a bound is known",
    ]


def test_a_trial_is_explained_where_one_is_shown_and_nowhere_else():
    few = {**planned(edit(1), edit(2, expected=None)), "smaller_edits": 0}
    assert "   trial: only a bound is known\n" in screen(few)
    assert "trial" not in screen({**planned(edit(1)), "smaller_edits": 0})


def test_of_a_trial_whose_like_were_measured_it_is_told_how_many_gained():
    known, others = (edit(1 + place, expected=None, basis=f"{count} gained elsewhere") for place, count in
                     enumerate(("17/85, 5/9", "5/9")))  # fmt: skip
    lines = screen({**planned(edit(0), known, others), "smaller_edits": 0}).splitlines()
    assert [line.split("  ")[-3].strip() for line in lines[7:9]] == ["17/85", "5/9"]
    assert lines[9] == "   17/85: tries that gained elsewhere"


def test_where_no_edit_fits_their_number_is_told(monkeypatch):
    monkeypatch.setattr(check_screen, "LINES", 8)
    assert "\n   and 5 more: --all\n" in screen(planned(edit(1), edit(2)))


@for_all(
    ("lines", "said"),
    [
        (24, "   2, 3 last, as a symptom that edits above may take away"),
        (14, "   and 1 more: --all; 2 last, as a symptom that edits above may take away"),
        (13, "   and 2 more: --all"),
    ],
)
def test_a_symptom_is_last_and_the_screen_says_why(monkeypatch, lines, said):
    symptom = [*edit(2)[:-1], "symptom, so last; after edit-1"]
    monkeypatch.setattr(check_screen, "LINES", lines)
    shown = screen({**planned(edit(1), symptom, [3, *symptom[1:]]), "smaller_edits": 0}).splitlines()
    assert shown[shown.index("", 5) - 1] == said


def test_what_to_do_first_has_its_claim_its_line_of_the_model_and_the_command_that_shows_the_rest():
    cell = {"source": "db.sqlite", "row": "operations:4", "column": "stack_traces", "value": "/m/model.py:104"}
    finding = {**FINDING, "claim": "a matmul runs on 8 of 64 cores", "evidence": [*FINDING["evidence"], cell]}
    lines = screen({**ANSWER, "findings": [{**finding, "edit": "another"}, finding]}).splitlines()
    assert lines[10:12] == [
        "Do this first: ops on more cores (/m/model.py:104)",
        "   a matmul runs on 8 of 64 cores",
    ]
    assert lines[-2].startswith(f"{command('check', 'demo')} --details 1")
    assert lines[-1].startswith(f"{command('check', 'demo')} --all")
    assert "Do this first: ops on more cores\n" in screen({**ANSWER, "findings": [FINDING]})
    assert "Do this first" not in screen({**ANSWER, "findings": [{**FINDING, "edit": "another"}]})
    assert "Do this first" not in screen({**planned(), "findings": [FINDING]})


@for_all("width", [40, 60, 80, 120])
@for_all("edits", [1, 12, 60])
def test_a_screen_has_at_most_24_lines_that_fit(width, edits):
    long = "a change whose name takes more than one line of the table that it stands in"
    doubt = "something is in doubt " * 30
    window = {**ANSWER["window"], "doubts": [doubt]}
    rows = [edit(rank, long, "line 64 and 7 more (some_model.py:104)") for rank in range(1, edits + 1)]
    findings = [{**FINDING, "edit": "edit-1", "claim": "too few cores " * 40}]
    text = screen({**planned(*rows), "findings": findings, "window": window, "trust": [doubt, "b"]}, width)
    lines = text.splitlines()
    assert len(lines) <= 24
    commands = [line for line in lines if line.startswith(command("check"))]
    assert max(len(line) for line in lines if line not in commands) <= width
    assert "..." in text


def test_as_many_edits_are_shown_as_the_lines_hold():
    edits = [edit(rank) for rank in range(1, 40)]
    bare = {**planned(*edits), "findings": [], "trust": [], "smaller_edits": 0}
    lines = screen(bare).splitlines()
    assert len(lines) == 24
    assert "   and 25 more: --all" in lines
    fits = screen({**planned(*edits[:15]), "findings": [], "trust": [], "smaller_edits": 0})
    assert "more: --all" not in fits
    assert len(fits.splitlines()) == 24


@for_all(
    ("where", "shown"),
    [
        ("line 64 and 7 more (model.py:104)", "model.py:104 +7"),
        ("lines 51, 52 (model.py:71)", "model.py:71"),
        ("line 64 and 7 more", "line 64 +7"),
        ("roles 2-4 of 29 in each of 32 layers", "roles 2-4; 32 layers"),
        ("all ops", "all ops"),
    ],
)
def test_a_place_is_told_by_the_line_of_the_model_where_one_is_known(where, shown):
    assert f"  {shown}  " in screen(planned(edit(1, where=where)))


def test_a_name_is_never_divided():
    text = screen(planned(edit(1, "a name_of_many_letters for it", "line 5 (demo_model_long.py:7)")), 80)
    assert "name_of_many_letters" in text
    assert "demo_model_long.py:7" in text


def test_a_narrow_terminal_has_sentences_in_place_of_a_table():
    assert " # what" in screen(planned(edit(1)), 45)  # 35 columns of figures, 5 of "cores", 5 of "where"
    text = screen({**planned(edit(1), edit(2, expected=None, accuracy="may cost")), "findings": []}, 44)
    assert " # what" not in text
    assert " 1 ops on more cores: 1.000 ms, at most\n   2.500 ms\n" in text
    assert " 2 ops on more cores: trial, at most\n   2.500 ms, may cost accuracy\n" in text


def test_without_a_plan_it_says_that_nothing_pays():
    text = screen({**planned(), "findings": []})
    assert "6.2 times its speed of light: no check found anything that would pay." in text
    assert "--details" not in text
    assert "--all" in text


def test_one_doubt_is_told_and_the_others_are_counted():
    assert "In doubt: the report lacks DEVICE ARCH\n" in screen(ANSWER)
    assert "In doubt: a (and 1 more: --all)\n" in screen({**ANSWER, "trust": ["a", "b"]})
    assert "In doubt" not in screen({**ANSWER, "trust": []})


def test_colour_changes_nothing_but_the_weight_of_headings():
    plain, bold = screen(ANSWER), screen(ANSWER, colour=True)
    assert bold != plain
    assert bold.replace("\x1b[1m", "").replace("\x1b[0m", "") == plain


def test_an_answer_without_totals_is_shown_as_far_as_it_goes():
    lines = screen({"findings": [], "window": None}).splitlines()
    assert lines[0] == "demo: no window"
    assert lines[-1].startswith(f"{command('check', 'demo')} --all")

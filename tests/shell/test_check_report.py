"""What a person reads in a terminal."""

from tests.for_all import for_all
from ttnn_mcp.shell import check_report
from ttnn_mcp.shell.terminal import own_name

FINDING = {
    "check": "few-cores",
    "edit": "more-cores",
    "step": 3,
    "claim": "a matmul runs on 8 of 64 cores " * 6,
    "share": 0.25,
    "saving_us": {"at_least": 999.94, "at_most": 2500.0},
    "assumption": "time falls with cores",
    "evidence": [
        {"source": "ops.csv", "row": 57, "column": "DEVICE KERNEL DURATION [ns]", "value": 12300, "unit": "ns"},
        {"source": "db.sqlite", "row": "tensors:12", "column": "size", "value": 4096, "unit": "bytes"},
        {"source": "ops.csv", "row": 57, "column": "CORE COUNT", "value": 8, "unit": "cores"},
    ],
    "fix": "core_grid=ttnn.CoreGrid(y=8, x=8)",
    "verify": "op_detail: cores up",
    "read_next": "step-03-memory-sharding.md",
}
ANSWER = {
    "findings": [FINDING],
    "steps": [{"step": 3, "status": "not_applicable", "why": "nothing is sharded " * 9}],
    "total": {"of": "kernels", "before_us": 5000.0, "after_us": 2400.0, "expected_after_us": 4000.0,
              "floor_us": 900.0, "speed_of_light_us": 800.0},
    "plan": {
        "columns": ["rank", "edit", "what", "where", "share", "expected_us", "basis", "alone_us", "then_us", "accuracy",
                    "relation"],
        "rows": [
            [1, "more-cores", "ops on more cores", "line 57", 0.5, 1000.0, "law", 2500.0, 2500.0, "none", None],
            [2, "weights-format", "data type of weights", "lines 57, 58", 0.6, None, "trial", 400.0, 100.0, "may cost",
             "after more-cores"],
        ],
    },
    "smaller_edits": 3,
    "trials": {"columns": ["edit", "what", "where", "if_gains_us", "basis"],
               "rows": [["compute-config", "partial sums", "line 60", None, None]]},
    "unexplained_us": {"near_floor": 100.0, "no_edit": 1400.0},
    "unexplained": {
        "columns": ["op_code", "ops", "above_us", "now_us", "why", "heaviest_op", "hint"],
        "rows": [["Matmul", 12, 1300.5, 1500.5, "no_edit", 77, "shards"], ["Copy", 1, 2, 3, "no_edit", 78, None]],
    },
    "trust": ["the report lacks DEVICE ARCH"],
    "next": [{"tool": "op_detail", "arguments": {"run": "ab12", "op": 57}, "why": "the op behind few-cores"}],
    "window": {"kind": "iteration", "rows": 1200, "first_row": 2, "last_row": 1201, "warm": True, "why": "signposts",
               "iteration": 3, "of_iterations": 3},
}  # fmt: skip


def report(answer, width=100, **colour):
    return check_report.check_report(answer, run="demo", width=width, **colour)


def test_a_report_fits_the_screen_and_says_where_its_evidence_lies():
    text = report(ANSWER)
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "1. few-cores  (edit more-cores, step 3, 25.0% of kernels)" in text
    assert "ops.csv, line 57: DEVICE KERNEL DURATION [ns] = 12300; CORE COUNT = 8 cores" in text
    assert text.count("ops.csv, line 57") == 1  # one row, told once
    assert "db.sqlite, tensors:12: size = 4096 bytes" in text
    assert "iteration 3 of 3, warm, 1,200 ops (lines 2 to 1201): signposts" in text
    assert "Left above the floors after the plan: near floor 0.100 ms, no edit 1.400 ms." in text
    assert (
        "Matmul (12x, 1.500 ms): 1.300 ms above, no edit, heaviest at line 77\n    try       shards\n  Copy" in text
    )
    assert "\x1b" not in text


def test_the_plan_stands_before_the_findings_and_names_every_edit():
    lines = report(ANSWER).splitlines()
    first = lines.index("The plan")
    assert lines[first - 3 : first - 1] == [
        "total     5.000 ms of kernels; after the plan 4.000 ms as far as savings are known, 2.400 ms at",
        "          best; speed of light 0.800 ms",
    ]
    narrower = report({**ANSWER, "total": {**ANSWER["total"], "after_us": 700.0, "floor_us": 600.0}})
    assert "light 0.800 ms in today's formats, 0.600 ms after the plan" in " ".join(narrower.split())
    part = report({**ANSWER, "total": {**ANSWER["total"], "modelled_share": 0.4103}})
    assert "best; speed of light at least 0.800 ms, of the 41% that can be told\n" in part
    assert lines[first + 2 : first + 8] == [
        " 1  ops on more cores: expected 1.000 ms (20.0%), at most 2.500 ms (50.0%)",
        "    more-cores, line 57",
        " 2  data type of weights: at most 400.0 us (8.0%), then 100.0 us; may cost accuracy",
        "    weights-format, lines 57, 58; after more-cores",
        "    and 3 smaller: min_saving_share=0 shows them",
        "try       partial sums (compute-config, line 60)",
    ]


def test_savings_are_told_with_both_bounds_and_their_assumption():
    text = " ".join(report(ANSWER).split())
    assert (
        "saves at least 1.000 ms, at most 2.500 ms (a trial: how much is not known); assumes time falls with cores"
        in text
    )


def test_a_line_ends_between_words_and_never_between_a_number_and_its_unit():
    assert check_report.in_lines("takes 12 us of 3", 10) == ["takes", "12 us of 3"]
    assert check_report.in_lines("a 12 kB b 3 MB", 7, "- ") == ["- a", "  12 kB", "  b", "  3 MB"]
    assert check_report.in_lines("line 7 does", 7) == ["line 7", "does"]
    assert check_report.in_lines("at 7 dots", 5) == ["at 7", "dots"]


def test_the_next_call_can_be_pasted_into_a_shell():
    assert "ttnn-mcp op 57 demo" in report(ANSWER)


def test_colour_changes_nothing_but_the_weight_of_headings():
    plain = report(ANSWER)
    bold = report(ANSWER, colour=True)
    assert bold != plain
    assert bold.replace("\x1b[1m", "").replace("\x1b[0m", "") == plain


def test_what_did_not_fit_is_one_call_away():
    assert "cursor" not in report(ANSWER)
    assert "optimization_check run=demo cursor=5" in report({**ANSWER, "next_cursor": 5})


def test_without_findings_a_report_says_so():
    assert "No check found anything it could prove." in report({"findings": [], "steps": []})


@for_all(
    ("us", "said"),
    [
        (0.0, "0.0 us"),
        (999.9, "999.9 us"),
        (1000.0, "1.000 ms"),
        (9999.0, "9.999 ms"),
        (10000.0, "10.00 ms"),
        (1e5, "100.0 ms"),
        (1e6, "1,000 ms"),
    ],
)
def test_a_duration_changes_its_unit_at_a_thousand(us, said):
    assert check_report.duration(us) == said


def test_what_an_answer_lacks_is_not_told():
    text = report(
        {"findings": [{**FINDING, "evidence": [{"source": "a.csv", "row": 3, "column": "ID", "value": 7}]}]}
    )
    assert "a.csv, line 3: ID = 7\n" in text
    for words in (
        "No check found",
        "More findings",
        "Next",
        "verify    None",
        "window    ",
        "above the floors",
        "The plan",
    ):
        assert words not in text


@for_all(
    ("us", "beside", "text"),
    [
        (999.94, 0, "999.9 us"),
        (-1234567, 0, "-1,235 ms"),
        (5, 999.9, "5.0 us"),
        (100, 1000, "0.100 ms"),
        (99, -10000, "0.10 ms"),
        (0, 1000, "0.000 ms"),
    ],
)
def test_a_duration_has_the_unit_that_reads_well_beside_another(us, beside, text):
    assert check_report.duration(us, beside) == text


def test_labels_stand_in_a_column_of_their_own():
    short = {**FINDING, "claim": "few cores", "evidence": FINDING["evidence"][1:2], "caveat": "one run"}
    lines = report({"findings": [short]}).splitlines()
    assert lines[4:13] == [
        "   few cores",
        "   saves     at least 1.000 ms, at most 2.500 ms (a trial: how much is not known); assumes time",
        "             falls with cores",
        "   evidence  db.sqlite, tensors:12: size = 4096 bytes",
        "   fix       core_grid=ttnn.CoreGrid(y=8, x=8)",
        "   verify    op_detail: cores up",
        "   caveat    one run",
        f"   read      {own_name()} skill step-03-memory-sharding",
    ]


def test_a_narrow_screen_has_the_words_of_a_step_one_after_the_other():
    """70 columns leave 25 for the reason beside title and status; 12 are left beside a label however narrow it is."""
    answer = {
        "steps": [{**ANSWER["steps"][0], "why": "nothing here is sharded"}],
        "trust": ["it lacks DEVICE ARCH"],
    }
    assert report(answer, 70).splitlines()[-2:] == [
        "3  Memory and sharding       not applicable  nothing here is sharded",
        "trust     it lacks DEVICE ARCH",
    ]
    assert report(answer, 69).splitlines()[-2] == "3  Memory and sharding: not applicable; nothing here is sharded"
    assert report(answer, 20).splitlines()[-2:] == ["trust     it lacks", "          DEVICE ARCH"]

"""A saving in words."""

from __future__ import annotations

from tests.for_all import for_all
from ttnn_mcp.report.markup import saving_words

KNOWN = {"expected": 5, "interval": [4, 7], "basis": "law: tilize"}


@for_all(
    ("saving", "words"),
    [
        ({"at_most": 0}, "at most 0 us"),
        ({"at_least": 0, "at_most": 9}, "at most 9 us (a trial: how much is not known)"),
        ({"at_least": 2, "at_most": 9}, "at least 2 us, at most 9 us (a trial: how much is not known)"),
        (
            {"at_most": 9, "basis": "1/9 gained elsewhere", "if_gains": 3},
            "at most 9 us (a trial: 1/9 gained elsewhere, about 3 us if it gains)",
        ),
        ({"at_most": 9, "if_gains": 3}, "at most 9 us (a trial: about 3 us if it gains)"),
        (
            {"at_most": 9, "basis": "1/9 gained elsewhere"},
            "at most 9 us (a trial: 1/9 gained elsewhere)",
        ),
        (
            {"at_most": 9, **KNOWN},
            "expected 5 us (4 us to 7 us in 8 of 10; law: tilize), at most 9 us",
        ),
        ({"at_most": 9, **KNOWN, "interval": [5, 5]}, "expected 5 us (law: tilize), at most 9 us"),
    ],
)
def test_a_saving_is_told_with_what_it_rests_on(saving, words):
    assert saving_words(saving, lambda us: f"{us} us") == words

"""Reasons: the first text said of an op stays."""

import numpy as np

from ttnn_mcp.analyses.roofline.reasons import Reasons


def texts(reasons, rows):
    found = reasons.texts()
    return [found[row] for row in range(rows)]


def test_what_was_said_first_stays():
    reasons = Reasons(4)
    reasons.add(np.array([True, False, True, False]), "a")
    reasons.add(np.array([True, True, False, False]), "b")
    assert texts(reasons, 4) == ["a", "b", "a", ""]


def test_positions_say_the_same_as_masks_and_a_text_may_come_back():
    reasons = Reasons(4)
    reasons.add(np.array([3]), "a")
    reasons.add(np.array([1]), "b")
    reasons.add(np.array([0, 1]), "a")
    assert texts(reasons, 4) == ["a", "b", "", "a"]
    assert reasons.texts().distinct == ("a", "b")


def test_a_text_said_of_nothing_leaves_no_trace():
    reasons = Reasons(2)
    reasons.add(np.zeros(2, dtype=np.bool_), "a")
    assert reasons.texts().distinct == ()

"""Out of memory in one sentence: where, what was asked, what was free, what helps, and whether that is enough."""

import pytest

from tests.asking import ask, session
from tests.real.stored_truth import folder_of
from ttnn_mcp.report.shortages import failure_words

FAILED = {
    "operation": 5,
    "name": "ttnn.linear",
    "outcome": "unfinished",
    "line": "model.py:22",
    "ran_out_of": "L1 for a tensor",
    "asked_bytes": 4000,
    "limit_bytes": 9000,
    "largest_free_bytes": 1000,
    "short_bytes": 3000,
}
REMEDIES = ["remedy", "bytes", "bound", "enough", "how"]


def words(**parts):
    failed = {**FAILED, **parts}
    return failure_words({"errors": [{name: part for name, part in failed.items() if part is not None}]})


def test_a_run_without_errors_has_nothing_to_tell():
    assert failure_words({"errors": []}) is None


def test_what_was_asked_stands_beside_the_largest_hole():
    told = (
        "Ran out of L1 for a tensor at operation 5, ttnn.linear (model.py:22): asked 4,000 B, largest hole 1,000 B."
    )
    assert words() == told


def test_circular_buffers_have_room_and_no_hole():
    told = words(largest_free_bytes=None, line=None)
    assert told.endswith("operation 5, ttnn.linear: asked 4,000 B, there is room for 9,000 B, 3,000 B too few.")
    assert words(largest_free_bytes=None, short_bytes=None).endswith("asked 4,000 B, there is room for 9,000 B.")
    assert words(largest_free_bytes=None, short_bytes=None, limit_bytes=None).endswith("asked 4,000 B, no room.")


@pytest.mark.parametrize(
    ("bound", "enough", "told"),
    [
        ("exact", True, "(3,000 B: enough)."),
        ("exact", False, "(3,000 B: not enough alone)."),
        ("at most", None, "(at most 3,000 B: not known whether enough)."),
    ],
)
def test_the_first_remedy_says_whether_it_is_enough(bound, enough, told):
    rows = [["deallocate", 3000, bound, enough, "ttnn.deallocate(x)"], ["reallocate", 1, "exact", True, "no"]]
    sentence = words(remedies={"columns": REMEDIES, "rows": rows})
    assert sentence.endswith(f"largest hole 1,000 B. What helps: ttnn.deallocate(x) {told}")
    assert "What helps" not in words(remedies={"columns": REMEDIES, "rows": []})


def test_another_error_is_told_by_its_outcome_and_kind():
    other = {"operation": None, "name": "ttnn.add", "outcome": "aborted", "kind": "RuntimeError"}
    assert failure_words({"errors": [other]}) == "Aborted: ttnn.add: RuntimeError."
    assert failure_words({"errors": [{**other, "operation": 3, "kind": None}]}) == "Aborted: operation 3, ttnn.add."


async def test_the_real_run_out_of_l1_is_told(tmp_path):
    memory = await ask(session(tmp_path), "memory_summary", run=str(folder_of("out_of_l1")))
    assert failure_words(memory).startswith(
        "Ran out of L1 for a tensor at operation 5, ttnn.linear (out_of_l1.py:22): asked 393,216 B, largest hole 196,608 B."
    )

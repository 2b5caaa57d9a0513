"""What to expect of some changes together."""

from __future__ import annotations

from tests.for_all import for_all
from ttnn_mcp.checks.plan.expected import ExpectedSaving


@for_all(
    ("basis", "kind"),
    [
        ("law: tilize; 5 measured cases of x", "law"),
        ("9 measured cases of layout-chain", "cases"),
        ("the faster ops of this run", "this run"),
        ("an earlier run; law: tilize", "earlier run"),
        ("a guess", "a guess"),
    ],
)
def test_what_it_rests_on_is_told_in_a_word(basis, kind):
    assert ExpectedSaving(1.0, 0.0, 2.0, basis).kind == kind

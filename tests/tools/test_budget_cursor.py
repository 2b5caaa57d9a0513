"""A cursor is good for the question it belongs to, and for no other."""

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.tools.budget import cursor_after, offset_of
from ttnn_mcp.tools.tool import OfWindow


class Asked(OfWindow):
    cursor: str | None = None


@for_all("cursor", [None, "", "0"])
def test_without_one_the_first_page_is_meant(cursor):
    assert offset_of(cursor, Asked(), "run") == 0


def test_a_page_follows_whatever_the_run_is_called():
    cursor = cursor_after(20, Asked(run="by-name"), "run")
    assert offset_of(cursor, Asked(run="by-path", cursor=cursor), "run") == 20


@for_all(("asked", "run"), [(Asked(iteration=1), "run"), (Asked(), "other")])
def test_another_question_or_run_refuses_it(asked, run):
    with pytest.raises(QuestionRefused, match="another question"):
        offset_of(cursor_after(20, Asked(), "run"), asked, run)


def test_so_does_an_offset_that_is_no_number():
    cursor = cursor_after(20, Asked(), "run")
    with pytest.raises(QuestionRefused, match="another question"):
        offset_of(cursor.replace("20", "x"), Asked(), "run")

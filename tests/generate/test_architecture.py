"""The page on the architecture is drawn from the code, and no question is far from its cells."""

import pytest

from generate.architecture import CELLS, PACKAGE, PAGE, page, rooms, sentence, shortest, ways
from ttnn_mcp.tools import TOOLS

MOST_FILES = 5


@pytest.mark.slow
def test_the_page_is_what_the_code_says():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make fix` (python -m generate.architecture)"


def test_every_room_says_in_one_sentence_what_it_holds():
    assert [room for room in rooms() if not sentence(room).endswith(".")] == []


@pytest.mark.slow
def test_a_question_is_at_most_five_files_from_the_cells_of_the_report_that_it_needs():
    drawn = ways()
    assert {tool.name for tool in TOOLS} - {*drawn} == {"skill_step"}, "it answers with a page"
    ends = {tool.name: CELLS[need] for tool in TOOLS for need in tool.needs if need in CELLS}
    assert {name: drawn[name] for name, files in ends.items() if drawn[name][-1] not in files} == {}
    checks = [shortest(str(path.relative_to(PACKAGE))) for path in PACKAGE.glob("checks/step*/[a-z]*.py")]
    known = {file for files in CELLS.values() for file in files}
    assert checks
    assert [each for each in [*drawn.values(), *checks] if len(each) > MOST_FILES or each[-1] not in known] == []

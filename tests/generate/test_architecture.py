"""The page on the architecture is drawn from the code, and no question is far from its cells."""

import pytest

from generate.architecture import CELLS, PACKAGE, PAGE, page, rooms, sentence, shortest, way
from ttnn_mcp.tools import TOOLS

MOST_FILES = 5


@pytest.mark.slow
def test_the_page_is_what_the_code_says():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make fix` (python -m generate.architecture)"


def test_every_room_says_in_one_sentence_what_it_holds():
    assert [room for room in rooms() if not sentence(room).endswith(".")] == []


@pytest.mark.slow
def test_a_question_is_at_most_five_files_from_its_cells():
    ways = [way(f"tools/{tool.name}.py") for tool in TOOLS]
    ways += [shortest(str(path.relative_to(PACKAGE))) for path in PACKAGE.glob("checks/step*/[a-z]*.py")]
    assert len(ways) > len(TOOLS)
    assert [each for each in ways if len(each) > MOST_FILES or each[-1] not in CELLS] == []

"""The page that a host shows in a chat, and what it draws beside an answer."""

import pytest

from tests.asking import ask, session
from tests.pairs import Model, write
from tests.report.reading import rows_of
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused
from ttnn_mcp.report.app_page import app_page, drawn
from ttnn_mcp.report.pictures import roofline_section


def test_a_frame_in_a_chat_offers_to_zoom_and_not_to_save_which_it_may_not():
    assert app_page().count('data-do="in"') == 3
    assert 'data-do="save"' not in app_page()
    assert 'data-do="save"' in roofline_section()


def test_the_page_waits_for_an_answer_with_all_sections_hidden():
    assert app_page().count("<section hidden ") == app_page().count("<section ") == 5


async def test_a_window_is_drawn_from_the_ops_of_list_ops(demo_answers, tmp_path):
    at = session(tmp_path)
    content = await drawn(at, "window", {"run": "demo"})
    assert rows_of(content["ops"]) == demo_answers.ops["ops"]["rows"]
    assert content["card"] == {"worker_cores": demo_answers.card["worker_cores"]}
    assert content["window_rows"] == (await ask(at, "time_budget", run="demo"))["window"]["rows"]
    assert "levels" not in content


async def test_l1_is_drawn_at_every_operation(demo_answers, tmp_path):
    content = await drawn(session(tmp_path), "levels", {"run": "demo"})
    assert rows_of(content["levels"]) == demo_answers.levels["rows"]
    assert content.keys() == {"levels"}


async def test_a_picture_that_is_not_there_is_refused_with_the_names_of_those_that_are(tmp_path):
    with pytest.raises(ArgumentsInvalid, match=r"no picture 'windows'\. Did you mean window\?"):
        await drawn(session(tmp_path), "windows", {"run": "demo"})


async def test_l1_of_a_run_without_a_memory_report_is_refused(tmp_path):
    path = write(tmp_path / "run", Model())
    with pytest.raises(QuestionRefused, match="and memory_summary needs"):
        await drawn(session(tmp_path), "levels", {"run": str(path)})

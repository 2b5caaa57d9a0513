"""Pages are found, read, and never anything else."""

import re
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.readers.memory import folder
from ttnn_mcp.readers.performance import device_log
from ttnn_mcp.served import documents


def test_the_skill_begins_with_its_manual():
    assert documents.names("skills")[0] == "optimizing-ttnn-models/SKILL.md"
    head = documents.frontmatter(documents.text("skills", documents.names("skills")[0]))
    assert head["name"] == documents.SKILL
    assert "TTNN" in head["description"]


@for_all("page", ["SKILL", "skill.md", "Key-Concepts", "step-01-data-formats.md", " quick-reference "])
def test_a_page_is_found_however_its_name_is_written(page):
    assert "\n# " in documents.skill_page(page) or documents.skill_page(page).startswith("# ")


@for_all("page", ["../SKILL", "/etc/passwd", "..", "", "SKILL.md/../../pyproject.toml", "a\x00b"])
def test_no_name_leads_out_of_the_folder(page):
    with pytest.raises(QuestionRefused):
        documents.skill_page(page)
    with pytest.raises(QuestionRefused):
        documents.text("resources", page)


def test_a_misspelt_page_is_refused_with_the_nearest():
    with pytest.raises(QuestionRefused, match="Did you mean key-concepts"):
        documents.skill_page("key-conzepts")


@for_all(
    ("text", "head"),
    [
        ("---\nname: a\ndescription: b: c\n---\n# T\n", {"name": "a", "description": "b: c"}),
        ("# T\n", {}),
        ("", {}),
        ("---\nname: never closed\n", {}),
        ("# T\nnever: opened\n---\n", {}),
        ("---\nname: a\nno pair\n---\n", {"name": "a"}),
    ],
)
def test_frontmatter_is_what_stands_between_the_two_dashes(text, head):
    assert documents.frontmatter(text) == head


def test_the_heading_of_a_page_is_its_first():
    assert documents.first_heading("---\nname: x\n---\n\n# One\n# Two\n") == "One"
    assert documents.first_heading("no heading") == ""


def test_the_formats_page_names_no_file_that_no_reader_reads():
    """It once said that a device log is read when none was."""
    rows = [
        line for line in documents.text("resources", "formats.md").splitlines() if line.startswith("| also read")
    ]
    (files,) = (re.findall(r"`([\w.]+)`", row) for row in rows)
    reader = Path(folder.__file__).read_text()
    beside_memory = [name for name in files if '_text(folder, "{}", "{}"'.format(*name.split(".")) in reader]
    assert beside_memory
    assert {*files} - {*beside_memory} == {device_log.NAME}

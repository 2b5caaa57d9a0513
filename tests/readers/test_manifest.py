"""The manifest beside a report: what is sound is shown, whatever else the file holds."""

import json
import os

import pytest

from tests.for_all import for_all
from ttnn_mcp.readers.manifest import NAME, Manifest, manifest_beside

MOST_BYTES, LONGEST_TEXT = 64_000, 200
SOUND = {
    "command": "pytest tests/test_x.py",
    "started": "2026-01-02 03:04:05 UTC",
    "exit_status": 0,
    "commit": "0123456789abcdef",
    "dirty": True,
    "build": "ttnn 0.81.1",
    "device": "wormhole_b0",
    "clock_mhz": 1000,
}


@pytest.fixture
def beside(tmp_path):
    """The manifest that is read beside a report, after its file was written."""

    def read(told):
        (tmp_path / NAME).write_bytes(told if isinstance(told, bytes) else json.dumps(told).encode())
        return manifest_beside(tmp_path / "ops_perf_results.csv")

    return read


def test_without_a_file_there_is_none(tmp_path):
    assert manifest_beside(tmp_path / "db.sqlite") is None
    assert manifest_beside(tmp_path / "nowhere" / "db.sqlite") is None


def test_what_is_sound_is_read(beside):
    assert beside(SOUND) == Manifest(**SOUND)
    assert beside({**SOUND, "more": 1}) == Manifest(**SOUND)
    on_mock = [beside({**SOUND, "device": device}).on_mock for device in ("wormhole_b0", "mock wormhole_b0", None)]
    assert on_mock == [False, True, False]


@for_all(
    "told",
    [b"", b"{", b"\xff\xfe", b"[]", b"1", b'"command"', b"{}", b"[" * 50_000, b'{"command": ""}', b'{"dirty": 1}'],
)
def test_what_says_nothing_is_none(beside, told):
    assert beside(told) is None


@for_all(
    ("name", "wrong"),
    [("command", 7), ("command", ["a"]), ("exit_status", "0"), ("exit_status", True), ("exit_status", 10**6 + 1),
     ("dirty", 1), ("clock_mhz", 1.5), ("clock_mhz", -(10**6) - 1), ("build", None)],
)  # fmt: skip
def test_a_value_of_another_kind_is_left_out(beside, name, wrong):
    assert beside({**SOUND, name: wrong}) == Manifest(**{**SOUND, name: None})


@for_all(("name", "largest"), [("exit_status", 10**6), ("clock_mhz", -(10**6))])
def test_the_largest_number_is_kept(beside, name, largest):
    assert beside({**SOUND, name: largest}) == Manifest(**{**SOUND, name: largest})


def test_text_is_cleaned_and_bounded(beside):
    read = beside({**SOUND, "command": "a\x1b[31m\nb\u202e" + "c" * 300, "build": "d" * LONGEST_TEXT})
    assert len(read.command) == LONGEST_TEXT
    assert read.command.isprintable()
    assert read.command.startswith("a [31m b c")
    assert read.build == "d" * LONGEST_TEXT


def test_a_huge_file_is_read_to_its_bound_only(beside):
    whole = json.dumps(SOUND).encode()
    assert beside(b" " * (MOST_BYTES - len(whole)) + whole) == Manifest(**SOUND)
    assert beside(b" " * (MOST_BYTES - len(whole) + 1) + whole) is None


def test_links_pipes_and_folders_are_not_followed(tmp_path):
    (tmp_path / "elsewhere.json").write_text(json.dumps(SOUND))
    place = tmp_path / NAME
    place.symlink_to(tmp_path / "elsewhere.json")
    assert manifest_beside(tmp_path / "x.csv") is None
    place.unlink()
    os.mkfifo(place)
    assert manifest_beside(tmp_path / "x.csv") is None
    place.unlink()
    place.mkdir()
    assert manifest_beside(tmp_path / "x.csv") is None


def test_what_a_pipe_holds_is_not_read(tmp_path):
    os.mkfifo(tmp_path / NAME)
    pipe = os.open(tmp_path / NAME, os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(pipe, json.dumps(SOUND).encode())
        assert manifest_beside(tmp_path / "x.csv") is None
    finally:
        os.close(pipe)

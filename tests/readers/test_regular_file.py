"""Only regular files are opened, at once, whatever lies there."""

import os
import socket
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ReportMissing
from ttnn_mcp.readers.regular_file import begin_of, begin_of_named, opened, text_of

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    return Path("it")


def bound_socket(place):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))


def device(place):
    place.symlink_to("/dev/zero")


@for_all(
    ("made", "kind"),
    [(os.mkfifo, "a pipe"), (bound_socket, "a socket"), (device, "a device"), (os.mkdir, "a folder")],
)
def test_what_is_no_regular_file_is_refused_by_its_kind(place, made, kind):
    made(place)
    with pytest.raises(OSError, match="not a regular file") as refused:
        opened(place)
    assert refused.value.strerror == f"it is {kind}, not a regular file"


def test_a_link_is_followed_unless_told_otherwise(place):
    Path("there").write_bytes(b"contents")
    place.symlink_to("there")
    assert begin_of(place, 4) == b"cont"
    with pytest.raises(OSError, match="it is a link"):
        opened(place, links=False)


def test_who_names_a_file_is_told_why_it_cannot_be_read(place):
    for path, why in (
        (Path("no"), "no cannot be read (No such file or directory). Check the path."),
        (Path("n\0o"), "n o cannot be read (no file can have this name). Check the path."),
    ):
        with pytest.raises(ReportMissing) as refused:
            begin_of_named(path, 4)
        assert str(refused.value) == why
    place.write_bytes(b"contents")
    assert begin_of_named(place, 4) == b"cont"


@for_all("looked_at", ["stat", "lstat"])
def test_a_pipe_that_takes_the_place_after_the_look_is_not_waited_for(place, monkeypatch, looked_at):
    os.mkfifo(place)
    status = Path(__file__).stat()
    monkeypatch.setattr(Path, looked_at, lambda _self: status)
    before = len([*Path("/dev/fd").iterdir()])
    with pytest.raises(OSError, match="it is a pipe"):
        opened(place, links=looked_at == "stat")
    assert len([*Path("/dev/fd").iterdir()]) == before


def test_a_link_that_takes_the_place_after_the_look_is_refused(place, monkeypatch):
    Path("there").write_bytes(b"contents")
    place.symlink_to("there")
    monkeypatch.setattr(Path, "lstat", Path.stat)
    with pytest.raises(OSError, match="symbolic link"):
        opened(place, links=False)


def test_text_is_read_as_far_as_it_is_utf8(place):
    place.write_bytes(b"a\xffbc")
    assert text_of(place, 3) == "a\ufffdb"

"""Files that may be lost: whole or absent, never in the way, never more than allowed."""

import os
import subprocess
import sys
import threading
import time

import pytest

from tests.for_all import for_all
from ttnn_mcp.readers.kept_files import KeptFiles

NAME = "0123456789abcdef"
PARTS = [b"header", bytes(range(256)) * 40]
WHOLE = b"".join(PARTS)


@pytest.fixture
def kept(tmp_path):
    return KeptFiles(tmp_path / "state" / "cache", 100_000)


def only_file(kept):
    (path,) = kept.folder.iterdir()
    return path


def test_what_was_written_is_read_and_only_the_owner_may_look(kept):
    assert kept.read(NAME) is None
    assert kept.write(NAME, PARTS)
    assert bytes(kept.read(NAME)) == WHOLE
    assert only_file(kept).stat().st_mode & 0o077 == 0
    assert kept.folder.stat().st_mode & 0o077 == 0


@for_all("place", [0, 17, 25, 64, 70, 5000, -1])
def test_one_wrong_bit_anywhere_makes_it_absent_and_it_is_written_anew(kept, place):
    kept.write(NAME, PARTS)
    contents = bytearray(only_file(kept).read_bytes())
    contents[place] ^= 4
    only_file(kept).write_bytes(contents)
    assert kept.read(NAME) is None
    assert kept.write(NAME, PARTS)
    assert bytes(kept.read(NAME)) == WHOLE


@for_all("length", [0, 1, 63, 64, 65, 1000, -1])
def test_a_file_that_was_cut_off_is_absent(kept, length):
    kept.write(NAME, PARTS)
    only_file(kept).write_bytes(only_file(kept).read_bytes()[:length])
    assert kept.read(NAME) is None


def test_a_file_with_something_added_or_renamed_is_absent(kept):
    kept.write(NAME, PARTS)
    path = only_file(kept)
    path.write_bytes(path.read_bytes() + b"x")
    assert kept.read(NAME) is None
    kept.write(NAME, PARTS)
    path.rename(path.with_name("f" * 16 + ".kept"))
    assert kept.read("f" * 16) is None


def waits(work):
    """Whether it does not end by itself."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(5)
    return thread.is_alive()


def test_links_pipes_and_folders_of_its_name_are_never_followed_opened_or_removed(kept, tmp_path):
    kept.write(NAME, PARTS)
    path = only_file(kept)
    elsewhere = path.rename(tmp_path / "elsewhere")
    path.symlink_to(elsewhere)
    assert kept.read(NAME) is None
    path.unlink()
    os.mkfifo(path)
    assert not waits(lambda: kept.read(NAME))
    assert kept.read(NAME) is None
    path.unlink()
    path.mkdir()
    assert kept.read(NAME) is None
    assert not kept.write(NAME, PARTS)
    assert list(kept.folder.iterdir()) == [path]


def test_what_was_used_the_longest_time_ago_is_removed_first(kept):
    for number in range(9):
        assert kept.write(f"{number}" * 8, [bytes(10_000)])
        os.utime(kept.folder / f"{number * 11_111_111:08}.kept", (1000 + number, 1000 + number))
    assert kept.read("0" * 8) is not None  # used: now 1 is the oldest
    assert kept.write("a" * 8, [bytes(10_000)])
    assert kept.read("0" * 8) is not None
    assert kept.read("1" * 8) is None
    assert kept.read("2" * 8) is not None
    assert kept.held_bytes() <= kept.most_bytes


def test_many_small_files_stay_within_the_bound_too(kept):
    for number in range(60):
        assert kept.write(f"{number:08}", [b"1234"])
    assert kept.held_bytes() <= kept.most_bytes
    assert len(list(kept.folder.iterdir())) <= kept.most_bytes // 4096 + 1


def test_each_file_counts_as_the_least_that_a_disk_gives_it(kept):
    for number in range(3):
        assert kept.write(f"{number:08}", [b"1234"])
    assert kept.held_bytes() == 3 * 4096


def test_a_thousand_files_are_kept_however_small(tmp_path):
    kept = KeptFiles(tmp_path, 1 << 30)
    for number in range(1_100):
        path = tmp_path / f"{number:08}.kept"
        path.touch()
        os.utime(path, (1000 + number, 1000 + number))
    assert kept.write(NAME, PARTS)
    assert len(list(tmp_path.iterdir())) == 1_000
    assert not (tmp_path / f"{100:08}.kept").exists()
    assert (tmp_path / f"{101:08}.kept").exists()


def test_a_damaged_file_is_not_used_by_reading_it(kept):
    kept.write(NAME, PARTS)
    only_file(kept).write_bytes(b"damaged")
    os.utime(only_file(kept), (1000, 1000))
    assert kept.read(NAME) is None
    assert only_file(kept).stat().st_mtime == 1000


def test_what_is_larger_than_the_bound_is_not_written_and_removes_nothing(kept):
    kept.write(NAME, PARTS)
    assert not kept.write("f" * 8, [bytes(100_000)])
    assert bytes(kept.read(NAME)) == WHOLE


def test_files_of_others_are_never_removed_nor_counted(kept):
    kept.folder.mkdir(parents=True)
    foreign = kept.folder / "notes.txt"
    foreign.write_bytes(bytes(90_000))
    os.utime(foreign, (1, 1))
    link = kept.folder / "abcdefab.kept"
    link.symlink_to(foreign)
    os.utime(link, (1, 1), follow_symlinks=False)
    assert kept.held_bytes() == 0
    for number in range(12):
        assert kept.write(f"{number:08}", [bytes(20_000)])
    assert link.stat().st_size == 90_000
    assert kept.held_bytes() <= kept.most_bytes


def test_with_no_room_at_all_nothing_is_written_or_read(tmp_path, kept):
    kept.write(NAME, PARTS)
    off = KeptFiles(kept.folder, 0)
    assert not off.write("f" * 8, [b""])
    assert off.read(NAME) is None


@for_all("where", ["below a file", "no path"])
def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, where):
    (tmp_path / "file").write_bytes(b"")
    kept = KeptFiles(tmp_path / ("file/cache" if where == "below a file" else "nul\0"), 1000)
    assert kept.read(NAME) is None
    assert not kept.write(NAME, [b"1"])
    assert kept.held_bytes() == 0
    assert not kept.writable()


WRITER = """
import sys
from pathlib import Path
from ttnn_mcp.readers.kept_files import KeptFiles
kept = KeptFiles(Path(sys.argv[1]), 4_000_000)
while True:
    kept.write(sys.argv[2], [sys.argv[3].encode() * 1_000_000])
"""


def writer(kept, letter):
    return subprocess.Popen([sys.executable, "-c", WRITER, kept.folder, NAME, letter])


def test_readers_see_whole_files_while_two_processes_write_and_are_killed(tmp_path):
    kept = KeptFiles(tmp_path / "cache", 4_000_000)
    writers = [writer(kept, "a"), writer(kept, "b")]
    seen = set()
    try:
        until = time.monotonic() + 20
        while len(seen) < 2 and time.monotonic() < until:
            contents = kept.read(NAME)
            if contents is not None:
                assert len(set(bytes(contents))) == 1
                assert len(contents) == 1_000_000
                seen.add(bytes(contents[:1]))
    finally:
        for process in writers:
            process.kill()
            process.wait()
    assert seen == {b"a", b"b"}
    assert len(bytes(kept.read(NAME))) == 1_000_000  # a kill in the middle of writing left the former file


def test_the_rest_of_a_killed_writer_is_removed_when_nobody_can_be_writing_it(kept):
    kept.write(NAME, PARTS)
    old, young = kept.folder / "kept-abc.part", kept.folder / "kept-def.part"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 11 * 60,) * 2)
    os.utime(young, (time.time() - 9 * 60,) * 2)
    os.utime(kept.folder / f"{NAME}.kept", (1000, 1000))  # old and finished
    kept.write("f" * 8, PARTS)
    assert not old.exists()
    assert young.exists()
    assert bytes(kept.read(NAME)) == WHOLE


def test_what_is_written_later_is_waited_for_by_its_reader(kept):
    may_write = threading.Event()

    def parts():
        assert may_write.wait(20)
        yield b"late"

    kept.write_later(NAME, parts())
    threading.Timer(0.05, may_write.set).start()
    assert bytes(kept.read(NAME)) == b"late"


def test_nobody_waits_for_what_is_written_under_another_name(kept):
    read, in_time = threading.Event(), []

    def parts():
        in_time.append(read.wait(5))
        yield b"late"

    kept.write_later(NAME, parts())
    assert kept.read("f" * 16) is None
    read.set()
    kept.finish()
    assert in_time == [True]


def test_one_is_written_after_the_other(kept):
    def slow():
        time.sleep(0.05)
        yield b"first"

    kept.write_later("a", slow())
    kept.write_later("b", [b"second"])
    kept.finish()
    assert {path.stem for path in kept.folder.iterdir()} == {"a", "b"}


def test_a_folder_that_is_not_there_yet_can_be_written(tmp_path):
    assert KeptFiles(tmp_path / "new" / "folder", 1_000).writable()


def test_what_cannot_be_computed_later_is_not_written(kept):
    def parts():
        yield b"half"
        raise MemoryError

    kept.write_later(NAME, parts())
    kept.finish()
    assert kept.read(NAME) is None
    assert not list(kept.folder.iterdir())


def test_writing_stops_where_there_is_no_room(kept):
    asked = []

    def parts():
        while True:
            asked.append(1)
            yield bytes(kept.most_bytes // 4)

    assert not kept.write(NAME, parts())
    assert len(asked) == 4
    assert not list(kept.folder.iterdir())

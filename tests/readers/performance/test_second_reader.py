"""A large file read by two processes: the same columns as by one, and no rows lost when the second one fails."""

import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from xxhash import xxh3_64_intdigest

import ttnn_mcp
from tests.cells_of_frames import check_same_cells
from tests.readers.plain_checksum import plain_checksum
from ttnn_mcp.readers.checksum import PieceSums
from ttnn_mcp.readers.performance import plain_rows, plain_texts, row_shape, second_reader
from ttnn_mcp.readers.performance.csv_file import BLANK
from ttnn_mcp.readers.performance.header import header_of
from ttnn_mcp.readers.performance.plain_file import plain_frame
from ttnn_mcp.readers.performance.plain_rows import Wanted
from ttnn_mcp.readers.performance.row_shape import RowShape, shape_of

HEADER = "OP CODE,OP TYPE,DEVICE ID,unread,DEVICE KERNEL DURATION [ns],HOST START TS,ATTRIBUTES"
ROWS = 400


def lines(last_half=lambda number: f"Softmax,tt_dnn_device,1,y,{number}.5,,{{'b': {number % 7}}}"):
    """Rows of one kind, then of another: its texts, and the columns that it fills, are new to the second half."""
    first = [f"Matmul,tt_dnn_device,,x,{number},{10**12 + number},{{'a': {number % 5}}}" for number in range(ROWS)]
    return [HEADER, *first, *(last_half(number) for number in range(ROWS))]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ops_perf_results.csv"
    path.write_text("\n".join(lines()) + "\n")
    return path


@pytest.fixture(autouse=True)
def _small_files_are_large(monkeypatch):
    monkeypatch.setattr(second_reader, "cores", lambda: 2)
    monkeypatch.setattr(second_reader, "LARGE_BYTES", 1)
    monkeypatch.setattr(second_reader, "START_BYTES", 0)
    for module in (plain_rows, second_reader):
        monkeypatch.setattr(module, "BLOCK_BYTES", 1_000)


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    seen, popen = [], subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **how: seen.append(popen(*given, **how)) or seen[-1])
    return seen


def by_one(path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(second_reader, "cores", lambda: 1)
        return plain(path)


def plain(path, sums=None, rows_at_most=5_000):
    return plain_frame(path, header_of(path), rows_at_most, BLANK, sums)


def test_both_read_what_one_reads(path, started):
    frame = plain(path)
    assert len(started) == 1
    assert len(frame) == 2 * ROWS
    check_same_cells(frame, by_one(path))
    assert frame.numbers("device")[[0, -1]].tolist() == pytest.approx([np.nan, 1], nan_ok=True)
    assert frame.numbers("host_start_ns")[[0, -1]].tolist() == pytest.approx([10**12, np.nan], nan_ok=True)


@pytest.mark.parametrize("fault", [None, "no module"])
def test_the_checksum_is_that_of_the_file_whoever_read_its_pieces(path, monkeypatch, fault):
    for module in (plain_rows, second_reader):
        monkeypatch.setattr(module, "BLOCK_BYTES", 1 << 20)
    rows = lines(lambda number: f"Softmax,tt_dnn_device,1,y,{number}.5,,{'b' * 5_000}{number % 7}")
    path.write_text("\n".join([rows[0], *rows[1:] * 2]))
    if fault:
        popen = subprocess.Popen
        monkeypatch.setattr(
            subprocess, "Popen", lambda _, **how: popen([sys.executable, "-c", "import none"], **how)
        )
    sums = PieceSums()
    assert len(plain(path, sums)) == 4 * ROWS
    assert len(sums.by_place) >= 4
    assert sums.of_all(path.stat().st_size) == plain_checksum(path.read_bytes())


def test_rows_with_the_same_texts_are_alike_across_both(path):
    path.write_text("\n".join(lines(lambda number: f"Matmul,tt_dnn_device,,x,{number},,{{'a': {number % 5}}}")))
    alike = plain(path).texts("attributes").alike
    assert alike[:5].tolist() == alike[ROWS : ROWS + 5].tolist()


def test_no_process_outlives_the_reading(path, started):
    plain(path)
    plain(path, rows_at_most=5)  # ends before its rows are needed
    assert [process.poll() is not None for process in started] == [True, True]


def test_no_more_rows_are_read_than_asked_for(path, started):
    assert 6 <= len(plain(path, rows_at_most=5)) < 100
    assert len(started) == 1


@pytest.mark.parametrize("fault", ["killed", "not started", "no module", "cut short", "nonsense"])
def test_its_rows_are_read_here_when_it_fails(path, monkeypatch, fault):
    popen = subprocess.Popen

    def failing(command, **how):
        if fault == "not started":
            raise BlockingIOError("the system lets us start no process")
        words = {
            "killed": [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"],
            "no module": [sys.executable, "-c", "import no_such_module"],
            "cut short": ["sh", "-c", '"$0" "$@" | head -c 2000', *command],
            "nonsense": ["echo", "not what was asked for"],
        }
        return popen(words[fault], **how)

    monkeypatch.setattr(subprocess, "Popen", failing)
    check_same_cells(plain(path), by_one(path))


def test_a_row_that_is_not_plain_is_seen_in_either_half(path):
    whole = path.read_text()
    for quoted in ("Matmul", "Softmax"):
        path.write_text(whole.replace(quoted, f'"{quoted}"', 1))
        assert plain(path) is None


def test_too_many_different_texts_of_both_are_left_to_the_parser(path, monkeypatch):
    monkeypatch.setattr(plain_texts, "KNOWN_BYTES_AT_MOST", 70)  # 40 of one, 56 of the other
    assert plain(path) is None


def test_it_ends_when_the_first_process_is_gone(path, started):
    path.write_text("\n".join([HEADER, *lines()[1:] * 40]))  # more than a pipe holds, so that it waits for a reader
    with path.open("rb", buffering=0) as file:
        shape = row_shape.shape_of(file.fileno(), len(HEADER.split(",")))
        wanted = plain_rows.Wanted(header_of(path).read, BLANK, 1 << 20, checksum=False)
        reader = second_reader.SecondReader(file.fileno(), shape, wanted)
    process = started[0]
    assert process.stdout.read(1) == b"{"  # it writes
    process.stdin.close()  # as it does when the first process ends, however it ends
    assert process.wait(timeout=20) == 1
    process.stdin = None
    reader.end()


@pytest.mark.parametrize("executable", ["", None])
def test_a_program_that_knows_no_python_reads_alone(path, monkeypatch, started, executable):
    monkeypatch.setattr(sys, "executable", executable)
    assert len(plain(path)) == 2 * ROWS
    assert not started


def test_one_process_reads_all_on_one_core(path, monkeypatch, started):
    monkeypatch.setattr(second_reader, "cores", lambda: 1)
    assert len(plain(path)) == 2 * ROWS
    assert not started


class Asked:
    """What a process would be started with."""

    def __init__(self, command, **how):
        self.command, self.folder, self.environment = command, how["cwd"], how["env"]

    def kill(self):
        pass

    communicate = kill


@pytest.fixture
def asked(monkeypatch):
    """The processes that would be started."""
    monkeypatch.undo()
    monkeypatch.setattr(second_reader, "cores", lambda: 2)
    seen = []
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **how: seen.append(Asked(*words, **how)) or seen[-1])
    return seen


def begin_of(size):
    """Where the second process begins in a file of this size, whose rows begin at 200."""
    shape = RowShape(200, size, 7, b"\n")
    with second_reader.second_reader(3, shape, Wanted({}, BLANK, 5, checksum=False)) as second:
        return second and second.begin


def test_half_a_gigabyte_is_large_and_the_second_process_gets_less(asked):
    assert begin_of(2**29 - 1) is None
    begin = begin_of(2**29)
    assert len(asked) == 1
    lead = begin - 200 - (2**29 - begin)  # read here until the other has started (0.2 s)
    assert 0 <= 150_000_000 - lead < 2 * 2**20
    assert begin % 2**20 == 0  # where a piece with a checksum begins


def test_it_runs_where_this_package_lies(asked):
    begin_of(2**30)
    assert (asked[0].folder / "ttnn_mcp" / "__init__.py").samefile(ttnn_mcp.__file__)


@pytest.mark.parametrize(("told", "threads"), [(None, "1"), ("4", "4")])
def test_it_asks_numpy_for_one_thread_unless_somebody_asked_for_more(asked, monkeypatch, told, threads):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if told:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", told)
    begin_of(2**30)
    assert asked[0].environment["OPENBLAS_NUM_THREADS"] == threads


def test_it_is_not_started_where_no_file_can_be_handed_over(asked):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "name", "nt")
        assert begin_of(2**30) is None
    assert not asked


def written_by_it(path, monkeypatch, *, checksum):
    """What the second process writes about the second half of a file, and where that half begins."""
    begin = path.read_bytes().index(b"Softmax")
    out = io.TextIOWrapper(io.BytesIO())
    with path.open("rb") as file:
        shape = shape_of(file.fileno(), len(header_of(path).names))
        wanted = Wanted(header_of(path).read, BLANK, 5_000, checksum)
        job = [file.fileno(), shape.begin, shape.size, shape.fields, "\n", wanted, begin]
        monkeypatch.setattr(sys, "argv", ["second", json.dumps(job)])
        monkeypatch.setattr(sys, "stdout", out)
        second_reader.read_and_tell()
    return out.buffer.getvalue(), begin


@pytest.mark.parametrize("checksum", [True, False])
def test_it_tells_first_what_follows(path, monkeypatch, checksum):
    written, begin = written_by_it(path, monkeypatch, checksum=checksum)
    head = json.loads(written.split(b"\n")[0])
    half = path.read_bytes()[begin:]
    assert head["rows"] == ROWS
    pieces = [[begin, half[: 1_000 - begin % 1_000]]]  # up to the next multiple of 1,000, then as long
    while pieces[-1][0] + len(pieces[-1][1]) < begin + len(half):
        place = pieces[-1][0] + len(pieces[-1][1])
        pieces.append([place, half[place - begin :][:1_000]])
    assert head["sums"] == ([[place, xxh3_64_intdigest(piece)] for place, piece in pieces] if checksum else [])
    assert head["texts"] == [[len("Softmax,tt_dnn_device")], [len("{'b': 0}")] * 7]
    assert len(head["filled"]) == 2  # the device and the kernel's time
    assert len(written) == written.index(b"\n") + 1 + 21 + 7 * 8 + ROWS * (2 * 4 + 2 * 8)


def test_it_ends_where_its_half_is_not_plain(path, monkeypatch):
    path.write_text(path.read_text().replace("y,9.5", '"y",9.5'))
    with pytest.raises(SystemExit) as ended:
        written_by_it(path, monkeypatch, checksum=False)
    assert ended.value.code == 1


def test_a_module_of_that_name_in_the_current_folder_is_not_run(path, tmp_path, monkeypatch, started):
    (tmp_path / "ttnn_mcp").mkdir()
    (tmp_path / "ttnn_mcp" / "__init__.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    assert len(plain(path)) == 2 * ROWS
    assert not (tmp_path / "ran").exists()
    assert started[0].returncode in (0, -signal.SIGKILL)

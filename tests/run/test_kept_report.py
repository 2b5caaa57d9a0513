"""A report from its copy is the report from its file, and a copy never stands for another file."""

import os
import struct

import numpy as np
import pytest

from tests.asking import ask
from tests.cells_of_frames import check_same_cells
from tests.for_all import for_all
from tests.profiles import CSV_GENERATIONS, Iteration, write_performance_report
from tests.programs import block
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER, shared
from ttnn_mcp.readers import fingerprint as fingerprints
from ttnn_mcp.readers.kept_files import KeptFiles
from ttnn_mcp.readers.performance.kept_columns import LENGTH
from ttnn_mcp.run import kept_report
from ttnn_mcp.run import reading_digest as digests
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.kept_report import performance_of
from ttnn_mcp.run.ops.artefact import stored
from ttnn_mcp.run.performance import FIGURES
from ttnn_mcp.run.reading_digest import reading_digest
from ttnn_mcp.run.trust import caveats_of
from ttnn_mcp.session.session import Session, Settings

MB = 1_000_000


@pytest.fixture
def kept(tmp_path):
    return KeptFiles(tmp_path / "state" / "cache", 500 * MB)


def written(folder, generation="C7"):
    return write_performance_report(
        folder, block(), [Iteration(cold=True), Iteration(), Iteration()], generation=generation
    )


def copies(kept):
    kept.finish()
    return [path for path in kept.folder.iterdir() if not path.name.startswith("0-")]


def check_same(copy, original):
    check_same_cells(copy.csv.frame, original.csv.frame)
    for name in ("path", "generation", "compiler", "logical_shapes", "headers", "lost", "caveats"):
        assert getattr(copy.csv, name) == getattr(original.csv, name)
    for name in ("count", "ops", "found_by", "may_be_layers", "short"):
        assert getattr(copy.iterations, name) == getattr(original.iterations, name)
    np.testing.assert_array_equal(copy.iterations.number, original.iterations.number, strict=True)
    np.testing.assert_array_equal(signatures(copy.steady), signatures(original.steady), strict=True)
    assert caveats_of(copy) == caveats_of(original)
    (figures, bits), (others, other_bits) = copy.figures(), original.figures()
    assert figures == others
    np.testing.assert_array_equal(bits, other_bits, strict=True)


def from_copy(path, kept, monkeypatch):
    """The report, which must come from the copy, with what was computed of it."""
    with monkeypatch.context() as no_reading:
        no_reading.setattr(kept_report, "read_performance_csv", lambda path: pytest.fail(f"{path} was parsed"))
        report = performance_of(path, kept, 0)
    assert {*FIGURES} <= vars(report).keys()
    assert report.known_caveats is not None
    assert stored(report.steady, signatures) is not None
    return report


@for_all("generation", CSV_GENERATIONS)
def test_the_copy_of_every_generation_is_the_report(tmp_path, kept, monkeypatch, generation):
    path = written(tmp_path / "report", generation)
    original = performance_of(path)
    performance_of(path, kept, 0)
    check_same(from_copy(path, kept, monkeypatch), original)


@for_all("name", [CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, LINKED])
def test_the_copy_of_a_real_report_is_the_report(kept, monkeypatch, name):
    path = shared(name)
    original = performance_of(path)
    performance_of(path, kept, 0)
    check_same(from_copy(path, kept, monkeypatch), original)


TOLD = ("odd numbers", "cut off", "no rows", "strange text", "no device", "no time")


def spoiled(path, how):
    """The report with something in it that a caveat is about."""
    lines = path.read_text().split("\n")
    header = lines[0].split(",")
    if how == "odd numbers":
        place = header.index("CORE COUNT")
        for row in (1, 2):
            lines[row] = f"{lines[row].split(',')[0]}" + "," * place + "many" + "," * (len(header) - place - 1)
    elif how == "cut off":
        lines = [*lines[:-2], lines[-2][:40]]
    elif how == "no rows":
        lines = lines[:1]
    elif how == "strange text":
        lines[1] = lines[1].replace(lines[1].split(",")[0], "Matmul\u202e\x07\ufffd\U0001f600 'quoted'", 1)
    elif how == "no time":
        cells = lines[1].split(",")
        cells[header.index("DEVICE KERNEL DURATION [ns]")] = ""
        lines[1] = ",".join(cells)
    elif how == "no device":
        place = header.index("DEVICE ID")
        lines = [lines[0], *(",".join([""] * place + [""] * (len(header) - place)) for _ in lines[1:4])]
    path.write_text("\n".join(lines))
    return path


@for_all("how", TOLD)
def test_the_copy_of_an_odd_report_says_the_same_of_it(tmp_path, kept, monkeypatch, how):
    path = spoiled(written(tmp_path / "report"), how)
    original = performance_of(path)
    performance_of(path, kept, 0)
    check_same(from_copy(path, kept, monkeypatch), original)
    assert original.iterations.short == (((1, 1),) if how == "no time" else ())


@for_all("settled", [True, False])
def test_a_changed_file_never_gets_the_answer_of_its_former_self(tmp_path, kept, monkeypatch, settled):
    monkeypatch.setattr(fingerprints, "SETTLED_NS", -1 if settled else 1 << 62)
    monkeypatch.setattr(fingerprints, "SMALL_BYTES", 100)  # sampled and summed, as large files are
    monkeypatch.setattr(fingerprints, "BLOCK_BYTES", 4)
    path = written(tmp_path / "report")
    performance_of(path, kept, 0)
    status, contents = path.stat(), path.read_bytes()
    path.write_bytes(contents.replace(b"MatmulDeviceOperation", b"MatmulDeviceOperatioN"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    monkeypatch.setattr(fingerprints, "_known", {})  # as after a restart
    assert "MatmulDeviceOperatioN" in performance_of(path, kept, 0).ops.texts("op_code").distinct


def test_a_file_that_changes_while_it_is_read_is_not_copied(tmp_path, kept, monkeypatch):
    path = written(tmp_path / "report")
    reading = kept_report.read_performance_csv

    def read_and_change(path):
        report = reading(path)
        path.write_bytes(path.read_bytes().replace(b"Matmul", b"matmuL"))
        return report

    monkeypatch.setattr(kept_report, "read_performance_csv", read_and_change)
    performance_of(path, kept, 0)
    kept.finish()
    assert not kept.folder.exists() or not copies(kept)


@for_all("damage", ["cut off", "one bit", "empty", "another program's", "whole, but foreign"])
def test_a_damaged_copy_is_ignored_and_written_anew(tmp_path, kept, monkeypatch, damage):
    path = written(tmp_path / "report")
    original = performance_of(path, kept, 0)
    (copy,) = copies(kept)
    sound = copy.read_bytes()
    name = copy.name.removesuffix(".kept")
    foreign = b'{"rows": "x", "columns": 7}'
    if damage == "whole, but foreign":
        assert kept.write(name, [foreign + LENGTH.pack(len(foreign))])
    else:
        broken = {"cut off": sound[:-9], "empty": b"", "another program's": b"SQLite format 3\0" * 40}
        broken["one bit"] = sound[:700] + bytes([sound[700] ^ 1]) + sound[701:]
        copy.write_bytes(broken[damage])
    check_same(performance_of(path, kept, 0), original)
    assert copies(kept) == [copy]
    assert copy.read_bytes() == sound
    check_same(from_copy(path, kept, monkeypatch), original)


FOREIGN = (
    b"",
    b"\xff" * 7,
    LENGTH.pack(1 << 60),
    b"[]" + LENGTH.pack(2),
    b"null" + LENGTH.pack(4),
    b"[" * 20_000 + LENGTH.pack(20_000),
    b'{"rows": -1, "columns": []}' + LENGTH.pack(27),
    b'{"rows": 9, "columns": [["kernel_ns", null, "|O8"]], "arrays":[]}' + LENGTH.pack(65),
    b'{"rows": 9, "columns": [["kernel_ns", null, "<f8"]], "arrays":[]}' + LENGTH.pack(65),
)


@for_all("contents", FOREIGN)
def test_a_copy_that_is_whole_but_not_ours_is_no_error(tmp_path, kept, contents):
    path = written(tmp_path / "report")
    name = f"{fingerprints.fingerprint(path)}-{reading_digest()}"
    assert kept.write(name, [contents])
    check_same(performance_of(path, kept, 0), performance_of(path))


def test_another_version_of_the_code_has_copies_of_its_own(tmp_path, kept, monkeypatch):
    path = written(tmp_path / "report")
    performance_of(path, kept, 0)
    try:
        for count, (name, value) in enumerate(
            (("__version__", "0.0.0"), ("CODE", ("wire.py",)), ("CODE", ("run",))), 2
        ):
            monkeypatch.setattr(digests, name, value)
            reading_digest.cache_clear()
            performance_of(path, kept, 0)
            assert len(copies(kept)) == count
    finally:
        reading_digest.cache_clear()


def test_small_reports_have_no_copy_and_neither_has_anything_with_the_cache_off(tmp_path, kept):
    path = written(tmp_path / "report")
    performance_of(path, kept)
    performance_of(path, nothing := KeptFiles(kept.folder, 0), 0)
    kept.finish()
    nothing.finish()
    assert not kept.folder.exists()


@for_all("tool", ["open_run", "optimization_check", "list_ops", "host_overhead"])
async def test_answers_after_a_restart_are_the_same_and_the_reports_folder_stays_as_it_was(
    tmp_path, monkeypatch, tool
):
    monkeypatch.setattr(kept_report.performance_of, "__defaults__", (None, 0))
    path = written(tmp_path / "report")
    before = sorted(path.parent.iterdir())
    first = await ask(Session(Settings(state=tmp_path / "state")), tool, run=str(path))
    assert list((tmp_path / "state" / "cache").iterdir())
    monkeypatch.setattr(kept_report, "read_performance_csv", lambda path: pytest.fail(f"{path} was parsed"))
    assert await ask(Session(Settings(state=tmp_path / "state")), tool, run=str(path)) == first
    assert sorted(path.parent.iterdir()) == before


async def test_a_state_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_report.performance_of, "__defaults__", (None, 0))
    path = written(tmp_path / "report")
    (tmp_path / "file").write_bytes(b"")
    answer = await ask(Session(Settings(state=tmp_path / "file")), "open_run", run=str(path))
    assert answer["rows"]["device"]


def test_the_summary_is_where_the_format_says(tmp_path, kept):
    path = written(tmp_path / "report")
    performance_of(path, kept, 0)
    contents = kept.read(copies(kept)[0].name.removesuffix(".kept"))
    (length,) = struct.unpack_from("<Q", contents, len(contents) - 8)
    assert bytes(contents[-8 - length :]).startswith(b'{"generation": "C7"')

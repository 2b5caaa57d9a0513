"""Which reports patterns name, on disk and in an object store, and what is told where they name none."""

import os

import pytest

from tests.archive.bucket import WRITTEN, Bucket
from tests.for_all import for_all
from ttnn_mcp.archive import sources as module
from ttnn_mcp.archive.sources import Source, local_copy, sources
from ttnn_mcp.errors import ReportMissing

REPORT = "ops_perf_results_2026_01_01_00_00_00.csv"


def touched(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def found(folder, pattern):
    start = f"{folder.absolute()}/"
    return [source.address.removeprefix(start) for source in sources([str(folder / pattern)]).reports]


def test_below_a_folder_reports_count_by_their_names_and_not_in_hidden_or_generated_folders(tmp_path):
    touched(tmp_path, REPORT, "b/ops_perf_results.csv", "b/other.csv", "b/notes.txt", ".git/ops_perf_results.csv")
    touched(tmp_path, "node_modules/ops_perf_results.csv", "tensors/ops_perf_results.csv")
    (tmp_path / "b" / "ops_perf_results_gone.csv").symlink_to(tmp_path / "nowhere")
    assert found(tmp_path.parent, tmp_path.name) == [
        f"{tmp_path.name}/{name}" for name in ("b/ops_perf_results.csv", REPORT)
    ]


def test_a_wildcard_names_any_csv_and_what_lies_in_folders(tmp_path):
    touched(tmp_path, "a/mine.csv", "a/OTHER.CSV", "a/notes.txt", "b.csv/ops_perf_results.csv", "b.csv/other.csv")
    assert found(tmp_path, "a/*") == ["a/OTHER.CSV", "a/mine.csv"]
    assert found(tmp_path, "*.csv") == ["b.csv/ops_perf_results.csv"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_a_wildcard_names_no_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    touched(tmp_path, "mine.csv")
    assert found(tmp_path, "*.csv") == ["mine.csv"]


def test_a_file_may_have_any_name_that_a_report_may_have(tmp_path):
    touched(tmp_path, "mine.csv")
    assert found(tmp_path, "mine.csv") == ["mine.csv"]


def test_a_file_whose_name_has_wildcards_is_taken_as_it_is(tmp_path):
    touched(tmp_path, "run[1].csv", "run1.csv")
    assert found(tmp_path, "run[1].csv") == ["run[1].csv"]


def test_a_memory_report_is_no_performance_report(tmp_path):
    touched(tmp_path, "db.sqlite")
    with pytest.raises(ReportMissing, match=r"No performance report matches .*db\.sqlite"):
        sources([str(tmp_path / "db.sqlite")])


def test_a_folder_that_nobody_may_look_into_is_named(tmp_path, monkeypatch):
    touched(tmp_path, REPORT)

    def closed(folder, onerror, real=module.os.walk):
        onerror(PermissionError(13, "Permission denied", f"{folder}/secret"))
        return real(folder, onerror=onerror)

    monkeypatch.setattr(module.os, "walk", closed)
    reports, skipped = sources([str(tmp_path)])
    assert len(reports) == 1
    assert skipped[0].endswith("secret could not be looked into")


@for_all(
    ("pattern", "hint"),
    [
        ("nightli/*.csv", r"\. Did you mean nightly\?"),
        ("nightly/today/*/*.csv", r"\. Did you mean monday\?"),
        ("nightly", r"\. It holds no ops_perf_results\*\.csv\."),
    ],
)
def test_a_pattern_that_names_nothing_is_told_the_part_that_is_not_there(tmp_path, pattern, hint):
    touched(tmp_path, "nightly/monday/notes.txt")
    with pytest.raises(ReportMissing, match=f"No performance report matches .*{hint}"):
        sources([str(tmp_path / pattern)])


def test_a_relative_pattern_that_names_nothing_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ReportMissing, match="No performance report matches no/where"):
        sources(["no/where/*.csv"])


@pytest.fixture
def bucket(monkeypatch):
    made = Bucket("ci/night/old.csv")
    made.objects |= {f"ci/night/{name}": b"op" for name in (REPORT, "other.csv", "deep/ops_perf_results.csv")}
    made.objects["ci/night/ops_perf_results.txt"] = b""
    monkeypatch.setattr(module, "filesystem_of", made.at)
    return made


@for_all(
    ("url", "names"),
    [
        ("s3://ci/night", ["deep/ops_perf_results.csv", REPORT]),
        ("s3://ci/night/", ["deep/ops_perf_results.csv", REPORT]),
        (f"s3://ci/night/{REPORT}", [REPORT]),
        ("s3://ci/night/other.csv", ["other.csv"]),
        ("s3://ci/night/o*.csv", [REPORT, "other.csv"]),
        ("s3://ci/night/*", ["deep/ops_perf_results.csv", REPORT]),
    ],
)
def test_in_a_store_a_folder_stands_for_its_reports_and_a_wildcard_for_what_it_says(bucket, url, names):
    assert sources([url]).reports == [Source(f"s3://ci/night/{name}", 2, round(WRITTEN * 1e9)) for name in names]


@for_all("url", ["s3://ci/none", "s3://ci/night/old.csv", "s3://ci/night/*.txt"])
def test_in_a_store_too_a_pattern_may_name_nothing(bucket, url):
    with pytest.raises(ReportMissing, match="No performance report matches s3://ci") as refused:
        sources([url])
    assert "mean" not in str(refused.value)
    assert "There is" not in str(refused.value)


def test_a_report_in_a_store_is_fetched_for_as_long_as_it_is_read(bucket, tmp_path):
    with local_copy(Source(f"s3://ci/night/{REPORT}", 2, 0)) as path:
        assert (path.name, path.read_bytes()) == (REPORT, b"op")
    assert not path.exists()
    touched(tmp_path, REPORT)
    with local_copy(Source(str(tmp_path / REPORT), 1, 0)) as path:
        assert path == tmp_path / REPORT


@for_all(
    ("name", "said"),
    [("profile_log_device.csv", "is the device's raw log"), ("absent.csv", r"There is no absent\.csv in")],
)
def test_a_file_that_is_named_and_no_report_is_told_as_when_it_is_opened(tmp_path, name, said):
    touched(tmp_path, "profile_log_device.csv")
    with pytest.raises(ReportMissing, match=said):
        sources([str(tmp_path / name)])


def test_a_pattern_on_a_drive_that_is_not_there_is_refused(monkeypatch):
    asked = iter(range(50))  # then StopIteration: the search for a folder that exists has no end
    monkeypatch.setattr(module.Path, "is_dir", lambda _: next(asked) < 0)
    monkeypatch.setattr(module.os, "listdir", lambda place: (place / "nowhere").stat())
    with pytest.raises(ReportMissing, match=r"No performance report matches /no/where/\*\.csv\. Give files, "):
        sources(["/no/where/*.csv"])

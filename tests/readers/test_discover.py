import os
import sys
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ReportMissing
from ttnn_mcp.readers import discover as discovery
from ttnn_mcp.readers.discover import classify, discover, find_reports, is_performance_name

MEMORY = Path(__file__).parents[2] / "../shared/data/memory"


def made(path, text="OP CODE\n", age=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return path


@pytest.fixture
def generated(tmp_path):
    root = tmp_path / "generated"
    made(root / "profiler/reports/2026_01_01_00_00_00/ops_perf_results_2026_01_01_00_00_00.csv", age=30)
    made(root / "profiler/reports/2026_01_01_00_00_00/profile_log_device.csv")
    made(root / "profiler/reports/unet/2026_02_01_00_00_00/ops_perf_results_unet_2026_02_01.csv", age=20)
    made(root / "ttnn/reports/unet_feb01_1200/db.sqlite", age=10)
    made(root / "ttnn/reports/11911356357027855134/db.sqlite", age=40)
    made(root / "ttnn/reports/11911356357027855134/config.json", '{"report_name": "resnet50"}')
    return root


def test_reports_are_found_newest_first(generated):
    found = find_reports([generated])
    assert [(report.kind, report.name) for report in found] == [
        ("memory", "unet_feb01_1200"),
        ("performance", "unet/2026_02_01_00_00_00"),
        ("performance", "2026_01_01_00_00_00"),
        ("memory", "resnet50"),
    ]
    assert found[0].path.name == "db.sqlite"
    assert found[1].path.parent == found[1].folder


def test_the_reports_of_each_rank_and_of_tt_torch_are_found(tmp_path):
    made(tmp_path / "run/rank0/ops_perf_results.csv")
    made(tmp_path / "run/rank1/ops_perf_results.csv")
    made(tmp_path / "results/perf/device_ops_perf_trace.csv")
    tables = [report for report in discover([tmp_path]).reports if report.kind == "performance"]
    assert {report.folder.name for report in tables} == {"rank0", "rank1", "perf"}


def test_the_newest_of_several_csvs_is_read_and_the_others_are_named(tmp_path):
    made(tmp_path / "ops_perf_results_old.csv", age=100)
    made(tmp_path / "ops_perf_results_new.csv")
    (report,) = classify(tmp_path)
    assert report.path.name == "ops_perf_results_new.csv"
    assert "ops_perf_results_old.csv" in report.caveats[0]


def test_two_csvs_of_a_folder_are_two_reports(tmp_path):
    made(tmp_path / "run/ops_perf_results_old.csv", age=100)
    made(tmp_path / "run/ops_perf_results_new.csv")
    newest, old = find_reports([tmp_path])
    assert (newest.path.name, newest.name, newest.older) == ("ops_perf_results_new.csv", "run", False)
    assert (old.path.name, old.name, old.older) == ("ops_perf_results_old.csv", "run", True)
    assert old.caveats == ()


def test_a_root_that_is_not_there_holds_nothing(tmp_path):
    assert discover([tmp_path / "nowhere"]).reports == ()


def test_folders_deeper_than_the_limit_and_hidden_ones_are_left_alone(tmp_path):
    made(tmp_path / "a/b/c/d/e/f/ops_perf_results.csv")
    made(tmp_path / "a/b/c/d/e/f/g/ops_perf_results.csv")
    made(tmp_path / ".logs/ops_perf_results.csv")
    assert len(find_reports([tmp_path])) == 1


def test_links_that_run_in_circles_are_followed_once(generated):
    (generated / "profiler/again").symlink_to(generated, target_is_directory=True)
    (generated / "self").symlink_to(generated / "self", target_is_directory=True)
    assert len(find_reports([generated, generated])) == 4


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="nothing is unreadable here")
def test_a_folder_that_may_not_be_read_is_told(generated):
    (generated / "profiler").chmod(0)
    try:
        found = discover([generated])
    finally:
        (generated / "profiler").chmod(0o755)
    assert len(found.reports) == 2
    assert "profiler" in found.skipped[0]


def test_a_folder_that_cannot_be_listed_is_told(generated, monkeypatch):
    listed = os.scandir

    def refusing(path):
        if Path(path).name == "profiler":
            raise PermissionError
        return listed(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = discover([generated])
    assert len(found.reports) == 2
    assert found.skipped == ("profiler could not be read",)


@for_all(
    ("path", "kind"),
    [
        ("profiler/reports/2026_01_01_00_00_00", "performance"),
        ("profiler/reports/unet", "performance"),
        ("profiler/reports/2026_01_01_00_00_00/ops_perf_results_2026_01_01_00_00_00.csv", "performance"),
        ("ttnn/reports/unet_feb01_1200", "memory"),
        ("ttnn/reports/unet_feb01_1200/db.sqlite", "memory"),
    ],
)
def test_a_path_is_the_report_it_leads_to(generated, path, kind):
    [report] = classify(generated / path)
    assert report.kind == kind


def test_a_folder_holding_one_of_each_is_both(tmp_path):
    made(tmp_path / "apart/memory/db.sqlite")
    made(tmp_path / "apart/perf/2026/ops_perf_results.csv")
    made(tmp_path / "together/db.sqlite")
    made(tmp_path / "together/ops_perf_results.csv")
    for folder in ("apart", "together"):
        assert [report.kind for report in classify(tmp_path / folder)] == ["performance", "memory"]


def test_several_reports_of_a_kind_ask_for_one_by_name(generated):
    with pytest.raises(
        ReportMissing, match=r"holds 2 performance reports: name the folder of one\. There is: reports/unet"
    ):
        classify(generated / "profiler")


def test_a_mistyped_path_names_what_is_near(generated):
    with pytest.raises(ReportMissing, match=r"no unet_feb01_1300 in reports\. Did you mean unet_feb01_1200"):
        classify(generated / "ttnn/reports/unet_feb01_1300/db.sqlite")
    with pytest.raises(ReportMissing, match="Did you mean profiler"):
        classify(generated / "profilr/reports/x")


def test_a_folder_without_a_report_says_what_is_expected(tmp_path):
    made(tmp_path / "empty/notes.txt")
    with pytest.raises(
        ReportMissing, match=r"no report in empty\. Expected: a folder with ops_perf_results.*notes.txt"
    ):
        classify(tmp_path / "empty")


def test_files_that_are_no_reports_are_refused(tmp_path):
    with pytest.raises(ReportMissing, match=r"notes\.txt is no report"):
        classify(made(tmp_path / "notes.txt"))
    with pytest.raises(ReportMissing, match="ops_perf_results"):
        classify(made(tmp_path / "profile_log_device.csv"))


def test_a_database_is_known_by_its_first_bytes_or_its_name(tmp_path):
    assert classify(made(tmp_path / "renamed.bin", "SQLite format 3\x00"))[0].kind == "memory"
    assert classify(made(tmp_path / "empty.sqlite", ""))[0].kind == "memory"


@for_all("path", ["\x00", "a\x00b", "x" * 5000, "", "~nobody-here/x"])
def test_paths_that_cannot_exist_are_refused(path):
    if path:
        with pytest.raises(ReportMissing):
            classify(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_opened(tmp_path):
    with pytest.raises(ReportMissing, match="null is not a regular file"):
        classify(os.devnull)
    os.mkfifo(tmp_path / "ops_perf_results.csv")
    with pytest.raises(ReportMissing, match="not a regular file"):
        classify(tmp_path / "ops_perf_results.csv")
    assert find_reports([tmp_path]) == []


def test_the_made_reports_are_found():
    if not MEMORY.is_dir():
        pytest.skip("the made reports are not here")
    found = discover([MEMORY])
    assert {report.name for report in found.reports if report.kind == "memory"} == {"g2025", "v2", "v2_1", "v3_3"}
    assert [report.name for report in found.reports if report.kind == "performance"] == ["2026_09_01_12_00_00"]
    assert [report.kind for report in classify(MEMORY / "v3_3_perf")] == ["performance"]


@pytest.mark.slow
def test_five_thousand_folders_are_looked_at(tmp_path):
    for at in range(4999):
        (tmp_path / f"{at}").mkdir()
    assert discover([tmp_path]).skipped == ()
    (tmp_path / "one_more").mkdir()
    [told] = discover([tmp_path]).skipped
    assert "has more than 5000 folders: give a root nearer" in told


def test_a_hundred_thousand_files_of_a_folder_are_looked_at(tmp_path, monkeypatch):
    class Listing:
        def __enter__(self):
            return iter(range(100_001))

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(os, "scandir", lambda _: Listing())
    assert discovery._entries(tmp_path) == [*range(100_000)]


def test_a_folder_that_is_one_run_is_searched_three_folders_deep(tmp_path):
    made(tmp_path / "near/a/b/c/ops_perf_results.csv")
    made(tmp_path / "far/a/b/c/d/ops_perf_results.csv")
    assert len(classify(tmp_path / "near")) == 1
    with pytest.raises(ReportMissing, match="There is no report in far"):
        classify(tmp_path / "far")


def test_reports_of_a_folder_come_before_those_below_it(tmp_path):
    own = made(tmp_path / "ops_perf_results.csv")
    made(tmp_path / "older/ops_perf_results.csv")
    assert [report.path for report in classify(tmp_path)] == [own]


def test_a_folder_is_no_report_whatever_its_name(tmp_path):
    (tmp_path / "ops_perf_results.csv").mkdir()
    (tmp_path / "db.sqlite").mkdir()
    (tmp_path / "tensors").mkdir()
    made(tmp_path / "tensors/ops_perf_results.csv")
    assert find_reports([tmp_path]) == []


@for_all(
    ("name", "is_it"),
    [
        ("ops_perf_results.csv", True),
        ("ops_perf_results_2026.csv", True),
        ("device_ops_perf_trace.csv", True),
        ("ops_perf_results.txt", False),
        ("results.csv", False),
    ],
)
def test_a_performance_report_is_known_by_its_name(name, is_it):
    assert is_performance_name(name) is is_it


def test_a_csv_is_known_by_its_ending_too(tmp_path):
    assert classify(made(tmp_path / "RENAMED.CSV"))[0].kind == "performance"


def test_only_a_hashed_memory_folder_is_called_by_its_config(tmp_path):
    for folder, file in (("123", "db.sqlite"), ("named", "db.sqlite"), ("456", "ops_perf_results.csv")):
        made(tmp_path / folder / file)
        made(tmp_path / folder / "config.json", '{"report_name": "resnet50"}')
    assert {report.folder.name: report.name for report in find_reports([tmp_path])} == {
        "123": "resnet50",
        "named": "named",
        "456": "456",
    }


def test_hidden_files_are_not_suggested(tmp_path):
    made(tmp_path / ".notes")
    with pytest.raises(ReportMissing, match=r"or one of these files\.$"):
        classify(tmp_path)


def test_a_path_of_which_nothing_is_there_is_told_to_its_end(monkeypatch):
    """As in a folder that was removed under the process."""
    asked = []

    def is_dir(path):
        asked.append(path)
        assert len(asked) < 20
        return False

    monkeypatch.setattr(Path, "is_dir", is_dir)
    assert discovery._nothing_at(Path("a/b/c")).startswith("There is no")


@for_all(("limit", "told"), [(4, False), (3, True)])
def test_a_folder_with_more_entries_than_are_looked_at_says_so(tmp_path, monkeypatch, limit, told):
    monkeypatch.setattr(discovery, "_ENTRIES", limit)
    for number in range(3):
        (tmp_path / f"ops_perf_results_{number}.csv").write_text("OP CODE\n")
    found = discovery.discover([tmp_path])
    sentence = f"{tmp_path.name} has 3 entries or more, and no others were looked at"
    assert found.skipped == ((sentence,) if told else ())
    newest_only = "the folder holds 3 CSVs; the newest is read"
    caveats = found.reports[0].caveats
    assert caveats[0].startswith(newest_only)
    assert caveats[1:] == ((f"{sentence}: a newer report may be among them",) if told else ())

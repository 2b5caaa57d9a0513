"""A pass over reports: patterns, what is new, what is damaged, and workers that die."""

from pathlib import Path

import pytest

from tests.archive.passes import Heard, passed
from tests.archive.reports import ROWS, report, three_nights
from tests.for_all import for_all
from ttnn_mcp.archive import adding, passes, pools
from ttnn_mcp.archive.adding import Added, Batch, add_batch, batches
from ttnn_mcp.archive.passes import Order, one_pass
from ttnn_mcp.archive.rows import Provenance
from ttnn_mcp.archive.sources import Source, Sources, sources
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.errors import ArchiveUnusable, ReportMissing


@pytest.fixture
def reports(tmp_path):
    return three_nights(tmp_path / "nightly")


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "archive")


def test_a_second_pass_opens_only_what_is_new(reports, folder, monkeypatch):
    first = passed(folder, reports)
    assert (first.new, first.known, first.ops) == (3, 0, 3 * ROWS)
    report(reports, 4, us=44)
    read = []
    monkeypatch.setattr(
        adding, "local_copy", lambda source, real=adding.local_copy: read.append(source.name) or real(source)
    )
    second = passed(folder, reports)
    assert (second.new, second.known, second.ops) == (1, 3, ROWS)
    assert read == ["ops_perf_results_2026_01_04_00_00_00.csv"]
    assert len(Archive(folder).known()) == 4


def test_a_copy_of_a_report_is_known_by_its_contents(reports, folder):
    passed(folder, reports)
    copy = reports / "copy" / "ops_perf_results_copy.csv"
    copy.parent.mkdir()
    copy.write_bytes(next(reports.glob("day_1/*.csv")).read_bytes())
    again = passed(folder, reports)
    assert (again.new, again.known, again.ops) == (0, 4, 0)


def test_after_a_pass_small_parts_are_packed_and_what_they_replace_is_swept(reports, folder, monkeypatch):
    done = []
    monkeypatch.setattr(passes, "pack_small", lambda _: done.append("packed"))
    monkeypatch.setattr(Archive, "sweep", lambda _: done.append("swept"))
    passed(folder, reports)
    assert done == ["packed", "swept"]


def test_copies_in_one_pass_count_once(reports, folder):
    copy = reports / "ops_perf_results_copy.csv"
    copy.write_bytes(next(reports.glob("day_1/*.csv")).read_bytes())
    first = passed(folder, reports)
    assert (first.new, first.known, first.ops) == (3, 1, 3 * ROWS)


def test_damaged_reports_are_listed_and_the_others_are_added(reports, folder):
    (reports / "ops_perf_results_binary.csv").write_bytes(bytes(range(256)) * 20)
    (reports / "ops_perf_results_empty.csv").write_bytes(b"")
    outcome = passed(folder, reports)
    assert outcome.new == 3
    names = {Path(damage.report).name for damage in outcome.damaged}
    assert names == {"ops_perf_results_binary.csv", "ops_perf_results_empty.csv"}
    assert all(damage.why.endswith(".") for damage in outcome.damaged)
    assert passed(folder, reports).new == 0


def test_a_listener_hears_of_every_report(reports, folder):
    heard = Heard()
    one_pass(Order((str(reports),), folder), heard)
    assert (heard.began, heard.done, heard.ended) == (3, 3, 1)


def test_a_bound_holds_after_a_pass(reports, folder):
    passed(folder, reports)
    size = sum(part.size for part in Archive(folder).parts())
    report(reports, 9, us=49)
    outcome = passed(folder, reports, most_bytes=size)
    assert outcome.left >= 1
    assert max(run.recorded_at for run in Archive(folder).known().values()) == max(
        run.recorded_at for part in Archive(folder).parts() for run in part.runs
    )


def test_an_interrupted_pass_is_taken_up_where_it_stopped(reports, folder, monkeypatch):
    def interrupted(*how):
        (added,) = [add_batch(*how)]
        if len(Archive(folder).known()) == 2:
            raise KeyboardInterrupt
        return added

    with monkeypatch.context() as stopping:
        stopping.setattr(pools, "add_batch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            passed(folder, reports)
    held = len(Archive(folder).known())
    assert 2 <= held <= 3
    outcome = passed(folder, reports)
    assert (outcome.new, outcome.known) == (3 - held, held)


@for_all(
    ("pattern", "count"),
    [
        ("nightly", 3),
        ("nightly/day_1", 1),
        ("nightly/*/*.csv", 3),
        ("nightly/**/*_02_*.csv", 1),
        ("nightly/day_[12]", 2),
    ],
)
def test_patterns_are_files_folders_and_wildcards(reports, pattern, count):
    assert len(sources([str(reports.parent / pattern)]).reports) == count


def test_a_report_named_twice_is_one(reports):
    file = next(reports.glob("day_1/*.csv"))
    assert len(sources([str(reports), str(file)]).reports) == 3


def test_all_reports_of_a_folder_count(reports):
    """Unlike a run that is opened, whose folder stands for its newest report."""
    for file in reports.glob("day_[23]/*.csv"):
        file.rename(reports / "day_1" / file.name)
    assert len(sources([str(reports / "day_1")]).reports) == 3


@for_all(
    ("pattern", "hint"),
    [
        ("nightli", "Did you mean nightly"),
        ("nightly/day_7/*.csv", "No performance report"),
        ("other", "It holds no"),
    ],
)
def test_a_pattern_that_names_nothing_is_refused_with_a_hint(reports, pattern, hint):
    (reports.parent / "other").mkdir()
    with pytest.raises(ReportMissing, match=hint):
        sources([str(reports.parent / pattern)])


def test_a_stamp_tells_a_changed_file_and_no_path():
    one = Source("/home/ada/model/ops_perf_results.csv", 10, 20)
    assert {len(one.stamp)} == {16}
    others = [one._replace(address="/home/ada/model/b.csv"), one._replace(size=11), one._replace(modified_ns=21)]
    assert len({source.stamp for source in (one, *others)}) == 4
    assert one.stamp == Source(*one).stamp
    assert "ada" not in one.stamp


def test_batches_hold_every_report_once_and_suffice_for_all_workers():
    reports = [Source(f"/r/{number}.csv", 1_000_000, 0) for number in range(100)]
    made = batches(reports, 4)
    assert [source for batch in made for source in batch.sources] == reports
    assert len(made) >= 4 * 4
    assert batches([], 4) == []
    huge = [Source("/r/huge.csv", 10**9, 0)] * 3
    assert [len(batch.sources) for batch in batches(huge)] == [1, 1, 1]


def test_few_reports_are_read_here_and_many_by_processes(monkeypatch):
    used = []
    monkeypatch.setattr(pools, "added_here", lambda *how: used.append("here") or iter(()))
    monkeypatch.setattr(pools, "added_by_processes", lambda *how: used.append(how[-1]) or iter(()))
    monkeypatch.setattr(pools, "added_by_cluster", lambda *how: used.append(how[-1]) or iter(()))
    small, large = (Batch((Source("/r/a.csv", size, 0),)) for size in (9_500_000, 10_000_000))
    monkeypatch.setattr(passes.os, "cpu_count", lambda: 2)
    list(passes._added(Order((), "/a"), [small, small]))  # two seconds of a process for one of reading
    list(passes._added(Order((), "/a"), [large, large]))
    list(passes._added(Order((), "/a", jobs=2), [small, small]))  # as it was asked for
    list(passes._added(Order((), "/a", jobs=3), [large, large]))
    list(passes._added(Order((), "/a", jobs=1), [large, large]))
    list(passes._added(Order((), "/a", cluster="tcp://head:8786"), [small]))
    list(passes._added(Order((), "/a", cluster="tcp://head:8786"), []))
    assert used == ["here", 2, 2, 2, "here", "tcp://head:8786"]


def test_a_cluster_gets_enough_batches_for_four_workers_to_end_together(monkeypatch, folder):
    work = []
    monkeypatch.setattr(
        passes, "sources", lambda _: Sources([Source("/r/a.csv", 1000, day) for day in range(320)], [])
    )
    monkeypatch.setattr(pools, "added_by_cluster", lambda _folder, batches, *_: work.append(batches) or iter(()))
    passed(folder, "/r", cluster="tcp://head:8786")
    assert [len(batches) for batches in work] == [4 * 8]


def test_a_bound_holds_after_a_pass_that_finds_nothing_new(reports, folder):
    """The pass before may have been interrupted before it made room, and the bound may be a lower one."""
    passed(folder, reports)
    size = sum(part.size for part in Archive(folder).parts())
    again = passed(folder, reports, most_bytes=size - 1)
    assert (again.new, again.known, again.left) == (0, 3, 1)
    assert len(Archive(folder).known()) == 2


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(pools.importlib, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    with pytest.raises(ArchiveUnusable, match=r"pip install 'ttnn-mcp\[cluster\]'"):
        next(pools.added_by_cluster("/a", [Batch(())], Provenance(), "tcp://head:8786"))


def test_a_batch_tells_what_became_of_it(reports, folder):
    listed = sources([str(reports)]).reports
    batch = Batch(tuple(listed))
    assert add_batch(folder, batch, Provenance()) == Added(3, batch.size, 3, 0, 3 * ROWS, ())
    assert add_batch(folder, batch, Provenance()) == Added(3, batch.size, 0, 3, 0, ())

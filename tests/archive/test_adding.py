"""Batches of reports: how many go together, and what happens to one that changes while it is read."""

from tests.archive.passes import passed
from tests.archive.reports import ROWS, report
from tests.for_all import for_all
from ttnn_mcp.archive import adding
from ttnn_mcp.archive.adding import Batch, add_batch, batches
from ttnn_mcp.archive.rows import Provenance
from ttnn_mcp.archive.sources import Source
from ttnn_mcp.archive.store import Archive

OPS_PER_REPORT, BYTES_PER_OP = 20_000, 1_500


@for_all(
    ("size", "reports", "together"),
    [
        (OPS_PER_REPORT * BYTES_PER_OP, 80, 100_000 // OPS_PER_REPORT),  # rows of a part that two MB hold
        (1_000, 1_280, 64),  # an interruption loses no more
        (1_000, 80, 10),  # an eighth, so that a progress bar moves
    ],
    ids=["large", "small", "few"],
)
def test_a_batch_is_small_enough_to_be_lost_and_large_enough_to_make_a_part(size, reports, together):
    made = batches([Source(f"/r/{number}.csv", size, 0) for number in range(reports)])
    assert {len(batch.sources) for batch in made} == {together}


def test_several_workers_get_smaller_batches():
    made = batches([Source(f"/r/{number}.csv", 1_000, 0) for number in range(80)], workers=2)
    assert [(len(batch.sources), batch.size) for batch in made] == [(5, 5_000)] * 16


def test_a_report_that_changes_while_it_is_read_is_not_added(tmp_path, monkeypatch):
    path = report(tmp_path / "nightly")

    def growing(run, *words, real=adding.rows_of, **how):
        rows = real(run, *words, **how)
        path.write_text(path.read_text() + "\n")
        return rows

    with monkeypatch.context() as writing:
        writing.setattr(adding, "rows_of", growing)
        outcome = passed(str(tmp_path / "archive"), path)
    assert outcome.new == 0
    assert "changed while it was read" in outcome.damaged[0].why
    assert passed(str(tmp_path / "archive"), path).new == 1


def test_the_same_contents_twice_are_one_run_and_what_cannot_be_read_is_none(tmp_path, monkeypatch):
    path = report(tmp_path / "nightly")
    copy, torn = path.with_name("copy.csv"), path.with_name("torn.csv")
    for other in (copy, torn):
        other.write_bytes(path.read_bytes())
    reading = adding.local_copy

    def local_copy(source):
        if "torn" in source.name:
            raise PermissionError(13, "secret")
        return reading(source)

    monkeypatch.setattr(adding, "local_copy", local_copy)
    sources = tuple(Source(str(one), one.stat().st_size, 5_000_000_000) for one in (copy, path, torn))
    added = add_batch(str(tmp_path / "archive"), Batch(sources), Provenance(None, None))
    assert (added.new, added.known, added.ops) == (1, 1, ROWS)
    assert [one.why for one in added.damaged] == ["It cannot be read (PermissionError)."]
    (kept,) = Archive(tmp_path / "archive").known().values()
    assert (kept.recorded_at, kept.stamp) == (5, sources[0].stamp)

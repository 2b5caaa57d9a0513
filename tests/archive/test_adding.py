"""Batches of reports: how many go together, and what happens to one that changes while it is read."""

from tests.archive.passes import passed
from tests.archive.reports import report
from tests.for_all import for_all
from ttnn_mcp.archive import adding
from ttnn_mcp.archive.adding import batches
from ttnn_mcp.archive.sources import Source

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

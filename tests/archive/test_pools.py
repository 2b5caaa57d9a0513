"""Who reads the batches: processes that die, and the workers of a cluster. Real ones die in tests/test_killed_readers.py."""

from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool

import pytest

from tests.archive.cluster import Cluster, KilledWorker
from tests.for_all import for_all
from ttnn_mcp.archive import pools
from ttnn_mcp.archive.adding import Added, Batch
from ttnn_mcp.archive.rows import Provenance
from ttnn_mcp.archive.sources import Source
from ttnn_mcp.errors import ArchiveUnusable
from ttnn_mcp.run.reading_digest import reading_digest

BATCHES = [Batch((Source(f"/r/{name}.csv", 10, 0),)) for name in "abc"]


def done(batch):
    return Added(1, batch.size, 1, 0, 9, ())


def test_what_a_worker_of_a_cluster_refuses_comes_back_as_text(monkeypatch):
    def refused(*_):
        raise ArchiveUnusable("The folder is full.")

    monkeypatch.setattr(pools, "add_batch", refused)
    assert pools._refusal_as_result("folder", Batch(()), Provenance(None, None)) == "The folder is full."


@pytest.fixture
def processes(monkeypatch):
    """`processes(*rounds)`: how many batches each pool reads before a process of it dies; returns what each was given."""

    def of(*rounds):
        pools_made = []

        class Pool:
            def __init__(self, jobs, mp_context):
                self.jobs, self.given, self.ended = jobs, [], None
                pools_made.append(self)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

            def shutdown(self, *, wait, cancel_futures):
                self.ended = (wait, cancel_futures)

            def submit(self, _work, _folder, batch, _provenance):
                future, lives = Future(), rounds[len(pools_made) - 1]
                if len(self.given) < lives:
                    future.set_result(done(batch))
                else:
                    future.set_exception(BrokenProcessPool())
                self.given.append(batch)
                return future

        monkeypatch.setattr(pools, "ProcessPoolExecutor", Pool)
        monkeypatch.setattr(pools, "as_completed", list)
        return pools_made

    return of


def read(jobs=2):
    return list(pools.added_by_processes("/a", BATCHES, Provenance(), jobs))


def test_what_a_dead_process_did_not_finish_is_done_again_and_nothing_else(processes):
    made = processes(2, 3)
    assert read() == [done(batch) for batch in BATCHES]
    assert [(pool.given, pool.jobs) for pool in made] == [(BATCHES, 2), (BATCHES[2:], 1)]


def test_a_batch_whose_process_died_three_times_is_given_up_and_its_reports_are_named(processes):
    made = processes(1, 0, 0)
    first, *lost = read()
    assert first == done(BATCHES[0])
    assert [len(pool.given) for pool in made] == [3, 2, 2]
    assert [added.damaged[0].report for added in lost] == ["/r/b.csv", "/r/c.csv"]
    assert all("died each time" in added.damaged[0].why and added.new == 0 for added in lost)


def test_a_pass_that_is_interrupted_reads_no_more(processes):
    made, reading = processes(3), pools.added_by_processes("/a", BATCHES, Provenance(), 2)
    assert next(reading) == done(BATCHES[0])
    with pytest.raises(KeyboardInterrupt):
        reading.throw(KeyboardInterrupt)
    assert [pool.ended for pool in made] == [(False, True)]


@pytest.fixture
def over(monkeypatch):
    """`over(cluster)`: what its workers added."""
    monkeypatch.setattr(pools, "add_batch", lambda _folder, batch, _provenance: done(batch))

    def added(cluster):
        monkeypatch.setattr(pools.importlib, "import_module", {"distributed": cluster}.get)
        return list(pools.added_by_cluster("/a", BATCHES, Provenance(), "tcp://head:8786"))

    return added


def test_a_cluster_adds_what_its_workers_read_and_names_what_killed_them(over):
    cluster = Cluster(None, (KilledWorker, KilledWorker("a"), None), None)
    one, killed, three = over(cluster)
    assert (one, three) == (done(BATCHES[0]), done(BATCHES[2]))
    assert (killed.new, killed.damaged[0].report) == (0, "/r/b.csv")
    assert cluster.closed == 1


@for_all(
    ("end", "said"),
    [
        ("The archive /a cannot be written. Check that it is there.", r"^The archive /a cannot be written"),
        ((RuntimeError, RuntimeError("s3cret"), None), r"tcp://head:8786 failed \(RuntimeError\)\. Its log"),
        (CancelledError("s3cret"), r"failed \(CancelledError\)\. Its log"),
    ],
    ids=["refused", "raised", "cancelled"],
)
def test_a_worker_that_fails_ends_the_pass_in_our_words(over, end, said):
    cluster = Cluster(None, end, None)
    with pytest.raises(ArchiveUnusable, match=said) as refused:
        over(cluster)
    assert "s3cret" not in str(refused.value)
    assert cluster.closed == 1


@for_all(
    ("cluster", "said"),
    [
        (Cluster(unreachable=OSError("no route")), "No Dask scheduler answers at tcp://head:8786"),
        (Cluster(digests={}), "has no workers yet"),
        (Cluster(digests=ModuleNotFoundError("ttnn_mcp")), r"cannot run ttnn-mcp \(ModuleNotFoundError\)"),
        (
            Cluster(digests={"tcp://one": reading_digest(), "tcp://two": "older"}),
            "1 of 2 workers have another version .* as tcp://two",
        ),
    ],
)
def test_a_cluster_that_cannot_read_for_us_is_refused_before_it_reads(over, cluster, said):
    with pytest.raises(ArchiveUnusable, match=said):
        over(cluster)

"""A Dask cluster without Dask: its client, and workers that do as a test says. tests/cluster has a real one."""

from itertools import count

from ttnn_mcp.run.reading_digest import reading_digest


class KilledWorker(Exception):  # noqa: N818 - Dask's name
    """As Dask raises it when a task's workers died too often."""


class Cluster:
    """Stands for the module `distributed`. `ends` has, per task, what it came to; None does it."""

    KilledWorker = KilledWorker

    def __init__(self, *ends, digests=None, unreachable=None):
        self.ends, self.unreachable = ends, unreachable
        self.digests = {"tcp://one": reading_digest()} if digests is None else digests
        self.closed = 0
        self.loop = object()
        self._number = count()

    def Client(self, address, **how):  # noqa: N802 - Dask's name
        if self.unreachable:
            raise self.unreachable
        return self

    def run(self, asked):
        if isinstance(self.digests, Exception):
            raise self.digests
        return self.digests

    def submit(self, work, *words, pure):
        assert not pure  # the same batch twice is done twice
        end = self.ends[next(self._number)]
        return Future(work(*words) if end is None else end)

    def as_completed(self, futures, *, loop, with_results, raise_errors):
        assert (loop, with_results, raise_errors) == (self.loop, True, False)
        return [(future, future.outcome) for future in list(futures)]

    def close(self, timeout):
        self.closed += 1


class Future:
    """A task that ended."""

    def __init__(self, outcome):
        self.outcome = outcome

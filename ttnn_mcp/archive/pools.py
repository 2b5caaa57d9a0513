"""Who reads the batches: this process, processes of this machine, or the workers of a Dask cluster.

A worker that dies takes its batch with it, which is done again by another. A batch whose workers keep dying is given
up and its reports are listed.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import importlib
import multiprocessing
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from ttnn_mcp.archive.adding import Added, Batch, Damage, add_batch
from ttnn_mcp.archive.rows import Provenance
from ttnn_mcp.errors import ArchiveUnusable, TtnnMcpError, shown
from ttnn_mcp.run.reading_digest import reading_digest

TRIES = 3  # of a batch whose worker died, as Dask has it by default
CONNECT_S = 15.0  # unmoved: how long to wait for a scheduler that does not answer
_DIED = "Its worker died each time, most likely for lack of memory. Add it alone, on a machine with more."


def added_here(folder: str, work: Sequence[Batch], provenance: Provenance) -> Iterator[Added]:
    """Read the batches in this process, one after the other."""
    for batch in work:
        yield add_batch(folder, batch, provenance)


def added_by_processes(folder: str, work: Sequence[Batch], provenance: Provenance, jobs: int) -> Iterator[Added]:
    """Read the batches with so many processes."""
    context = multiprocessing.get_context("spawn")  # a fork would copy locks that a thread of ours may hold
    waiting = list(work)
    for _ in range(TRIES):
        finished: set[Batch] = set()
        with ProcessPoolExecutor(min(jobs, len(waiting)), mp_context=context) as pool:
            futures = {pool.submit(add_batch, folder, batch, provenance): batch for batch in waiting}
            try:
                for future in as_completed(futures):
                    added = future.result()
                    finished.add(futures[future])
                    yield added
            except BrokenProcessPool:  # one worker died and the pool with it: what is not done yet is done again
                pass
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        waiting = [batch for batch in waiting if batch not in finished]
        if not waiting:
            return
    yield from map(_given_up, waiting)


def added_by_cluster(folder: str, work: Sequence[Batch], provenance: Provenance, address: str) -> Iterator[Added]:
    """Read the batches with the workers of the Dask cluster whose scheduler is at `address`.

    Raises:
        ArchiveUnusable: the cluster cannot be reached, or its workers have other code than this process.
    """
    distributed = _distributed()
    with _client(distributed, address) as client:
        _check_workers(client)
        futures = {
            client.submit(_refusal_as_result, folder, batch, provenance, pure=False): batch for batch in work
        }
        for future, outcome in distributed.as_completed(
            futures, loop=client.loop, with_results=True, raise_errors=False
        ):
            batch = futures.pop(future)
            if isinstance(outcome, Added):
                yield outcome
            elif isinstance(outcome, str):
                raise ArchiveUnusable(outcome)
            elif isinstance(outcome, tuple) and issubclass(outcome[0], distributed.KilledWorker):
                yield _given_up(batch)
            else:
                raise ArchiveUnusable(
                    f"A worker of the cluster {shown(address)} failed ({shown(_name_of(outcome))}). Its log says why."
                )


def _refusal_as_result(folder: str, batch: Batch, provenance: Provenance) -> Added | str:
    """A batch on a worker; what our own errors say comes back as text, which needs no class of ours to be read."""
    try:
        return add_batch(folder, batch, provenance)
    except TtnnMcpError as refusal:
        return str(refusal)


def _given_up(batch: Batch) -> Added:
    damaged = tuple(Damage(source.shown, _DIED) for source in batch.sources)
    return Added(len(batch.sources), batch.size, 0, 0, 0, damaged)


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise ArchiveUnusable(
            "--dask needs dask.distributed. Install it: pip install 'ttnn-mcp[cluster]'."
        ) from None


@contextmanager
def _client(distributed: Any, address: str) -> Generator[Any]:
    try:
        client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError):
        raise ArchiveUnusable(
            f"No Dask scheduler answers at {shown(address)}. Start one with 'dask scheduler', or correct the address."
        ) from None
    try:
        yield client
    finally:
        client.close(timeout=CONNECT_S)


def _check_workers(client: Any) -> None:
    """Refuse a cluster without workers, or with workers that would read reports in another way."""
    try:
        digests = client.run(reading_digest)
    except Exception as failed:  # noqa: BLE001 - whatever the worker raised, it cannot work for us
        raise ArchiveUnusable(
            f"The cluster's workers cannot run ttnn-mcp ({shown(type(failed).__name__)}). Install the same version "
            "there."
        ) from None
    if not digests:
        raise ArchiveUnusable("The cluster has no workers yet. Start some with 'dask worker ADDRESS'.")
    others = [worker for worker, digest in digests.items() if digest != reading_digest()]
    if others:
        raise ArchiveUnusable(
            f"{len(others)} of {len(digests)} workers have another version of ttnn-mcp, pandas or numpy, as "
            f"{shown(others[0])}. Install the same everywhere."
        )


def _name_of(outcome: object) -> str:
    """The class of what a task raised: in a tuple as `sys.exc_info` has it, or itself where the task was cancelled."""
    return outcome[0].__name__ if isinstance(outcome, tuple) else type(outcome).__name__

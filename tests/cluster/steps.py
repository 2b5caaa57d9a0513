"""The steps of the proof."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

from tests.cluster.made_reports import DAMAGED
from tests.cluster.processes import KEYS, Cluster, asked, command, finished, free_port, listening, running
from ttnn_mcp.archive.memory_of_ops import WORK_AT_MOST
from ttnn_mcp.archive.precedents import Alike, earlier_of
from ttnn_mcp.archive.store import Archive

DAMAGED_STATUS = 3
FASTER_AT_LEAST = 1.6
SEEN_S = 0.5
IN_STORE = 25  # reports that go to the object store
# hashes are counted: ten million whole keys would not fit into the memory that an archive's engine is given
ROWS = "SELECT count(*), count(DISTINCT hash(run_key, line, device)), count(DISTINCT run_key) FROM ops"


def two_workers_against_one(claims, folder, stack, count):
    """The same reports with one worker and with two, each into a new archive, after one look at all files."""
    paths = sorted((folder / "reports").glob("night_*/*.csv"))[:count]
    listing = [str(path) for path in paths]
    for path in paths:
        path.read_bytes()  # both find the files in memory
    cluster = Cluster(_made(folder / "scaling"), stack)
    rates = {}
    for workers in (1, 2):
        cluster.add_worker()
        load = os.getloadavg()[0]
        printed, _ = asked("add", *listing, "--to", folder / f"scaling-{workers}", "--dask", cluster.address)
        rates[workers] = printed["ops"] / printed["seconds"]
        claims.note(
            f"{workers} workers: {rates[workers]:,.0f} ops/s over {printed['seconds']} s (load before {load:.1f})"
        )
    ratio = rates[2] / rates[1]
    claims.hold(f"two workers are at least {FASTER_AT_LEAST} times one", ratio >= FASTER_AT_LEAST, f"{ratio:.2f}")


def over_the_cluster(claims, folder, stack, reports, ops):
    """All reports with two workers, one of which is killed midway and replaced; then a second pass."""
    archive, source = folder / "archive", folder / "reports"
    cluster = Cluster(_made(folder / "cluster"), stack)
    first, _second = cluster.add_worker(), cluster.add_worker()
    words = ("add", source, "--to", archive, "--dask", cluster.address, "--label", "made")
    began = time.monotonic()
    adding = command(*words, "--json")
    _midway(archive, reports // 3, adding)
    cluster.kill(first)
    claims.note(f"killed a worker (SIGKILL) with {_held(archive):,} of {reports:,} runs in the archive")
    cluster.add_worker()
    printed = finished(adding, DAMAGED_STATUS)
    took = time.monotonic() - began
    claims.note(f"{printed['added']:,} runs, {printed['ops']:,} ops in {took:.0f} s: {ops / took:,.0f} ops/s")
    with Archive(archive).connection() as engine:
        rows, distinct, runs = engine.execute(ROWS).fetchall()[0]
        held = engine.execute("SELECT count(*), count(DISTINCT run_key), sum(ops) FROM runs").fetchall()[0]
    claims.hold("nothing is lost after the kill", (runs, rows) == (reports, ops), f"{runs:,} runs, {rows:,} rows")
    claims.hold("nothing is doubled", rows == distinct and held == (reports, reports, ops))
    damaged = {Path(each["report"]).name for each in printed["damaged"]}
    claims.hold("damaged reports are listed, and are not fatal", damaged == {*DAMAGED}, f"{len(damaged)} listed")
    printed, took = asked(*words, statuses=(DAMAGED_STATUS,))
    claims.hold(
        "a second pass reads only what is new",
        (printed["added"], printed["ops"], printed["known"]) == (0, 0, reports),
        f"{printed['known']:,} known, {took:.1f} s",
    )
    size = sum(file.stat().st_size for file in archive.iterdir())
    claims.note(
        f"the archive has {len(list(archive.iterdir()))} files, {size / 1e6:.0f} MB, {size / ops:.1f} B per op"
    )


def query_times(claims, folder, ops):
    """What answers ask of single signatures, by an archive that was just opened too, and of as many as one answer asks."""
    with Archive(folder / "archive").connection() as engine:
        kinds = engine.execute(
            "SELECT o.signature, r.arch, r.clock_mhz, r.devices, count(*) FROM ops o JOIN runs r USING (run_key) "
            "WHERE o.in_window AND o.kernel_us > 0 GROUP BY ALL ORDER BY count(*) DESC, 1"
        ).fetchall()
    claims.note(f"{len(kinds)} signatures; the most frequent has {kinds[0][4]:,} rows")
    took = []
    for signature, arch, clock, devices, rows in [*kinds[:5], *kinds[:: max(1, len(kinds) // 15)]]:
        began = time.perf_counter()
        with Archive(folder / "archive").connection() as engine:
            entries = earlier_of(engine, [signature], Alike("", arch, clock, devices))
        took.append(time.perf_counter() - began)
        assert sum(entry.timing.ops for entry in entries[signature]) >= rows
    worst, usual = max(took), statistics.median(took)
    measured = f"at most {worst:.3f} s, median {usual:.3f} s, the archive opened anew each time"
    claims.hold(
        f"what was seen of a signature, over {ops:,} rows, takes under {SEEN_S} s", worst < SEEN_S, measured
    )
    archive = Archive(folder / "archive")
    archive.connection().close()
    some = [kind for kind in kinds if kind[1:4] == kinds[0][1:4]][:WORK_AT_MOST]
    began = time.perf_counter()
    with archive.connection() as engine:
        found = earlier_of(engine, [kind[0] for kind in some], Alike("", *kinds[0][1:4]))
    took_s = time.perf_counter() - began
    claims.note(f"{len(found)} signatures at once, as an answer asks, archive open: {took_s:.3f} s")


def in_an_object_store(claims, folder, stack):
    """An archive in a bucket, filled by the workers of a cluster; reports read from a bucket too."""
    import s3fs

    port = free_port()
    stack.enter_context(running("-m", "moto.server", "-H", "127.0.0.1", "-p", str(port), log=folder / "s3.log"))
    listening(port)
    env = {**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
    os.environ.update(env)
    store = s3fs.S3FileSystem()
    store.mkdir("lab")
    cluster = Cluster(_made(folder / "store"), stack, env)
    cluster.add_worker()
    some = sorted((folder / "reports").glob("night_*/*.csv"))[:IN_STORE]
    for path in some[:5]:
        store.put_file(str(path), f"lab/nightly/{path.name}")
    url = "s3://lab/archive"
    printed, took = asked("add", *some[5:], "--to", url, "--dask", cluster.address)
    from_store, _ = asked("add", "s3://lab/nightly/*.csv", "--to", url, "--dask", cluster.address)
    ops = printed["ops"] + from_store["ops"]
    claims.note(
        f"{printed['ops']:,} ops into {url} in {took:.1f} s, {from_store['ops']:,} from reports in the bucket"
    )
    archive = Archive(url)
    with archive.connection() as engine:
        rows, distinct, runs = engine.execute(ROWS).fetchall()[0]
    claims.hold("an object store holds them all", (rows, distinct, runs) == (ops, ops, len(some)), f"{rows:,} rows")
    again = [asked("add", pattern, "--to", url)[0] for pattern in ("s3://lab/nightly/*.csv", some[-1])]
    claims.hold("a second pass over it reads nothing", not any(each["added"] for each in again))
    gone = sorted(archive.known())[:2]
    asked("forget", *gone, "--in", url)
    claims.hold("runs can be removed from it", len(Archive(url).known()) == len(some) - len(gone))


def _made(folder):
    folder.mkdir(parents=True)
    return folder


def _held(archive):
    return len(Archive(archive).known())


def _midway(archive, runs, adding):
    while adding.poll() is None and _held(archive) < runs:
        time.sleep(0.2)
    assert adding.poll() is None, f"it ended before a worker could be killed: {adding.communicate()[1][-1000:]}"

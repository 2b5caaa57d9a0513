"""Many calls to one server: its memory and its open files must not grow once it is warm."""

from __future__ import annotations

from statistics import median

from fuzz import doors
from fuzz.outside import judged, memory_kb, open_files
from fuzz.questions import GROUPS
from fuzz.verdict import Flaw

SAMPLED_EVERY = 50
WARM_SHARE = 0.3  # of the samples, before the server is called warm
MOST_GROWTH = 1.05
LEAST_SAMPLES = 10
RUNS = 12  # different runs: more than are kept open at a time


def run(sitting):
    """Calls until the time is up; then the samples are judged."""
    from fuzz.sources import sources

    csvs, databases, pairs = sources(sitting.folder / "sources", shared=False)
    paths = []
    for source in (*csvs[: RUNS - 5], *databases[-3:], *pairs[:2]):
        place = sitting.folder / "runs" / source.name
        place.mkdir(parents=True)
        source.write(place)
        paths.append(str(place))
    home = sitting.folder / "home"
    home.mkdir()
    server = doors.Stdio(home, "--root", str(sitting.folder / "runs"))
    samples = []
    try:
        for number in sitting.numbers():
            tool, arguments = call_of(sitting.random(number), paths)
            status, flaws = judged(tool, server.call(tool, arguments, 120))
            sitting.count(status, flaws, tool)
            if number % SAMPLED_EVERY == 0:
                samples.append((memory_kb(server.pid), open_files(server.pid)))
    except doors.Gone as gone:
        sitting.count("failure", [Flaw("server gone", "soak", str(gone))], "soak")
    finally:
        server.close()
    grown(sitting, samples)


def call_of(rng, paths):
    """A call that a session of use would make."""
    run = {"run": rng.choice((*paths, "demo"))}
    return rng.choice((
        ("open_run", run), ("optimization_check", run), ("list_ops", {**run, "group_by": rng.choice(GROUPS)}), ("op_detail", {**run, "op": rng.randrange(2, 30)}),
        ("sharding_summary", run), ("reshard_detect", run), ("host_overhead", run), ("tensor_formats", run), ("memory_summary", run),
        ("device_balance", run), ("time_budget", run), ("model_stages", run), ("compare_runs", {"baseline": run["run"], "candidate": rng.choice(paths)}), ("query_run", {**run, "sql": "SELECT * FROM ops"}),
        ("list_runs", {}), ("skill_step", {"page": "step-03"}), ("experiments", {"action": "list"}), ("open_run", {"run": "nosuch"}),
    ))  # fmt: skip


def grown(sitting, samples):
    """Judge the samples: the median of the last part against that of the first warm part."""
    if len(samples) < LEAST_SAMPLES:
        return
    warm = samples[round(len(samples) * WARM_SHARE) :]
    part = max(1, len(warm) // 4)
    before, after = (median(kb for kb, _ in some) for some in (warm[:part], warm[-part:]))
    sitting.tally["MB warm"], sitting.tally["MB at the end"] = round(before / 1024), round(after / 1024)
    sitting.tally["files open"] = warm[-1][1]
    if after > before * MOST_GROWTH:
        sitting.count(
            "failure", [Flaw("memory grows", "soak", f"{before / 1024:.0f} -> {after / 1024:.0f} MB")], "soak"
        )
    if warm[-1][1] > warm[0][1] + 4:
        sitting.count("failure", [Flaw("files stay open", "soak", f"{warm[0][1]} -> {warm[-1][1]}")], "soak")

"""Special files planted among reports, and a folder of 25,000: each call ends, in an answer or in our words."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from fuzz import doors
from fuzz.outside import judged
from fuzz.verdict import Flaw
from tests.profiles import write_memory_report, write_performance_report
from tests.programs import block

MANY = 25_000
SECONDS = 20.0  # for an answer; a pipe that is opened never ends
NAMES = (
    "ops_perf_results_2.csv", "profile_log_device.csv", "cpp_device_perf_report.csv", "cluster_descriptor.yaml",
    "db.sqlite-journal", "db.sqlite-wal", "db.sqlite-shm", "config.json", "db.sqlite", "ops_perf_results_1.csv",
    "physical_chip_mesh_coordinate_mapping.yaml", "more/db.sqlite", "more/ops_perf_results_3.csv",
)  # fmt: skip


def run(sitting):
    """One planted folder per case, until the time is up; the first holds a report under many names."""
    home, root = sitting.folder / "home", sitting.folder / "root"
    for place in (home, root):
        place.mkdir()
    server = doors.Stdio(home, "--root", str(root))
    try:
        for number in sitting.numbers():
            place = root / f"run-{number}"
            (crowded if number == sitting.first else laid_out)(place, sitting.random(number))
            if not asked(sitting, server, place, number):
                server.abort()
                server = doors.Stdio(home, "--root", str(root))
            emptied(place)
    finally:
        server.close()


def crowded(place, _rng):
    """One report under 25,000 names."""
    place.mkdir()
    first = write_performance_report(place / "made", block())
    for number in range(MANY):
        os.link(first, place / f"ops_perf_results_{number}.csv")
    first.unlink()


def laid_out(place, rng):
    """A good report, and special files under names that readers look for."""
    write_memory_report(place, block())
    write_performance_report(place / "made", block()).replace(place / "ops_perf_results_1.csv")
    for name in rng.sample(NAMES, rng.randint(1, 4)):
        path = place / name
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        PLANTS[rng.randrange(len(PLANTS))](path)


def _socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # a path of a socket has at most 107 bytes
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)


PLANTS = (
    os.mkfifo,
    _socket,
    Path.mkdir,
    *(lambda path, to=to: path.symlink_to(to) for to in ("/dev/zero", "/dev/random", "/dev/stdin", "/dev/tty", "nowhere")),
    lambda path: path.symlink_to(path.name),
)  # fmt: skip


def asked(sitting, server, place, number):
    """The questions about one folder; False where the server is of no further use."""
    run = {"run": str(place)}
    for tool, arguments in (
        ("list_runs", {}),
        ("open_run", run),
        ("open_run", {"performance": str(place / NAMES[number % len(NAMES)])}),
        ("open_run", {"memory": str(place / "db.sqlite")}),
        ("optimization_check", run),
        ("memory_summary", run),
        ("op_detail", {**run, "op": 3}),
    ):
        try:
            answer = server.call(tool, arguments, SECONDS)
        except doors.Gone as gone:
            sitting.count("failure", [Flaw("hangs", tool, f"case {number}: {gone}")], tool)
            return False
        status, flaws = judged(tool, answer)
        if tool == "list_runs" and number == sitting.first and f'"total":{MANY}' not in str(answer):
            flaws.append(Flaw("left out", tool, f"of {MANY} reports"))
        sitting.count(status, flaws, tool)
    return True


def emptied(place):
    """Take the folder away: files of any kind, links not followed."""
    for folder, folders, files in os.walk(place, topdown=False):
        for name in files:
            (Path(folder) / name).unlink()
        for name in folders:
            path = Path(folder) / name
            path.unlink() if path.is_symlink() else path.rmdir()
    place.rmdir()

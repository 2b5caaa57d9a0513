"""What a process takes: wall time, CPU time of all its threads, and the most memory it held."""

import os
import statistics
import subprocess
import time
from dataclasses import dataclass

MB = 1 << 20
# Every side reads the whole file right before its clock starts: the system takes pages back from its cache at any time.
WARMED = """
def warmed(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
"""


@dataclass(frozen=True)
class Cost:
    """Seconds and megabytes; CPU seconds are the steadier ones where the machine is busy."""

    wall: float
    cpu: float
    mb: float


def warmed(path):
    """Have a file in the system's cache."""
    with path.open("rb", buffering=0) as file:
        while file.read(MB):
            pass


def whole_process(command, reading, **options):
    """The cost of a process from its start to its end, the file it reads being in the system's cache."""
    warmed(reading)
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / MB)


def median(costs):
    """The median of each figure; of the memory, the most."""
    walls, cpus, megabytes = zip(*((cost.wall, cost.cpu, cost.mb) for cost in costs), strict=True)
    return Cost(statistics.median(walls), statistics.median(cpus), max(megabytes))

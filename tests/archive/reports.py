"""Small reports whose ops are known, for the tests of the archive's files."""

from pathlib import Path

from tests.profiles import Iteration, Program, write_performance_report

WARM = (Iteration(cold=True), Iteration(), Iteration())
OPS = 3  # per iteration
ROWS = OPS * len(WARM)  # ops of a report


def small_model(us=50.0, arch="wormhole_b0", **how):
    program = Program(arch, **how)
    program.op("EmbeddingsDeviceOperation", [program.tensor([1, 1, 32, 512])], kernel_ns=5_000)
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 1024, 1024])], kernel_ns=int(us * 1000))
    program.op("BinaryNgDeviceOperation", [program.tensor([1, 1, 1024, 1024])] * 2, kernel_ns=20_000)
    return program


def report(folder: Path, day: int = 1, us: float = 50.0, **how) -> Path:
    """A report whose name tells the day in January 2026."""
    place = folder / f"day_{day}"
    made = write_performance_report(place, small_model(us, **how), WARM)
    return made.rename(place / f"ops_perf_results_2026_01_{day:02}_00_00_00.csv")


def three_nights(folder):
    """A report each of the first three days, a little slower every day; the folder."""
    for day in (1, 2, 3):
        report(folder, day, us=40 + day)
    return folder

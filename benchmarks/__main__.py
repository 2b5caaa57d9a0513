"""Measure what we promise about speed, and print it as ratios: `python -m benchmarks [--cpu]`."""

import sys

from benchmarks import bench_large
from benchmarks.measures import MEASURES, told


def results():
    for measure in MEASURES:
        yield measure()
    yield from bench_large.results()


if __name__ == "__main__":
    sys.exit(told(results()))

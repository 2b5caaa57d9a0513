"""Measure what we promise about speed, and print it as ratios: `python -m benchmarks [--cpu]`."""

import sys

from benchmarks import bench_large
from benchmarks.measures import MEASURES


def results():
    for measure in MEASURES:
        yield measure()
    yield from bench_large.results()


def main():
    failed = False
    for result in results():
        failed |= result.missed
        print(f"{result.what}\n  {result.said}{'  MISSED' * result.missed}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Measure what we promise about speed, and print it as ratios: `python -m benchmarks`."""

import sys

from benchmarks import bench_again
from benchmarks.measures import MEASURES


def main():
    failed = False
    for measure in (*MEASURES, *bench_again.MEASURES):
        result = measure()
        print(f"{result.what}\n  {result.said}")
        failed |= result.ratio is not None and result.ratio > result.at_most
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

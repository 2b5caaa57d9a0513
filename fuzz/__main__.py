"""`python -m fuzz`: the parts of the fuzz, one after the other.

python -m fuzz --minutes 10                     all parts, each its share of the time
python -m fuzz --part files --minutes 5         one part
python -m fuzz --part files --seed 7 --first 1234 --most 1      one case again
python -m fuzz --again fuzz/failures/<name>     ask a kept failure again
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from fuzz.cases import Room, across
from fuzz.failures import Failures, read_case
from fuzz.sitting import Sitting
from fuzz.worker import Worker

TO_SHRINK = 0.3  # of a part's time, beyond it


def main(words=None):
    asked = _parser().parse_args(words)
    if asked.again:
        return again(Path(asked.again))
    from fuzz.parts import PARTS, SHARES
    from ttnn_mcp.session.settings import ARCHIVE_VARIABLE

    os.environ[ARCHIVE_VARIABLE] = "0"  # its process outlives a server, and writes where the cases were
    chosen = [asked.part] if asked.part else list(PARTS)
    seed = asked.seed if asked.seed is not None else int(time.time())
    print(f"seed {seed}", flush=True)
    failures = Failures()
    quick = Path("/dev/shm")  # noqa: S108 - memory where there is some: cases are thousands of small files
    for part in chosen:
        share = 1.0 if asked.part else SHARES[part]
        with tempfile.TemporaryDirectory(dir=quick if quick.is_dir() else None, prefix="ttnn-mcp-fuzz-") as folder:
            sitting = Sitting(
                part, seed, asked.minutes * 60 * share, Path(folder), failures, asked.most, asked.first,
                shared=not asked.made_only,
            )  # fmt: skip
            try:
                PARTS[part](sitting)
                shrinking = "\n  shrinking what failed" if failures.by_signature else ""
                print(f"  {sitting.line()}{shrinking}", flush=True)
                sitting.shrink(asked.minutes * 60 * share * TO_SHRINK)
            finally:
                sitting.close()
    for line in failures.summary():
        print(line)
    print(f"{len(failures.by_signature)} kinds of failure")
    return 1 if failures.by_signature else 0


def again(place):
    """Ask a kept case again and say what came of it."""
    worker = Worker()
    try:
        with tempfile.TemporaryDirectory() as folder:
            case = read_case(place)
            outcomes = Room(folder, worker).asked(case)
    finally:
        worker.close()
    flaws = [(one.tool, flaw) for one in outcomes for flaw in one.flaws]
    flaws += [("optimization_check", flaw) for flaw in across(outcomes)]
    for tool, flaw in flaws:
        print(f"FAILS {tool}: {flaw.kind}: {flaw.where} {flaw.detail}")
    if not flaws:
        print(f"holds: {', '.join(f'{one.tool} {one.status}' for one in outcomes)}")
    return 1 if flaws else 0


def _parser():
    parser = argparse.ArgumentParser("python -m fuzz", description="Fuzz ttnn-mcp through its public doors.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--part", help="as in fuzz/README.md")
    parser.add_argument("--seed", type=int, help="default: the time")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--most", type=int, help="cases at most")
    parser.add_argument("--made-only", action="store_true", help="leave out reports beside the checkout")
    parser.add_argument("--again", metavar="FOLDER", help="ask a kept failure again")
    return parser


if __name__ == "__main__":
    sys.exit(main())

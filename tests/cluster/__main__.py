"""The proof of the archive at size: python -m tests.cluster [--reports 2000]. Exits with 1 if anything does not hold.

Scheduler and workers are processes of their own and talk TCP; the object store is moto's server on loopback. All
reports are made from the real ones beside the checkout and are named so.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.cluster.claims import Claims
from tests.cluster.made_reports import base_of, write_damaged, write_reports
from tests.cluster.steps import in_an_object_store, over_the_cluster, query_times, two_workers_against_one

REAL = ("wh_clip_encoder_2", "bh_p100_dlv3", "ops_perf_results_2025_09_18_11_39_20", "bh_8xp150_deepseek_v3_d_p")
REAL += ("ops_perf_results_2025_02_16_18_11_10",)
BYTES_PER_OP = 1_700  # of the made reports, the archive included


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("--reports", type=int, default=2000)
    parser.add_argument("--ops", type=int, default=5000, help="in each report, at least")
    parser.add_argument("--scaling", type=int, default=200, help="reports to measure one worker against two with")
    parser.add_argument("--folder", help="where to make them (default: the folder for temporary files)")
    parser.add_argument("--keep", action="store_true", help="leave what was made")
    asked = parser.parse_args()
    shared = Path(__file__).resolve().parents[3] / "shared" / "data" / "perf"
    if not shared.is_dir():
        sys.exit("the real reports are not beside this checkout (../shared)")
    folder = Path(tempfile.mkdtemp(prefix="ttnn-cluster-", dir=asked.folder))
    needed = asked.reports * asked.ops * BYTES_PER_OP
    if shutil.disk_usage(folder).free < needed * 1.2:
        sys.exit(f"{needed / 1e9:.0f} GB are needed in {folder}; name another place with --folder")
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    claims = Claims()
    began = time.monotonic()
    try:
        bases = [base_of(shared / f"{name}.csv") for name in REAL]
        reports = folder / "reports"
        ops = write_reports(bases, reports, asked.reports, asked.ops)
        write_damaged(reports / "damaged")
        claims.note(f"made {asked.reports:,} reports with {ops:,} ops in {time.monotonic() - began:.0f} s")
        with ExitStack() as stack:
            two_workers_against_one(claims, folder, stack, asked.scaling)
        with ExitStack() as stack:
            over_the_cluster(claims, folder, stack, asked.reports, ops)
        query_times(claims, folder, ops)
        with ExitStack() as stack:
            in_an_object_store(claims, folder, stack)
    finally:
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)
    claims.note(f"the whole proof took {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}")
    return claims.status()


if __name__ == "__main__":
    sys.exit(main())

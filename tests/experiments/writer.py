"""Records experiments as fast as it can, telling each number once it is acknowledged. Made to be killed."""

import asyncio
import sys
from pathlib import Path

from ttnn_mcp.experiments.experiment import Experiment, RunSeen
from ttnn_mcp.experiments.store import Store


def experiment(change: str, *, verdict="keep", baseline="aaaaaaaa", candidate="bbbbbbbb", **more) -> Experiment:
    runs = [
        RunSeen(run, f"run {run}", f"/reports/{run}.csv", None, 1_000_000, True) for run in (baseline, candidate)
    ]
    told = {
        "step": 1, "pcc": 0.999, "wall_before_ms": None, "wall_after_ms": None, "measured": "faster",
        "judged_by": "kernel", "change_share": -0.1, "noise_share": 0.005, "verdict": verdict, "why": "measured",
    }  # fmt: skip
    return Experiment(change=change, baseline=runs[0], candidate=runs[1], **{**told, **more})


async def write(folder: Path, name: str, count: int) -> None:
    store = Store(folder)
    for number in range(count):
        saved = await store.add(experiment(f"{name}-{number}"))
        sys.stdout.write(f"{saved.id} {saved.change}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))

"""Many campaigns: python -m tests.campaigns [--campaigns 1000]. Exits with 1 if one of them went wrong."""

import argparse
import asyncio
import gc
import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from statistics import median
from typing import get_args

from tests.campaigns.campaign import Agent, Campaign, campaign
from ttnn_mcp.session.settings import ARCHIVE_VARIABLE

AGENTS: tuple[Agent, ...] = get_args(Agent)


def played(agent: Agent, seed: int) -> Campaign:
    gc.collect()  # the runs of the campaign before: few objects, but much memory
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(campaign(Path(folder), agent, seed))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.add_argument("--campaigns", type=int, default=1000, help="in all, of four agents in turn")
    parser.add_argument("--seed", type=int, default=0, help="of the first campaign")
    asked = parser.parse_args()
    os.environ[ARCHIVE_VARIABLE] = "0"  # a simulated run is no knowledge, and its report goes with its campaign
    wrong: list[str] = []
    ended: dict[Agent, list[Campaign]] = {agent: [] for agent in AGENTS}
    with ProcessPoolExecutor() as pool:
        games = {
            pool.submit(played, AGENTS[number % len(AGENTS)], asked.seed + number): asked.seed + number
            for number in range(asked.campaigns)
        }
        for count, game in enumerate(as_completed(games), start=1):
            ending = game.result()
            ended[ending.agent].append(ending)
            found = [f"{ending.agent} {games[game]}: {fault}" for fault in faults(ending)]
            sys.stdout.writelines(f"\n{fault}\n" for fault in found)
            wrong += found
            if count % 20 == 0 or count == len(games):
                sys.stderr.write(f"\r{count} of {len(games)} campaigns, {len(wrong)} faults ")
    sys.stderr.write("\n")
    for agent, campaigns in ended.items():
        sys.stdout.write(f"{summary(agent, campaigns)}\n")
    return 1 if wrong else 0


def faults(ending: Campaign) -> list[str]:
    """What must never happen."""
    return [
        *(f"kept falsely: {text}" for text in ending.false_keeps),
        *(f"named again: {text}" for text in ending.repeats),
        *(f"stopped too early: {text}" for text in ending.missed),
        *([] if ending.stop else [f"no end after {ending.rounds} rounds"]),
    ]


def summary(agent: Agent, campaigns: list[Campaign]) -> str:
    if not campaigns:
        return f"{agent}: none"
    over = [ending.over_best for ending in campaigns]
    reached = sum(each <= 1.02 for each in over)
    stops = ", ".join(
        f"{reason} {count}" for reason, count in Counter(each.stop for each in campaigns).most_common()
    )
    rounds = median(each.rounds for each in campaigns)
    return f"{agent}: {len(over)} campaigns, {rounds:g} rounds, optimum reached in {reached}; stops: {stops}"


if __name__ == "__main__":
    sys.exit(main())

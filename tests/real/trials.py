"""Judges settings that real TTNN accepted or refused, by the rules that check_setting uses, and counts agreement.

    python -m tests.real.trials FILE [--half SEED]

FILE is JSON: a list of {kind, grid, op, case, setting, value, accepted, circular_bytes_per_core, l1_tensors_before}.
The last line says how far we agree. The exit code is not 0 where we say yes to one setting that TTNN refused, where
fewer than 98 % of the accepted ones are judged so, or where fewer than 95 % of the buffers that we model come within
5 % of TTNN's. --half prints two random halves apart, so that rules can be written on one and tried on the other.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.real.trial_plans import PLANS
from ttnn_mcp.analyses.memory.l1_limit import L1Limit
from ttnn_mcp.analyses.settings.judged import judge
from ttnn_mcp.analyses.settings.trial import Trial, broken_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.real.planned import Planned
    from ttnn_mcp.analyses.settings.judged import Judged

ACCEPTED_SHARE, BUFFER_SHARE, BUFFER_ERROR = 0.98, 0.95, 0.05
L1 = {
    "wormhole": (1_499_136, 105_824),
    "blackhole": (1_572_864, 111_744),
}  # of a core; first circular buffer: 0.81.1
KINDS = {
    **dict.fromkeys(("n150", "n300", "t3k", "t3000", "galaxy"), "wormhole"),
    **dict.fromkeys(("p100", "p150", "p300", "bh8"), "blackhole"),
}
SMALL_BYTES = 32_768  # l1_small_size of the devices that the trials ran on


@dataclass(frozen=True)
class Outcome:
    """A trial and what we said of it."""

    row: dict[str, Any]
    judged: Judged
    own_bytes: int | None

    @property
    def yes(self) -> bool:
        return self.judged.verdict in ("fits", "legal")

    @property
    def wrong_yes(self) -> bool:
        return self.yes and not self.row["accepted"]

    @property
    def missed(self) -> bool:
        return bool(self.row["accepted"]) and not self.yes

    @property
    def buffers_close(self) -> bool | None:
        """Whether our buffers come close to TTNN's; None where one of the two is not known."""
        true = self.row.get("circular_bytes_per_core")
        if self.own_bytes is None or not true or not self.row["accepted"]:
            return None
        return abs(self.own_bytes / true - 1) <= BUFFER_ERROR


def outcome(row: dict[str, Any]) -> Outcome:
    """Judge one trial."""
    arch = KINDS[row["kind"]]
    size, first = L1[arch]
    limit = L1Limit(size - first, SMALL_BYTES, read=True, measured=True)
    plan = PLANS.get(row["op"])
    planned = plan(row, arch) if plan is not None else None
    if planned is None:
        return Outcome(row, judge(Trial(None, unknown="an op of no known kind"), limit), None)
    return _judged(row, planned, limit)


def _judged(row: dict[str, Any], planned: Planned, limit: L1Limit) -> Outcome:
    broken = broken_of(planned.rules)
    own = {} if broken else planned.buffers()
    # tensors lie below L1_SMALL; without one, TTNN lets the buffers grow into it
    tensors = 0 if broken else planned.tensors()
    room = limit.limit_bytes - (limit.small_bytes + tensors if tensors else 0)
    found = judge(Trial(None, broken, buffers=own), limit, room, older=False)
    return Outcome(row, found, None if broken else sum(own.values()))


def summary(outcomes: Iterable[Outcome]) -> tuple[str, bool]:
    """The agreement in one line, and whether it is enough."""
    found = Counter[str]()
    for one in outcomes:
        found["all"] += 1
        found["accepted"] += bool(one.row["accepted"])
        found["wrong yes"] += one.wrong_yes
        found["missed"] += one.missed
        found["modelled"] += one.buffers_close is not None
        found["close"] += bool(one.buffers_close)
    accepted = 1 - found["missed"] / max(found["accepted"], 1)
    close = found["close"] / max(found["modelled"], 1)
    enough = (
        not found["wrong yes"] and accepted >= ACCEPTED_SHARE and (close >= BUFFER_SHARE or not found["modelled"])
    )
    refused = found["all"] - found["accepted"]
    line = (
        f"agreement on {found['all']} trials: {found['wrong yes']} wrong yes among {refused} refused; "
        f"{found['accepted'] - found['missed']} of {found['accepted']} accepted judged so ({accepted:.1%}); "
        f"buffers within 5 % in {found['close']} of {found['modelled']} ({close:.1%})"
    )
    return line, enough


def _differences(one: Outcome) -> list[str]:
    """What to look at where we and TTNN differ."""
    if not (one.wrong_yes or one.missed or one.buffers_close is False):
        return []
    row, what = one.row, "WRONG YES" if one.wrong_yes else "missed" if one.missed else "buffers"
    return [
        f"{what} {row['kind']} {row['op']} {row['case']} {row['setting']} {row['value']}",
        f"   TTNN: {row['error'] or row['circular_bytes_per_core']}",
        f"   ours: {one.judged.verdict} {one.judged.trial.broken} {one.own_bytes}",
    ]


def main() -> int:
    """Command line."""
    said = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    said.add_argument("file", type=Path)
    said.add_argument("--half", type=int, metavar="SEED")
    asked = said.parse_args()
    outcomes = [outcome(row) for row in json.loads(asked.file.read_text())]
    lines = [line for one in outcomes for line in _differences(one)]
    ops = sorted({one.row["op"] for one in outcomes})
    lines.extend(f"{op}: {summary(one for one in outcomes if one.row['op'] == op)[0]}" for op in ops)
    if asked.half is not None:
        order = np.random.default_rng(asked.half).permutation(len(outcomes)).tolist()
        for name, part in (("one half", order[::2]), ("other half", order[1::2])):
            lines.append(f"{name}: {summary(outcomes[at] for at in part)[0]}")
    line, enough = summary(outcomes)
    sys.stdout.write("\n".join([*lines, line, ""]))
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())

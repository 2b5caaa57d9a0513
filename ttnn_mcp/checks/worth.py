"""The least savings worth reporting, as shares of the window's kernel time, each with its source."""

from __future__ import annotations

from typing import NamedTuple

USUAL = 0.01  # domain practice: below 1 % the PCC runs of a trial cost more than it saves
SAFE = 0.005  # half of it, for changes that cannot cost accuracy


class Worth(NamedTuple):
    """What a claim must reach; otherwise the check is silent.

    Attributes:
        time: the claim's ops, as a share of the window's kernel time.
        saving: the most that the claim saves, as a share of the window's kernel time.
    """

    time: float = 0.0
    saving: float = 0.0


ALWAYS = Worth()

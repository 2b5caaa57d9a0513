"""From where on a claim is worth telling: shares of the window's kernel time, each with its source, once."""

from __future__ import annotations

from typing import NamedTuple

USUAL = 0.01  # domain practice: below 1 % the PCC runs of a try cost more than it brings
SAFE = 0.005  # half of it, for changes that cannot cost accuracy


class Worth(NamedTuple):
    """What a claim must reach, else the check is silent.

    Attributes:
        time: share of the window's kernel time on the ops the claim is about.
        saving: share of the window's kernel time that the claim gives back at most.
    """

    time: float = 0.0
    saving: float = 0.0


ALWAYS = Worth()

"""Settings that TTNN 0.81.1 accepted or refused on mock devices, one for each line of our plans that it holds.

They were chosen from 9,234 trials that the rig of `tests/real` made: with any number of a plan moved, or any of its
rules left out, our verdict or our bytes differ from TTNN's in one of these. `make real` tries others every time.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.for_all import for_all
from tests.real.trials import outcome

ROWS = json.loads(Path(__file__).with_name("real_trials.json").read_text())


@for_all("op", sorted({row["op"] for row in ROWS}))
def test_verdicts_and_buffers_are_ttnns_own(op):
    for row in (row for row in ROWS if row["op"] == op):
        judged = outcome(row)
        assert judged.yes is row["accepted"], row
        if row["accepted"]:
            assert judged.own_bytes == row["circular_bytes_per_core"], row

"""Reasons to doubt a comparison: a short code, the evidence, and what to do about it.

Every reason has one code and is found in one place. While one stands, nothing is called faster, and
slower or unchanged only beside those that leave it so.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from ttnn_mcp.records import dataclass

Code: TypeAlias = Literal[
    "doubtful_report",
    "below_floor",
    "zero_times",
    "impossible_times",
    "same_reading",
    "nothing_aligned",
    "collapsed",
    "layers_missing",
    "ops_missing",
    "other_clock",
    "trace_on_one_side",
    "profiler_on_one_side",
    "dropped_rows",
    "baseline_damaged",
    "within_file_noise",
    "gain_elsewhere",
    "several_changes",
    "stage_worse",
    "device_worse",
    "not_engaged",
    "kernels_worse",
    "wall_below_kernels",
    "wall_above_window",
    "wall_measured_again",
    "recorded_before",
    "tried_before",
    "baseline_moved",
    "baseline_measured_again",
    "older_than_baseline",
    "overwritten",
    "accuracy_lost",
]
CODES: tuple[Code, ...] = get_args(Code)
DO: dict[Code, str] = {
    "doubtful_report": "look at the cells that it names; profile again",
    "below_floor": "read these ops in op_detail; profile again",
    "zero_times": "profile again: the profiler lost these times",
    "impossible_times": "profile again: a counter wrapped or was reset",
    "same_reading": "profile the changed model; this is the old measurement",
    "nothing_aligned": "compare reports of one model, with the same columns",
    "collapsed": "profile as many iterations as in the baseline, 3 or more",
    "layers_missing": "profile all layers",
    "ops_missing": "profile the whole model; if they are rightly gone, name them in the change",
    "other_clock": "measure both at one clock",
    "trace_on_one_side": "profile both with or both without trace; judge trace by wall time (step 4)",
    "profiler_on_one_side": "measure both with the same profiler options",
    "dropped_rows": "profile again with a larger --op-support-count or fewer iterations",
    "baseline_damaged": "profile the baseline again",
    "within_file_noise": "give repeats: more runs of the unchanged baseline",
    "gain_elsewhere": "measure the baseline again; look for a second difference",
    "several_changes": "measure each change on its own",
    "stage_worse": "compare each stage between its signposts",
    "device_worse": "look at device_balance of both",
    "not_engaged": "check that the setting reaches the op",
    "kernels_worse": "find what else changed: compare_runs",
    "wall_below_kernels": "give wall times of one window, in ms, profiler off",
    "wall_above_window": "give wall times of one window, in ms, profiler off",
    "wall_measured_again": "measure both runs again, one after the other",
    "recorded_before": "profile the changed model again",
    "tried_before": "give repeats, or try another change",
    "baseline_moved": "start from the best run",
    "baseline_measured_again": "start from the run on record, or record why the baseline changed",
    "older_than_baseline": "profile after the change",
    "overwritten": "keep each report in its own folder",
    "accuracy_lost": "measure PCC against the reference",
}
OF_GAIN: frozenset[Code] = frozenset(  # these question a gain, not the figures: whoever looks for a loss may go on
    ("within_file_noise", "gain_elsewhere", "several_changes", "stage_worse", "device_worse")
)

_OF_CANDIDATE: frozenset[Code] = frozenset(  # what they hide would make it slower still
    ("collapsed", "layers_missing", "ops_missing", "dropped_rows", "zero_times", "below_floor")
)
_OF_NEITHER: frozenset[Code] = frozenset(("same_reading", "nothing_aligned", "trace_on_one_side"))
STANDS_BESIDE: dict[str, frozenset[Code]] = {  # verdict -> reasons that leave it as it is; of others, all do not
    "unchanged": OF_GAIN | _OF_NEITHER,
    "slower": OF_GAIN | _OF_NEITHER | _OF_CANDIDATE,
    "mixed": OF_GAIN | _OF_NEITHER | _OF_CANDIDATE,
}
OF_CREDIT: frozenset[Code] = frozenset(("several_changes",))  # it is faster; what made it so is open


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason.

    Attributes:
        code: what it is, for programs.
        what: the evidence, with figures.
    """

    code: Code
    what: str

    @property
    def do(self) -> str:
        """What to do about it."""
        return DO[self.code]

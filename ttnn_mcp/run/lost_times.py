"""Iterations of a report in which ops ran that have no kernel time.

One blank cell leaves a pass an op short. Without that op no pass of two equals another, and their times would be added
up; or an op at the end of a pass is lost to all of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttnn_mcp.run.iterations import Iterations, iterations_of
from ttnn_mcp.run.ops.op_table import OpTable


def iterations_of_run(ran: OpTable, timed: OpTable, signposts: OpTable) -> Iterations:
    """The iterations among all ops that ran, if one has all its times; else those among the ops with a time.

    Args:
        ran: the ops that ran, in the order of their lines.
        timed: those of them with a time.
        signposts: the report's signposts.
    """
    every = iterations_of(ran, signposts)
    if len(ran) == len(timed):
        return every
    lost = ~ran.at_lines(timed.lines)
    ops_lost = np.bincount(every.number[lost], minlength=every.count + 1)[1:]
    if ops_lost.all():  # also where there are no iterations
        return iterations_of(timed, signposts)
    short = tuple((number, int(ops)) for number, ops in enumerate(ops_lost, start=1) if ops)
    return replace(every, number=every.number[~lost], short=short)

"""Which runs are of the same model: those whose ops are alike, whatever their files are called.

Two runs are as alike as the share of ops that both have, counted by signature (the same work, as often). A model
that is tuned changes step by step, so a run also belongs to a model through other runs. Where half of the ops changed
at once, or every shape did, ops cannot tell; then the name that a person gave decides, or nothing does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ttnn_mcp.arrays import Floats, Integers

SAME = 0.7  # of the ops of both: above it, two runs are of the same model
UNSURE = 0.3  # below it, they are of different ones
SAME_KINDS = 0.9  # of the ops by their names alone: the same model with other shapes or formats, or another like it


class WorkCounts(NamedTuple):
    """How often each run does each kind of work; all arrays have one entry per pair of them.

    Attributes:
        run: place of the run.
        work: its work: a signature, or an op's name, as a number from 0.
        ops: how often.
    """

    run: Integers
    work: Integers
    ops: Floats


class Kin(NamedTuple):
    """What the runs are to one of them, all by place.

    Attributes:
        same: of the same model, itself included.
        through: those among them that are alike only to others of them.
        unsure: those that may be.
    """

    same: tuple[int, ...]
    through: tuple[int, ...]
    unsure: tuple[int, ...]


def kin_of(subject: int, signatures: WorkCounts, names: WorkCounts, labels: Sequence[str | None]) -> Kin:
    """What each run is to the one at `subject`; `labels` are the names that people gave."""
    runs = len(labels)
    to_subject = alike(subject, signatures, runs)
    named = np.array([label is not None and label == labels[subject] for label in labels])
    same = {subject}
    waiting = [subject]
    while waiting:
        shares = alike(waiting.pop(), signatures, runs)
        near = (shares >= SAME) | (named & (shares >= UNSURE))
        new = {int(place) for place in np.flatnonzero(near)} - same
        same.update(new)
        waiting += sorted(new)
    maybe = (to_subject >= UNSURE) | (alike(subject, names, runs) >= SAME_KINDS)
    unsure = {int(place) for place in np.flatnonzero(maybe)} - same
    through = {place for place in same if to_subject[place] < SAME and not named[place]} - {subject}
    return Kin(tuple(sorted(same)), tuple(sorted(through)), tuple(sorted(unsure)))


def alike(subject: int, counts: WorkCounts, runs: int) -> Floats:
    """Per run, the share of ops that it and the one at `subject` have in common, 0 to 1."""
    ours = np.zeros(int(counts.work.max(initial=-1)) + 1)
    mine = counts.run == subject
    np.add.at(ours, counts.work[mine], counts.ops[mine])
    shared = np.bincount(counts.run, weights=np.minimum(counts.ops, ours[counts.work]), minlength=runs)
    total = np.bincount(counts.run, weights=counts.ops, minlength=runs)
    either = total + total[subject] - shared
    return np.divide(shared, either, out=np.zeros(runs), where=either > 0)

"""What to expect of some changes together: as the plan counts what they save at most, with what is expected of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ttnn_mcp.checks.arrays import Floats
from ttnn_mcp.checks.expectation import Expectation, Tries, tries_of
from ttnn_mcp.checks.plan.edits import Resolved
from ttnn_mcp.checks.plan.remaining import Ground, Remaining, saved_by
from ttnn_mcp.records import dataclass

MOSTLY = 0.5  # of what the changes save at most: so much must be that of changes of which something is known (ours)

KINDS = ("precedent", "law", "this run", "replay", "earlier run", "cases")


@dataclass(frozen=True, slots=True)
class ExpectedSaving:
    """A saving in nanoseconds of the window, its 80 % interval, and what it rests on.

    The ends are those of all changes together, as if they erred alike: of several the interval is rather too wide.
    """

    saved_ns: float
    low_ns: float
    high_ns: float
    basis: str

    @property
    def kind(self) -> str:
        """The first of what it rests on, in a word."""
        first = self.basis.partition(";")[0]
        return next((kind for kind in KINDS if kind in first), first)


def expected_alone(ground: Ground, parts: Sequence[Resolved]) -> ExpectedSaving | None:
    """What the parts are expected to save together and no others; None where nothing is known of most of them.

    Of its bound an edit saves no larger part than that which saves most of its own: four changes of one exchange, each
    of which brought 61 % of what it promised elsewhere, do not bring all of it.
    """
    known = list(_known(parts))
    if not known:
        return None
    most = saved_by(ground, [part.change for part in parts])
    if (
        len(known) < len(parts)  # unmoved: all of them save all of it, and need not be added up again
        and saved_by(ground, [part.change for part, _ in known]) < MOSTLY * most
    ):
        return None
    ends = zip(*((expected.saved_ns, expected.low_ns, expected.high_ns) for _, expected in known), strict=True)
    saved, low, high = (
        min(
            saved_by(ground, [part.change.saving(ns) for (part, _), ns in zip(known, end, strict=True)]),
            most * max(_share(part, ns) for (part, _), ns in zip(known, end, strict=True)),
        )
        for end in ends
    )
    basis = "; ".join(dict.fromkeys(expected.basis for _, expected in known))
    return ExpectedSaving(saved, min(low, saved), max(high, saved), basis)


def _share(part: Resolved, saved_ns: Floats) -> float:
    """Of what a part saves at most; all where it is in the gaps."""
    at_most = float(part.change.bounds.at_most_ns[part.change.at].sum())
    return float(saved_ns[part.change.at].sum()) / at_most if at_most else 1.0


@dataclass(frozen=True, slots=True)
class TriedSaving:
    """What measured tries tell of a change of which nothing is expected.

    Attributes:
        tries: of each of its checks that has any, the one that saves most first.
        saved_ns: what it saves if all of it gains, each check the middle; None where that of one is not known.
        law: that which expects no difference of any of it: then tries of other ops do not speak for these.
    """

    tries: tuple[Tries, ...]
    saved_ns: float | None
    law: str = ""

    @property
    def saved_us(self) -> float | None:
        """The same in microseconds."""
        return None if self.saved_ns is None else self.saved_ns / 1e3

    @property
    def basis(self) -> str:
        """In words: '6/11, 9/13 gained elsewhere', or 'no difference by law: minimal matmul'."""
        if self.law:
            return f"no difference by {self.law}"
        return f"{', '.join(f'{each.gained}/{each.tried}' for each in self.tries)} gained elsewhere"

    @property
    def counts_ns(self) -> float:
        """What one such try brings on average: the share that gained, times the median of what these saved."""
        return self.saved_ns * self.tries[0].gained / self.tries[0].tried if self.saved_ns else 0.0


def tried_saving(ground: Ground, parts: Sequence[Resolved]) -> TriedSaving | None:
    """What tries of their checks tell of parts of which nothing is expected; None where too few were measured.

    Parts of which something is expected save that. Of gaps no tries are known.
    """
    untold = [part for part in parts if part.claim.expected is None and not part.change.in_gaps]
    unknown = [part for part in untold if not part.claim.law_of_no_gain]
    if untold and not unknown:
        return TriedSaving((), None, untold[0].claim.law_of_no_gain)
    known = {part.check.id: tries_of(part.check.id) for part in unknown}
    tries = tuple(each for each in known.values() if each is not None)
    if not tries or not saved_by(ground, [part.change for part in unknown]):
        return None
    shares = {check: each.part for check, each in known.items() if each is not None and each.part is not None}
    if len(shares) < len(known):
        return TriedSaving(tries, None)
    changes = [
        *(part.change.saving(expected.saved_ns) for part, expected in _known(parts)),
        *(part.change.saving(shares[part.check.id] * part.claim.at_most_ns) for part in unknown),
    ]
    return TriedSaving(tries, saved_by(ground, changes))


def expected_after(ground: Ground, edits: Iterable[tuple[Sequence[Resolved], ExpectedSaving | None]]) -> float:
    """What is left if each edit saves what is expected of it: together no more than each by itself."""
    remaining, saved = Remaining(ground), 0.0
    for parts, expected in edits:
        if expected is not None:
            saved += expected.saved_ns
            for part, known in _known(parts):
                remaining.make(part.change.saving(known.saved_ns))
    return max(remaining.whole_ns, ground.whole - saved)


def _known(parts: Sequence[Resolved]) -> Iterator[tuple[Resolved, Expectation]]:
    for part in parts:
        if part.claim.expected is not None:
            yield part, part.claim.expected

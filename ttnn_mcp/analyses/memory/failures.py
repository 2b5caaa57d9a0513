"""What went wrong in a run, gathered from three sources and linked to the operation.

The sources: `errors` rows (importers store them under an id of no operation, with the name alone), operations that
never finished, and captured graphs: their exceptions, and scopes that were aborted or never ended.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ttnn_mcp.analyses.memory.death import death_of
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.analyses.memory.shortage import Shortage, parse_shortage
from ttnn_mcp.readers.memory.columns import OperationError
from ttnn_mcp.records import dataclass

Outcome = Literal["unfinished", "aborted", "finished", "unknown"]


@dataclass(frozen=True, slots=True)
class Failure:
    """One operation that went wrong. Texts are foreign.

    Attributes:
        place: of the operation; None if the report does not identify it.
        outcome: it never finished; a scope in it was aborted; it finished although an error was reported; unknown if
            only the name identifies the operation, and all operations of that name finished.
        same_name: number of operations of that name; if only the name is known, the last of them is taken.
        scope: the innermost scope that was aborted or never ended.
    """

    place: int | None
    name: str
    outcome: Outcome
    same_name: int
    kind: str
    message: str
    scope: str | None
    shortage: Shortage | None


def failures_of(replayed: Replayed) -> list[Failure]:
    """All failures: those that explain a shortage first, then in execution order."""
    messages: dict[int, list[tuple[str, str]]] = {}  # place -> (kind, message)
    nowhere: list[OperationError] = []
    by_name: set[int] = set()
    for error in replayed.memory.errors:
        place = replayed.place(error.operation) if error.operation is not None else None
        if place is None and (place := _by_name(replayed, error.operation_name)) is not None:
            by_name.add(place)
        if place is None:
            nowhere.append(error)
        else:
            messages.setdefault(place, []).append((error.kind, error.message))
    for place, trouble in replayed.troubles.items():
        known = messages.setdefault(place, [])
        known.extend((error.kind, error.message) for error in trouble.errors)
    for place in np.flatnonzero(np.isnan(replayed.memory.operations.duration_s)).tolist():
        messages.setdefault(place, [])
    failures = [
        _failure(replayed, place, words, by_name=place in by_name) for place, words in sorted(messages.items())
    ]
    failures += [
        Failure(
            None,
            error.operation_name,
            "unknown",
            0,
            error.kind,
            error.message,
            None,
            parse_shortage(error.message),
        )
        for error in nowhere
    ]
    return sorted(failures, key=lambda failure: failure.shortage is None)


def _by_name(replayed: Replayed, name: str) -> int | None:
    """The operation that an error names: one of that name that failed, otherwise the last of that name."""
    operations = replayed.memory.operations
    places = [
        place for place, operation_name in enumerate(operations.names) if _bare(operation_name) == _bare(name)
    ]
    wrong = [place for place in places if np.isnan(operations.duration_s[place]) or place in replayed.troubles]
    return next(iter([*wrong[-1:], *places[-1:]]), None)


def _bare(name: str) -> str:
    return name.replace("::", ".")


def _failure(replayed: Replayed, place: int, words: list[tuple[str, str]], *, by_name: bool) -> Failure:
    operations, trouble = replayed.memory.operations, replayed.troubles.get(place)
    shortages = [shortage for _, message in words if (shortage := parse_shortage(message))]
    kind, message = next(
        (pair for pair in words if parse_shortage(pair[1])),
        max(words, key=lambda pair: len(pair[1]), default=("", "")),
    )
    name = operations.names[place]
    scopes = (*trouble.unfinished, *trouble.aborted) if trouble else ()
    unfinished = bool(np.isnan(operations.duration_s[place])) or bool(trouble and trouble.unfinished)
    death = death_of(replayed.memory)
    died = death is not None and death.operation == int(replayed.operations[place])
    otherwise: Outcome = "unknown" if by_name else "finished"
    outcome: Outcome = "unfinished" if unfinished else "aborted" if scopes or died else otherwise
    return Failure(
        place=place,
        name=name,
        outcome=outcome,
        same_name=sum(_bare(operation_name) == _bare(name) for operation_name in operations.names),
        kind=kind,
        message=message,
        scope=next((scope for scope in reversed(scopes) if _bare(scope) != _bare(name)), None),
        shortage=shortages[0] if shortages else None,
    )

"""A layer somebody optimised: the report before it, and each change that was measured on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.profiles import Iteration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.frozen.build import Block
    from tests.profiles import Program

COLD_THEN_WARM = (Iteration(cold=True), Iteration())
TT_METAL = "https://github.com/tenstorrent/tt-metal/blob"


@dataclass(frozen=True)
class Lever:
    """One change to a layer.

    Attributes:
        id: unique over all layers.
        kind: "gain", or "dead": it brought nothing within the noise, cost time, or was refused.
        what: the change.
        saving_us: of one pass of the report; None where the source tells no figure for these ops alone.
        ops: positions of the device ops that the change touches, from 0.
        names: pattern (any case) of a fix that names this very change.
        source: the ledger, with its commit.
        note: what was measured, and how the saving follows from it.
        faster: a dead end, though it took less time (wrong values, a hang): it says nothing of what such changes save.
    """

    id: str
    kind: str
    what: str
    saving_us: float | None
    ops: tuple[int, ...]
    names: str
    source: str
    note: str
    faster: bool = False


@dataclass(frozen=True)
class Layer:
    """A report and its levers.

    Attributes:
        id: unique.
        source: the ledger, with its commit.
        ran: what ran, and what it took.
        arch: of the chip.
        build: the ops before any of the changes.
        levers: the changes that were measured.
        made_up: what the source does not tell.
        devices: how many chips one pass runs on.
        pass_us: device time of a pass as the source tells it; None where it tells wall time only.
    """

    id: str
    source: str
    ran: str
    arch: str
    build: Callable[[], Program]
    levers: tuple[Lever, ...]
    made_up: str
    devices: int = 1
    pass_us: float | None = None


@dataclass(frozen=True)
class Told:
    """A lever that still names its ops by their roles."""

    id: str
    kind: str
    what: str
    saving_us: float | None
    roles: tuple[str, ...]
    names: str
    note: str
    source: str
    faster: bool = False


def gain(id: str, what: str, saving_us: float | None, roles: str, names: str, note: str, source: str = "") -> Told:  # noqa: A002, PLR0917
    return Told(id, "gain", what, saving_us, tuple(roles.split()), names, note, source)


def dead(  # noqa: PLR0917
    id: str, what: str, roles: str, names: str, note: str, source: str = "", *, faster: bool = False  # noqa: A002
) -> Told:  # fmt: skip
    return Told(id, "dead", what, 0.0, tuple(roles.split()), names, note, source, faster)


def laid(  # noqa: PLR0917
    id: str,  # noqa: A002
    source: str,
    ran: str,
    built: Callable[[], Block],
    levers: Sequence[Told],
    made_up: str,
    pass_us: float | None = None,
) -> Layer:
    """The layer, with the roles of its levers found among the ops."""
    block = built()
    found = tuple(
        Lever(
            f"{id}/{told.id}", told.kind, told.what, told.saving_us, block.positions(told.roles), told.names,
            told.source or source, told.note, told.faster,
        )
        for told in levers
    )  # fmt: skip
    program = block.program
    return Layer(
        id, source, ran, program.device.arch, lambda: built().program, found, made_up, program.devices, pass_us
    )

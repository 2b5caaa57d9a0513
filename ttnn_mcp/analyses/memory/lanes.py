"""The devices of a run as lanes: devices share a lane until the report shows a difference between them.

Tensor buffers carry the id of the mesh that was opened, the buffers of programs that of one of its chips (TTNN 0.70
on, even if one chip was opened). In every device op `circular_buffer_deallocate_all` names the mesh, and the buffers of
its program follow: that pairs the two ids in every generation. If several devices hold buffers but the programs of only
one are recorded, the others ran the same programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ttnn_mcp.analyses.memory.device_lane import Lane
from ttnn_mcp.analyses.memory.snapshots import Snapshots, same_snapshots
from ttnn_mcp.readers.graph.graph_events import MemoryEvent
from ttnn_mcp.readers.memory.columns import Device

MOST_TOLD_APART = 64  # lanes: two Galaxies; further devices share one


class Lanes:
    """One lane per device, or per group of devices without a recorded difference.

    Args:
        described: rows of the `devices` table.
        snapshots: by device.
        lane: makes a lane from the snapshots of its device.
    """

    def __init__(
        self, described: Iterable[Device], snapshots: dict[int, Snapshots], lane: Callable[[Snapshots | None], Lane]
    ) -> None:
        self.snapshots = snapshots
        ids = sorted(snapshots) or sorted({device.id for device in described})
        self.devices: list[int | None] = [*ids] or [None]
        self.lanes = [(group, lane(self.snapshots_of(group[0]))) for group in self._alike()]
        self.followed: set[int | None] = set()
        self._programs_of: set[int | None] = set()

    def snapshots_of(self, device: int | None) -> Snapshots | None:
        """The snapshots of a device."""
        return None if device is None else self.snapshots.get(device)

    def _alike(self) -> list[list[int | None]]:
        """Groups of devices with the same snapshots."""
        groups: list[list[int | None]] = []
        for device in self.devices:
            alike = (
                group for group in groups if same_snapshots(self.snapshots_of(device), self.snapshots_of(group[0]))
            )
            fitting = next(alike, groups[-1] if len(groups) == MOST_TOLD_APART else None)
            if fitting is None:
                groups.append([device])
            else:
                fitting.append(device)
        return groups

    def shares(self, events: Sequence[MemoryEvent]) -> list[tuple[Lane, Sequence[MemoryEvent]]]:
        """Each lane with its own events of an operation."""
        if len(self.devices) == 1:
            return [(self.lanes[0][1], events)]
        owners = _owners(events, set(self.devices))
        named = {owner for owner, event in zip(owners, events, strict=True) if event.kind != "clear"}
        programs = {owner for owner, event in zip(owners, events, strict=True) if event.kind == "circular"} - {None}
        self._tell_apart(named)
        self._programs_of |= programs
        everywhere = len(self._programs_of) == 1
        owned = list(zip(owners, events, strict=True))
        return [
            (
                lane,
                [
                    event
                    for owner, event in owned
                    if owner is None or owner in group or (everywhere and event.kind in _OF_PROGRAMS)
                ],
            )
            for group, lane in self.lanes
        ]

    def _tell_apart(self, named: set[int | None]) -> None:
        """Give each device that a graph names a lane of its own, with the history shared so far."""
        for group, lane in [*self.lanes]:
            for device in [member for member in group if member in named and len(group) > 1]:
                if len(self.lanes) >= MOST_TOLD_APART:
                    break
                group.remove(device)
                self.lanes.append(([device], lane.fork()))
        self.followed |= named & set(self.devices)


_OF_PROGRAMS = frozenset({"circular", "clear", "end"})


def of_device(events: Sequence[MemoryEvent], device: int | None, known: set[int | None]) -> Sequence[MemoryEvent]:
    """An operation's events of one device; if only one device's programs are recorded, all devices ran them."""
    if len(known) == 1:
        return events
    owners = _owners(events, known)
    owned = list(zip(owners, events, strict=True))
    everywhere = len({owner for owner, event in owned if event.kind == "circular"} - {None}) == 1
    return [
        event
        for owner, event in owned
        if owner is None or owner == device or (everywhere and event.kind in _OF_PROGRAMS)
    ]


def _owners(events: Sequence[MemoryEvent], known: set[int | None]) -> list[int | None]:
    """The device of each event, among those that hold buffers; None if the event is of all devices."""
    cleared: dict[int, set[int]] = {}
    for event in events:
        if event.kind == "clear" and event.device >= 0:
            cleared.setdefault(event.device_op, set()).add(event.device)
    owners: list[int | None] = []
    for event in events:
        device: int | None = event.device if event.device in known else None
        meshes = cleared.get(event.device_op, set())
        if event.kind == "circular" and len(meshes) == 1:
            mesh = next(iter(meshes))
            device = mesh if mesh in known else device
        owners.append(device)
    return owners

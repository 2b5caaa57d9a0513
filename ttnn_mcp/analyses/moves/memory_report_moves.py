"""Changes of placement by a memory report alone: tensor ids make every join certain, and nothing is timed."""

from __future__ import annotations

from dataclasses import replace

from ttnn_mcp.analyses.moves.move_patterns import AVOIDABLE, HELD_AT_MOST, Avoidable, MoveKind, MovePattern
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.printed.memory_config import Placement
from ttnn_mcp.records import dataclass

MOVING = ("to_memory_config", "interleaved_to_sharded", "sharded_to_interleaved", "reshard")  # ttnn's own names
FREEING = "deallocate"


@dataclass(frozen=True, slots=True)
class RememberedMove:
    """One ttnn call that only changed a placement; operations by id, None where there is none."""

    operation: int
    name: str
    kind: MoveKind
    before: Placement
    after: Placement
    producer: int | None
    consumers: tuple[int, ...]
    pattern: MovePattern
    avoidable: Avoidable
    size_bytes: int | None


def remembered_moves(memory: MemoryReport) -> list[RememberedMove]:
    """The calls that moved a tensor, in the order they ran."""
    names = dict(zip(memory.operations.ids.tolist(), memory.operations.names, strict=True))
    made_by = dict(zip(memory.outputs.tensors.tolist(), memory.outputs.operations.tolist(), strict=True))
    read_by: dict[int, list[int]] = {}
    for operation, tensor in zip(memory.inputs.operations.tolist(), memory.inputs.tensors.tolist(), strict=True):
        if FREEING not in names.get(operation, ""):
            read_by.setdefault(tensor, []).append(operation)
    place = {operation: n for n, operation in enumerate(names)}  # in the order they ran
    moves: dict[int, RememberedMove] = {}
    for operation, name in names.items():
        if name.rpartition(".")[2] not in MOVING:
            continue
        took, gave = memory.inputs.of(operation), memory.outputs.of(operation)
        source = memory.tensors.get(took[0]) if took else None
        target = memory.tensors.get(gave[0]) if gave else None
        if source is None or target is None or source.placement is None or target.placement is None:
            continue
        if source.placement == target.placement:
            continue
        producer, consumers = made_by.get(source.id), tuple(read_by.get(target.id, ()))
        before = moves.get(producer) if producer is not None else None
        if before is not None and _put_aside(before) and place[operation] - place[before.operation] > HELD_AT_MOST:
            before = None  # whether L1 had room for the tensor meanwhile is not known
        alone = len(set(read_by.get(source.id, ()))) == 1
        pattern, avoidable = _judged(before, target.placement, producer, consumers, alone=alone)
        if before is not None and pattern != "other":  # the first of a pair shares its fate, unless others read it
            fate = "certain" if alone else AVOIDABLE[0]
            moves[before.operation] = replace(before, pattern=pattern, avoidable=fate)
        kind = _kind(source.placement, target.placement)
        moves[operation] = RememberedMove(
            operation, name, kind, source.placement, target.placement, producer, consumers, pattern, avoidable,
            target.size_bytes,
        )  # fmt: skip
    return list(moves.values())


def _put_aside(move: RememberedMove) -> bool:
    return move.before.buffer.startswith("L1") and move.after.buffer == "DRAM"


def _judged(
    before: RememberedMove | None,
    after: Placement,
    producer: int | None,
    consumers: tuple[int, ...],
    *,
    alone: bool,
) -> tuple[MovePattern, Avoidable]:
    if before is not None and before.before.sharded == after.sharded and before.after.sharded != after.sharded:
        return "round-trip", "certain" if before.before == after else "partly"
    if before is not None and alone:
        return "chain", "partly"
    if producer is None or not consumers:
        return "boundary", AVOIDABLE[0]
    return "other", AVOIDABLE[0]


def _kind(before: Placement, after: Placement) -> MoveKind:
    if before.sharded and after.sharded:
        return "reshard"
    if before.sharded:
        return "sharded-to-interleaved"
    return "interleaved-to-sharded" if after.sharded else "other-buffer"

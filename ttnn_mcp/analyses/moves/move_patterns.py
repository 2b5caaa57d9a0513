"""What a change of placement is part of, and the most that can be saved on it.

Patterns follow the data, never adjacency: an interleaved copy that a third op reads is no waste. Joins are likely,
not certain, until a memory report says that it is one tensor.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.analyses.dataflow.tensor_identity import TensorIdentity
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.readers.printed.memory_config import Placement, parse_memory_config
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import canonical, family
from ttnn_mcp.run.ops.op_table import OpTable

MoveKind = Literal["interleaved-to-sharded", "sharded-to-interleaved", "reshard", "other-buffer"]
MovePattern = Literal[
    "round-trip", "chain", "eltwise-detour", "norm-to-matmul", "untilize-to-conv", "conv-input", "boundary", "other"
]
Avoidable = Literal["no", "partly", "likely", "certain"]
KINDS: tuple[MoveKind, ...] = get_args(MoveKind)
PATTERNS: tuple[MovePattern, ...] = get_args(MovePattern)
AVOIDABLE: tuple[Avoidable, ...] = get_args(Avoidable)

IN, OUT, RESHARD, _ = range(len(KINDS))
ROUND_TRIP, CHAIN, DETOUR, NORM, UNTILIZED, CONV_INPUT, BOUNDARY, OTHER = range(len(PATTERNS))
NO, PARTLY, LIKELY, CERTAIN = range(len(AVOIDABLE))
NONE = -1

RESHARD_NS = 2_000.0  # the reshard that replaces two moves: 1.6 to 2.7 us for up to 2 MB in two real reports
HELD_AT_MOST = 4  # ops: a copy that waits longer was put aside on purpose, to leave L1 to what runs in between
CONFIG_KEYS = ("memory_config", "output_mem_config", "output_memory_config")  # of an op's output, over the years

_ELTWISE, _MATMUL, _CONV, _IN, _NORM, _UNTILIZE, _REST, _PASSES = (1 << bit for bit in range(8))


@dataclass(frozen=True)
class Verdicts:
    """Per op (not per move): what was decided; NONE where it is no move."""

    pattern: Integers
    avoidable: Integers
    at_most_ns: Floats

    def decide(self, where: Booleans, pattern: int, avoidable: object, at_most_ns: object) -> None:
        """Decide for the ops nothing was decided of yet."""
        fresh = where & (self.pattern == NONE)
        self.pattern[fresh] = pattern
        self.avoidable[fresh] = np.broadcast_to(np.asarray(avoidable), fresh.shape)[fresh]
        self.at_most_ns[fresh] = np.broadcast_to(np.asarray(at_most_ns), fresh.shape)[fresh]


def verdicts_of(joins: Joins, kind: Integers, identity: TensorIdentity | None) -> Verdicts:
    """Judge every op that has a `kind` (a code of KINDS; NONE = no move); first come, first served."""
    ops, count = joins.ops, len(joins.ops)
    verdicts = Verdicts(np.full(count, NONE), np.full(count, NO), np.zeros(count))
    follows = (joins.makers != NOBODY) & (kind != NONE) & (kind[joins.makers] != NONE)
    sure, unseen = np.full(count, LIKELY), np.zeros(count, dtype=np.bool_)
    if identity is not None:
        _confirm(follows, sure, joins, identity)
        unseen[kind != NONE] = [_read_unseen(joins, identity, int(row)) for row in np.flatnonzero(kind != NONE)]
    back = follows & (((kind == IN) & (kind[joins.makers] == OUT)) | ((kind == OUT) & (kind[joins.makers] == IN)))
    late = back & (kind == IN) & (np.arange(count) - joins.makers > HELD_AT_MOST)
    late = _put_aside(verdicts, joins, late, soon=back & ~late)
    bits = _bits(ops, kind)
    passes = bits == _PASSES
    read = joins.readers_among(np.where(passes, joins.readers_among(bits), bits))
    read = np.where(unseen, _REST, read)
    alone = (joins.reader_counts == 1) & ~unseen
    _round_trips(
        verdicts, joins, kind, back=back, sure=sure, alone=(alone | (read == _IN)) & ~_among(joins.makers, late)
    )
    _chains(verdicts, joins, follows & alone[joins.makers], sure)
    _by_neighbours(verdicts, joins, kind, bits, read)
    verdicts.decide(kind != NONE, OTHER, NO, 0.0)
    return verdicts


def _put_aside(verdicts: Verdicts, joins: Joins, late: Booleans, *, soon: Booleans) -> Booleans:
    """Tensors that wait in DRAM for long: whether L1 had room for them meanwhile is not known.

    The move that put one there is left to `_round_trips` if another move takes the tensor back `soon`. Returns the
    moves that take one back.
    """
    if joins.ops.outputs:
        late = late & joins.ops.outputs[0].in_dram[joins.makers]
    verdicts.decide(late | (_among(joins.makers, late) & ~_among(joins.makers, soon)), OTHER, NO, 0.0)
    return late


def _among(makers: Integers, readers: Booleans) -> Booleans:
    """The ops that made what one of `readers` reads."""
    made = np.zeros(len(makers), dtype=np.bool_)
    made[makers[readers]] = True
    return made


def _round_trips(
    verdicts: Verdicts,
    joins: Joins,
    kind: Integers,
    *,
    back: Booleans,
    sure: Integers,
    alone: Booleans,
) -> None:
    """`back` undoes its maker. The maker goes too, but only if nobody else reads the copy it made."""
    took, makers = np.nan_to_num(joins.ops.numbers("kernel_ns")), joins.makers
    same = _returns(joins.ops, makers, kind == IN)
    first, surely = np.zeros(len(back), dtype=np.bool_), np.full(len(back), LIKELY)
    first[makers[back]], surely[makers[back]] = True, sure[back]
    kept = np.maximum(took - RESHARD_NS, 0)
    verdicts.decide(back, ROUND_TRIP, np.where(same, sure, PARTLY), np.where(same, took, kept))
    verdicts.decide(first, ROUND_TRIP, np.where(alone, surely, NO), np.where(alone, took, 0))


def _chains(verdicts: Verdicts, joins: Joins, second: Booleans, sure: Integers) -> None:
    """Moves in a row, each read by the next alone: one remains, and may cost as little as the cheaper."""
    took, makers = np.nan_to_num(joins.ops.numbers("kernel_ns")), joins.makers
    first, surely = np.zeros(len(second), dtype=np.bool_), np.full(len(second), LIKELY)
    first[makers[second]], surely[makers[second]] = True, sure[second]
    verdicts.decide(first & ~second, CHAIN, surely, took)
    verdicts.decide(second, CHAIN, sure, np.where(first, took, np.maximum(took - took[makers], 0)))


def _by_neighbours(verdicts: Verdicts, joins: Joins, kind: Integers, bits: Integers, read: Integers) -> None:
    """Patterns told by who made the tensor and who reads it; a compacting Move in between does not count."""
    took, makers = np.nan_to_num(joins.ops.numbers("kernel_ns")), joins.makers
    made = makers != NOBODY
    through = np.where(made & (bits[makers] == _PASSES), makers[makers], makers)
    maker_bits = np.where(through != NOBODY, bits[through], 0)
    goes_in, goes_out = kind == IN, kind == OUT

    sources, readers = joins.edges
    rows = np.arange(len(kind))
    first = np.append(readers, len(kind))[np.searchsorted(sources, rows)]  # who reads it first
    detour = goes_out & made & (read == _ELTWISE)
    verdicts.decide(detour, DETOUR, np.where(first - rows <= HELD_AT_MOST, LIKELY, PARTLY), took)
    detoured = np.zeros(len(kind), dtype=np.bool_)
    detoured[readers[(verdicts.pattern == DETOUR)[sources]]] = True
    verdicts.decide(detoured[makers] & (read[makers] == _IN), DETOUR, LIKELY, took)  # nobody reads row -1

    normed = goes_in & (maker_bits == _NORM) & (read == _MATMUL)
    verdicts.decide(normed, NORM, np.where(read[makers] == _IN, LIKELY, PARTLY), took)
    to_conv = (goes_in | (kind == RESHARD)) & made & (read == _CONV)
    verdicts.decide(to_conv & goes_in & (maker_bits == _UNTILIZE), UNTILIZED, PARTLY, took)
    verdicts.decide(to_conv, CONV_INPUT, PARTLY, took)
    verdicts.decide((goes_in & ~made) | (goes_out & (read == 0)), BOUNDARY, NO, 0.0)


def _confirm(follows: Booleans, sure: Integers, joins: Joins, identity: TensorIdentity) -> None:
    """Strike joins that the tensor ids refute; mark those they prove, where the tensor is read once."""
    for row in np.flatnonzero(follows):
        tensors = identity.passed_on(int(joins.makers[row]), int(row))
        if tensors is None:
            continue
        follows[row] = bool(tensors)
        if all(identity.read_once(tensor) for tensor in tensors):
            sure[row] = CERTAIN


def _read_unseen(joins: Joins, identity: TensorIdentity, row: int) -> bool:
    """Whether the tensor ids know more readers than the shapes do."""
    times = identity.times_read(row)
    return times is not None and times > int(joins.reader_counts[row])


def _bits(ops: OpTable, kind: Integers) -> Integers:
    """What an op is to a move beside it, one bit each."""

    def bit(text: str) -> int:
        name, kin = canonical(text), family(text)
        if name == "Move":
            return _PASSES
        if name == "Halo" or kin == "conv":
            return _CONV
        if name.startswith("Untilize"):
            return _UNTILIZE
        return {"eltwise": _ELTWISE, "matmul": _MATMUL, "norm": _NORM, "softmax": _NORM}.get(kin, _REST)

    bits = ops.texts("op_code").mapped(bit, missing=_REST, dtype=np.int64)
    return np.where(kind == IN, _IN, np.where(kind != NONE, _REST, bits))


def _returns(ops: OpTable, makers: Integers, goes_in: Booleans) -> Booleans:
    """Second moves that put the tensor where the first one took it from: same buffer, same shards.

    Makers that are NOBODY point at the last row; callers mask them.
    """
    distinct: dict[Placement, int] = {}

    def spec(attributes: Attributes) -> float | None:
        text = attributes.text_of(*CONFIG_KEYS)
        placement = parse_memory_config(text) if text else None
        if placement is None or (placement.sharded and placement.shard is None):
            return None  # reports of early 2025 name the layout and leave the shards out
        return float(distinct.setdefault(placement, len(distinct)))

    began = makers[makers]  # who made what the first move read
    specs = attributes_of(ops).numbers(np.arange(len(ops)), spec)
    into_shards: Booleans = (began != NOBODY) & (specs == specs[began])
    if not ops.inputs or not ops.outputs:
        return into_shards
    left, reached = ops.inputs[0].placement, ops.outputs[0].placement
    texts = sorted({*left.distinct, *reached.distinct})
    source = left.mapped(texts.index, missing=NONE, dtype=np.int64)
    target = reached.mapped(texts.index, missing=NONE, dtype=np.int64)
    return into_shards | (~goes_in & (source[makers] == target))

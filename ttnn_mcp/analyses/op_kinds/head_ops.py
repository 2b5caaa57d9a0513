"""Prefill ops that make or join the heads of attention, permutes that do so, and the reshapes around them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable

# nlp_create_qkv_heads_decode_device_operation.cpp takes at most so many
USERS = 32
HEADS = 32
_MAKES_OR_JOINS = re.compile(r"(Create(QKV)?Heads|ConcatHeads)(?!.*Decode)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HeadGroup:
    """A head op and the reshapes of the same elements directly before and after it.

    Attributes:
        head: the head op, or the permute.
        reshapes: none, one or both.
        makes: whether it makes heads for attention, and does not join them behind it.
        permutes: whether a permute stands in place of a head op.
    """

    head: int
    reshapes: tuple[int, ...]
    makes: bool
    permutes: bool = False

    @property
    def rows(self) -> NDArray[np.int64]:
        """All its ops, in order."""
        return np.array(sorted((self.head, *self.reshapes)), dtype=np.int64)


def is_head_op(op_code: str) -> bool:
    """Whether an op makes or joins heads and is not a decode op."""
    return _MAKES_OR_JOINS.search(canonical(op_code)) is not None


@artefact
def one_row_groups(ops: OpTable) -> list[HeadGroup]:
    """The head ops on one row per user, for no more users than the decode ops take."""
    codes, shape = ops.texts("op_code"), ops.inputs[0].logical
    joins = codes.where(lambda text: "concat" in text.lower())
    users = shape[:, 0] * np.where(joins, 1, shape[:, 1])  # an op that joins heads has them in the second dim
    heads = codes.where(is_head_op) & (shape[:, 2] == 1) & (users <= USERS)
    reshapes = codes.where(lambda text: canonical(text) == "Reshape")
    groups = [_group(ops, int(head), reshapes, makes=not joins[head]) for head in np.flatnonzero(heads)]
    return [*groups, *_permuted(ops, reshapes)]


def _permuted(ops: OpTable, reshapes: NDArray[np.bool_]) -> list[HeadGroup]:
    """Permutes of [users,heads,1,d] to [1,users,heads,d], as attention reads it, and back."""
    x, y = ops.inputs[0].logical, ops.outputs[0].logical
    turns = ops.named("Permute", "Transpose")
    split = _one_row_each(x, y) & turns
    joined = _one_row_each(y, x) & turns
    return [
        _group(ops, int(row), reshapes, makes=bool(split[row]), permutes=True)
        for row in np.flatnonzero(split | joined)
    ]


def _one_row_each(apart: NDArray[np.int64], together: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[users,heads,1,d] beside [1,users,heads,d], for users and heads of more than one."""
    users, heads = apart[:, 0], apart[:, 1]
    turned = (together[:, 0] == 1) & (together[:, 1] == users) & (together[:, 2] == heads)
    able = (users > 1) & (users <= USERS) & (heads > 1) & (heads <= HEADS)
    return turned & able & (apart[:, 3] == together[:, 3])


def _group(
    ops: OpTable, head: int, reshapes: NDArray[np.bool_], *, makes: bool, permutes: bool = False
) -> HeadGroup:
    read, made = ops.inputs[0].elements, ops.outputs[0].elements
    before, after = head - 1, head + 1
    beside: list[int] = []
    if head and reshapes[before] and made[before] == read[head]:
        beside.append(before)
    if after < len(ops) and reshapes[after] and made[head] == read[after]:
        beside.append(after)
    return HeadGroup(head, tuple(beside), makes, permutes)

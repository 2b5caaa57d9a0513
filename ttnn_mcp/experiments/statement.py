"""What a person says was changed, as kinds and values that can be looked for among what differs.

Read from the words of the change, else from the step of the skill. What is read is told with the answer, because
words can be misread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.engaged import Engaged, EngagedKind

_VALUES: tuple[tuple[EngagedKind, str, str], ...] = (  # kind, value as a report spells it, how people write it
    ("data type", "BFLOAT8_B", r"b?fp8(_?b)?|bf(loat)?8(_?b)?"),
    ("data type", "BFLOAT4_B", r"b?fp4(_?b)?|bf(loat)?4(_?b)?"),
    ("data type", "BFLOAT16", r"bf(loat)?16"),
    ("data type", "FLOAT32", r"fp32|float32"),
    ("fidelity", "LoFi", r"lofi"),
    ("fidelity", "HiFi2", r"hifi2"),
    ("fidelity", "HiFi3", r"hifi3"),
    ("fidelity", "HiFi4", r"hifi4"),
    ("placement", "HEIGHT_SHARDED", r"height.?shard\w*"),
    ("placement", "WIDTH_SHARDED", r"width.?shard\w*"),
    ("placement", "BLOCK_SHARDED", r"block.?shard\w*"),
)
_KINDS: tuple[tuple[tuple[EngagedKind, ...], str], ...] = (
    (("data type",), r"d(ata ?)?types?|precision|formats?|quanti\w+"),
    (("fidelity",), r"fidelity"),
    (("layout",), r"layouts?|row.?major|tiliz\w+"),
    (("placement",), r"l1|dram|shard\w*|interleaved|memory.?config|placement"),
    (("config", "cores"), r"\w*config\w*|in0_block_w|\w*sub_?block\w*|per_core_\w+|\w*chunks?\w*|act_block_h\w*"),
    (("cores", "config"), r"cores?|core.?grid|grid"),
    (("fusion",), r"fus\w+|merg\w+|remov\w+|drop\w*|delet\w+|eliminat\w+|replac\w+"),
    (("trace",), r"traced?|tracing"),
)
_OF_STEP: dict[int, tuple[EngagedKind, ...]] = {
    1: ("data type", "fidelity"),
    2: ("layout", "fusion"),
    3: ("placement", "config", "cores"),
    4: ("trace",),
    6: ("config", "data type", "placement"),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """What was said.

    Attributes:
        text: the words, in lower case.
        kinds: kinds of change that are meant; none where nothing can be read from words or step.
        values: (kind, value) that are named, such as BFLOAT8_B.
        basis: how this was read, in words.
    """

    text: str
    kinds: tuple[EngagedKind, ...]
    values: tuple[tuple[EngagedKind, str], ...]
    basis: str

    def meant(self, changes: Iterable[Engaged]) -> list[Engaged]:
        """Those of the changes that the statement is about."""
        return [change for change in changes if self._is_about(change)]

    def _is_about(self, change: Engaged) -> bool:
        if self.values:
            return any(f"-> {value}" in change.what or f"_{value}" in change.what for _, value in self.values)
        return change.kind in self.kinds or (change.kind == "config" and self.names(change.what))

    def names(self, what: str) -> bool:
        """Whether the words name one of these settings or ops: at least four letters, so that no `in0` is found."""
        return any(word.lower() in self.text for word in re.findall(r"[A-Za-z_]\w{3,}", what))


def statement_of(change: str, step: int | None) -> Statement:
    """What the words of a change say, else what its step is about."""
    text = change.lower()
    values: tuple[tuple[EngagedKind, str], ...] = tuple(
        (kind, value) for kind, value, pattern in _VALUES if _has(text, pattern)
    )
    kinds: dict[EngagedKind, None] = dict.fromkeys(kind for kind, _ in values)
    for meant, pattern in _KINDS:
        if _has(text, pattern):
            kinds.update(dict.fromkeys(meant))
    if kinds:
        named = [value for _, value in values] or [*kinds]
        return Statement(text, (*kinds,), values, f"{', '.join(named)}: by the words of the change")
    of_step = _OF_STEP.get(step or 0, ())
    if of_step:
        return Statement(text, of_step, (), f"{', '.join(of_step)}: by step {step}")
    return Statement(text, (), (), "what differs most: neither words nor step name a setting")


def _has(text: str, pattern: str) -> bool:
    return re.search(rf"(?<![a-z0-9_])(?:{pattern})(?![a-z0-9_])", text) is not None

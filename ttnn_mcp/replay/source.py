"""What a row tells of its op, as the words of a Python call: operands, configs, and what of it nobody tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace

from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.settings.compute import DTYPES
from ttnn_mcp.analyses.settings.trial import Op, Value
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.hardware import canonical_dtype
from ttnn_mcp.readers.printed.memory_config import Placement, ShardSpec, parse_memory_cell, parse_memory_config
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay import expressions
from ttnn_mcp.replay.expressions import Unwritable
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.operand import Operand

USERS = 32  # whose heads NLPConcatHeadsDecode joins at most (0.81.1)
RANK = 4  # of the shapes in a performance report
_SIZES = re.compile(r"-?\d{1,12}")
DTYPES_OF_TTNN = (*DTYPES, "FLOAT32", "UINT32", "INT32", "UINT16", "UINT8")
PLACES = ("output_mem_config", "output_memory_config", "memory_config", "mem_config")
KERNEL = ("compute_kernel_config", "compute_config")
# operands of the result's shape and layout lie in its shards: their validation, TTNN 0.81
SHARDS_STAY = ("Binary", "Unary", "Ternary", "Typecast", "LayerNorm", "GroupNorm", "Softmax", "Tilize", "Untilize")


@dataclass(frozen=True)
class OpCall:
    """The call that is the op.

    Attributes:
        function: its name.
        positional: arguments by place.
        named: arguments by name; those that are None are left out.
        reference: the same in float32 on torch, where `x` are the operands; None where it is not compared.
        operands: operands of its own, where they are not those of the row.
        on_mesh: how many chips it runs on, and along which axis.
    """

    function: str
    positional: tuple[str, ...]
    named: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    reference: str | None = None
    operands: tuple[Given, ...] | None = None
    on_mesh: tuple[int, int] | None = None


@dataclass(frozen=True)
class Given:
    """An operand as the script makes it: shape, and expressions; `memory` is None for a tensor on the host."""

    shape: tuple[int, ...]
    dtype: str
    layout: str
    memory: str | None
    values: str = "normal"


@dataclass
class OpSource:
    """A row as far as it is told.

    Attributes:
        op: the op.
        places: placements of its operands in shards, by name.
        swept: settings that become arguments of the script.
        safe_bytes: what a config that we suggest may take of L1.
        settings: what these are in the profile; filled while the call is written.
        assumed: what is not told and was taken as it usually is; filled in the same way.
        other_build: why a build of today runs another program than the report's did; empty where it does not.
    """

    op: Op
    places: Mapping[str, Placement]
    swept: tuple[str, ...] = ()
    safe_bytes: int = 0
    settings: dict[str, Value | None] = field(default_factory=dict[str, "Value | None"])
    assumed: list[str] = field(default_factory=list[str])
    other_build: str = ""

    @property
    def name(self) -> str:
        """The op's one name."""
        return canonical(self.op.table.texts("op_code")[0])

    @property
    def inputs(self) -> list[Operand]:
        """The operands that the row has."""
        return [one for one in self.op.table.inputs if one.present[0]]

    @property
    def output(self) -> Operand:
        """The first output."""
        return self.op.table.outputs[0]

    @property
    def result(self) -> Operand:
        """The last output: of a scatter, the one before is a buffer of its own."""
        return [one for one in self.op.table.outputs if one.present[0]][-1]

    def shape(self, number: int) -> tuple[int, ...]:
        """The logical shape of an input, -1 for the output."""
        operand = self.output if number < 0 else self.inputs[number]
        return tuple(operand.logical[0].tolist())

    def is_result(self, one: Operand) -> bool:
        """Whether it is of the result's shape and kind, in its place."""
        kinds = [(each.layout[0], each.dtype[0], each.memory[0]) for each in (one, self.output)]
        return kinds[0] == kinds[1] and bool((one.padded[0] == self.output.padded[0]).all())

    def refused(self, why: str) -> QuestionRefused:
        """Why this op is not rebuilt."""
        return QuestionRefused(f"{shown(self.name)} cannot be replayed from this report: {why}.")

    def text(self, *keys: str) -> str | None:
        """An attribute's text; None where it has no value."""
        return self.op.attributes.text_of(*keys)

    def forbid(self, **values: str) -> None:
        """Refuse where an attribute has a value, and another than the one that it must have."""
        for key, usual in values.items():
            text = self.text(key)
            if text is not None and text.strip().rpartition(":")[2] not in (usual, {"false": "0"}.get(usual)):
                raise self.refused(f"{key} is {shown(text[:60])}, which is not rebuilt")

    def written(self, key: str, write: Callable[[str], str], *others: str) -> str | None:
        """An attribute as an expression; None where it has no value."""
        text = self.text(key, *others)
        if text is None:
            return None
        try:
            return write(text)
        except Unwritable as odd:
            raise self.refused(f"its {key} ({shown(str(odd)[:60])}) is nothing that a call can be given") from odd

    def needed(self, key: str, write: Callable[[str], str], *others: str) -> str:
        """An attribute without which there is no call."""
        text = self.written(key, write, *others)
        if text is None:
            raise self.refused(f"its row prints no {key}")
        return text

    def sizes(self, *keys: str) -> list[int]:
        """The whole numbers of an attribute."""
        text = self.text(*keys)
        text = list(map(int, _SIZES.findall(text or "")))
        if not text:
            raise self.refused(f"its row prints no {keys[0]}")
        return text

    def memory(self) -> str | None:
        """Where the result goes, by its attribute, else by the output's cell."""
        text = self.text(*PLACES)
        place = parse_memory_config(text) if text is not None else parse_memory_cell(self.output.memory[0])
        if place is None:
            return None
        if place.sharded and place.shard is None:  # unmoved: of others the places say the same
            place = self.places.get(self.output.name, place)
        try:
            return expressions.placement(place)
        except Unwritable as odd:
            raise self.refused(f"its output lies in {shown(str(odd))}, which is not rebuilt") from odd

    def dtype(self) -> str:
        """The output's data type."""
        return self.dtype_of(self.output)

    def config(self, *keys: str) -> str | None:
        """Its program config."""
        printed = expressions.struct_of(self.op.attributes, *keys)
        if printed is None:
            return None
        swept = {name: f's["{name}"]' for name in self.swept if printed.number(name) is not None}
        self.settings |= {
            name: bool(printed.number(name)) if name in expressions.FLAGS else printed.number(name)
            for name in swept
        }
        return self.written(keys[0], lambda _: expressions.config(printed, swept) or "", *keys[1:]) or None

    def kernel(self) -> str | None:
        """Its compute kernel config."""
        printed = expressions.struct_of(self.op.attributes, *KERNEL)
        if printed is None:
            return None
        swept: dict[str, str] = {}
        for name in self.swept:
            text = printed.fields.get(name)
            if text is not None and name == "math_fidelity":
                swept[name] = 'getattr(ttnn.MathFidelity, s["math_fidelity"])'
                self.settings[name] = text
            elif text is not None:
                swept[name] = f's["{name}"]'
                self.settings[name] = text.strip() in ("1", "true")
        return self.written(KERNEL[0], lambda _: expressions.kernel(printed, swept), *KERNEL[1:])

    def operand(self, number: int) -> Given:
        """An input as the script makes it."""
        one = self.inputs[number]
        place = self.places.get(one.name) or parse_memory_cell(one.memory[0])
        if place is None or place.buffer == "SYSTEM_MEMORY":
            raise self.refused(f"{one.name} does not lie on the device")
        if place.sharded and place.shard is None:
            of_users = self._of_users(one, place)
            place = of_users or self._derived(number, place)
            why = "a shard per user, on the first cores" if of_users else "they follow from those of the result"
            self.assumed.append(f"no report prints the shards of {one.name}: {why}")
        try:
            memory = expressions.placement(place)
        except Unwritable as odd:
            raise self.refused(f"{one.name} lies in {shown(str(odd))}, which is not rebuilt") from odd
        layout = "ttnn.ROW_MAJOR_LAYOUT" if one.layout[0] == "ROW_MAJOR" else "ttnn.TILE_LAYOUT"
        values = "all 0" if "INT" in one.dtype[0] else "normal"
        return Given(self.shape(number), self.dtype_of(one), layout, memory, values)

    def _of_users(self, one: Operand, place: Placement) -> Placement | None:
        """The heads of each user on a core of his own, of which `NLPConcatHeadsDecode` takes no others (0.81.1).

        In one rectangle: other cores would have to be named to the call.
        """
        grid, (_, users, *shape) = worker_grid(self.op.chip), one.padded[0].tolist()
        if self.name != "NLPConcatHeadsDecode" or grid is None or users > USERS:
            return None
        down, rest = divmod(users, wide := min(users, grid[0]))
        return None if rest else replace(place, shard=ShardSpec((((0, 0), (wide - 1, down - 1)),), tuple(shape)))

    def _derived(self, number: int, place: Placement) -> Placement:
        """The placement of an operand whose shards no report prints, where the op leaves no other.

        Raises:
            QuestionRefused: it may have others.
        """
        one, made = self.inputs[number], parse_memory_config(self.text(*PLACES) or "")
        if (
            made is not None
            and (shard := made.shard) is not None
            and len(shard.shape) == 2
            and shard.cores == self.op.cores
            and made.layout == place.layout
        ):
            if self.name in SHARDS_STAY and (one.padded[0] == self.output.padded[0]).all():
                return made
            columns = {x for (left, _), (right, _) in shard.ranges for x in range(left, right + 1)}
            wide, rest = divmod(int(one.padded[0][-1]), len(columns) if place.layout == "BLOCK_SHARDED" else 1)
            if self.name == "Matmul" and number == 0 and place.layout != "WIDTH_SHARDED" and not rest:
                return replace(made, shard=replace(shard, shape=(shard.shape[0], wide)))
        raise self.refused(
            f"{one.name} lies in {shown(one.placement[0])} and no report prints its shards: link the memory report"
        )

    def weights(self, operand: Given) -> Given:
        """The second operand, whose data type may be swept."""
        if "weights_dtype" not in self.swept:
            return operand
        self.settings["weights_dtype"] = self.dtype_of(self.inputs[1]).rpartition(".")[2].upper()
        return Given(
            operand.shape,
            'getattr(ttnn, s["weights_dtype"].lower())',
            operand.layout,
            operand.memory,
            operand.values,
        )

    def dtype_of(self, one: Operand) -> str:
        """The data type of an operand; only one of TTNN's own passes."""
        name = canonical_dtype(one.dtype[0])
        if name not in DTYPES_OF_TTNN:
            raise self.refused(f"{one.name} is of the data type {shown(name)}")
        return f"ttnn.{name.lower()}"

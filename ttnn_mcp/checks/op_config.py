"""All that findings set of one op, as one value: its compute kernel config, Conv2dConfig and program config.

Each finding changes what those before it left, and the value is checked as a whole, so no fix undoes another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import TypeAlias

from ttnn_mcp.analyses.programs.convs import Conv
from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.wording import FLAGS, fidelity_of, megabytes, unprinted
from ttnn_mcp.errors import shown
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.readers.printed.nesting import PrintedStruct
from ttnn_mcp.records import dataclass
from ttnn_mcp.replay.expressions import Unwritable, activation
from ttnn_mcp.run.ops.op_names import canonical

COMPUTE_AS_NOW = "compute_kernel_config=<as now>"  # of a fix that gives an op a program: with its present passes
DOUBLES = {"enable_act_double_buffer": "act_double", "enable_weights_double_buffer": "weights_double"}
CONV_FLAGS = (*DOUBLES, "config_tensors_in_dram", "enable_activation_reuse", "full_inner_dim")  # off in TTNN 0.81.1


@dataclass(frozen=True, slots=True)
class ComputeConfig:
    """Fields of a compute kernel config as code spells them; `throttle_level` is empty where none is set."""

    math_fidelity: str
    math_approx_mode: str
    fp32_dest_acc_en: str
    packer_l1_acc: str
    throttle_level: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """Its fields in the order of a call."""
        named = {name: getattr(self, name) for name in ("math_fidelity", *FLAGS, "throttle_level")}
        named["math_fidelity"] = f"ttnn.MathFidelity.{self.math_fidelity}"
        return {name: value for name, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class OpConfig:
    """The configs of one op.

    Attributes:
        facts: the window.
        row: the op.
        compute: its compute kernel config.
        conv: it as a conv; None for other ops, and where the report does not describe it.
        grid: columns and rows that its output is spread over again; None where it is not.
        program: code of its program config, or of the call that chooses it; empty where it stays.
        conv_also: fields of its Conv2dConfig as code that no buffer follows from.
    """

    facts: WindowFacts = field(compare=False, repr=False)
    row: int
    compute: ComputeConfig
    conv: Conv | None = None
    grid: Grid | None = None
    program: str = ""
    conv_also: tuple[tuple[str, str], ...] = ()

    @property
    def now(self) -> OpConfig:
        """The op as it ran."""
        return present(self.facts, self.row)

    def computing(self, **fields: str) -> OpConfig:
        """With fields of the compute kernel config changed."""
        return replace(self, compute=replace(self.compute, **fields))

    def with_conv_field(self, name: str, code: str) -> OpConfig:
        """With a field of Conv2dConfig that no buffer follows from."""
        return replace(self, conv_also=tuple({**dict(self.conv_also), name: code}.items()))

    @property
    def l1_bytes(self) -> int | None:
        """Bytes per core of L1, by the model that check_setting asks; None where it has none of this op."""
        if self.conv is None or not self.conv.modelled:
            return None
        compute = self.compute
        sums = {
            "fp32_accumulation": compute.fp32_dest_acc_en == "True",
            "packer_l1": compute.packer_l1_acc == "True",
        }
        return replace(self.conv, **sums).total_bytes

    @property
    def fits(self) -> bool:
        """Whether it fits L1, as far as that is modelled: as a whole, or by taking no more than the op does now."""
        size, now, limit = self.l1_bytes, self.now.l1_bytes, self.facts.l1_limit
        return size is None or now is None or limit is None or size <= max(limit.safe_bytes, now)

    @property
    def compute_text(self) -> str:
        """The keyword argument with the whole compute kernel config: what is not written there falls to a default."""
        keyword = "compute_config" if self.facts.of_family("conv")[self.row] else "compute_kernel_config"
        fields = ", ".join(f"{name}={value}" for name, value in self.compute.fields.items())
        return f"{keyword}=ttnn.init_device_compute_kernel_config(device.arch(), {fields})"

    @property
    def conv_fields(self) -> dict[str, str]:
        """The fields of Conv2dConfig that change."""
        conv, now = self.conv, self.now.conv
        if conv is None or now is None:
            return dict(self.conv_also)
        fields: dict[str, str] = {}
        layout = f"ttnn.TensorMemoryLayout.{conv.layout}"
        if self.grid is not None:
            x, y = self.grid
            cores = f"ttnn.CoreRangeSet({{ttnn.CoreRange((0, 0), ({x - 1}, {y - 1}))}})"
            fields |= {"override_sharding_config": "True", "shard_layout": layout, "core_grid": cores}
            fields |= {"transpose_shards": "True"} if conv.transposed and not now.transposed else {}
        elif conv.layout != now.layout:
            fields |= {"shard_layout": layout, "reshard_if_not_optimal": "True"}
        if fields or conv.block_h != now.block_h:
            fields["act_block_h_override"] = str(TILE_SIDE * conv.block_h)
        doubles = {name: (getattr(now, side), getattr(conv, side)) for name, side in DOUBLES.items()}
        fields |= {name: str(after) for name, (before, after) in doubles.items() if before != after}
        return fields | dict(self.conv_also)

    @property
    def _conv_kept(self) -> dict[str, str]:
        """What the row prints of its Conv2dConfig, other than TTNN's defaults: a config without them drops them."""
        attributes, now = self.facts.attributes(self.row), self.now.conv
        kept = {"act_block_h_override": str(TILE_SIDE * now.block_h)} if now and now.blocks > 1 else {}
        kept |= {name: "True" for name in CONV_FLAGS if attributes.flag(name)}
        split, applied = attributes.flag("force_split_reader"), attributes.text_of("activation")
        kept |= {} if split is None else {"force_split_reader": str(split)}
        kept |= {"output_layout": "ttnn.ROW_MAJOR_LAYOUT"} if attributes.flag("untilize_out") else {}
        return kept | ({"activation": function_text(applied)} if applied else {})

    @property
    def conv_text(self) -> str:
        """'ttnn.Conv2dConfig(act_block_h_override=64)  # line 948: 0.61 MB of 1.40 MB L1; other fields as now'."""
        limit, size = self.facts.l1_limit, self.l1_bytes
        room = f": {megabytes(size)} of {megabytes(limit.limit_bytes)} L1" if limit and size is not None else ""
        return f"{self._conv_call}  # line {self.facts.line(self.row)}{room}{self._conv_beside}"

    @property
    def _conv_call(self) -> str:
        """Its Conv2dConfig as code: what changes, then what stays."""
        fields = self.conv_fields
        kept = {name: value for name, value in self._conv_kept.items() if name not in fields}
        return f"ttnn.Conv2dConfig({', '.join(f'{name}={value}' for name, value in (fields | kept).items())})"

    @property
    def _conv_beside(self) -> str:
        """That fields which no row prints stay, and that an activation is not applied twice."""
        fused = "; without the op of its activation behind it" * ("activation" in self.conv_fields)
        return f"; other fields as now{fused}"

    @property
    def with_compute(self) -> OpConfig:
        """With its compute config written out in the program: without it BFLOAT16 falls to LoFi (tt-metal #55889)."""
        return replace(self, program=self.program.replace(COMPUTE_AS_NOW, self.compute_text))

    @property
    def field_codes(self) -> dict[str, str]:
        """The fields that change, of the compute config and of Conv2dConfig."""
        now = self.now.compute.fields
        return {n: code for n, code in self.compute.fields.items() if now.get(n) != code} | self.conv_fields

    @property
    def changed_fields(self) -> tuple[str, ...]:
        """The names of all that change."""
        return (*self.field_codes, *(("program_config",) if self.program else ()))

    @property
    def texts(self) -> tuple[str, ...]:
        """Each argument as code, whether it changes or not; the one that may hold another one first."""
        return self.with_compute.program, self.conv_text if self.conv_fields else "", self.compute_text

    @property
    def changes(self) -> dict[str, str]:
        """Each argument that changes, as code."""
        texts = {
            "compute": self.compute_text if self.compute != self.now.compute else "",
            "conv": self._conv_call + self._conv_beside if self.conv_fields else "",
            "program": self.with_compute.program,
        }
        return {argument: text for argument, text in texts.items() if text}


Sets: TypeAlias = "Callable[[OpConfig], OpConfig | None]"
"""What a fix changes of an op's configs, on top of what others changed; None where it cannot, beside them."""


def function_text(printed: str) -> str:
    """A printed function as code; that it stays, where that is not known."""
    try:
        return activation(printed)
    except Unwritable:
        return "<as now>"


def present(facts: WindowFacts, row: int) -> OpConfig:
    """The configs of an op as it ran; what its row does not print is what TTNN takes without a config."""
    printed = facts.attributes(row).struct("compute_kernel_config")
    flags = dict(zip(FLAGS, unprinted(facts, row), strict=True))
    compute = ComputeConfig(
        fidelity_of(facts, row),
        **{name: _flag(printed, name, default=default) for name, default in flags.items()},
        throttle_level=_throttle(printed),
    )
    return OpConfig(facts, row, compute, facts.convs.at(row) if canonical(facts.names[row]) == "Conv2d" else None)


def sets_program(of: Callable[[WindowFacts, int], str]) -> Sets:
    """The program config of each op by its row, or the call that has it; one for which there is no text stays."""

    def change(config: OpConfig) -> OpConfig | None:
        text = of(config.facts, config.row)
        return replace(config, program=text) if text else None

    return change


def set_alone(facts: WindowFacts, row: int, sets: Sets) -> OpConfig:
    """The configs of an op with one fix and no other."""
    now = present(facts, row)
    return sets(now) or now


def _flag(printed: PrintedStruct | None, name: str, *, default: bool) -> str:
    value = printed.number(name) if printed else None
    return str(default if value is None else bool(value))


def _throttle(printed: PrintedStruct | None) -> str:
    """The throttle level where one is set: a config without it would take it away."""
    level = shown((printed and printed.text_of("throttle_level")) or "").rpartition("::")[2]
    return f"ttnn.ThrottleLevel.{level}" if level.startswith("LEVEL_") else ""

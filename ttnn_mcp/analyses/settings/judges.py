"""The judges of an op's settings, and the values worth a trial that do not depend on the op."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TypeAlias, TypeVar

from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.settings.compute import DTYPES, FIDELITIES, math_fidelity
from ttnn_mcp.analyses.settings.trial import Op, Trial, Value
from ttnn_mcp.records import dataclass

Judge: TypeAlias = Callable[[Value], Trial]
PlanT = TypeVar("PlanT")
_CHOICES: dict[str, tuple[Value, ...]] = {
    "math_fidelity": FIDELITIES,
    "weights_dtype": DTYPES,
    **dict.fromkeys(
        ("enable_act_double_buffer", "enable_weights_double_buffer", "fp32_dest_acc_en", "packer_l1_acc"),
        (False, True),
    ),
}


@dataclass(frozen=True)
class JudgedSettings(ABC):
    """The settings of one op: each has a judge, which tries a value."""

    op: Op

    @property
    @abstractmethod
    def judges(self) -> dict[str, Judge]:
        """The judge of each setting, in the order of the answer."""

    @abstractmethod
    def sizes(self, setting: str) -> tuple[Value, ...]:
        """The values worth a trial of a setting whose values depend on the op."""

    @property
    def takes(self) -> tuple[str, ...]:
        """Names of the settings."""
        return tuple(self.judges)

    def choices(self, setting: str) -> tuple[Value, ...]:
        """The values worth a trial."""
        return _CHOICES.get(setting) or self.sizes(setting)

    def tried(self, setting: str, value: Value) -> Trial:
        """The trial of one value."""
        return self.judges[setting](value)

    def changed(self, now: Described, setting: str, value: Value) -> Described | None:
        """The op with the value, as the laws describe it: of any op its fidelity."""
        return replace(now, fidelity=str(value)) if setting == "math_fidelity" else None

    def fidelity(self, value: Value) -> Trial:
        """The trial of another math fidelity; any op with a compute kernel config takes one."""
        return math_fidelity(self.op, str(value))


def judges_of_plan(
    op: Op, plan: PlanT | str, settings: Iterable[str], tried: Callable[[PlanT, str, int], Trial]
) -> dict[str, Judge]:
    """The judges of settings that are numbers in a plan of the op; a text in its place is the reason for no plan."""
    if isinstance(plan, str):
        return {setting: partial(_not_planned, printed_number(op, setting), plan) for setting in settings}
    return {setting: _judge_of_number(plan, setting, tried) for setting in settings}


def printed_number(op: Op, setting: str) -> int | None:
    """The number as the op's row prints it, in its configs or beside them; None where it prints none."""
    attributes = op.attributes
    for config in map(attributes.struct, ("program_config", "compute_kernel_config")):
        number = config.number(setting) if config else None
        if number is not None:
            return number
    return attributes.number(setting)


def _not_planned(now: int | None, reason: str, _value: Value) -> Trial:
    return Trial(now, unknown=reason)


def _judge_of_number(plan: PlanT, setting: str, tried: Callable[[PlanT, str, int], Trial]) -> Judge:
    return lambda value: tried(plan, setting, int(value))

"""What the multi-device checks have in common: devices laid side by side, and ranges of them spoken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.devices.balance import Balance, balance_of
from ttnn_mcp.checks.check import CannotTell, NotApplicable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.window_facts import WindowFacts

ONE_DEVICE = NotApplicable("one device")


def compared(facts: WindowFacts) -> Balance | NotApplicable | CannotTell:
    """The devices of the window; or why they cannot be compared."""
    if len(np.unique(facts.scope.ops.numbers("device"))) < 2:
        return ONE_DEVICE
    balance = balance_of(facts.scope.ops, encodes_device=facts.run.timed.encodes_device)
    if balance.matched == "not_matched" or len(set(balance.ops.tolist())) > 1:
        few, many = int(balance.ops.min()), int(balance.ops.max())
        return CannotTell(
            f"devices ran different ops ({few} to {many} each): rows dropped (profile fewer ops, larger "
            "--op-support-count) or a pipeline by design"
        )
    return balance


def critical_rows(facts: WindowFacts, balance: Balance) -> NDArray[np.int64]:
    """Per launch, its position in `facts.ops`."""
    column = balance.devices.index(facts.scope.critical_device)
    mine = np.flatnonzero(facts.scope.ops.numbers("device") == facts.scope.critical_device)
    return np.searchsorted(mine, balance.rows[:, column])


def spoken(devices: Sequence[int], chosen: NDArray[np.bool_]) -> str:
    """'0-3, 6': the chosen devices as ranges."""
    ids = [device for device, is_chosen in zip(devices, chosen.tolist(), strict=True) if is_chosen]
    ranges: list[list[int]] = []
    for device in ids:
        if ranges and device == ranges[-1][-1] + 1:
            ranges[-1][1:] = [device]
        else:
            ranges.append([device])
    return ", ".join("-".join(map(str, one)) for one in ranges)


def fastest_ns(facts: WindowFacts, balance: Balance) -> NDArray[np.float64]:
    """Per op of the critical device, the fastest device's time for the same launch: without waiting."""
    fastest: NDArray[np.float64] = np.array(facts.kernel_ns)
    fastest[critical_rows(facts, balance)] = balance.times_ns.min(axis=1, initial=np.inf)
    return fastest

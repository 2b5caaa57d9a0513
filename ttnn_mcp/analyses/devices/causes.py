"""Why devices take different times for the same op: named only where attributes and times agree."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.devices.balance import Balance
from ttnn_mcp.arrays import Floats
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable

ALIKE = 1.05  # devices with the same work agree within it (warm repeats agree within 2 %; twice that, and a bit)
LEAST_GROWTH = 0.25  # of the growth that pairs alone give: the one real report shows 0.48 (1.96x of at most 3x)
KINDS = 5  # of op, at least, to tell a slow device from uneven work (ours)
NEARLY_ALL = 0.9  # of a device's launches, to say that the device is slow and not its work (ours)


def uneven_ring(ops: OpTable, balance: Balance, launch: int) -> str | None:
    """What is_balanced has to do with the times of this launch; None where it is no such attention."""
    ring = unbalanced_ring(attributes_of(ops).row(int(balance.rows[launch, 0])))
    if ring < 2:
        return None
    setting = f"causal attention over a ring of {ring} with is_balanced=false"
    if not shows_ring(ops, balance, launch, ring):
        return (
            f"{setting} can take up to {2 * ring - 1}x on devices with later parts of the sequence, but these times, "
            "by device number, do not rise like that: cause not known"
        )
    return (
        f"{setting}: devices with later parts of the sequence attend to more keys; is_balanced=true with a sequence in "
        "zigzag order evens it"
    )


def unbalanced_ring(attributes: Attributes) -> int:
    """Devices of a ring that deals out causal attention in order; 0 where the attributes do not say so."""
    if attributes.flag("is_causal") is not True or attributes.flag("is_balanced") is not False:
        return 0
    return attributes.number("ring_size") or 0


def shows_ring(ops: OpTable, balance: Balance, launch: int, ring: int) -> bool:
    """Whether the times of a launch rise from part to part of the sequence as causal attention makes them.

    Part r of n attends to all keys before it: its pairs are 2r + 1 times those of part 0 (TTNN's
    ring_joint_scaled_dot_product_attention). Parts follow the device numbers, along one side of the mesh or the other.
    A device that is slow at everything is left out.
    """
    times = balance.times_ns[launch].copy()
    if len(times) % ring:
        return False
    slow = slow_device(ops, balance)
    if slow is not None:
        times[slow[0]] = np.nan
    return any(_rises(parts) for parts in (times.reshape(ring, -1), times.reshape(-1, ring).T))


def _rises(parts: Floats) -> bool:
    """One row of times per part."""
    if np.isnan(parts).all(axis=1).any():
        return False
    least, most = np.nanmin(parts, axis=1), np.nanmax(parts, axis=1)
    alike = (most <= ALIKE * least).all()
    growth, by_pairs = most[-1] / max(least[0], 1.0), 2 * len(parts) - 1
    enough = growth - 1 >= LEAST_GROWTH * (by_pairs - 1)
    return bool(alike and enough and growth <= ALIKE * by_pairs and (np.diff(most) >= 0).all())


@artefact
def slow_device(ops: OpTable, balance: Balance) -> tuple[int, float] | None:
    """(place, median ratio to the median of the others) of a device that is slower in nearly all its work."""
    work = ~balance.collective
    times, names = balance.times_ns[work], ops.texts("op_code").folded(canonical).codes[balance.rows[work, 0]]
    if times.shape[1] < 2 or len(np.unique(names)) < KINDS:
        return None
    others = np.stack(
        [np.median(np.delete(times, place, axis=1), axis=1) for place in range(times.shape[1])], axis=1
    )
    slower = (times > ALIKE * others).mean(axis=0)
    place = int(slower.argmax())
    if slower[place] < NEARLY_ALL:
        return None
    return place, float(np.median(times[:, place] / np.maximum(others[:, place], 1.0)))


def said_of(ops: OpTable, balance: Balance) -> str | None:
    """The slow device in words; None where there is none."""
    slow = slow_device(ops, balance)
    if slow is None:
        return None
    place, ratio = slow
    return f"device {balance.devices[place]} is slower in nearly all its ops ({figure(ratio, '.2f')}x)"

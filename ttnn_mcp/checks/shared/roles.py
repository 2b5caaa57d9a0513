"""The places of a claim's ops in the layers of the model: one change to a layer's code reaches all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ttnn_mcp.analyses.layers.layering import Layering, Stack, ends_of
from ttnn_mcp.checks.check import Rows, WindowFacts
from ttnn_mcp.checks.wording import took
from ttnn_mcp.quoting import figure

LAYERS_AT_LEAST = 3  # two equal blocks may be anything, such as two encoders (ours)
NEARLY_ALL = 0.9  # of the layers, and of the claim's ops: the first or last layer of a model may lack an op (ours)
STRETCHES_AT_MOST = 4  # of neighbouring roles: a transformer's linears are QKV, output, up and down (ours)
TENTHS_BELOW_NS = 1e4  # a time that is told to a tenth of a microsecond (ours)
LAYERS_NAMED = 2  # layers named that differ: more are only counted (ours)


def place_in_layers(facts: WindowFacts, rows: Rows) -> str:
    """'role 5 of 29 in each of 32 layers: 93 us x 32; layer 31 differs': the rows' role, and its usual time in a layer.

    Returns:
        An empty text if the window has no layers, or the rows are not the same part of nearly all of them.
    """
    layering = facts.layering_here
    if layering is None:
        return ""
    inside = rows[layering.role[rows] > 0]
    block = _block(layering, inside)
    if block is None or len(block.layers) < LAYERS_AT_LEAST or len(inside) < NEARLY_ALL * len(rows):
        return ""
    count = len(block.layers)
    # a layer may run in passes
    numbers = int(layering.layer.max()) + 1
    each_once = np.unique(layering.role[inside] * numbers + layering.layer[inside])
    roles, layers = np.unique(each_once // numbers, return_counts=True)
    stretches = np.split(roles, np.flatnonzero(np.diff(roles) > 1) + 1)
    if layers.min() < NEARLY_ALL * count or len(stretches) > STRETCHES_AT_MOST:
        return ""
    which = ", ".join(_stretch(int(part[0]), int(part[-1])) for part in stretches)
    least = int(layers.min())
    every = f"each of {count}" if least == count else f"{least} of {count}"
    numbered = f" ({ends_of(block.layers)})" if len(layering.blocks) > 1 else ""
    named = f"role{'s' * (len(roles) > 1)} {which} of {layering.roles} in {every} layers{numbered}"
    return f"{named}: {_usual_time(facts, layering, inside)} x {least}{_differing(layering, inside)}"


def _block(layering: Layering, rows: Rows) -> Stack | None:
    """The block of layers that holds all of these rows: prefill and decode have no place in common."""
    numbers = layering.layer[rows]
    return next((block for block in layering.blocks if len(rows) and np.isin(numbers, block.layers).all()), None)


def _usual_time(facts: WindowFacts, layering: Layering, rows: Rows) -> str:
    """The median over the layers of what these rows take in one."""
    times = np.bincount(layering.layer[rows], weights=facts.kernel_ns[rows])
    usual_ns = float(np.median(times[np.unique(layering.layer[rows])]))
    return took(usual_ns) if usual_ns >= TENTHS_BELOW_NS else f"{figure(usual_ns / 1e3, '.1f')} us"


def _stretch(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _differing(layering: Layering, rows: Rows) -> str:
    """'; layer 31 differs': the layers in which the time of a row differs from the usual time of its role."""
    layers: Sequence[int] = np.unique(layering.layer[rows[layering.differs[rows]]]).tolist()
    if not layers:
        return ""
    if len(layers) > LAYERS_NAMED:
        return f"; {len(layers)} layers differ"
    return f"; layer {layers[0]} differs" if len(layers) == 1 else f"; layers {layers[0]} and {layers[1]} differ"

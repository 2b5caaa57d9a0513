"""Shared parts of the multi-device checks: devices in comparison, and ranges of them in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ttnn_mcp.analyses.devices.balance import Balance
from ttnn_mcp.analyses.devices.collectives import of_results, today_gb_s
from ttnn_mcp.checks.check import Floats, Mask, Rows, Subject, WindowFacts
from ttnn_mcp.checks.expectation import Expectation
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_names import canonical


def _of_several_devices(facts: WindowFacts) -> Mask:
    return np.full(len(facts), len(np.unique(facts.scope.ops.numbers("device"))) > 1)


# the most that TTNN 0.81.1 takes on Wormhole; Blackhole takes 15232, 8192 were measured (CCL best practices)
PACKET_BYTES = {"wormhole_b0": 7616, "blackhole": 8192}
FUSED_ROWS = 2048  # over 1024 an exchange fused with its matmul lost; tt-metal's Llama fuses from 4096 on (ours)
LATENCY_NS = 30_000.0  # of an exchange: below it hops and worker set-up decide, not bandwidth (ours)
# Of an exchange's time that its payload takes at the rate links have been seen to carry, measured: from a half on two
# links for one saved 33 to 50 % (six tries of three ledgers), BFLOAT8_B 24 to 41 % (five of four, a sixth lost); below
# it two or three links brought nothing in six of nine tries, BFLOAT8_B in nine of eleven.
BYTES_DECIDE = 0.5  # measured: as above
PAYLOAD_KEPT = (0.7, 1.25)  # measured over expected saving of those: the ends that hold 8 of 10
KEPT_OUTPUT = "ttnn.all_gather(..., output_tensor=y), y made once"


DEVICES = Subject(_of_several_devices, "one device")


def by_payload(facts: WindowFacts, spared: Floats) -> Expectation | None:
    """What all collectives save if the links carry so much less in so much time (a share each); None if hops decide."""
    exchanges, took = facts.collectives, facts.kernel_ns[facts.collectives.rows]
    share = np.minimum(np.nan_to_num(exchanges.least_ns(today_gb_s(facts.chip))) / np.maximum(took, 1.0), 1.0)
    saved = np.where((share >= BYTES_DECIDE) & (took >= LATENCY_NS), share * spared * took, 0.0)
    low, high = (end * saved for end in PAYLOAD_KEPT)
    return Expectation(saved, low, high, "what the links carry") if saved.any() else None


def worth_fusing(facts: WindowFacts) -> Mask:
    """Collectives over so many rows that one op with the matmul beside them can pay."""
    return facts.of_family("collective") & (facts.ops.inputs[0].logical[:, :3].prod(axis=1) >= FUSED_ROWS)


def exchanges_named(facts: WindowFacts, kind: str) -> Mask:
    """Ops whose name begins so ("AllGather"): those fused with a matmul too, which are no collectives by family."""
    return facts.names.where(lambda text: canonical(text).startswith(kind))


def columns_of_results(facts: WindowFacts) -> Rows:
    """The columns of what each op leaves: of its last output."""
    return of_results(facts.ops, lambda operand: operand.logical[:, 3])


def collectives_named(facts: WindowFacts, kind: str) -> Mask:
    """The same without those fused ones."""
    return exchanges_named(facts, kind) & facts.of_family("collective")


def reduced_and_gathered(facts: WindowFacts) -> tuple[Rows, Rows]:
    """The reduce-scatters whose output one all-gather alone reads, and these, in step."""
    makers = facts.joins.makers
    sole = facts.joins.reader_counts == 1  # nobody's place is the last op's: read by nobody
    gathers = np.flatnonzero(collectives_named(facts, "AllGather"))
    gathers = gathers[(collectives_named(facts, "ReduceScatter") & sole)[makers[gathers]]]
    return makers[gathers], gathers


def norms_in_halves(facts: WindowFacts) -> tuple[Rows, Rows, Rows]:
    """First halves of norms over devices, the gathers of their statistics, and second halves, sole readers of these."""
    joins = facts.joins
    first, second = (
        facts.names.where(lambda text, half=half: half in canonical(text))
        for half in ("PreAllGather", "PostAllGather")
    )
    behind = collectives_named(facts, "AllGather") & (joins.makers >= 0) & first[joins.makers]
    chains = [joins.chain(row, second) for row in np.flatnonzero(behind).tolist()]
    whole = [chain[:2] for chain in chains if len(chain) > 1]
    gathers, seconds = (np.array([pair[place] for pair in whole], dtype=np.int64) for place in (0, 1))
    return joins.makers[gathers], gathers, seconds


def axis_argument(facts: WindowFacts, row: int) -> str:
    """', cluster_axis=1' as the exchange has it; empty where it names none."""
    axis = facts.attributes(row).number("cluster_axis")
    return "" if axis is None else f", cluster_axis={figure(axis, '.0f')}"


def critical_rows(facts: WindowFacts, balance: Balance) -> Rows:
    """Per launch, its position in `facts.ops`."""
    column = balance.devices.index(facts.scope.critical_device)
    mine = np.flatnonzero(facts.scope.ops.numbers("device") == facts.scope.critical_device)
    return np.searchsorted(mine, balance.rows[:, column])


def spoken(devices: Sequence[int], chosen: Mask) -> str:
    """'0-3, 6': the chosen devices as ranges."""
    ids = [device for device, is_chosen in zip(devices, chosen.tolist(), strict=True) if is_chosen]
    ranges: list[list[int]] = []
    for device in ids:
        if ranges and device == ranges[-1][-1] + 1:
            ranges[-1][1:] = [device]
        else:
            ranges.append([device])
    return ", ".join("-".join(map(str, ends)) for ends in ranges)


def fastest_ns(facts: WindowFacts, balance: Balance) -> Floats:
    """Per op of the critical device, the fastest device's time for the same launch: without waiting."""
    fastest: Floats = np.array(facts.kernel_ns)
    fastest[critical_rows(facts, balance)] = balance.times_ns.min(axis=1, initial=np.inf)
    return fastest

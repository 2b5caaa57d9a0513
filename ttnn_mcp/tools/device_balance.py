"""device_balance: what each device spends, on its own work and on collectives, and who waits for whom."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from ttnn_mcp.analyses.devices.balance import Balance
from ttnn_mcp.analyses.devices.causes import said_of, uneven_ring
from ttnn_mcp.analyses.devices.collectives import collectives_of, today_gb_s
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.errors import shown
from ttnn_mcp.run.chip import clocks_told
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.run import Run
from ttnn_mcp.run.window import Scope
from ttnn_mcp.tools.tool import OfWindow, Tool
from ttnn_mcp.wire import Cell, Columns, Gbps, Quoted, Quoting, Ratio, Share, Table, Us, Window, Wire

DEVICES_SHOWN = 32  # slowest first beyond: a Galaxy's worth
UNEVEN = 1.05  # slowest over mean, to be listed; below it is noise (warm repeats agree within 2 %)
WORTH_SHARE = 0.002  # of the critical device's kernel time that the slowest takes above the mean, to be listed
LISTED = 8
EXCHANGES_SHOWN = 6
DEVICES = Columns("device", "kernel_us", "ccl_us", "waiting_us", "ops")
EXCHANGES = Columns(
    *("op", "op_code", "kernel_us", "fastest_us", "payload_bytes", "devices", "links", "topology", "link_gb_s"),
    quoted=("op_code", "topology"),
)


class Uneven(Wire):
    """One kind of op on which devices differ; times are sums over its launches."""

    op: int
    op_code: Quoted
    launches: int
    kind: Literal["work", "waiting"]
    slowest_device: int
    min_us: Us
    mean_us: Us
    max_us: Us
    imbalance: Ratio
    excess_us: Us
    cause: str | None = None


class Answer(Wire):
    """Answer of device_balance."""

    devices: Annotated[Table, DEVICES]
    ccl_share: Share
    imbalance: tuple[Uneven, ...]
    critical_device: int
    matched: Literal["call_count", "position", "not_matched"]
    exchanges: Annotated[Table, EXCHANGES] | None = None
    links_have_carried_gb_s: Gbps | None = None
    left_out_ops: int = 0
    more_devices: int = 0
    why: Quoting | None = None
    caveat: Quoting | None = None
    window: Window


def device_balance(facts: WindowFacts, _asked: OfWindow) -> Answer:
    """Per device: kernel and collective (ccl) time, and who waits for whom.

    Uneven ops with slowest, mean and fastest device (excess_us: at most what balancing saves) and the cause where
    the attributes show it; collectives with their rate per link.
    """
    run, scope, balance = facts.run, facts.scope, facts.balance
    several = len(balance.devices) > 1
    exchanges = _exchanges(scope, balance) if several else None
    return Answer(
        devices=_devices(balance),
        ccl_share=balance.collective_share,
        imbalance=_uneven(scope, balance) if several else (),
        critical_device=scope.critical_device,
        matched=balance.matched,
        exchanges=exchanges,
        links_have_carried_gb_s=today_gb_s(run.chip) if exchanges else None,
        left_out_ops=balance.left_out if several else 0,
        more_devices=max(0, len(balance.devices) - DEVICES_SHOWN),
        why=_why(balance),
        caveat=_caveat(run, scope, balance) if several else None,
        window=scope.window,
    )


def _devices(balance: Balance) -> Table:
    compared = balance.matched != "not_matched" or len(balance.devices) == 1
    waiting = balance.waiting_ns() / 1e3
    chosen = np.sort(np.argsort(-balance.kernel_ns, kind="stable")[:DEVICES_SHOWN])
    rows: list[tuple[Cell, ...]] = [
        (
            balance.devices[place],
            float(balance.kernel_ns[place]) / 1e3,
            float(balance.collective_ns[place]) / 1e3,
            float(waiting[place]) if compared else None,
            int(balance.ops[place]),
        )
        for place in chosen.tolist()
    ]
    return DEVICES.table(rows)


def _uneven(scope: Scope, balance: Balance) -> tuple[Uneven, ...]:
    """Ops folded by name, the ones that cost most above the mean first."""
    names = scope.ops.texts("op_code")
    critical = float(balance.kernel_ns.max())
    folded: dict[str, list[int]] = {}
    for launch in np.flatnonzero(balance.imbalance >= UNEVEN).tolist():
        folded.setdefault(canonical(names[int(balance.rows[launch, 0])]), []).append(launch)
    uneven: list[Uneven] = []
    for name, launches in folded.items():
        times = balance.times_ns[launches]
        excess = float((times.max(axis=1) - times.mean(axis=1)).sum())
        if excess < WORTH_SHARE * critical:
            continue
        per_device = times.sum(axis=0)
        slowest = int(per_device.argmax())
        worst = launches[int(times[:, slowest].argmax())]
        uneven.append(
            Uneven(
                op=int(scope.ops.lines[balance.rows[worst, slowest]]),
                op_code=shown(name),
                launches=len(launches),
                kind="waiting" if balance.collective[worst] else "work",
                slowest_device=balance.devices[slowest],
                min_us=float(per_device.min()) / 1e3,
                mean_us=float(per_device.mean()) / 1e3,
                max_us=float(per_device.max()) / 1e3,
                imbalance=float(per_device.max() / per_device.mean()),
                excess_us=excess / 1e3,
                cause=uneven_ring(scope.ops, balance, worst),
            )
        )
    return tuple(sorted(uneven, key=lambda one: -one.excess_us)[:LISTED])


def _exchanges(scope: Scope, balance: Balance) -> Table | None:
    """The heaviest collectives of the critical device; rates by the fastest device's time, which waits least."""
    column = balance.devices.index(scope.critical_device)
    ops = scope.ops.take(balance.rows[:, column]) if len(balance.rows) else scope.critical
    collectives = collectives_of(ops, len(balance.devices))
    if not len(collectives.rows):
        return None
    kernel = ops.numbers("kernel_ns")[collectives.rows]
    fastest = balance.times_ns.min(axis=1)[collectives.rows] if len(balance.rows) else kernel
    rate = collectives.rate_gb_s(fastest)
    rows: list[tuple[Cell, ...]] = []
    for place in np.argsort(-kernel, kind="stable")[:EXCHANGES_SHOWN].tolist():
        row = int(collectives.rows[place])
        rows.append(
            (
                int(ops.lines[row]),
                shown(canonical(ops.texts("op_code")[row])),
                float(kernel[place]) / 1e3,
                float(fastest[place]) / 1e3,
                _said(float(collectives.payload_bytes[place])),
                _said(float(collectives.devices[place])),
                _said(float(collectives.links[place])),
                {1.0: "Linear", 2.0: "Ring"}.get(float(collectives.directions[place])),
                float(rate[place]),
            )
        )
    return EXCHANGES.table(rows)


def _said(value: float) -> int | None:
    return int(value) if np.isfinite(value) else None


def _why(balance: Balance) -> str | None:
    if len(balance.devices) < 2:
        return "one device: nothing to balance"
    if balance.matched == "not_matched":
        few, many = int(balance.ops.min()), int(balance.ops.max())
        return (
            f"devices ran different ops ({few} to {many} each) and are not compared op by op: rows were dropped "
            "(--op-support-count), or the mesh is a pipeline"
        )
    return None


def _caveat(run: Run, scope: Scope, balance: Balance) -> str:
    caveat = "a collective's time above the fastest device's is waiting for a slower device"
    if not run.performance_report.traced:
        caveat += "; untraced, devices also start 17 to 55 us apart"
    if run.chip.clocks_apart:
        caveat += f"; {clocks_told(run.chip.clock_ghz, run.chip.clocks_apart)}"
    slow = said_of(scope.ops, balance)
    if slow:
        caveat = f"{slow}: its chip, or its share of the work; {caveat}"
    return caveat if scope.window.warm else f"{caveat}; cold pass: start skew may hold compile time"


TOOL = Tool(
    name="device_balance",
    title="Device balance",
    arguments=OfWindow,
    answer=Answer,
    ask=device_balance,
    about="window",
    needs=("performance",),
    narrow=("iteration",),
    search_hint="multi device imbalance collective all_gather reduce_scatter waiting mesh multi-chip all_reduce",
)

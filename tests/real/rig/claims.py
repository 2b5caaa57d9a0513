"""Collects every fix that our checks give on the reports at hand, with the op that it is given for.

Runs in the project's own environment; `advice` then executes them in that of TTNN.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.checks.asking import case_of_reports
from tests.real.rig.instead import instead
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER, SHARED
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import ask
from ttnn_mcp.hardware import TILE_SIDE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.check import Claim
    from ttnn_mcp.run.ops.operand import Operand

DEMO = Path(__file__).parents[3] / "resources" / "demo"
MOCK = {"wormhole_b0": "n150", "blackhole": "p100"}  # the mock device of an architecture
PAIR = r"\((\d+); ?(\d+)\)"
WINDOW = re.compile(
    rf"batch_size=(\d+); input_hw={PAIR}; window_hw={PAIR}; stride_hw={PAIR}; "
    r"padding=\(\((\d+); ?(\d+)\); ?\((\d+); ?(\d+)\)\)"
)
BLOCKS = re.compile(r"(act_block_h_ntiles|per_core_out_matrix_height_ntile)=(\d+)")


def jobs() -> list[dict[str, Any]]:
    """One per distinct fix and op."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for facts in _windows():
        told = [(check.id, claim) for check in CATALOGUE for claim in ask(check, facts).claims]
        made = [job_of(name, claim, facts) for name, claim in told]
        for job in [*made, *_instead(facts)]:
            if job is not None:
                place = job["line"] if job["check"] == "check_setting" else ""
                found.setdefault((f"{job['check']} {place}", job["fix"], job["kind"]), job)
    return list(found.values())


def job_of(check: str, claim: Claim, facts: WindowFacts) -> dict[str, Any] | None:
    """A fix with the op it is given for; None where a compiler wrote the program, or no mock device is like it."""
    kind = MOCK.get(facts.chip.arch or "")
    if kind is None or facts.compiled:
        return None
    return {"check": check, "fix": claim.fix, "kind": kind, **_op(facts, _row(facts, claim))}


def _instead(facts: WindowFacts) -> Iterator[dict[str, Any]]:
    kind = MOCK.get(facts.chip.arch or "")
    if kind is not None and not facts.compiled:
        for row, told in asyncio.run(instead(facts)):
            yield {"check": "check_setting", "fix": told, "kind": kind, **_op(facts, row)}


def _windows() -> Iterator[WindowFacts]:
    reports = [(SHARED / name, None) for name in (CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, LINKED)]
    reports += [(next(DEMO.rglob("ops_perf_results*.csv")), next(DEMO.rglob("db.sqlite")))]
    for performance, memory in reports:
        if performance.is_file():
            yield case_of_reports(performance, memory, chosen="last")
            yield case_of_reports(performance, memory, chosen="all")


def _row(facts: WindowFacts, claim: Claim) -> int:
    """The op that a claim cites first: the heaviest, and the one whose numbers its fix has."""
    cited = {one.row for one in claim.evidence[:1] if one.source == facts.ops.source}
    rows = [int(row) for row in claim.rows]
    row = next((row for row in rows if facts.line(row) in cited), rows[0] if rows else 0)
    if "Conv2dConfig(" in claim.fix:  # said of an op behind the convolution that it is a setting of
        convs = facts.of_family("conv").nonzero()[0]
        row = next((int(conv) for conv in convs[::-1] if conv <= row), row)
    return row


def _op(facts: WindowFacts, row: int) -> dict[str, Any]:
    ops = facts.ops
    return {
        "report": ops.source,
        "line": facts.line(row),
        "family": next((name for name in ("conv", "matmul", "norm") if facts.of_family(name)[row]), "other"),
        "inputs": [_operand(operand, row) for operand in ops.inputs if operand.present[row]],
        "outputs": [_operand(operand, row) for operand in ops.outputs if operand.present[row]],
        "convolution": _convolution(facts, row),
    }


def _operand(operand: Operand, row: int) -> dict[str, Any]:
    return {
        "padded": [int(size) for size in operand.padded[row]],
        "logical": [int(size) for size in operand.logical[row]],
        "dtype": operand.dtype[row],
        "layout": operand.layout[row],
        "placement": operand.placement[row],
    }


def _convolution(facts: WindowFacts, row: int) -> dict[str, Any] | None:
    attributes = facts.attributes(row)
    window = WINDOW.search(attributes.get("sliding_window_config") or "")
    layout = re.search(r"memory_layout=TensorMemoryLayout::(\w+)", attributes.get("memory_config") or "")
    channels, outputs = attributes.get("input_tensor_shape"), attributes.get("output_channels")
    if not (window and layout and channels and outputs):
        return None
    numbers = {
        name: int(value)
        for name, value in BLOCKS.findall(
            f"{attributes.get('block_config')} {attributes.get('parallelization_config')}"
        )
    }
    block = numbers.get("act_block_h_ntiles", 0)
    whole = block == numbers.get("per_core_out_matrix_height_ntile")
    batch, height, width, kernel_h, kernel_w, stride_h, stride_w, *padding = map(int, window.groups())
    return {
        "batch_size": batch,
        "input_height": height,
        "input_width": width,
        "in_channels": int(re.findall(r"\d+", channels)[-1]),
        "out_channels": int(outputs),
        "kernel_size": (kernel_h, kernel_w),
        "stride": (stride_h, stride_w),
        "padding": padding,
        "groups": int(attributes.get("groups") or 1),
        "layout": layout.group(1),
        "block": 0 if whole else TILE_SIDE * block,
        "double": attributes.get("enable_act_double_buffer") == "true",
    }

"""Tiles are untilized for an upsample that takes them.

`ttnn.upsample` in its nearest mode reads tiles itself since July 2025, and writes rows as from rows. Without the
conversions in front of them SDXL's decoder took 1.4 ms less (tt-metal PR #26063).

The line: Untilize ops between interleaved tensors that an Upsample alone reads; 0.5 % of the window, as nothing can get
less accurate. The bound is their time.

Silent on bilinear upsampling, on shards, and where width or channels fill no whole tiles or a scale is no whole number:
TTNN 0.81.1 refuses tiles there.
"""

from __future__ import annotations

from functools import partial

from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.worth import SAFE, Worth

UPSAMPLES = ops_named("no Upsample ops", "Upsample")


@check(
    title="tiles untilized for an upsample",
    lever=LAYOUT,
    of=UPSAMPLES,
    needs=(OPERANDS,),
    worth=Worth(saving=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all conversions in front of an upsample."""
    makers = facts.joins.makers
    able = facts.named("Untilize", "UntilizeWithUnpadding") & (facts.joins.reader_counts == 1)
    able &= ~facts.ops.inputs[0].sharded & ~facts.ops.outputs[0].sharded
    able &= (facts.ops.inputs[0].logical == facts.ops.inputs[0].padded).all(axis=1)
    readers = [row for row in UPSAMPLES.rows(facts).tolist() if able[makers[row]] and _takes_tiles(facts, row)]
    rows = makers[readers]
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, dict(zip(rows.tolist(), readers, strict=True))))


def _tell(readers: dict[int, int], ops: Affected) -> Words:
    high, wide = _scales(ops.facts, readers[ops.row])
    return Words(
        claim=f"{ops.many('untilize op')} in front of an upsample that takes tiles ({ops.time}): {ops.example}",
        assumption="the upsample takes as long from tiles as from rows",
        cells=((ops.facts.output(), "LAYOUT"),),
        fix=(
            f"y = ttnn.upsample(x, scale_factor={high if high == wide else (high, wide)}, mode='nearest') on the "
            "tiles, no ttnn.to_layout before it; y has rows"
        ),
        verify="re-profile; the Untilize is gone and Upsample takes about as long; PCC unchanged",
        caveat="builds before July 2025 and bilinear upsampling want rows",
    )


def _takes_tiles(facts: WindowFacts, row: int) -> bool:
    return min(_scales(facts, row)) > 0 and "bilinear" not in (facts.attributes(row).text_of("mode") or "")


def _scales(facts: WindowFacts, row: int) -> tuple[int, int]:
    """How many times as high and wide its images get; zeros where that is no whole number."""
    before, after = (sides.logical[row, 1:3].tolist() for sides in (facts.ops.inputs[0], facts.ops.outputs[0]))
    high, wide = (
        last // first if first and last % first == 0 else 0 for first, last in zip(before, after, strict=True)
    )
    return high, wide

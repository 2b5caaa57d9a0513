"""The same op takes longer here than with another config elsewhere in this run.

The run's own evidence outranks a model: two matmuls of equal shapes, types, placements, fidelity and remaining
attributes do the same work, and what the quicker one was told can be told to the slower one.

The line: Matmul, Linear, MinimalMatmul, SparseMatmul and fused attention; equal in everything the report shows but
program_config, core grid and the cores used; every op of the quicker config takes under 90 % of every op of the
slower one (two runs of one program differ by up to 5 %), 5 us and more, and the difference is at least 0.5 % of the
window. at_least counts the slowest op of the quicker config, at_most the fastest: this is no model.

Silent where one config is not always quicker than the other, where the cells do not say what differs, and about
rows whose operands or times cannot be.
"""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.checks.check import Check, Claim, Claims, Floats, Rows, Subject, WindowFacts
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_attribute, example, time_of, took
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.errors import shown
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import numbered

ALIKE = ("Matmul", "Linear", "MinimalMatmul", "SparseMatmul")
MATMULS_AND_ATTENTION = Subject(
    lambda facts: facts.named(*ALIKE) | facts.of_family("attention"), "no matmuls and no fused attention"
)
QUICKER = 0.9  # of the time: two runs of one program differ by up to 5 % (domain practice)
CHOICES = ("program_config", "user_core_coord", "config")  # what says how, not what
_FIELDS = re.compile(r"(in0_block_w|per_core_[MN]|[qk]_chunk_size)=(\d+)")


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all ops that have a quicker twin."""
    rows, twins, least, most = _slower(facts)
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    twin = int(twins[np.flatnonzero(rows == row)[0]])
    yield Claim(
        claim=(
            f"{len(rows)} op{'s take' if len(rows) > 1 else ' takes'} longer ({time_of(facts, rows)}) than with "
            f"another config in this run: {example(facts, row)} {took(float(facts.kernel_ns[row]))}, at line "
            f"{facts.line(twin)} {took(float(facts.kernel_ns[twin]))}{_told(facts, twin)}"
        ),
        rows=rows,
        at_most_ns=most,
        at_least_ns=least,
        assumption="measured in this run: the slowest and the fastest op of the quicker config",
        evidence=tuple(
            one for n in (row, twin) for one in (*facts.cite(n), cite_attribute(facts, n, "program_config"))
        ),
        fix=f"the program_config (or core grid) that op_detail(op={facts.line(twin)}) prints",
        verify=f"re-profile; op_detail(op={facts.line(row)}).kernel_us is that of line {facts.line(twin)} now; PCC",
        caveat="L1 may be fuller here than there: the config may not fit beside other tensors",
    )


def _slower(facts: WindowFacts) -> tuple[Rows, Rows, Floats, Floats]:
    """Rows with a quicker config, the fastest op of it, and what that saves at least and at most."""
    rows = _able(facts)
    work, config = _numbered_alike(facts, rows)
    took_ns = facts.kernel_ns
    found: list[tuple[int, int, float, float]] = []
    order = np.argsort(work, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(work[order])) + 1):
        times = {int(one): took_ns[rows[members[config[members] == one]]] for one in np.unique(config[members])}
        if len(times) < len(("slower", "quicker")):
            continue
        quick = min(times, key=lambda one: float(times[one].max()))
        best = rows[members[config[members] == quick]]
        twin = int(best[np.argmin(took_ns[best])])
        high, low = float(times[quick].max()), float(times[quick].min())
        found += [
            (int(rows[at]), twin, float(took_ns[rows[at]]) - high, float(took_ns[rows[at]]) - low)
            for at in members
            if high < QUICKER * float(times[int(config[at])].min())
        ]
    columns = list(zip(*sorted(found), strict=True)) or [(), (), (), ()]
    return (
        np.array(columns[0], dtype=np.int64),
        np.array(columns[1], dtype=np.int64),
        np.array(columns[2], dtype=np.float64),
        np.array(columns[3], dtype=np.float64),
    )


def _able(facts: WindowFacts) -> Rows:
    """Ops of measurable work whose attributes say how they were told to run."""
    able = MATMULS_AND_ATTENTION.mask(facts) & (facts.kernel_ns >= SMALL_NS) & ~facts.roofline.impossible
    rows = np.flatnonzero(able)
    return rows[facts.attributes_of_ops.numbers(rows, lambda said: float(any(one in said for one in CHOICES))) > 0]


def _numbered_alike(facts: WindowFacts, rows: Rows) -> tuple[Rows, Rows]:
    """A number for the work of each row, and one for how it was told to run; both by the row's cells."""
    seen: dict[str, int] = {}
    codes, places = np.unique(facts.ops.texts("attributes").codes[rows], return_index=True)
    what: dict[int, int] = {}
    for code, place in zip(codes.tolist(), places.tolist(), strict=True):
        said = facts.attributes(int(rows[place]))
        text = repr(sorted((key, value) for key, value in said.items() if key not in CHOICES))
        what[code] = seen.setdefault(text, len(seen))
    attributes = facts.ops.texts("attributes").codes[rows]
    kept = np.array([what[code] for code in attributes.tolist()], dtype=np.int64)
    fidelity = facts.ops.texts("fidelity").codes[rows]
    cores = np.nan_to_num(facts.ops.numbers("cores")[rows]).astype(np.int64)
    work = numbered(len(rows), [signatures(facts.ops)[rows], kept, fidelity])
    return work, numbered(len(rows), [attributes, cores])


def _told(facts: WindowFacts, twin: int) -> str:
    fields = _FIELDS.findall(facts.attributes(twin).get("program_config", ""))
    return shown(f" with {fields[0][0]}={fields[0][1]}") if fields else ""


CHECK = Check(
    id="faster-elsewhere",
    title="the same op is quicker elsewhere in this run",
    step=3,
    look=look,
    of=MATMULS_AND_ATTENTION,
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(saving=SAFE),
    compiled=optimized("chooses matmul configs"),
)

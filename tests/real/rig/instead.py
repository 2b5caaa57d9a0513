"""What check_setting says to take in place of a value, and the values it lists as legal, as code to execute."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.checks.op_config import present
from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.tools.check_setting import Arguments, check_setting

if TYPE_CHECKING:
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.tools.check_setting import Answer

CONV, MATMUL = "act_block_h_override", "in0_block_w"
REFUSED = {CONV: 4096, MATMUL: 999}  # no op takes these: the answer has an `instead`
OPS_AT_MOST = 6  # of each kind and report, the heaviest
FIELD = re.compile(r"(in0_block_w|out_subblock_[hw]|per_core_[MN])=(\d+)")
OTHER = re.compile(r" or (\d+)")  # of `in0_block_w=8 or 16`
MINIMAL = re.compile(r"([MKN]_block_size|subblock_[hw])=(\d+)")
GRID = re.compile(r"compute_with_storage_grid_size=\(x=(\d+);\s*y=(\d+)\)")
BANKED = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"  # has neither grid nor subblocks
KINDS = {
    "MatmulMultiCoreReuseMultiCastProgramConfig": "{fuses}, transpose_mcast=False, fused_activation=None",
    "MatmulMultiCoreReuseMultiCast1DProgramConfig": "{fuses}, fused_activation=None, mcast_in0={sends}",
    BANKED: ", fused_activation=None",
}


async def instead(facts: WindowFacts) -> list[tuple[int, str]]:
    """Pairs of an op and the config that the answers lead to."""
    told: list[tuple[int, str]] = []
    order = (-facts.kernel_ns).argsort()
    for family, setting in (("conv", CONV), ("matmul", MATMUL)):
        rows = [int(row) for row in order if facts.of_family(family)[row] and code(facts, int(row), {setting: 1})]
        for row in rows[:OPS_AT_MOST]:
            told.extend((row, code(facts, row, {setting: value})) for value in await values(facts, row, setting))
    return told


async def values(facts: WindowFacts, row: int, setting: str) -> list[int]:
    """The value that `instead` names, and those that are listed as legal and fitting."""
    try:
        refused = await ask(facts, row, setting, REFUSED[setting])
        listed = await ask(facts, row, setting, None)
    except TtnnMcpError:
        return []
    named = re.match(r"(\d+) \(", refused.instead or "")
    found = {int(named.group(1))} if named else set[int]()
    for choice in listed.choices or []:
        if choice.verdict == "fits" and isinstance(choice.value, int) and choice.value:
            found.add(choice.value)
    return sorted(found)


async def ask(facts: WindowFacts, row: int, setting: str, value: int | None) -> Answer:
    """One answer of the tool."""
    asked = {"run": facts.run.id, "op": facts.line(row), "setting": setting, "value": value}
    return await check_setting(facts.run, Arguments.model_validate(asked))


def as_now(facts: WindowFacts, row: int, fix: str) -> str:
    """What a fix means by `program_config as now with ...`, as code; empty where it does not say so."""
    _, said, rest = fix.partition("onfig as now with ")
    if fix.startswith("MinimalMatmulConfig"):
        return "; ".join(_minimal(facts, row, dict(MINIMAL.findall(each))) for each in rest.split(" or "))
    changed = {name: int(value) for name, value in FIELD.findall(rest)}
    blocks = [{MATMUL: int(block)} for block in OTHER.findall(rest)]
    if size := re.search(r"grid_size=\((\d+), (\d+)\)", rest):
        changed |= {"x": int(size.group(1)), "y": int(size.group(2)), "out_subblock_h": 1, "out_subblock_w": 1}
    return "; ".join(code(facts, row, changed | block) for block in ({}, *blocks)) if said and changed else ""


def _minimal(facts: WindowFacts, row: int, changed: dict[str, str]) -> str:
    """The call with the config that the report shows, or the usual one, with values changed."""
    usual = {"M_block_size": 8, "K_block_size": 8, "N_block_size": 8, "subblock_h": 2, "subblock_w": 2}
    fields = {**usual, **dict(MINIMAL.findall(facts.attributes(row).get("config") or "")), **changed}
    sizes = ", ".join(f"{name}={size}" for name, size in fields.items())
    grid = "compute_with_storage_grid_size=ttnn.CoreCoord({}, {})".format(*(worker_grid(facts.chip) or (8, 8)))
    return f"ttnn.experimental.minimal_matmul(x, w, config=ttnn.MinimalMatmulConfig({sizes}, {grid}))"


def now(facts: WindowFacts, row: int) -> str:
    """The configs that an op runs with, as code; empty where the report shows none or they cannot be written."""
    program = facts.attributes(row).struct("program_config")
    text = code(facts, row, {}) if program and facts.of_family("matmul")[row] else ""
    if not facts.of_family("matmul", "conv")[row] or bool(program) != bool(text):
        return ""
    return f"dict({present(facts, row).compute_text}{f', program_config={text}' if text else ''})"


def code(facts: WindowFacts, row: int, changed: dict[str, int]) -> str:
    """The configuration that the report shows, with values changed; empty where it shows none."""
    if CONV in changed:
        return f"ttnn.Conv2dConfig({CONV}={changed[CONV]})"
    printed = facts.attributes(row).get("program_config") or ""
    name = next((name for name in KINDS if re.search(rf"\b{name}\(", printed)), None)
    grid = GRID.search(printed)
    if name is None or not (grid or name == BANKED) or "in0_block_w=" not in printed:
        return ""
    subblock = {} if name == BANKED else {"out_subblock_h": 1, "out_subblock_w": 1}
    fields = {**subblock, **dict(FIELD.findall(printed)), **changed}
    inside = ", ".join(f"{field}={number}" for field, number in fields.items() if field not in "xy")
    fuses = f", fuse_batch={_is_true(printed, 'fuse_batch')}" if "fuse_batch" in printed or "1D" in name else ""
    rest = KINDS[name].format(fuses=fuses, sends=_is_true(printed, "mcast_in0"))
    x, y = (changed.get(side, now) for side, now in zip("xy", grid.groups() if grid else "00", strict=True))
    size = f"compute_with_storage_grid_size=({x}, {y}), " if grid else ""
    return f"ttnn.{name}({size}{inside}{rest})"


def _is_true(printed: str, field: str) -> bool:
    return re.search(rf"\b{field}=(1|true)", printed) is not None

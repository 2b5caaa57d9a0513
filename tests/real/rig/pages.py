"""Runs every Python block of the skill's pages on mock devices.

    PYTHON -m tests.real.rig.pages PAGE        within the environment; one process per page

The blocks of a page run one after the other in one namespace. What a page leaves to its reader (an input, a weight) is
put there first by `page_names`. Prints what was refused, and then exits non-zero.
"""

from __future__ import annotations

import re
import sys
import types
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.real.rig.devices import first_line, imported
from tests.real.rig.page_names import PAGES
from tests.real.rig.signatures import NOT_ON_MOCK, Asked
from tests.real.rig.stage import Stage
from tests.real.rig.xla_options import KNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]
SKILL = ROOT / "skills" / "optimizing-ttnn-models"


def blocks(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def options_taken(options: dict[str, str]) -> None:
    """Take the place of tt-xla's call, which ignores what it does not know."""
    unknown = set(options) - KNOWN
    if unknown:
        raise ValueError(f"tt-xla has no option {sorted(unknown)}")


def standing_in(ttnn: Any) -> None:
    """Put stand-ins in place of what cannot run here."""
    for name in NOT_ON_MOCK:
        setattr(ttnn, name, Asked(getattr(ttnn, name)))
    sys.modules["torch_xla"] = types.ModuleType("torch_xla")
    sys.modules["torch_xla"].set_custom_compile_options = options_taken  # type: ignore[attr-defined]


def refusal(stage: Stage, prepare: Callable[[Stage], None], block: str, place: str) -> str:
    """Run one block; what TTNN said against it, or nothing."""
    try:
        prepare(stage)
        exec(compile(block, place, "exec"), stage.names)  # noqa: S102 - our own pages
    except Exception as raised:  # noqa: BLE001 - every refusal is told, then the next block is tried
        return f"REFUSED {place}: {first_line(raised)}\n"
    return ""


def main(name: str) -> int:
    """Run one page."""
    prepared = PAGES.get(name)
    found = blocks(SKILL / name)
    if prepared is None:
        sys.stdout.write(f"{name}: {len(found)} blocks and no names for them in page_names\n")
        return 1 if found else 0
    ttnn = imported(prepared.kind)
    standing_in(ttnn)
    stage = Stage(ttnn, import_module("torch"))
    steps = enumerate(zip(prepared.before, [*found, "pass"], strict=True), start=1)
    refusals = [refusal(stage, *step, f"{name}, block {number}") for number, step in steps]
    refused = len([text for text in refusals if text])
    sys.stdout.writelines(refusals)
    sys.stdout.write(f"{name}: {len(found) - refused} of {len(found)} blocks ran\n")
    stage.close()
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""Whole answers on the bundled demo run, kept under tests/golden/ and reviewed like prose.

`python -m generate.golden` rewrites them; a test compares.
"""

import asyncio
import json
import tempfile
from pathlib import Path

from ttnn_mcp.served.documents import home
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools import TOOLS
from ttnn_mcp.tools.answering import answer, tool_named

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "golden"
CALLS: dict[str, dict[str, object]] = {
    "optimization_check": {"run": "demo"},
    "open_run": {"run": "demo"},
    "list_ops": {"run": "demo", "group_by": "op_code"},
    "op_detail": {"run": "demo", "op": 67},
    "sharding_summary": {"run": "demo"},
    "reshard_detect": {"run": "demo"},
    "host_overhead": {"run": "demo"},
    "tensor_formats": {"run": "demo"},
    "memory_summary": {"run": "demo"},
    "check_setting": {"run": "demo", "op": 64, "setting": "act_block_h_override", "value": 64},
    "device_balance": {"run": "demo"},
    "compare_runs": {"baseline": "demo", "candidate": "demo"},
    "experiments": {"action": "list"},
    "query_run": {
        "run": "demo",
        "sql": "SELECT op_code, count(*) AS ops FROM ops GROUP BY op_code ORDER BY 2 DESC, 1",
    },
}


async def answers() -> dict[str, str]:
    """The text of every golden file; the checkout's place is written as `.`."""
    with tempfile.TemporaryDirectory() as state:
        session = Session(Settings(roots=[Path(state)], state=Path(state)))
        said: dict[str, str] = {}
        for name, given in CALLS.items():
            structured, _ = await answer(session, tool_named(name, TOOLS), given)
            text = json.dumps(structured, indent=1, ensure_ascii=False).replace(str(home()), ".")
            said[name] = text + "\n"
        return said


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in asyncio.run(answers()).items():
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Write tools/*.json: what tools/list sends for each tool, one file per tool.

python -m generate.contracts        or `make fix`, which rewrites everything generated
"""

import json
from pathlib import Path

from ttnn_mcp.server.server import offered
from ttnn_mcp.tools import TOOLS

FOLDER = Path(__file__).parents[1] / "tools"


def contract(tool):
    """A tool as the wire carries it, spread over lines so that a change reads well in a review."""
    sent = offered(tool).model_dump(mode="json", by_alias=True, exclude_none=True)
    return json.dumps(sent, indent=2, ensure_ascii=False) + "\n"


def main():
    FOLDER.mkdir(exist_ok=True)
    wanted = {f"{tool.name}.json": contract(tool) for tool in TOOLS}
    for stale in FOLDER.glob("*.json"):
        if stale.name not in wanted:
            stale.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""What we promise in tools/ is what the server sends, to the letter."""

import json
from pathlib import Path

from mcp.client import Client

from generate.contracts import FOLDER, contract
from tests.for_all import for_all
from ttnn_mcp.server import server
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.tools import TOOLS

REWRITE = "run `make fix` (python -m generate.contracts) and review the difference as an assistant would read it"


def test_there_is_one_contract_per_tool():
    assert {path.stem for path in FOLDER.glob("*.json")} == {tool.name for tool in TOOLS}, REWRITE
    assert {path.suffix for path in FOLDER.iterdir()} == {".json"}


@for_all("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_contract_is_up_to_date(tool):
    assert (FOLDER / f"{tool.name}.json").read_text(encoding="utf-8") == contract(tool), REWRITE


@for_all("mode", ["auto", "legacy"])
async def test_a_client_receives_the_contracts_in_order_every_time(mode, tmp_path):
    session = Session(Settings(roots=(Path(tmp_path),), state=tmp_path))
    async with Client(server.build(session), mode=mode) as client:
        first = (await client.list_tools()).tools
        again = (await client.list_tools(cache_mode="bypass")).tools
    assert [tool.name for tool in first] == [tool.name for tool in TOOLS]
    assert first == again
    for tool in first:
        promised = json.loads((FOLDER / f"{tool.name}.json").read_text(encoding="utf-8"))
        assert tool.model_dump(mode="json", by_alias=True, exclude_none=True) == promised, REWRITE

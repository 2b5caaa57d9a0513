"""A whole optimisation session as an agent lives it: through the skill's loop, and resumed after a loss.

Every run is made; what is under test is that an assistant that only reads structured answers can go all the way.
"""

import os
import sys
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.pairs import Model, write
from ttnn_mcp.server import server
from ttnn_mcp.session.session import Session, Settings

BASE = Model()
BFP8 = replace(BASE, weights="BFLOAT8_B", up_ns=70_000)
FUSED = replace(BFP8, fused_relu=True)
LOFI = replace(FUSED, fidelity="LoFi", up_ns=40_000)
NOISE = replace(FUSED, jitter=0.01, seed=3)


@pytest.fixture
def runs(tmp_path):
    models = {"base": BASE, "bfp8": BFP8, "fused": FUSED, "lofi": LOFI, "noise": NOISE}
    return {name: write(tmp_path / name, model) for name, model in models.items()}


@asynccontextmanager
async def asking(server):
    async with Client(server) as client:

        async def ask(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            return result.structured_content or result.content[0].text

        yield ask


@pytest.fixture
def here(tmp_path):
    """A server in this process."""
    return server.build(Session(Settings(state=tmp_path / "state" / "ttnn-mcp")))


@pytest.fixture
def elsewhere(tmp_path):
    """A server in a process of its own, over stdio, with the same state folder."""
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    return StdioServerParameters(command=sys.executable, args=["-m", "ttnn_mcp"], env=env)


async def test_an_agent_goes_through_the_loop_and_resumes_it_after_losing_its_context(here, elsewhere, runs):
    async with asking(here) as ask:
        card = await ask("open_run", performance=runs["base"], name="base")
        assert card["window"]["warm"] is True
        found = await ask("optimization_check", run=card["id"])
        assert found["findings"][0]["saving_us"]["at_most"] > 0
        step = await ask("skill_step", page=found["findings"][0]["read_next"].removesuffix(".md"))
        assert "PCC" in step
        await ask("experiments", action="target", baseline=card["id"], target="1.06 ms")

        kept = await ask(
            "experiments",
            action="record",
            change="weights to bfloat8_b",
            step=1,
            baseline=card["id"],
            candidate=runs["bfp8"],
            pcc=0.9992,
        )
        assert kept["experiment"]["verdict"] == "keep"
        reverted = await ask(
            "experiments", action="record", change="LoFi", step=1, candidate=runs["lofi"], pcc=0.971
        )
        assert reverted["experiment"]["verdict"] == "revert"
        assert "0.97" in reverted["experiment"]["why"]

    async with asking(elsewhere) as ask:  # another process: nothing but the log is left
        story = await ask("experiments")
        assert len(str(story)) < 4_000
        log = {row[2]: row[3] for row in story["log"]["rows"]}
        assert log == {"weights to bfloat8_b": "keep", "LoFi": "revert"}
        fused = await ask(
            "experiments",
            action="record",
            change="relu into the matmul",
            step=6,
            candidate=runs["fused"],
            pcc=0.9991,
        )
        assert fused["experiment"]["verdict"] == "keep"
        noise = await ask(
            "experiments", action="record", change="another core grid", step=3, candidate=runs["noise"], pcc=0.9991
        )
        assert noise["experiment"]["verdict"] == "inconclusive"
        story = await ask("experiments")
        assert story["best"]["kernel_ms"] < story["baseline"]["kernel_ms"]
        assert (story["target"]["status"], story["target"]["stop"]) == ("met", True)
        rests_on = {row[0]: row[1] for row in story["checklist"]["rows"]}
        assert rests_on["1 Data formats"] != "not shown"


async def test_the_loop_s_prompt_comes_with_the_facts_of_the_run(here):
    async with Client(here) as client:
        (message,) = (await client.get_prompt("optimize_model", {"run": "demo", "target": "1 ms"})).messages
        assert "edit `trace`: the device waits for the host" in message.content.text
        assert "in a warm window of 40 ops" in message.content.text
        (message,) = (await client.get_prompt("optimize_model", {"run": "/nowhere"})).messages
        assert "could not be read yet" in message.content.text

"""Reports whose `buffers` table is empty, as TTNN writes them by default: what was there before counts all the same."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.real.stored_truth import folder_of, truth_of
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.session.opening import read_run

# Python drops no L1 tensor in them that nothing replaces; `llama_decode` has tensors in L1 before the capture
EXACT_L1 = (
    "cb_clash",
    "foreign_tutorial",
    "llama_decode",
    "mesh_tp2",
    "mobilenet",
    "resnet50_stages",
    "warm_passes",
)
EXACT_DRAM = (
    "cb_clash",
    "foreign_tutorial",
    "late_frees",
    "llama_decode",
    "mesh_tp2",
    "mobilenet",
    "resnet50_stages",
    "views",
    "warm_passes",
)


@pytest.fixture
def bare(tmp_path):
    """A real report without its snapshots."""

    def made(name):
        shutil.copytree(folder_of(name), tmp_path / name)
        with closing(sqlite3.connect(tmp_path / name / "db.sqlite")) as connection:
            connection.execute("DELETE FROM buffers")
            connection.commit()
        return tmp_path / name / "db.sqlite"

    return made


@for_all("name", EXACT_L1, sampled=3)
async def test_the_l1_peak_is_ttnn_s(bare, name):
    found = await replay_of(await read_run("bare", name, None, bare(name)))
    wanted = truth_of(name)["l1_peak"]
    assert int(found.fullest.l1.max()) == wanted["bytes_per_bank"]
    assert int(found.operations[found.fullest.peak]) == wanted["operation"]


@for_all("name", EXACT_DRAM, sampled=3)
async def test_the_dram_peak_is_ttnn_s(bare, name):
    found = await replay_of(await read_run("bare", name, None, bare(name)))
    assert int(found.fullest.dram.max()) == truth_of(name)["dram_peak_bytes_per_bank"]


async def test_no_headroom_is_told_and_the_answer_says_why(tmp_path, bare):
    """In `views` Python drops tensors whose places nothing takes: counted twice over."""
    answer = await ask(session(tmp_path), "memory_summary", run=str(bare("views")))
    peak = answer["l1_peak"]
    assert peak["bytes_per_bank"] > truth_of("views")["l1_peak"]["bytes_per_bank"]
    assert peak["headroom_bytes"] is None
    assert not {"headroom_at_most_bytes", "headroom_modelled_bytes"} & peak.keys()
    assert "may be too high; what was there before and no operation reads is not seen" in answer["why"]
    assert any(one.endswith("allocated nowhere in the report: counted from the start") for one in answer["caveats"])

"""check_setting of attention before a paged cache: TTNN 0.81.1's own rules and buffers, see tests/real."""

from __future__ import annotations

import pytest

from tests.asking import ask, session
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import Program, write_performance_report
from tests.profiles.model import DeviceOp

CONFIG = (
    "SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),q_chunk_size={},k_chunk_size={},"
    "max_cores_per_head_batch=16)"
)


@pytest.fixture
def asked(tmp_path):
    """Ask about the only op of a program."""

    async def of(program, setting, value):
        report = write_performance_report(tmp_path / "perf", program)
        return await ask(session(tmp_path), "check_setting", run=str(report), op=3, setting=setting, value=value)

    return of


def words(program, *shape):
    return program.tensor([1, 1, *shape], dtype="INT32", layout="ROW_MAJOR")


def token(arch="wormhole_b0", *, table=True):
    """A token of 8 users, 32 heads over 8, against 32 pages of 64 keys each."""
    program = Program(arch)
    q, out = (program.tensor([1, 8, 32, 128]) for _ in range(2))
    k, v = (program.tensor([256, 8, 64, 128], dtype="BFLOAT8_B") for _ in range(2))
    also = (words(program, 1, 8), words(program, 8, 32)) if table else ()
    told = {
        "program_config": CONFIG.format(0, 128),
        "is_causal": True,
        "paged_attention": True,
        "k_chunk_size": 128,
    }
    put(
        program,
        DeviceOp("SdpaDecodeDeviceOperation", (q, k, v, *also), (out,), 90_000, fidelity="HiFi2", attributes=told),
    )
    return program


def prompt(start=512, *, table=True, arch="wormhole_b0"):
    """A chunk of 512 queries of 8 heads, behind others, against 64 pages of 64 keys each."""
    program = Program(arch)
    q, out = (program.tensor([1, 8, 512, 128]) for _ in range(2))
    k, v = (program.tensor([64, 1, 64, 128], dtype="BFLOAT8_B") for _ in range(2))
    also = (words(program, 1, 64),) if table else ()
    told = {"program_config": CONFIG.format(64, 64), "is_causal": True, "chunk_start_idx": start}
    put(program, DeviceOp("SDPAOperation", (q, k, v, *also), (out,), 90_000, fidelity="HiFi2", attributes=told))
    return program


@for_all(("arch", "size"), [("wormhole_b0", 258_240), ("blackhole", 258_304)])
async def test_a_token_s_chunk_needs_only_be_a_power_of_two(asked, arch, size):
    answer = await asked(token(arch), "k_chunk_size", 256)
    assert (answer["now"], answer["l1_bytes"], answer["fits"]) == (128, size, True)
    assert (await asked(token(arch), "k_chunk_size", 4096))["legal"] is True  # more than the cache holds
    assert "power of 2" in (await asked(token(arch), "k_chunk_size", 96))["why"]


async def test_a_prompt_s_chunk_begins_where_chunks_begin(asked):
    answer = await asked(prompt(), "q_chunk_size", 128)
    assert answer["legal"] is True
    assert (
        "128 pairs of chunks per head become 32" in (await asked(prompt(), "k_chunk_size", 256))["expected"]
    )  # 1024 keys are attended
    for setting, letter in (("q_chunk_size", "q"), ("k_chunk_size", "k")):
        refused = await asked(prompt(), setting, 96)
        assert refused["legal"] is False
        assert f"chunk_start_idx, 512, is a multiple of {letter}_chunk_size" in refused["why"]
    assert (await asked(prompt(0), "q_chunk_size", 96))["legal"] is True
    assert "a multiple of 32" in (await asked(prompt(0), "q_chunk_size", 0))["why"]


@for_all("arch", ["wormhole_b0", "blackhole"])
async def test_a_prompt_s_chunk_takes_the_page_table_too(asked, arch):
    """No keys are passed from core to core there."""
    assert (await asked(prompt(arch=arch), "k_chunk_size", 128))["l1_bytes"] == 215_296


@for_all("program", [token(table=False), prompt(table=False)])
async def test_without_its_page_table_it_is_not_judged(asked, program):
    setting = "k_chunk_size"
    assert (await asked(program, setting, 128))["verdict"] == "cannot_tell"

"""The L1 that a core has for tensors and buffers of programs."""

import asyncio
from types import SimpleNamespace

from tests.analyses.memory.replays import opened
from tests.analyses.memory.small_tables import asked, device, memory, real
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.l1_limit import L1Limit, first_program_address, l1_limit
from ttnn_mcp.hardware import ARCHITECTURES


def limit_of(*devices, arch="wormhole_b0"):
    chip = SimpleNamespace(architecture=ARCHITECTURES.get(arch))
    return l1_limit(SimpleNamespace(memory=memory(devices=devices) if devices else None, chip=chip))


def test_the_report_s_own_limit_comes_first():
    small = 1_393_312 - 1_360_544
    assert limit_of(device()) == L1Limit(1_393_312, small, read=True, measured=True)
    assert limit_of(device(cb_limit_bytes=None), device(1, l1_bank_bytes=None)) == L1Limit(
        1_393_312, 0, read=True, measured=True
    )


@for_all(("arch", "measured"), [("wormhole_b0", True), ("blackhole", True), ("grayskull", False)])
def test_else_it_is_the_architecture_s(arch, measured):
    limit = ARCHITECTURES[arch].usable_l1_bytes
    assert limit_of(arch=arch) == L1Limit(limit, 0, read=False, measured=measured)
    assert limit_of(device(cb_limit_bytes=0), arch=arch).read is False


def test_an_unknown_architecture_has_none():
    assert limit_of(arch="unknown") is None


def test_five_percent_or_the_small_region_stay_free():
    assert L1Limit(1_000, 0, read=True, measured=True).safe_bytes == 950
    assert L1Limit(1_000, 100, read=True, measured=True).safe_bytes == 900


def test_buffers_of_programs_begin_where_the_first_device_says():
    assert first_program_address(memory(devices=(device(), device(1, first_cb_address=7)))) == 105_824
    assert first_program_address(memory(devices=(device(first_cb_address=None),))) == 0
    assert first_program_address(memory()) == 0


@for_all("name", ["views", "mobilenet"])
def test_real_reports_tell_limit_and_base(name):
    folder = real(name)
    ((limit, bank, base),) = asked(
        folder, "SELECT cb_limit, l1_bank_size, address_at_first_l1_cb_buffer FROM devices LIMIT 1"
    )
    run = asyncio.run(opened(folder / "db.sqlite"))
    assert l1_limit(run) == L1Limit(limit, limit - bank, read=True, measured=True)
    assert first_program_address(run.memory) == base

"""What the tools must say of real reports. Figures were computed apart, with the csv module and arithmetic."""

import csv
import json

import pytest

from tests.asking import ask, reader
from tests.for_all import for_all
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, LINKED, MEMORY, OFT, SEGFORMER, shared


@pytest.fixture
def at(tmp_path):
    return reader(tmp_path)


def shares(answer):
    table = answer["groups"]
    place = table["columns"].index("share")
    return {row[0]: row[place] for row in table["rows"]}


def kernel_ms_by_hand(path):
    with path.open(newline="") as file:
        rows = csv.DictReader(file)
        return sum(float(row["DEVICE KERNEL DURATION [ns]"] or 0) for row in rows) / 1e6


async def test_clip_is_two_iterations_on_a_wormhole(at):
    card = await ask(at, "open_run", performance=str(shared(CLIP)))
    assert (card["arch"], card["worker_cores"], card["clock_ghz"]) == ("wormhole_b0", 64, 1)
    assert (card["iterations"], card["iteration_ops"]) == (2, 936)
    assert card["kernel_ms"] == pytest.approx(31.611, abs=0.001)


async def test_clip_is_device_bound_and_a_trace_saves_little(at):
    said = await ask(at, "host_overhead", run=str(shared(CLIP)))
    assert said["verdict"] == "device_bound"
    assert said["kernel_ms"] == pytest.approx(31.61, abs=0.01)
    assert said["wall_ms"] == pytest.approx(34.3, abs=0.15)
    assert said["busy_share"] == pytest.approx(0.92, abs=0.005)
    assert said["median_gap_us"] == pytest.approx(0.66)
    assert said["trace_saving_ms"]["at_most"] <= 1.8
    assert said["cold"]["gap_ms"] == pytest.approx(16_300, rel=0.01)
    assert said["static_shapes"] is True


async def test_clip_spends_its_time_in_minimal_matmul_and_layer_norm(at):
    by_op = shares(await ask(at, "list_ops", run=str(shared(CLIP)), group_by="op_code"))
    assert by_op["MinimalMatmulOp"] == pytest.approx(0.616, abs=0.001)
    assert by_op["LayerNormDeviceOperation"] == pytest.approx(0.11, abs=0.001)


async def test_deeplab_is_one_cold_pass_without_a_host_verdict(at):
    run = str(shared(DEEPLAB))
    card = await ask(at, "open_run", run=run)
    assert (card["rows"]["device"], card["worker_cores"], card["iterations"]) == (387, 110, 0)
    assert card["kernel_ms"] == pytest.approx(8.698, abs=0.001)
    assert any("PM columns not to be trusted" in caveat for caveat in card["caveats"])
    host = await ask(at, "host_overhead", run=run)
    assert host["verdict"] == "unknown"
    assert host["trace_saving_ms"] is None
    assert "iterations" in host["why"]
    by_op = shares(await ask(at, "list_ops", run=run, group_by="op_code", limit=50))
    assert by_op["InterleavedToShardedDeviceOperation"] == pytest.approx(0.0283, abs=0.0001)
    assert by_op["ShardedToInterleavedDeviceOperation"] == pytest.approx(0.0188, abs=0.0001)


async def test_the_oft_report_names_no_architecture_and_is_recognised_by_its_clock(at):
    run = str(shared(OFT))
    card = await ask(at, "open_run", run=run)
    assert card["arch"] == "blackhole"
    assert any("inferred from the 1.35 GHz clock" in caveat for caveat in card["caveats"])
    assert any("at most 20 cores" in caveat for caveat in card["caveats"])
    assert (card["rows"]["device"], card["rows"]["signpost"]) == (621, 50)
    assert card["kernel_ms"] == pytest.approx(999.207, abs=0.001)
    by_op = shares(await ask(at, "list_ops", run=run, group_by="op_code"))
    assert by_op["ReshapeDeviceOperation"] == pytest.approx(0.468, abs=0.001)


async def test_deepseek_is_told_per_device(at):
    run = str(shared(DEEPSEEK))
    card = await ask(at, "open_run", run=run)
    assert card["devices"] == list(range(8))
    per_device = [row[2] for row in card["kernel_ms_by_device"]["rows"]]
    assert all(row[1] == 26 for row in card["kernel_ms_by_device"]["rows"])
    assert (min(per_device), max(per_device)) == pytest.approx((8.197, 11.647), abs=0.001)
    assert (await ask(at, "host_overhead", run=run))["verdict"] == "unknown"
    sdpa = await ask(at, "list_ops", run=run, op_code="RingJointSDPA")
    times = [row[sdpa["ops"]["columns"].index("kernel_us")] for row in sdpa["ops"]["rows"]]
    assert (min(times), max(times)) == pytest.approx((3500, 6907), abs=1)


async def test_segformer_host_rows_are_plumbing(at):
    run = str(shared(SEGFORMER))
    card = await ask(at, "open_run", run=run)
    assert (card["rows"]["device"], card["rows"]["host"]) == (398, 781)
    assert any("781 host rows, all to/from-torch plumbing" in caveat for caveat in card["caveats"])
    assert card["kernel_ms"] == pytest.approx(5.182, abs=0.001)
    by_op = shares(await ask(at, "list_ops", run=run, group_by="op_code"))
    assert by_op["InterleavedToShardedDeviceOperation"] == pytest.approx(0.115, abs=0.001)
    assert by_op["ShardedToInterleavedDeviceOperation"] == pytest.approx(0.087, abs=0.001)


@for_all("report", [CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER])
async def test_kernel_times_add_up_to_those_in_the_file(at, report):
    path = shared(report)
    listed = await ask(at, "list_ops", run=str(path), iteration="all", group_by="op_code", limit=200)
    assert listed["total"]["kernel_us"] / 1e3 == pytest.approx(kernel_ms_by_hand(path), abs=1e-3)
    assert sum(shares(listed).values()) == pytest.approx(1, abs=0.002)


async def test_the_newest_memory_report_links_to_its_performance_report(at):
    card = await ask(
        at, "open_run", performance=str(shared(LINKED)), memory=str(shared("memory/v3_3")), name="linked"
    )
    assert card["link"] == {
        "status": "linked",
        "method": "global call count >> 10, then device op order",
        "matched": 14,
        "of": 14,
    }
    detail = await ask(at, "op_detail", run="linked", op=6)
    assert detail["call"]["operation"] == "ttnn.conv2d"
    assert detail["call"]["file"].endswith("ttnn_resnetish.py")
    assert detail["call"]["line"] == 31


@for_all("folder", MEMORY)
async def test_every_memory_generation_opens_alone(at, folder):
    card = await ask(at, "open_run", memory=str(shared(folder)))
    assert card["arch"] == "wormhole_b0"
    assert card["link"]["status"] == "not_applicable"
    assert "host_overhead: no device times" in card["not_answerable"]


@for_all("report", [CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER], sampled=3)
async def test_answers_stay_small_on_real_reports(at, report):
    run = str(shared(report))
    limits = {"open_run": 1536, "host_overhead": 1536, "list_ops": 4096, "optimization_check": 8192}
    for tool, limit in limits.items():
        said = json.dumps(await ask(at, tool, run=run), separators=(",", ":"))
        assert len(said) <= limit, tool
    op = (await ask(at, "list_ops", run=run))["ops"]["rows"][0][0]
    assert len(json.dumps(await ask(at, "op_detail", run=run, op=op), separators=(",", ":"))) <= 1536

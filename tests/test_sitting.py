"""Fifteen questions about real reports, each answered by one call: what a person asks, in the order they ask it.

Together the answers take at most 18 kB, of reports in /reports: every byte is read by an assistant.
"""

from collections import Counter

import pytest

from tests.asking import ask, session
from tests.plain_figures import (
    KERNEL,
    TILE_CYCLES,
    cells,
    conv_l1_bytes,
    elements,
    floor_us,
    layer_times_us,
    number,
    unexplained_us,
    useful_flops,
)
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.wire import bytes_of, compact

BYTES_AT_MOST = 18_000


def table(of) -> list[dict[str, object]]:
    return [dict(zip(of["columns"], row, strict=True)) for row in of["rows"]]


def kernel_us(row) -> float:
    return number(row, KERNEL) / 1e3


@pytest.fixture
def sit(tmp_path):
    """One sitting: `await sit(tool, report, ...)`; `sit.sizes` holds what the answers took."""
    at, sizes = session(tmp_path), []

    async def asked(tool, report, **arguments):
        path = str(shared(report))
        answer = await ask(
            at, tool, **({"performance": path} if tool == "open_run" else {"run": path}), **arguments
        )
        elsewhere = len(path.encode()) - len(f"/reports/{report}")  # where the checkout lies is not our doing
        sizes.append(bytes_of(answer) - elsewhere * compact(answer).count(path))
        return answer

    asked.sizes = sizes
    return asked


async def test_fifteen_questions_take_fifteen_calls_and_eighteen_kilobytes(sit):  # noqa: PLR0915 - it is one sitting
    # would Metal Trace help, by how much at most; is it or 2CQ in use?
    host = await sit("host_overhead", CLIP)
    clip = [row for row in cells(CLIP) if row[KERNEL]][936:]  # the second iteration
    gaps_ms = sum(number(row, "OP TO OP LATENCY [ns]") for row in clip[1:]) / 1e6
    at_most = pytest.approx(gaps_ms - len(clip) / 1e3, abs=0.001)  # a traced op keeps a gap of a microsecond
    assert host["trace_saving_ms"] == {"at_most": at_most}
    assert not host["traced"]
    assert "not in a report" in host["command_queues"]

    # is it host-bound?
    host = await sit("host_overhead", DEEPLAB)
    assert (host["verdict"], host["window"]["warm"]) == ("unknown", False)
    assert "2 or more iterations" in host["why"]

    # which sharded-interleaved round trip is avoidable, and what does it cost?
    moves = await sit("reshard_detect", DEEPLAB, limit=1)
    trip = next(pattern for pattern in moves["patterns"] if pattern["kind"] == "round-trip")
    assert trip["ops"] == [112, 111]
    assert trip["total_us"] == pytest.approx(
        sum(kernel_us(cells(DEEPLAB)[line - 2]) for line in trip["ops"]), abs=0.01
    )
    assert trip["avoidable_at_most_us"] < trip["total_us"]

    # may act_block_h be raised for its heaviest conv?
    heaviest = max((row for row in cells(DEEPLAB) if "Conv2d" in row["OP CODE"]), key=kernel_us)
    line = cells(DEEPLAB).index(heaviest) + 2
    setting = await sit("check_setting", DEEPLAB, op=line, setting="act_block_h_override")
    assert setting["next_up"]["value"] > setting["now"]
    assert setting["next_up"]["verdict"] == "fits"
    higher = {one["value"]: one["l1_bytes"] for one in setting["choices"] if one["value"] >= setting["now"]}
    assert set(higher) == {64, 128, 256}
    rows_of_core = 256  # the largest block
    assert all(0 < l1 - conv_l1_bytes(heaviest, block_h) <= 2 * rows_of_core for block_h, l1 in higher.items())
    assert conv_l1_bytes(heaviest, 128) < setting["limit_bytes"] < 1536 * 1024  # of a core of Blackhole

    # which op code leads, with which share, how far from its floor?
    leader = table((await sit("list_ops", OFT, group_by="op_code", limit=1))["groups"])[0]
    spent = Counter()
    for row in cells(OFT):
        spent[row["OP CODE"]] += kernel_us(row)
    assert (leader["key"], leader["kernel_us"]) == (
        spent.most_common(1)[0][0],
        pytest.approx(spent.most_common(1)[0][1], abs=0.01),
    )
    assert leader["share"] == pytest.approx(leader["kernel_us"] / sum(spent.values()), abs=1e-4)
    assert leader["dram_share"] < 0.01

    # how many ops fall back to the host?
    card = await sit("open_run", SEGFORMER)
    assert card["rows"]["fallbacks"] == 0
    host_rows = {row["OP CODE"] for row in cells(SEGFORMER) if not row["DEVICE KERNEL DURATION [ns]"]}
    assert all("torch" in code for code in host_rows)

    # why is RingJointSDPA 3.5 ms on some devices and 6.9 on others?
    (uneven,) = (await sit("device_balance", DEEPSEEK))["imbalance"]
    assert "is_balanced=false" in uneven["cause"]
    assert (uneven["min_us"], uneven["max_us"]) == (pytest.approx(3500, abs=1), pytest.approx(6907, abs=1))

    # which chip made it?
    card = await sit("open_run", OFT)
    assert card["arch"] == "blackhole"
    assert any("inferred from the 1.35 GHz clock" in caveat for caveat in card["caveats"])

    # what FLOPs utilisation do its MinimalMatmuls reach on useful work?
    groups = table((await sit("list_ops", CLIP, group_by="op_code", limit=3))["groups"])
    multiplied = next(group for group in groups if group["key"] == "MinimalMatmulOp")
    matmuls = [row for row in clip if row["OP CODE"] == "MinimalMatmulOp"]
    peak = 64 * 2 * 32**3 / TILE_CYCLES["HiFi4"]  # FLOPs of 64 cores in a nanosecond, at 1 GHz
    flop_share = sum(map(useful_flops, matmuls)) / sum(map(kernel_us, matmuls)) / 1e3 / peak
    assert multiplied["flop_share"] == pytest.approx(flop_share, abs=0.0001)

    # what runs on one core?
    alone = table((await sit("list_ops", CLIP, group_by="op_code", max_cores=1))["groups"])
    expected = Counter(row["OP CODE"] for row in clip if float(row["CORE COUNT"]) == 1)
    assert {group["key"]: group["count"] for group in alone} == expected

    # are its PM columns to be trusted?
    card = await sit("open_run", DEEPLAB)
    assert any("PM columns not to be trusted" in caveat for caveat in card["caveats"])

    # what would BFLOAT8_B weights save, in bytes and at most in time?
    formats = await sit("tensor_formats", CLIP)
    (weights,) = table(formats["weights"])
    assert weights["megabytes"] == pytest.approx(
        sum(elements(row, "INPUT_1") * 2 for row in matmuls) / 1e6, abs=0.01
    )
    assert weights["as_bfloat8_b_megabytes"] == pytest.approx(weights["megabytes"] * 1088 / 2048, abs=0.01)
    assert next(one for one in table(formats["candidates"]) if one["check"] == "wide-weights")["at_most_us"] > 0

    # what is the floor of one inference?
    budget = await sit("time_budget", CLIP)
    floor = next(floor for floor in table(budget["floors"]) if floor["what"] == "as_it_is")
    assert floor["time_us"] == pytest.approx(5268, abs=1)
    assert floor["time_us"] == pytest.approx(floor_us(clip, gb_s=288, ghz=1, cores=64), rel=0.02)

    # which layer is the slowest?
    layer = table((await sit("list_ops", CLIP, group_by="layer", limit=1))["groups"])[0]
    assert (layer["key"], layer["count"]) == ("layer 31", 29)
    first_norm = next(place for place, row in enumerate(clip) if "LayerNorm" in row["OP CODE"])
    times = layer_times_us(clip[: first_norm + 32 * 29], first_norm, 29)
    assert max(times, key=times.get) == 31
    assert layer["kernel_us"] == pytest.approx(times[31], abs=0.01)

    # which part of the window does nothing explain?
    budget = await sit("time_budget", DEEPLAB)
    above = next(entry for entry in table(budget["ledger"]) if entry["what"] == "above_bounds")
    assert above["share"] == pytest.approx(0.322, abs=0.001)
    conv_us, conv_line = unexplained_us(DEEPLAB, "Conv2dDeviceOperation")
    matmul_us, matmul_line = unexplained_us(DEEPLAB, "Matmul")
    assert above["heaviest_ops"].startswith(
        f"Conv2d {conv_us:.0f} (line {conv_line}), Matmul {matmul_us:.0f} (line {matmul_line}), "
    )

    assert len(sit.sizes) == 15
    assert sum(sit.sizes) <= BYTES_AT_MOST, sum(sit.sizes)

"""device_balance: who is slow, who waits, and what collectives carry."""

from __future__ import annotations

import json

import pytest

from tests.analyses.devices.test_balance import mesh
from tests.asking import ask, session
from tests.checks.rows import pass_time
from tests.profiles import Iteration, Program, header_of, performance_rows, write_performance_report, write_rows
from tests.shared_reports import CLIP, DEEPSEEK, shared


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


def balance(at, report):
    return ask(at, "device_balance", run=str(report))


async def test_each_device_has_its_kernel_collective_and_waiting_time(at, tmp_path):
    said = await balance(at, write_performance_report(tmp_path, mesh(), [Iteration()]))
    assert said["devices"]["columns"] == ["device", "kernel_us", "ccl_us", "waiting_us", "ops"]
    assert said["devices"]["rows"][0] == [0, 420, 120, 0, 6]
    assert said["devices"]["rows"][3] == [3, 1110, 210, 90, 6]
    assert said["ccl_share"] == pytest.approx(660 / 2460, abs=1e-4)
    assert (said["critical_device"], said["matched"]) == (3, "call_count")


async def test_uneven_work_is_told_from_waiting(at, tmp_path):
    said = await balance(at, write_performance_report(tmp_path, mesh(), [Iteration()]))
    work, waiting = said["imbalance"]
    assert (work["op_code"], work["kind"], work["launches"]) == ("Unary", "work", 3)
    assert (work["min_us"], work["mean_us"], work["max_us"], work["imbalance"]) == (300, 450, 900, 2)
    assert (work["slowest_device"], work["excess_us"]) == (3, 450)
    assert (waiting["op_code"], waiting["kind"]) == ("AllGatherAsync", "waiting")


async def test_collectives_show_what_their_links_carry(at, tmp_path):
    said = await balance(at, write_performance_report(tmp_path, mesh(), [Iteration()]))
    heaviest = dict(zip(said["exchanges"]["columns"], said["exchanges"]["rows"][0], strict=True))
    payload = 3 / 4 * 512 * 256 * 4 * heaviest["payload_bytes"] / heaviest["payload_bytes"] * 2
    assert heaviest["fastest_us"] == 40
    assert heaviest["payload_bytes"] % payload == 0
    assert heaviest["link_gb_s"] == pytest.approx(heaviest["payload_bytes"] / 40_000 / 2, abs=0.01)
    assert said["links_have_carried_gb_s"] == 24


async def test_one_device_answers_without_comparison(at, tmp_path):
    program = Program("wormhole_b0")
    pass_time(program, 50_000)
    said = await balance(at, write_performance_report(tmp_path, program))
    assert said["why"] == "one device: nothing to balance"
    assert (said["imbalance"], said["ccl_share"]) == ([], 0)


async def test_devices_with_other_ops_are_not_compared(at, tmp_path):
    rows = performance_rows(mesh(), [Iteration()], "C1")
    rows = [row for row in rows if row is not rows[-1]]
    for place, row in enumerate(rows):
        row["GLOBAL CALL COUNT"] = str(place)  # as before 2025: no device inside
    said = await balance(at, write_rows(tmp_path / "ops_perf_results_1.csv", rows, header_of(rows, "C1")))
    assert said["matched"] == "not_matched"
    assert [row[3] for row in said["devices"]["rows"]] == [None] * 4
    assert "5 to 6 each" in said["why"]
    assert said["imbalance"] == []


async def test_a_galaxys_answer_stays_small(at, tmp_path):
    said = await balance(at, write_performance_report(tmp_path, mesh(devices=48, layers=12), [Iteration()]))
    assert len(said["devices"]["rows"]) == 32
    assert said["more_devices"] == 16
    assert len(json.dumps(said, separators=(",", ":"))) <= 4_000


def side_by_side(**times_us):
    """Ops on two devices, after a long one that both run alike."""
    program = Program("blackhole", devices=2)
    x = program.tensor([1, 1, 32, 32])
    for place, (name, pair) in enumerate({"Matmul": (10_000, 10_000), **times_us}.items(), start=1):
        x = program.op(f"{name}DeviceOperation", [x], shape=[1, 1, 32, 32 * place])
        program.device_ops[-1].kernel_ns = [round(time * 1e3) for time in pair]
    return program


async def listed(at, folder, program):
    answer = await balance(at, write_performance_report(folder, program, [Iteration(cold=True), Iteration()]))
    return [uneven["op_code"] for uneven in answer["imbalance"]]


async def test_ops_that_differ_by_what_repeats_differ_are_not_listed(at, tmp_path):
    # slowest over mean: 110 of 105, and 112 of 106
    assert await listed(at, tmp_path, side_by_side(Unary=(1_000, 1_100), Softmax=(1_000, 1_120))) == ["Softmax"]


async def test_nor_are_those_whose_excess_is_nothing_beside_the_kernels(at, tmp_path):
    # 18 and 23 us above the mean, of 10.1 ms
    assert await listed(at, tmp_path, side_by_side(Unary=(10, 46), Softmax=(10, 56))) == ["Softmax"]


async def test_the_ops_that_cost_most_are_listed(at, tmp_path):
    names = "Unary", "Softmax", "Binary", "Reduce", "Permute", "Concat", "Slice", "Pad", "Typecast"
    uneven = {name: (100, 1_000 + 100 * place) for place, name in enumerate(names)}
    assert await listed(at, tmp_path, side_by_side(**uneven)) == [*names[:0:-1]]
    program = side_by_side()  # device 0 takes longest in one launch, device 1 over all of them
    for launch, pair in enumerate([(300_000, 100_000), (100_000, 240_000), (100_000, 260_000)], start=1):
        program.op("UnaryDeviceOperation", [program.tensor([1, 1, 32, 32])], shape=[1, 1, 32, 32 * launch])
        program.device_ops[-1].kernel_ns = [*pair]
    path = write_performance_report(tmp_path, program, [Iteration()])
    (uneven,) = (await balance(at, path))["imbalance"]
    assert (uneven["slowest_device"], uneven["max_us"], uneven["launches"]) == (1, 600, 3)
    op = await ask(at, "op_detail", run=str(path), op=uneven["op"])
    assert (op["device"], op["kernel_us"]) == (1, 260)


async def test_the_heaviest_exchanges_are_shown(at, tmp_path):
    answer = await balance(at, write_performance_report(tmp_path, mesh(layers=7), [Iteration()]))
    assert len(answer["exchanges"]["rows"]) == 6


async def test_two_devices_that_exchange_nothing_are_compared(at, tmp_path):
    program = side_by_side(Unary=(100, 200))
    answer = await balance(at, write_performance_report(tmp_path, program, [Iteration(cold=True), Iteration()]))
    assert not {"exchanges", "why"} & answer.keys()
    assert answer["caveat"] == (
        "a collective's time above the fastest device's is waiting for a slower device; "
        "untraced, devices also start 17 to 55 us apart"
    )


async def test_devices_that_replay_a_trace_start_together(at, tmp_path):
    passes = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(3, 1)), Iteration(trace=(3, 2))]
    answer = await balance(at, write_performance_report(tmp_path, side_by_side(Unary=(100, 200)), passes))
    assert "untraced" not in answer["caveat"]


async def test_deepseek_on_eight_cards_is_out_of_balance_in_its_attention(at):
    said = await balance(at, shared(DEEPSEEK))
    (worst,) = said["imbalance"]
    assert (worst["op_code"], worst["kind"]) == ("RingJointSDPA", "work")
    assert worst["max_us"] / worst["min_us"] == pytest.approx(1.96, abs=0.02)
    assert worst["excess_us"] == pytest.approx(1_700, abs=30)
    assert said["ccl_share"] == pytest.approx(0.153, abs=0.0005)
    assert {row[7] for row in said["exchanges"]["rows"]} == {"Linear"}
    assert all(15 < row[8] < 24 for row in said["exchanges"]["rows"])


async def test_a_single_card_report_has_no_collectives(at):
    said = await balance(at, shared(CLIP))
    assert said["ccl_share"] == 0
    assert "exchanges" not in said


async def test_attention_that_is_dealt_out_in_order_is_named_as_the_cause(at):
    (uneven,) = (await balance(at, shared(DEEPSEEK)))["imbalance"]
    assert uneven["op_code"] == "RingJointSDPA"
    assert "ring of 2 with is_balanced=false" in uneven["cause"]
    assert uneven["excess_us"] == pytest.approx(uneven["max_us"] - uneven["mean_us"], abs=0.01)


async def test_no_cause_is_named_where_the_attributes_show_none(at, tmp_path):
    said = await balance(at, write_performance_report(tmp_path, mesh(), [Iteration()]))
    assert not any("cause" in uneven for uneven in said["imbalance"])


async def test_a_device_that_is_slow_at_everything_is_named(at, tmp_path):
    names = "Unary", "Softmax", "Binary", "Reduce", "Permute", "Concat", "Slice", "Pad", "Typecast"
    program = side_by_side(**dict.fromkeys(names, (100, 200)))
    said = await balance(at, write_performance_report(tmp_path, program, [Iteration()]))
    assert said["caveat"].startswith(
        "device 1 is slower in nearly all its ops (2.00x): its chip, or its share of the work; a collective's time"
    )

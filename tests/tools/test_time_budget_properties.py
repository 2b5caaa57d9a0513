"""The ledger adds up to the window whatever the report holds: real ones, made ones, and damaged ones."""

import csv
import random

import pytest

from fuzz import csv_mutations
from fuzz.sources import sources
from tests.asking import ask, reader, session
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER, shared
from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.hardware import ARCHITECTURES

SEED = 20261122
REAL = (CLIP, DEEPLAB, DEEPSEEK, LINKED, OFT, SEGFORMER)
WARM = (Iteration(cold=True), Iteration())


def cents(amount: float) -> int:
    return round(amount * 100)


def tables(answer):
    return ({row[0]: row for row in answer[name]["rows"]} for name in ("ledger", "floors"))


def check(answer) -> None:
    """What holds of every answer."""
    ledger, floors = tables(answer)
    assert sum(cents(row[1]) for row in ledger.values()) == cents(answer["window_us"])
    assert sum(round(row[2] * 1e4) for row in ledger.values()) == 10_000
    assert all(row[1] >= 0 and 0 <= row[2] <= 1 for row in ledger.values())
    if not floors:  # another chip's name: no rates, no floors
        assert answer["verdict"] == "cannot_tell"
        return
    assert all(0 <= row[1] <= answer["window_us"] + 0.01 and 0 <= row[2] <= 1 for row in floors.values())
    assert floors["cheaper_formats"][1] <= floors["as_it_is"][1]
    assert floors["one_pass"][1] <= floors["as_it_is"][1]
    modelled = {row[3] for row in floors.values()}
    assert len(modelled) == 1
    assert 0 <= modelled.pop() <= 1
    if answer["verdict"] == "at_floor":
        assert floors["as_it_is"][3] >= 0.95
        assert floors["as_it_is"][2] >= 0.8


@for_all("name", REAL)
@for_all("iteration", ["last", "all"])
async def test_of_a_real_report(tmp_path, name, iteration):
    check(await ask(reader(tmp_path), "time_budget", run=str(shared(name)), iteration=iteration))


@pytest.mark.slow
async def test_of_what_the_fuzz_does_to_every_report_that_it_makes(tmp_path):
    csvs, _, _ = sources(tmp_path / "sources", shared=True)
    at, answered = session(tmp_path), 0
    for number, source in enumerate(csvs):
        content, _ = csv_mutations.mutate(random.Random(f"{SEED}:{number}"), source.table)  # noqa: S311
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "ops_perf_results.csv"
        path.write_bytes(content)
        try:
            answer = await ask(at, "time_budget", run=str(path))
        except TtnnMcpError:
            continue
        check(answer)
        answered += 1
    assert answered > len(csvs) / 2


async def test_the_window_is_the_file_s_own_wall_time(tmp_path):
    """Of the encoder's second pass: from the first kernel's start to the last one's end, by its cycles at 1 GHz."""
    path = shared(CLIP)
    with path.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["DEVICE KERNEL DURATION [ns]"]][936:]
    first, last = rows[0], rows[-1]
    cycles = int(last["DEVICE FW END CYCLE"]) - int(first["DEVICE FW END CYCLE"])
    wall_us = (cycles + float(first["DEVICE KERNEL DURATION [ns]"])) / 1e3
    answer = await ask(session(tmp_path), "time_budget", run=str(path))
    assert answer["window_us"] == pytest.approx(wall_us, abs=0.02)


async def test_start_skew_idle_cores_gaps_and_waiting_are_what_was_planted(tmp_path):
    """Random amounts in one report of two devices, each told to the nanosecond."""
    for number in range(8):
        chance = random.Random(f"{SEED}:{number}")  # noqa: S311
        program = Program("wormhole_b0", devices=2)
        cores, skew_ns, late_ns, gap_ns = (
            chance.choice([8, 16, 32]),
            chance.randint(400, 2_000),
            chance.randint(5_000, 40_000),
            chance.randint(1_000, 9_000),
        )
        x, weights = program.tensor([1, 1, 2048, 2048]), program.weight([1, 1, 2048, 2048])
        program.op("MatmulDeviceOperation", [x, weights], fidelity="HiFi2", kernel_ns=3_000_000, cores=cores)
        # the busier device waits: the other one comes later to the exchange, and is out of it sooner
        program.op(
            "AllGatherDeviceOperation",
            [x],
            shape=[1, 1, 2048, 4096],
            kernel_ns=(900_000 + late_ns, 900_000),
            gap_ns=gap_ns,
            attributes={"ring_size": "2", "num_links": "1", "topology": "Topology::Ring"},
        )
        path = write_performance_report(tmp_path / str(number), program, WARM)
        text = path.read_text().splitlines()
        place = text[0].split(",").index("DEVICE KERNEL FIRST TO LAST START [ns]")
        lines = [text[0], *(_with(line, place, skew_ns if "Matmul" in line else 0) for line in text[1:])]
        path.write_text("\r\n".join(lines) + "\r\n")
        answer = await ask(session(tmp_path / str(number)), "time_budget", run=str(path))
        check(answer)
        ledger, _ = tables(answer)
        needed_us = 2 * 2048**3 * 2 / (4096 * 64) / 1e3
        assert ledger["roofline"][1] == pytest.approx(needed_us + _gathered_us(answer), abs=0.02)
        assert ledger["idle_cores"][1] == pytest.approx(needed_us * (64 / cores - 1), abs=0.02)
        assert ledger["start_skew"][1] == pytest.approx(skew_ns / 1e3, abs=0.011)
        assert ledger["waiting"][1] == pytest.approx(late_ns / 1e3, abs=0.011)
        assert ledger["gaps"][1] == pytest.approx(gap_ns / 1e3, abs=0.011)
        assert answer["device"] == 0


def _with(line: str, place: int, value: int) -> str:
    cells = line.split(",")
    cells[place] = str(value)
    return ",".join(cells)


def _gathered_us(_answer) -> float:
    """Half of 16 MiB over one link in both directions."""
    return 2048 * 4096 * 2 / 2 / (2 * ARCHITECTURES["wormhole_b0"].ethernet_payload_gb_s) / 1e3

"""exchange-workers-untried: other workers for the links of an exchange, as a trial."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import without
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp


def exchange(program, *, us=400, name="ReduceScatterMinimalAsync", workers="2", rows=1024, said=True):
    x, y = program.tensor([1, 1, rows, 4096]), program.tensor([1, 1, rows, 1024])
    attributes = {"dim": 3, "num_links": 1, "ring_size": 4, "topology": "Topology::Linear", "cluster_axis": 1}
    attributes |= {"num_workers_per_link": workers} if said else {}
    put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), round(1000 * us), attributes=attributes))
    return program


def of(**how):
    return exchange(Program("blackhole", devices=4), **how)


@for_all(
    ("how", "says", "asks"),
    [
        ({}, "with 2 workers on a link", "ttnn.reduce_scatter(..., num_workers_per_link=4, chunks_per_sync=16"),
        ({"workers": "std::nullopt"}, "as many workers as TTNN chose", "num_workers_per_link=4"),
        ({"name": "AllGatherAsync"}, "with 2 workers", "ttnn.experimental.all_gather_async(..., num_workers"),
        ({"us": 30, "rows": 32}, "with 2 workers", "num_workers_per_link=4, chunks"),
        ({"us": 29.9, "rows": 32}, "with 2 workers", "num_workers_per_link=1), the rest as now"),
        ({"us": 29.9, "rows": 32, "workers": "4"}, "with 4 workers", "num_workers_per_link=1), the rest as now"),
        ({"workers": "1"}, "with 1 worker on", "num_workers_per_link=4, chunks"),
    ],
)
def test_other_workers_are_a_trial(check, how, says, asks):
    claim = check.assert_sound(of(**how))
    assert says in claim.claim
    assert asks in claim.fix
    assert claim.is_trial
    bound = claim.at_most_ns.max() / (1000 * how.get("us", 400))
    assert bound == pytest.approx(0.4) if "rows" in how or "us" not in how else bound <= 0.4


def test_no_exchange_is_told_to_take_the_workers_that_it_has(check):
    """Nor those of another size: each is told what was measured of its own."""
    for how in ({"us": 29.9, "rows": 32, "workers": "1"}, {"workers": "4"}):
        assert check.ask(of(**how)).status == "clean"
    program = of(us=29.9, rows=32, workers="4")
    for _ in range(2):
        exchange(program)
    exchange(program, us=29.9, rows=32, workers="1")
    claims = check.ask(program).claims
    told = {tuple(claim.rows.tolist()): "link=4" in claim.fix for claim in claims}
    assert told == {(0,): False, (1, 2): True}


def test_the_payload_stays_and_what_prints_no_workers_is_silent(check, tmp_path):
    assert check.ask(of(said=False)).status == check.ask(of(name="AllReduceAsync")).status == "clean"
    assert check.ask(of(us=90)).at_most_ns < 0.4 * 90_000 < check.ask(of(us=200)).at_most_ns
    assert check.ask(exchange(Program("blackhole"))).why == "one device"
    assert check.ask(without(tmp_path, ("ATTRIBUTES",), of())).status == "cannot_tell"


def test_one_percent_of_the_window_is_worth_telling(check):
    def beside(ns):
        program = of()
        pass_time(program, ns)
        return program

    check.pair(lambda share: beside(check.ask(of()).at_most_ns / share - 400_000), silent=0.0099, fires=0.0101)

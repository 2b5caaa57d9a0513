"""all-reduce-untried: one op for the reduce-scatter and the all-gather of a token, as a trial."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.profiles import Program
from tests.profiles.model import DeviceOp

RING = {"dim": 3, "num_links": 1, "ring_size": 4, "topology": "Topology::Linear", "cluster_axis": 1}


def exchange(program, *, rows=32, us=(25, 14), names=("ReduceScatterMinimalAsync", "AllGatherAsync"), devices=4):
    x = program.tensor([1, 1, rows, 2560])
    for name, width, each in zip(names, (640, 2560), us, strict=True):
        y = program.tensor([1, 1, rows, width])
        x = put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), round(1000 * each), attributes=RING))
    return program


def of(**how):
    return exchange(Program("blackhole", devices=how.get("devices", 4)), **how)


def test_both_exchanges_of_a_token_are_told(check):
    outcome = check.ask(of())
    claim = outcome.claim
    assert claim.rows.tolist() == [0, 1]
    assert claim.claim.startswith("All-reduces of one row of tiles run as reduce-scatter and all-gather (39 us, ")
    assert "all_reduce_async` (x, buffer_tensor, cluster_axis=1, mesh_device, " in claim.fix
    assert claim.expected is None
    assert 0.8 * 39_000 < outcome.at_most_ns < 39_000


def test_the_heavier_gather_names_the_axis_too(check):
    assert "cluster_axis=1" in check.ask(of(us=(14, 25))).claim.fix


def test_more_rows_or_longer_exchanges_wait_for_bandwidth(check):
    check.pair(lambda rows: of(rows=rows), silent=33, fires=32)
    check.pair(lambda us: of(us=(us, 14)), silent=30, fires=29.9)
    check.pair(lambda us: of(us=(14, us)), silent=30, fires=29.9)


def test_other_pairs_are_none(check):
    check.assert_sound(of())
    assert check.ask(of(names=("ReduceScatterMinimalAsync", "ReduceScatterMinimalAsync"))).status == "clean"


def test_the_payload_stays(check):
    """1.2 MB would take longer than the exchanges did: nothing is left to save."""
    program = Program("blackhole", devices=4)
    x, part = program.tensor([1, 1, 32, 262_144]), program.tensor([1, 1, 32, 65_536])
    for name, (a, b) in (("ReduceScatterMinimalAsync", (x, part)), ("AllGatherAsync", (part, x))):
        put(program, DeviceOp(f"{name}DeviceOperation", (a,), (b,), 29_000, attributes=RING))
    assert check.ask(program).at_most_ns == pytest.approx(0, abs=1) or check.ask(program).status == "clean"


def test_one_percent_of_the_window_is_worth_telling(check):
    def beside(ns):
        program = of()
        pass_time(program, ns)
        return program

    saved = check.ask(of()).at_most_ns
    check.pair(lambda share: beside(saved / share - 39_000), silent=0.0099, fires=0.0101)

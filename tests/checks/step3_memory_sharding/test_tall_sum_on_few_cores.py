"""tall-sum-on-few-cores: a reduction along the rows has one piece of work per column of tiles."""

from __future__ import annotations

from tests.checks.rows import put
from tests.checks.step3_programs import assert_cannot_tell, no_such_ops
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program
from tests.profiles.model import DeviceOp


def put_sum(
    program, shape=(1, 1, 51_264, 32), *, ns=900_000, cores=1, layout="TILE", out=None, name="Reduce", where=L1
):
    x = program.tensor(shape, layout=layout, placement=where)
    y = program.tensor(out or [*shape[:2], 1, shape[3]], layout=layout, placement=where)
    attributes = {"math_op": "ReduceOpMath::SUM", "dim": "ReduceOpDim::H", "scaler": 1}
    put(program, DeviceOp(f"{name}DeviceOperation", (x,), (y,), ns, cores=cores, attributes=attributes))


def summed(*shape, **how):
    program = Program("wormhole_b0")
    put_sum(program, *shape, **how)
    return program


def test_a_narrow_column_is_one_cores_work(check):
    claim = check.assert_sound(summed())
    assert claim.at_most_ns.tolist() == [900_000 * 63 / 64]
    assert "1 sum over many rows on few of 64 cores (900 us, 100.0%): 1 for 51264 rows" in claim.claim


@for_all(
    ("shape", "parts"),
    [
        ((1, 1, 2048, 32), "(1, 64, 32, 32)"),
        ((1, 1, 4096, 32), "(1, 64, 64, 32)"),
        ((2, 1, 2048, 64), "(2, 16, 128, 64)"),
        ((1, 1, 96, 32), "(1, 3, 32, 32)"),
    ],
)
def test_the_parts_give_the_busiest_core_the_fewest_tiles(check, shape, parts):
    assert (
        f"ttnn.reshape(x, {parts}), dim=2, keepdim=True), dim=1, keepdim=True)"
        in check.ask(summed(shape)).claim.fix
    )


def test_few_tiles_bound_the_cores_that_help(check):
    assert check.ask(summed((1, 1, 128, 32))).at_most_ns == 900_000 * 3 / 4


def test_dram_bytes_stay(check):
    in_dram = check.ask(summed(ns=20_000, where=DRAM)).at_most_ns
    assert 0 < in_dram < check.ask(summed(ns=20_000)).at_most_ns


@for_all(
    ("silent", "fires"),
    [
        ({"layout": "ROW_MAJOR"}, {"layout": "TILE"}),
        ({"name": "TopK"}, {"name": "Reduce"}),
        ({"out": [1, 1, 51_264, 32]}, {"out": [1, 1, 1, 32]}),
        ({"out": [1, 1, 1, 1]}, {"out": [1, 1, 1, 32]}),
        ({"cores": 32}, {"cores": 31}),
        ({"ns": 4_999}, {"ns": 5_000}),
        ({"shape": (1, 1, 32, 2048)}, {"shape": (1, 1, 64, 2048)}),
    ],
    ids=["rows", "another op", "rows stay", "columns go too", "half of the grid", "short", "one tile"],
)
def test_what_is_no_tall_sum_on_few_cores(check, silent, fires):
    check.pair(lambda how: summed(**how), silent=silent, fires=fires)


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(put_sum, 0.01, of="saving")


def test_the_heaviest_is_the_example(check):
    program = summed((1, 1, 2048, 32))
    put_sum(program, (1, 1, 4096, 64), ns=1_000_000, cores=2)
    put_sum(program, (1, 1, 64, 32), ns=5_000, cores=2)  # a core for each of its tiles
    claim = check.ask(program).claim
    assert claim.claim.startswith("2 sums over many rows on few of 64 cores")
    assert "2 for 4096 rows" in claim.claim


def test_nothing_to_judge(check):
    assert check.ask(no_such_ops()).status == "not_applicable"
    assert_cannot_tell(check.ask(summed(), without="CORE COUNT"))
    assert check.ask(summed(), without="PUT_").status == "cannot_tell"


@for_all("name", ["max", "min", "sum"])
def test_the_greatest_of_the_greatest_is_no_sum(check, name):
    made = summed((1, 1, 2048, 32))
    made.device_ops[0].attributes["math_op"] = f"ReduceOpMath::{name.upper()}"
    assert check.ask(made).claim.fix.startswith(f"ttnn.{name}(ttnn.{name}(ttnn.reshape(x, ")


def test_parts_are_whole_tiles_of_what_is_there(check):
    """Padded rows are no values, and a reshape gives as many as it takes."""
    check.pair(lambda high: summed((1, 1, high, 32)), silent=4090, fires=4096)
    assert "ttnn.reshape(x, (2, 16, 128, 50))" in check.ask(summed((2, 1, 2048, 50))).claim.fix

"""argmax-on-few-cores: the whole vocabulary on one core, where the grid could share it."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp


def argmax(program, *, cores=1, multi="false", layout="ROW_MAJOR", dim="3", kernel_ns=84_500_000, width=128256):
    x, y = program.tensor([1, 1, 32, width], layout=layout), program.tensor([1, 1, 1, 32], "UINT32", "ROW_MAJOR")
    said = {**({"dim": dim} if dim else {}), "keepdim": "false", **({"use_multicore": multi} if multi else {})}
    put(program, DeviceOp("ArgMaxDeviceOperation", (x,), (y,), kernel_ns, cores=cores, attributes=said))


def of_argmax(**how):
    program = Program("wormhole_b0")
    argmax(program, **how)
    return program


def test_one_core_of_64_leaves_63_idle(check):
    claim = check.assert_sound(of_argmax())
    assert claim.claim.startswith("1 ArgMax op (84.5 ms, 100.0%) runs on 1 of 64 cores")
    assert "use_multicore=True" in claim.fix
    assert "to_layout" not in claim.fix
    assert claim.at_most_ns.tolist() == [pytest.approx(84_500_000 * 63 / 64)]


def test_tiles_keep_it_on_one_core(check):
    tiles = check.ask(of_argmax(layout="TILE", multi="true")).claim
    assert tiles.fix.startswith("x = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT); ttnn.argmax")


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(argmax, 0.01, of="saving")


@for_all(
    "change",
    [{"multi": "true"}, {"multi": ""}, {"cores": 32}, {"dim": "2"}],
    ids=["asked for", "own choice", "half", "rows"],
)
def test_nothing_to_ask_for(check, change):
    assert check.ask(of_argmax(**change)).status == "clean"


def test_a_negative_dim_is_the_last(check):
    assert check.ask(of_argmax(dim="-1")).fires


@for_all(
    ("dim", "call"),
    [("std::nullopt", "ttnn.argmax(x) of"), ("3", "ttnn.argmax(x, dim=-1) of"), ("", "(x, dim=-1)")],
)
def test_without_a_dim_it_searches_all_rows_together(check, dim, call):
    assert call in check.ask(of_argmax(dim=dim)).claim.fix


def test_a_run_without_argmax_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_without_a_dim_all_of_it_is_reduced_which_shares_too(check):
    assert check.ask(of_argmax(dim="")).fires


def test_five_microseconds_stay_where_the_grid_would_take_less(check):
    claim = check.ask(of_argmax(kernel_ns=20_000, width=4096)).claim
    assert claim.at_most_ns.tolist() == [pytest.approx(20_000 - 5_000)]


def test_another_op_on_one_core_is_none_of_its_rows(check):
    program = of_argmax()
    x = program.tensor([1, 1, 32, 128256], layout="TILE")
    put(program, DeviceOp("MadeUpDeviceOperation", (x,), (x,), 9_000_000, cores=1))
    assert check.ask(program).claim.rows.tolist() == [0]


@for_all(("lost", "word"), [("^(INPUT|OUTPUT)_", "INPUT_n"), ("CORE COUNT", "CORE COUNT")])
def test_a_report_that_lost_what_it_needs_cannot_tell(check, lost, word):
    outcome = check.ask(of_argmax(), without=lost)
    assert outcome.status == "cannot_tell"
    assert word in outcome.why

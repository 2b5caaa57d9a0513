"""topk-on-few-cores: the kernel for many cores takes powers of two from 8192 to 32768, and k up to 64."""

from __future__ import annotations

import pytest

from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp


def topk(program, width=18992, *, cores=2, k=32, kernel_ns=10_800_000):
    x, values = program.tensor([1, 1, 32, width]), program.tensor([1, 1, 32, k])
    indices = program.tensor([1, 1, 32, k], "UINT16")
    said = {"dim": "3", "k": str(k), "largest": "true"}
    put(program, DeviceOp("TopKDeviceOperation", (x,), (values, indices), kernel_ns, cores=cores, attributes=said))


def of_topk(*args, **how):
    program = Program("wormhole_b0")
    topk(program, *args, **how)
    return program


def test_it_is_padded_to_the_next_power_of_two(check):
    claim = check.assert_sound(of_topk())
    assert "(0, 13776)], value=float('-inf'))" in claim.fix  # 32768 - 18992
    assert claim.at_most_ns.tolist() == [pytest.approx(10_800_000 * (1 - 2 / 64))]


@for_all(("width", "words"), [(18992, "value=float('{}inf')), then"), (128256, "the last padded with {}inf;")])
def test_the_least_values_are_padded_with_the_greatest(check, width, words):
    """Padded with -inf, TopK would choose the padding."""
    least = of_topk(width)
    least.device_ops[0].attributes["largest"] = "false"
    assert words.format("") in check.ask(least).claim.fix
    assert words.format("-") in check.ask(of_topk(width)).claim.fix


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(topk, 0.01, of="saving")


@for_all(("silent", "fires"), [(16384, 16352), (32768, 32736), (32768, 32800), (4096, 4128)])
def test_powers_of_two_from_8192_to_32768_are_shared_out_already(check, silent, fires):
    check.pair(of_topk, silent=silent, fires=fires)


def test_below_8192_columns_padding_shares_nothing_out(check):
    check.pair(of_topk, silent=4064, fires=4128)


def test_a_power_of_two_beyond_16_bit_indices_is_not_shared_out(check):
    check.pair(of_topk, silent=32768, fires=65536)


def test_five_microseconds_stay(check):
    assert check.ask(of_topk(8224, kernel_ns=12_000)).at_most_ns == 12_000 - 5_000


def test_another_op_that_knows_a_k_is_not_claimed_with_others(check):
    program = of_topk()
    x = program.tensor([1, 1, 32, 18992])
    op = DeviceOp("SamplingDeviceOperation", (x,), (program.tensor([1, 1, 1, 32], "UINT32"),), 900_000, cores=2)
    op.attributes = {"k": "32"}
    put(program, op)
    assert check.ask(program).claim.rows.tolist() == [0]


def test_wider_ones_are_split(check):
    fix = check.ask(of_topk(128256)).claim.fix
    assert "split the 128256 columns into parts of 32768" in fix


def test_half_of_the_grid_is_not_few(check):
    check.pair(lambda cores: of_topk(cores=cores), silent=32, fires=31)


def test_no_width_helps_a_larger_k(check):
    check.pair(lambda k: of_topk(k=k), silent=65, fires=64)


def test_a_run_without_topk_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


@for_all("lost", ["INPUT_", "CORE COUNT"])
def test_without_widths_or_cores_nothing_is_known(check, lost):
    assert check.ask(of_topk(), without=lost).status == "cannot_tell"

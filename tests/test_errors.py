"""Failures in our words: what could have been meant, and nothing of a library's text."""

import time

from tests.for_all import for_all
from ttnn_mcp.errors import alike, nearest, suggestion, unforeseen


def test_names_that_could_be_meant_are_told_apart_from_names_there_are():
    assert alike("matmull", ["Matmul", "Conv2d"]) == ["Matmul"]
    assert suggestion("zzz", ["Matmul"]) == ""
    assert nearest("zzz", ["Matmul"]) == " There is: Matmul."
    assert nearest("matmull", ["Matmul"]) == " Did you mean Matmul?"
    assert nearest("zzz", []) == ""


@for_all(("count", "told"), [(6, "n4, n5."), (7, "n4, n5, ...."), (2, " There is: n0, n1.")])
def test_the_first_few_names_are_told_where_none_is_alike(count, told):
    assert nearest("zzz", [f"n{number}" for number in range(count)] * 2).endswith(told)


def test_the_most_alike_come_first_and_are_clean():
    names = ["x", "in0_sha\u202e", "in0_dtype", "in0_shape"]
    assert suggestion("in0_shapes", names, limit=2) == " Did you mean in0_shape, in0_sha ?"


@for_all(("count", "is_alike"), [(67, True), (66, False)])
def test_of_a_long_name_two_hundred_characters_count(count, is_alike):
    """Alike is what shares half of all characters: 2 * 67 of 200 + 67."""
    assert bool(alike("x" * 1_000_000, ["x" * count])) is is_alike


def test_guessing_at_a_name_of_a_megabyte_takes_no_time():
    began = time.perf_counter()
    nearest("x" * 1_000_000, [f"name {index}" for index in range(1000)])
    assert time.perf_counter() - began < 2


def test_what_we_did_not_foresee_is_ours():
    assert unforeseen("list_ops").startswith("ttnn-mcp failed on this list_ops call; this is a bug in ttnn-mcp")

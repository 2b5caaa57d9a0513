"""What a node says of a buffer, in every spelling; what cannot be is not said."""

from tests.for_all import for_all
from ttnn_mcp.readers.graph.graph_params import (
    buffer_code,
    buffer_numbers,
    bytes_per_bank,
    number,
    program_buffer,
)
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES

LAST = 2**40 - 1
FOUR = ("device_id", "address", "size", "max_size_per_bank")


@for_all(
    ("value", "told"),
    [("64", 64), (64, 64), (LAST, LAST), (LAST + 1, -1), (-5, -1), ("x", -1), (None, -1), ([], -1), (1e400, -1)],
)
def test_a_number_is_what_fits_a_chip(value, told):
    assert number({"size": value}, "size") == told
    assert number({}, "size") == -1


@for_all("wrong", [None, LAST + 1, -5, "x"])
@for_all("place", range(4))
def test_one_wrong_number_of_a_buffer_spoils_no_other(wrong, place):
    told = dict(zip(FOUR, (3, LAST, 4096, "64"), strict=True))
    assert buffer_numbers(told) == (3, LAST, 4096, 64)
    told[FOUR[place]] = wrong
    assert buffer_numbers(told) == tuple(-1 if at == place else one for at, one in enumerate((3, LAST, 4096, 64)))
    del told[FOUR[place]]
    assert buffer_numbers(told)[place] == -1


@for_all("name", BUFFER_TYPES)
def test_a_buffer_type_is_told_by_any_key_in_any_spelling(name):
    code = BUFFER_TYPES.index(name)
    for key in ("exact_buffer_type", "buffer_type", "type"):
        for spelled in (name, f"BufferType::{name}", str(code)):
            assert buffer_code({key: spelled}) == code
    assert buffer_code({"type": code}) == code  # 2024 counts them


@for_all(
    ("params", "code"),
    [
        ({"exact_buffer_type": "L1_SMALL", "buffer_type": "L1", "type": "L1"}, 3),
        ({"buffer_type": "DRAM", "type": "L1"}, 0),
        ({"exact_buffer_type": "what", "type": "BufferType::L1"}, 1),
        ({"type": len(BUFFER_TYPES)}, -1),
        ({"type": -1}, -1),
        ({"type": "what"}, -1),
        ({}, -1),
    ],
)
def test_the_newest_key_of_a_buffer_type_comes_first(params, code):
    assert buffer_code(params) == code


@for_all(
    ("params", "size", "banks", "told"),
    [
        ({"num_cores": 0, "page_size": 32}, 96, 2, 64),  # three pages on two banks
        ({"num_cores": 0}, 17, 1, 32),  # rounded up to 16 bytes
        ({"num_cores": 0}, 16, 1, 16),
        ({"num_cores": 3, "page_size": 32}, 96, 2, 32),
        ({"num_cores": 2, "page_size": 4}, 256, 2, 512),  # 32 rows of 4 bytes, each at a multiple of 16
        ({"num_cores": 64, "page_size": 36}, 2304, 2, 48),  # as in the ResNet-50 that TTNN 0.60 wrote
        ({"num_cores": 1, "page_size": "0"}, 20, 2, 32),
        ({"layout": "INTERLEAVED"}, 96, 2, 48),
        ({"num_cores": 4, "layout": "INTERLEAVED"}, 64, 2, 16),
        ({"layout": "HEIGHT_SHARDED"}, 96, 2, -1),
        ({}, 96, 2, -1),
        ({"num_cores": 0}, 96, 0, -1),
    ],
)
def test_pages_are_dealt_out_and_rounded_up(params, size, banks, told):
    assert bytes_per_bank(params, size, banks) == told


def test_a_buffer_of_a_program_lies_on_cores_in_l1():
    told = {"device_id": 2, "address": "64", "size": "-5", "core_range_set": "{[0-0 - 1-0]}"}
    event = program_buffer(7, told)
    assert (event.kind, event.device_op, event.device, event.key) == ("circular", 7, 2, 129)
    assert (event.size_bytes, event.ranges, event.over_tensor) == (0, (((0, 0), (1, 0)),), None)
    assert program_buffer(7, {"globally_allocated": "1"}).over_tensor is True
    assert program_buffer(7, {"borrows_memory": False}).over_tensor is False

"""An op's attributes in two parts: what is left out of both, and how much of them is kept."""

import json
import time

from tests.for_all import for_all
from ttnn_mcp.archive.rows import op_settings


def of(**attributes):
    parts = op_settings("{" + "; ".join(f"'{key}': '{value}'" for key, value in attributes.items()) + "}")
    return json.loads(parts.work), json.loads(parts.tuned or "{}")


@for_all("name", ["buffer_address", "global_semaphore", "program_hash", "kernel_path", "device_id"])
def test_what_differs_from_call_to_call_is_neither_work_nor_a_setting(name):
    assert of(**{name: "7"}, dim="3") == ({"dim": "3"}, {})


@for_all("empty", ["std::nullopt", "None", "false", "{}", "[]", " "])
def test_what_is_not_set_is_as_if_it_were_not_printed(empty):
    assert of(scalar=empty, program_config=empty, dim="3") == ({"dim": "3"}, {})


def test_a_memory_config_without_shards_is_as_if_it_were_not_printed():
    assert of(memory_config="MemoryConfig(buffer_type=BufferType::L1;shard_spec=std::nullopt)", dim="3") == (
        {"dim": "3"},
        {},
    )


@for_all(("printed", "kept"), [("1", "true"), ("true", "true"), ("0", None), ("2", "2")])
def test_a_flag_is_the_same_however_it_is_printed(printed, kept):
    assert of(transpose_a=printed)[0].get("transpose_a") == kept


def test_a_number_is_no_flag():
    assert of(num_heads="1", dim="0") == ({"dim": "0", "num_heads": "1"}, {})


@for_all(("characters", "kept"), [(3_500, 3_500), (12_000, 4_000)])
def test_settings_twice_as_long_as_real_ones_are_kept_and_no_novel(characters, kept):
    frame = len('{"block_config":""}')
    parts = op_settings("{'block_config': '" + "x" * (characters - frame) + "'}")
    assert len(parts.tuned) == kept


def test_the_longest_word_that_a_profile_can_hold_is_read_at_once():
    """64 KiB: to look for what is not set from each of its letters took eleven seconds for one kind of op."""
    started = time.process_time()
    op_settings("{'block_config': '" + "x" * 65_000 + "'}")
    assert time.process_time() - started < 2

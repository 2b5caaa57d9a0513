"""An op's attributes in two parts: what it computes, and how it was set up to compute it.

Two ops do the same work if they agree in name, operands and the first part. Only the second part may be tuned, so
only it may explain why one is faster. An attribute that we do not know counts as work: then less is compared, and
nothing wrongly.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.readers.printed.nesting import parse_struct

LONGEST = 4_000  # characters of settings that are kept; the longest of real ones has under 2,000

_TUNED = re.compile(  # by the ops' attribute structs in tt-metal (ttnn/cpp/ttnn/operations/**/device/*_types.hpp)
    r"program_config|compute_kernel_config|compute_config|block_config|parallelization_config|memory_config|mem_config"
    r"|core_grid|core_coord|worker_grid|sub_core_grids|grid_size|double_buffer|activation_reuse|split_reader"
    r"|full_inner_dim|config_tensors_in_dram|num_links|num_workers|num_buffers|chunks_per_sync|topology|use_multicore"
    r"|fp32_dest_acc|packer_l1|approx|fast_|slice_config|use_noc|num_cores|run_batched|chunk_size|block_w|block_h"
    r"|subblock|persistent|throttle"
)
_PASSING = re.compile(  # differs from call to call, or names a place in one process
    r"address|semaphore|hash|_id$|_idx$|_ids$|trace|global_cb|barrier|path|file|name$|seed|tile$|worker_core"
)
_EMPTY = re.compile(r"\s*(std::nullopt|None|false|\{\}|\[\]|SmallVector\(\[\]\)|)\s*", re.IGNORECASE)
_PATH = re.compile(r"[/\\]|(?<!:):(?!:)")  # a slash, or the colon of a drive; C++ has two colons
_UNSET = re.compile(r"\b[A-Za-z_]\w*=std::nullopt;?")  # \b: a long word is searched once, not from each letter
_SCOPE = re.compile(r"\b[A-Za-z_]\w*::")
_FLAGS = {"1": "true", "true": "true", "True": "true"}
_FLAG_NAMES = re.compile(r"^(is_|has_|use_|enable_|transpose_|untilize|bcast_batch|user_run_batched|bfp8)")


class WorkAndSettings(NamedTuple):
    """The parts of an ATTRIBUTES cell.

    Attributes:
        work: what decides what is computed, as JSON.
        tuned: what may be tuned, as JSON; "" without.
    """

    work: str
    tuned: str


def op_settings(cell: str) -> WorkAndSettings:
    """The parts of one ATTRIBUTES cell. Values that could hold a path are left out of both."""
    work: dict[str, str] = {}
    tuned: dict[str, str] = {}
    for key, text in parse_attributes(cell).items():
        if _PASSING.search(key) or _PATH.search(text):
            continue
        value = _short(key, text)
        if value:
            (tuned if _TUNED.search(key) else work)[key] = value
    return WorkAndSettings(_written(work), _written(tuned) if tuned else "")


def _short(key: str, text: str) -> str:
    """The value without what was not set and without C++ scopes: builds print these differently."""
    if "MemoryConfig(" in text:  # buffer and layout are known of each operand: only the shards are left to tell
        config = parse_struct(text)
        text = config.fields.get("shard_spec", "") if config else ""
    if _EMPTY.fullmatch(text):
        return ""
    if _FLAG_NAMES.match(key):
        return "" if text.strip() == "0" else _FLAGS.get(text.strip(), text.strip())
    return _SCOPE.sub("", _UNSET.sub("", text)).replace(";)", ")").strip()


def _written(parts: dict[str, str]) -> str:
    return json.dumps(dict(sorted(parts.items())), separators=(",", ":"), ensure_ascii=True)[:LONGEST]

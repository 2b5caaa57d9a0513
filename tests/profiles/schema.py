"""The tables of a memory report (db.sqlite) in each schema generation.

Derived one from the other as the writers did it; "G5a-first" is G5a with its first, four column stack_traces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

GENERATIONS = ("G1", "G2", "G3", "G4", "G5a-first", "G5a", "2", "2.1", "3.0", "3.1", "3.2", "3.3")

Tables = dict[str, str]  # table name -> what stands between the brackets

_DEVICE_COLUMNS = (
    "device_id num_y_cores num_x_cores num_y_compute_cores num_x_compute_cores worker_l1_size l1_num_banks l1_bank_size "
    "address_at_first_l1_bank address_at_first_l1_cb_buffer num_banks_per_storage_core num_compute_cores "
    "num_storage_cores total_l1_memory total_l1_for_tensors total_l1_for_interleaved_buffers "
    "total_l1_for_sharded_buffers cb_limit"
)
_COMPARISON = "tensor_id int UNIQUE, golden_tensor_id int, matches bool, desired_pcc bool, actual_pcc float"
_COMPARISON_IMPORTED = "tensor_id int, golden_tensor_id int, matches int, desired_pcc float, actual_pcc float"
_COMPARISONS = ("local_tensor_comparison_records", "global_tensor_comparison_records")
_G1: Tables = {
    "devices": ", ".join(f"{name} int" for name in _DEVICE_COLUMNS.split()),
    "tensors": (
        "tensor_id int UNIQUE, shape text, dtype text, layout text, memory_config text, device_id int, "
        "address int, buffer_type int"
    ),
    **dict.fromkeys(_COMPARISONS, _COMPARISON),
    "operations": "operation_id int UNIQUE, name text, duration float",
    "operation_arguments": "operation_id int, name text, value text",
    "stack_traces": "operation_id int, stack_trace text",
    "input_tensors": "operation_id int, input_index int, tensor_id int",
    "output_tensors": "operation_id int, output_index int, tensor_id int",
    "buffers": "operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int",
    "buffer_pages": (
        "operation_id int, device_id int, address int, core_y int, core_x int, bank_id int, page_index int, "
        "page_address int, page_size int, buffer_type int"
    ),
    "nodes": "operation_id int, unique_id int, node_operation_id int, name text",
    "edges": (
        "operation_id int, source_unique_id int, sink_unique_id int, source_output_index int, "
        "sink_input_index int, key int"
    ),
}
_ERRORS = (
    "operation_id int, operation_name text, error_type text, error_message text, stack_trace text, timestamp text"
)
_ERRORS_G5A = "operation_id int, error_type text, error_message text, error_operation text"
_STACK_TRACES_FIRST = "operation_id int, node_counter int, operation_name text, stack_trace text"
_STACK_TRACES_WITH_FILE = "operation_id int, stack_trace text, source_file_id int REFERENCES source_files(id)"
_CHUNKS = (
    "operation_id int, device_id int, address int, bank_id int, core_x int, core_y int, chunk_address int, "
    "chunk_size int, page_size int, num_pages int, buffer_type int, rank int NOT NULL DEFAULT 0"
)
_RANK = ", rank int NOT NULL DEFAULT 0"
_LIFETIME: Tables = {
    "tensor_lifetime": (
        "tensor_id int, producer_operation_id int, last_use_operation_id int, deallocate_operation_id int, "
        "producer_source_file text, producer_source_line int, last_use_source_file text, last_use_source_line int"
        f"{_RANK}, UNIQUE(tensor_id, rank)"
    ),
    "tensor_consumers": (
        f"tensor_id int, operation_id int, input_index int{_RANK}, UNIQUE(tensor_id, operation_id, input_index, rank)"
    ),
    "tensor_producers": (
        f"tensor_id int, operation_id int, output_index int{_RANK}, UNIQUE(tensor_id, operation_id, output_index, rank)"
    ),
}
_G4_INDEXES = (
    *(
        (f"idx_buffers_{c}", "buffers", c)
        for c in ["address", "operation_id", "device_id", "max_size_per_bank", "buffer_type"]
    ),
    ("idx_output_tensors_tensor_id", "output_tensors", "tensor_id"),
    ("idx_input_tensors_tensor_id", "input_tensors", "tensor_id"),
)


def since(generation: str, first: str) -> bool:
    """Is `generation` `first` or later?"""
    return GENERATIONS.index(generation) >= GENERATIONS.index(first)


def is_imported(generation: str) -> bool:
    """Written after the run by ttnn/graph_report.py, not during it."""
    return since(generation, "G5a-first")


def tables(generation: str, unranked: Collection[str] = ()) -> Tables:
    """`unranked` tables have no rank although the others have one, as some captures show."""
    found = _tables(generation)
    return found | {name: found[name].split(_RANK)[0] for name in unranked}


def _tables(generation: str) -> Tables:
    found = _written_during_the_run(generation)
    if is_imported(generation):
        found["report_metadata"] = "key text UNIQUE, value text"
        found |= dict.fromkeys(_COMPARISONS, _COMPARISON_IMPORTED)
    if generation in ("G5a-first", "G5a"):
        found["errors"] = _ERRORS_G5A
    if generation == "G5a-first":
        found["stack_traces"] = _STACK_TRACES_FIRST
    if since(generation, "2.1"):
        found["source_files"] = "id INTEGER PRIMARY KEY, path text UNIQUE NOT NULL, contents text"
        found["stack_traces"] = _STACK_TRACES_WITH_FILE
    if since(generation, "3.0"):
        found = _with_ranks(found, comparisons=generation == "3.3")
    if since(generation, "3.1"):
        del found["buffer_pages"]
        found["buffer_chunks"] = _CHUNKS
    if since(generation, "3.3"):
        found |= _LIFETIME
    return found


def _written_during_the_run(generation: str) -> Tables:
    found = dict(_G1)
    if since(generation, "G2"):
        found["captured_graph"] = "operation_id int, captured_graph text"
    if since(generation, "G3"):
        found["device_tensors"] = "tensor_id int, device_id int, address int"
    if since(generation, "G4"):
        found["buffers"] += ", buffer_layout int"
        found["errors"] = _ERRORS
    return found


def _with_ranks(found: Tables, *, comparisons: bool) -> Tables:
    """Ids restart per rank, so what was unique is unique within a rank."""
    unranked = {"report_metadata", "source_files", "buffer_pages", *(() if comparisons else _COMPARISONS)}
    ranked: Tables = {}
    for name, columns in found.items():
        if name in unranked:
            ranked[name] = columns
            continue
        key = columns.split(" ", 1)[0]
        unique = f", UNIQUE({key}, rank)" if name in ("operations", "tensors", *_COMPARISONS) else ""
        ranked[name] = columns.replace(" UNIQUE", "") + _RANK + unique
    return ranked


def statements(
    generation: str,
    *,
    tensor_sizes: bool = False,
    text_buffer_types: bool = False,
    unranked: Collection[str] = (),
) -> list[str]:
    """The CREATE statements. Some captures have `tensors.size`, some a TEXT `buffer_type`."""
    created: list[str] = []
    for name, columns in tables(generation, unranked).items():
        text = columns
        if name == "tensors" and tensor_sizes:
            text = text.replace("buffer_type int", "buffer_type int, size int")
        if name in ("tensors", "buffers") and text_buffer_types:
            text = text.replace("buffer_type int", "buffer_type text")
        created.append(f"CREATE TABLE {name} ({text})")
    if generation == "G4":
        created += [f"CREATE INDEX {index} ON {table} ({column})" for index, table, column in _G4_INDEXES]
    if since(generation, "2.1"):
        created.append("CREATE INDEX idx_stack_traces_source_file_id ON stack_traces (source_file_id)")
    return created

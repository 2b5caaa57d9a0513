"""Memory reports of graphs as TTNN captures them, for what is told of ops that never ran."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

from tests.analyses.settings.test_printed_row import CONFIG, DRAM, PRODUCT
from tests.profiles import Program, write_memory_report

MATMUL = PRODUCT.format(batched=1, first=0, second=0).replace("BFLOAT8_B", "BFLOAT16")
TWO_D = CONFIG.replace("8-7", "8-8")


def graph(name, printed, inputs, output, *, ends=True, out=DRAM):
    """What TTNN captures of a call with one device op."""
    tensors = [
        {
            "counter": place,
            "node_type": "tensor",
            "params": {
                "tensor_id": str(place),
                "shape": f"Shape({list(shape)})",
                "dtype": "DataType::BFLOAT16",
                "layout": "Layout::TILE",
                "memory_config": out if place == len(inputs) else DRAM,
            },
        }
        for place, shape in enumerate((*inputs, output))
    ]
    start = {"node_type": "function_start", "params": {"name": name}, "arguments": [printed]}
    start["input_tensors"] = list(range(len(inputs)))
    end = {"node_type": "function_end", "params": {"name": name}, "connections": [len(inputs)]}
    return json.dumps([*tensors, start, *([end] if ends else [])])


def report(folder, *operations, arch="blackhole"):
    """A memory report of operations: name, graph, arguments."""
    program = Program(arch)
    for name, _, _ in operations:
        x = program.tensor([1, 1, 32, 32])
        program.call(name, [x], [x])
    path = write_memory_report(folder, program)
    with closing(sqlite3.connect(path)) as database, database:
        for number, (_, text, arguments) in enumerate(operations, 1):
            database.execute("UPDATE captured_graph SET captured_graph = ? WHERE operation_id = ?", (text, number))
            database.execute("DELETE FROM operation_arguments WHERE operation_id = ?", (number,))
            rows = [(number, key, value) for key, value in arguments.items()]
            database.executemany("INSERT INTO operation_arguments VALUES (?, ?, ?, 0)", rows)
    return str(path)


def matmul(*, grid="std::nullopt"):
    sides, printed = [(1, 1, 2048, 2048)] * 3, MATMUL.replace(", 0, std::nullopt,", f", 0, {grid},")
    return graph("MatmulDeviceOperation", printed, sides[:2], sides[2])

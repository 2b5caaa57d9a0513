"""Made profiles: what the project's tests stand on, and what the bundled demo run is built from.

Shares no code with ttnn_mcp, so that the two can prove each other wrong. Standard library only.

Describe a run, write it, know what a reader must find:

    from tests.profiles import *

    program = Program("wormhole_b0")                                  # or blackhole; grid=, devices=, clock_ghz=
    x = program.tensor([1, 1, 3136, 64], placement=height_sharded(64, 64, (7, 7)))
    w = program.weight([1, 1, 64, 64], "BFLOAT8_B")
    y = program.op("UnaryDeviceOperation", [x], call="ttnn.relu", kernel_ns=5_000, gap_ns=2_000)
    z = program.op("MatmulDeviceOperation", [y, w], call="ttnn.linear", fidelity="LoFi", kernel_ns=30_000,
                   circular_buffers=[CircularBuffer(65_536)])
    program.free(y)                                                   # ttnn.deallocate

    csv = write_performance_report(tmp_path / "perf", program)        # C7; a cold and a warm iteration
    csv = write_performance_report(tmp_path, program, [Iteration()], generation="C2", style=CsvStyle(quoting="all"))
    db = write_memory_report(tmp_path / "memory", program)            # 3.3; or "G1" ... "G5a", "2", "2.1", "3.0" ...
    run = write_run(tmp_path, program)                                # both; run.performance, run.memory

`program.call(...)` makes calls with several device ops (see `ops` for realistic ones), `program.fail(message)`
leaves the last call unfinished. `Replay(program)` tells the truth about memory: addresses, live tensors after each
call, `l1_peak()`, `late_frees()`. `timeline(program, iterations)` tells it about time.

For odd files: `rows = performance_rows(program, ...)`, change them, `write_rows(path, rows, header_of(rows, "C7"))`;
`foreign` has files that look like profiles and are not; `big` has a big database, fast.
"""

from .csv_header import GENERATIONS as CSV_GENERATIONS
from .csv_header import header
from .memory_database import write_database, write_memory_report
from .memory_rows import DatabaseStyle
from .model import (
    DRAM,
    L1,
    CircularBuffer,
    DeviceOp,
    Placement,
    Tensor,
    block_sharded,
    core_ranges,
    height_sharded,
    width_sharded,
)
from .performance_cells import CsvStyle
from .performance_csv import (
    header_of,
    keep_per_device,
    performance_rows,
    write_performance_report,
    write_rows,
)
from .program import Program
from .replay import Replay
from .run import Run, write_run
from .schema import GENERATIONS as DATABASE_GENERATIONS
from .timeline import Iteration, timeline

__all__ = [
    "CSV_GENERATIONS",
    "DATABASE_GENERATIONS",
    "DRAM",
    "L1",
    "CircularBuffer",
    "CsvStyle",
    "DatabaseStyle",
    "DeviceOp",
    "Iteration",
    "Placement",
    "Program",
    "Replay",
    "Run",
    "Tensor",
    "block_sharded",
    "core_ranges",
    "header",
    "header_of",
    "height_sharded",
    "keep_per_device",
    "performance_rows",
    "timeline",
    "width_sharded",
    "write_database",
    "write_memory_report",
    "write_performance_report",
    "write_rows",
    "write_run",
]

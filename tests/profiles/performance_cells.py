"""The cells of the rows of a performance report, in any header generation."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from .csv_header import generation_number, operand_columns
from .text import attributes_text
from .timeline import FW_LEAD_NS, FW_TAIL_NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .model import Call, DeviceOp, Tensor
    from .program import Program
    from .timeline import Row

ERA_OF = {"C1": "2024", "C2": "2025", "C3": "2025", "C4": "2025-09", "C5": "2026", "C6": "2026", "C7": "2026-09"}
RISCS = ("BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2")


@dataclass(frozen=True)
class CsvStyle:
    """What varies between writers. Real files: CRLF, no quotes, integers, empty cells, packed call counts."""

    line_ending: str = "\r\n"
    quoting: str = "none"  # none, all
    float_numbers: bool = False  # 64 -> 64.0, as a table saved again by another program has it
    blank: str = ""  # some write "-"
    call_counts: str | None = None  # packed: (id << 10) | device; plain: a counter; None: as of the generation
    cache_hits: bool = False  # as with --no-op-info-cache; else PROGRAM CACHE HIT is False on every row
    counters: bool = False  # SFPU/FPU/MATH Util columns


STYLE = CsvStyle()


def _four(shape: Sequence[int]) -> tuple[int, ...]:
    ones = (1, 1, 1, 1, *shape)
    return (prod(shape[:-3]), *ones[-3:])


def operand_cells(tensor: Tensor, generation: str, side: str, index: int, device_object: int = 0) -> dict[str, str]:
    padded, where = _four(tensor.padded), "HOST"
    dims = map(str, padded)
    if generation_number(generation) >= 4:
        dims = (f"{n}[{logical}]" for n, logical in zip(padded, _four(tensor.shape), strict=True))
    if tensor.placement is not None:
        where = f"DEV_{device_object}_{tensor.placement.buffer}_{tensor.placement.memory_layout}"
    cells = (*dims, tensor.layout, tensor.dtype, where)
    return dict(zip(operand_columns(generation, side, index), cells, strict=True))


def cores_of(op: DeviceOp, program: Program) -> int:
    if op.cores is not None:
        return op.cores
    grids = [t.placement.cores for t in (*op.outputs, *op.inputs) if t.placement and t.placement.shard]
    return len(grids[0]) if grids else program.device.cores


def _requirement_cell(tensors: Iterable[Tensor], op: DeviceOp, number: int) -> str:
    """PM REQ I/O BW: bytes in the first generations, GB/s later, nothing for an op without a model."""
    if number <= 2:
        return str([float(t.bytes) for t in tensors])
    return str([round(t.bytes / op.pm_ns[0], 6) for t in tensors]) if op.pm_ns[0] > 1 else "[]"


def _device_cells(kernel: int, op: DeviceOp, program: Program, number: int) -> dict[str, str | int]:
    """The columns that only an op that ran has, but for those that say when."""
    cores, dm_start = cores_of(op, program), _dm_start(op, kernel)
    share = {"BRISC": 0.99, "NCRISC": 0.9} | ({f"TRISC{n}": 0.97 for n in range(3)} if op.fidelity else {})
    cells: dict[str, str | int] = {
        "CORE COUNT": cores,
        "AVAILABLE WORKER CORE COUNT": program.device.cores,
        "SUB DEVICE ID": 0,
        "DEVICE FW DURATION [ns]": kernel + FW_LEAD_NS + FW_TAIL_NS,
        "DEVICE KERNEL DURATION [ns]": kernel,
        "DEVICE KERNEL DURATION DM START [ns]": dm_start,
        "DEVICE KERNEL FIRST TO LAST START [ns]": min(kernel // 4, 374),
        "PM IDEAL [ns]": op.pm_ns[0],
        "PM COMPUTE [ns]": op.pm_ns[1],
        "PM BANDWIDTH [ns]": op.pm_ns[2],
        "PM REQ I BW": _requirement_cell(op.inputs, op, number),
        "PM REQ O BW": _requirement_cell(op.outputs, op, number),
        "PM FPU UTIL (%)": f"{round(100 * op.pm_ns[1] / kernel, 3) if kernel else 0.0}",
    }
    if 2 <= number <= 4:  # later reports leave them to the older post-processing
        for which, part in (("MIN", 0.8), ("MAX", 1.0), ("AVG", 0.95)):
            cells[f"DEVICE KERNEL DURATION PER CORE {which} [ns]"] = int(kernel * part)
    for risc in RISCS:
        time = op.risc_ns.get(risc, int(kernel * share[risc]) if risc in share else None)
        cells[f"DEVICE {risc} KERNEL DURATION [ns]"] = "" if time is None else time
    return cells


def _dm_start(op: DeviceOp, kernel: int) -> int:
    return kernel - (kernel // 50 if op.fidelity else 0)


def _kernel_cells(op: DeviceOp, number: int) -> dict[str, str | int]:
    compute, sizes = op.fidelity is not None, (1116, 1460, 1212, 604, 1256)
    names = ("BRISC", "NCRISC", "TRISC 0", "TRISC 1", "TRISC 2")
    if number >= 4:
        names = ("TENSIX DM 0", "TENSIX DM 1", *(f"TENSIX COMPUTE {n}" for n in range(3)))
    idle = ("ERISC",) if number < 4 else ("ACTIVE ETH DM 0", "ACTIVE ETH DM 1", "IDLE ETH DM 0", "IDLE ETH DM 1")
    return {
        "COMPUTE KERNEL SOURCE": str([f"made/{op.op_code}/compute.cpp"] if compute else []),
        "COMPUTE KERNEL HASH": str(["compute/1/"] if compute else []),
        "DATA MOVEMENT KERNEL SOURCE": str([f"made/{op.op_code}/reader.cpp", f"made/{op.op_code}/writer.cpp"]),
        "DATA MOVEMENT KERNEL HASH": str(["reader/1/", "writer/1/"]),
        **{
            f"{name} MAX KERNEL SIZE [B]": size if n < 2 or compute else 0
            for n, (name, size) in enumerate(zip(names, sizes, strict=True))
        },
        **{f"{name} MAX KERNEL SIZE [B]": 0 for name in idle},
    }


class RowCells:
    """The rows of a report as {column name: text}; columns without a value are left out."""

    def __init__(self, program: Program, generation: str = "C7", style: CsvStyle = STYLE) -> None:
        self.program = program
        self.generation = generation
        self.number = generation_number(generation)
        self.style = style
        self._shared: dict[tuple[int, int, str, int], dict[str, str]] = {}

    def of(self, row: Row) -> dict[str, str]:
        """What the rows of an op share is written once: most ops run in several iterations, on several devices."""
        if row.op is None or row.call is None:
            return _texts(_host_cells(row), self.style)
        alike = (id(row.op), id(row.call), row.kind, row.kernel_ns)
        if alike not in self._shared:
            self._shared[alike] = _texts(self._shared_cells(row, row.op, row.call), self.style)
        return {**self._shared[alike], **_texts(self._own_cells(row, row.op), self.style)}

    def _shared_cells(self, row: Row, op: DeviceOp, call: Call) -> dict[str, str | int]:
        cells: dict[str, str | int] = {
            "OP CODE": op.op_code,
            "OP TYPE": op.op_type,
            "DEVICE ARCH": self.program.device.arch,
            "ATTRIBUTES": attributes_text(op.attributes, ERA_OF.get(self.generation, "2025-09")),
            "MATH FIDELITY": op.fidelity or "",
            "PROGRAM HASH": row.digest,
            "LOC": f'loc(fused["{call.file}":{call.line}:0, "{call.name}"])',
            "CONST_EVAL_OP": str(op.const_eval).lower(),
            "PROGRAM_METADATA": "{}",
            **_kernel_cells(op, self.number),
        }
        for side, tensors in (("INPUT", op.inputs), ("OUTPUT", op.outputs)):
            for index, tensor in enumerate(tensors):
                cells |= operand_cells(tensor, self.generation, side, index, self.program.device_object)
        if row.kind == "device":
            cells |= _device_cells(row.kernel_ns, op, self.program, self.number)
        return cells

    def _own_cells(self, row: Row, op: DeviceOp) -> dict[str, str | int]:
        packed = (self.style.call_counts or ("plain" if self.number <= 2 else "packed")) == "packed"
        plain_count = (row.runtime_id - 1) * self.program.devices + row.device + 1
        cells: dict[str, str | int] = {
            "HOST START TS": row.host_start_ns,
            "HOST END TS": row.host_start_ns + row.host_ns,
            "HOST DURATION [ns]": row.host_ns,
            "GLOBAL CALL COUNT": (row.runtime_id << 10) | row.device if packed else plain_count,
            "DEVICE ID": row.device,
            "PROGRAM CACHE HIT": str(self.style.cache_hits and not row.compiled),
        }
        if self.number <= 2:
            cells["CompileProgram_TT_HOST_FUNC [ns]"] = row.host_ns // 2
            cells["HWCommandQueue_write_buffer_TT_HOST_FUNC [ns]"] = 16_492
        if row.trace is not None:
            cells["METAL TRACE ID"], cells["METAL TRACE REPLAY SESSION ID"] = row.trace
        if row.kind == "device":
            waited = row.kernel_ns - _dm_start(op, row.kernel_ns)
            cells["DEVICE FW START CYCLE"] = row.fw_start
            cells["DEVICE FW END CYCLE"] = row.fw_end
            cells["OP TO OP LATENCY [ns]"] = row.fw_gap_ns if self.number == 1 else row.gap_ns
            cells["OP TO OP LATENCY BR/NRISC START [ns]"] = row.gap_ns and row.gap_ns + waited
        return cells


def _host_cells(row: Row) -> dict[str, str | int]:
    """Of a signpost, or of a call that stayed on the host."""
    cells: dict[str, str | int] = {"OP CODE": row.name, "HOST START TS": row.host_start_ns, "ATTRIBUTES": "None"}
    if row.kind == "signpost":
        return cells | {"OP TYPE": "signpost", "ATTRIBUTES": row.text}
    return cells | {
        "HOST END TS": row.host_start_ns + row.host_ns,
        "HOST DURATION [ns]": row.host_ns,
        "OP TYPE": "python_fallback",
        "GLOBAL CALL COUNT": row.runtime_id,
    }


def _texts(cells: Mapping[str, str | int], style: CsvStyle) -> dict[str, str]:
    """The real writer turns every ',' into ';'."""

    tail = ".0" if style.float_numbers else ""
    return {
        name: f"{value}{tail}" if isinstance(value, int) else value.replace(",", ";")
        for name, value in cells.items()
    }

"""The header of `ops_perf_results*.csv` in its seven generations, and of tt-torch's variant."""

from __future__ import annotations

from functools import cache

GENERATIONS = ("C1", "C2", "C3", "C4", "C5", "C6", "C7", "tt-torch")
OPERANDS = "<operands>"
LAST = 99

# name, first generation, last generation; in file order.
COLUMNS: tuple[tuple[str, int, int], ...] = (
    ("OP CODE", 1, LAST),
    ("OP TYPE", 1, LAST),
    ("GLOBAL CALL COUNT", 1, LAST),
    ("DEVICE ID", 1, LAST),
    ("DEVICE ARCH", 5, LAST),
    ("ATTRIBUTES", 1, LAST),
    ("MATH FIDELITY", 1, LAST),
    ("CORE COUNT", 1, LAST),
    ("AVAILABLE WORKER CORE COUNT", 5, LAST),
    ("SUB DEVICE ID", 7, LAST),
    ("PARALLELIZATION STRATEGY", 1, LAST),
    ("HOST START TS", 1, LAST),
    ("HOST END TS", 1, LAST),
    ("HOST DURATION [ns]", 1, LAST),
    ("DEVICE FW START CYCLE", 1, LAST),
    ("DEVICE FW END CYCLE", 1, LAST),
    ("OP TO OP LATENCY [ns]", 1, LAST),
    ("OP TO OP LATENCY BR/NRISC START [ns]", 3, LAST),
    ("DEVICE FW DURATION [ns]", 1, LAST),
    ("DEVICE KERNEL DURATION [ns]", 1, LAST),
    ("DEVICE KERNEL DURATION DM START [ns]", 3, LAST),
    ("DEVICE KERNEL DURATION PER CORE MIN [ns]", 2, LAST),
    ("DEVICE KERNEL DURATION PER CORE MAX [ns]", 2, LAST),
    ("DEVICE KERNEL DURATION PER CORE AVG [ns]", 2, LAST),
    ("DEVICE KERNEL FIRST TO LAST START [ns]", 2, LAST),
    ("DEVICE BRISC KERNEL DURATION [ns]", 1, LAST),
    ("DEVICE NCRISC KERNEL DURATION [ns]", 1, LAST),
    ("DEVICE TRISC0 KERNEL DURATION [ns]", 1, LAST),
    ("DEVICE TRISC1 KERNEL DURATION [ns]", 1, LAST),
    ("DEVICE TRISC2 KERNEL DURATION [ns]", 1, LAST),
    ("DEVICE ERISC KERNEL DURATION [ns]", 1, LAST),
    ("DEVICE COMPUTE CB WAIT FRONT [ns]", 1, LAST),
    ("DEVICE COMPUTE CB RESERVE BACK [ns]", 1, LAST),
    ("DISPATCH TOTAL CQ CMD OP TIME [ns]", 3, LAST),
    ("DISPATCH GO SEND WAIT TIME [ns]", 3, LAST),
    (OPERANDS, 1, LAST),
    ("METAL TRACE ID", 2, LAST),
    ("METAL TRACE REPLAY SESSION ID", 2, LAST),
    ("COMPUTE KERNEL SOURCE", 1, LAST),
    ("COMPUTE KERNEL HASH", 1, LAST),
    ("DATA MOVEMENT KERNEL SOURCE", 1, LAST),
    ("DATA MOVEMENT KERNEL HASH", 1, LAST),
    ("PROGRAM HASH", 6, LAST),
    ("PROGRAM CACHE HIT", 6, LAST),
    ("BRISC MAX KERNEL SIZE [B]", 2, 3),
    ("NCRISC MAX KERNEL SIZE [B]", 2, 3),
    ("TRISC 0 MAX KERNEL SIZE [B]", 2, 3),
    ("TRISC 1 MAX KERNEL SIZE [B]", 2, 3),
    ("TRISC 2 MAX KERNEL SIZE [B]", 2, 3),
    ("ERISC MAX KERNEL SIZE [B]", 2, 3),
    ("TENSIX DM 0 MAX KERNEL SIZE [B]", 4, LAST),
    ("TENSIX DM 1 MAX KERNEL SIZE [B]", 4, LAST),
    ("TENSIX COMPUTE 0 MAX KERNEL SIZE [B]", 4, LAST),
    ("TENSIX COMPUTE 1 MAX KERNEL SIZE [B]", 4, LAST),
    ("TENSIX COMPUTE 2 MAX KERNEL SIZE [B]", 4, LAST),
    ("ACTIVE ETH DM 0 MAX KERNEL SIZE [B]", 4, LAST),
    ("ACTIVE ETH DM 1 MAX KERNEL SIZE [B]", 4, LAST),
    ("IDLE ETH DM 0 MAX KERNEL SIZE [B]", 4, LAST),
    ("IDLE ETH DM 1 MAX KERNEL SIZE [B]", 4, LAST),
    ("PM IDEAL [ns]", 1, LAST),
    ("PM COMPUTE [ns]", 1, LAST),
    ("PM BANDWIDTH [ns]", 1, LAST),
    ("PM REQ I BW", 1, LAST),
    ("PM REQ O BW", 1, LAST),
    ("PM FPU UTIL (%)", 3, LAST),
    ("NOC UTIL (%)", 3, LAST),
    ("MULTICAST NOC UTIL (%)", 6, LAST),
    ("DRAM BW UTIL (%)", 3, LAST),
    ("DRAM BW UTIL PER CTRL (%)", 7, LAST),
    ("ETH BW UTIL (%)", 6, LAST),
    ("NPE CONG IMPACT (%)", 3, LAST),
    ("CompileProgram_TT_HOST_FUNC [ns]", 1, 2),
    ("HWCommandQueue_write_buffer_TT_HOST_FUNC [ns]", 1, 2),
)
COUNTER_COLUMNS = tuple(
    name
    for unit in ("SFPU", "FPU", "MATH")
    for name in (
        *(f"{unit} Util {statistic} (%)" for statistic in ("Min", "Median", "Max")),
        f"Avg {'Math' if unit == 'MATH' else unit} util on full grid (%)",
    )
)
TT_TORCH_COLUMNS = ("LOC", "CONST_EVAL_OP", "PROGRAM_METADATA")


def generation_number(generation: str) -> int:
    """tt-torch writes the C3 header with three columns more."""
    if generation not in GENERATIONS:
        raise ValueError(f"no such header generation: {generation}")
    return 3 if generation == "tt-torch" else int(generation[1])


@cache
def operand_columns(generation: str, side: str, index: int) -> tuple[str, ...]:
    suffix = "_PAD[LOGICAL]" if generation_number(generation) >= 4 else ""
    return (
        *(f"{side}_{index}_{axis}{suffix}" for axis in "WZYX"),
        *(f"{side}_{index}_{what}" for what in ("LAYOUT", "DATATYPE", "MEMORY")),
    )


def header(generation: str, *, inputs: int = 3, outputs: int = 1, counters: bool = False) -> list[str]:
    """The column names in file order, with so many INPUT_n and OUTPUT_n groups."""
    number = generation_number(generation)
    names: list[str] = []
    for name, first, last in COLUMNS:
        if not first <= number <= last:
            continue
        if name == OPERANDS:
            for side, count in (("INPUT", inputs), ("OUTPUT", outputs)):
                names += [column for n in range(count) for column in operand_columns(generation, side, n)]
        else:
            names.append(name)
    if counters:
        names += COUNTER_COLUMNS
    if generation == "tt-torch":
        names += TT_TORCH_COLUMNS
    return names

"""`ttnn-mcp ops RUN --format tt-perf-report`: the CSV of tt-perf-report 1.4.1, for a script that reads one.

Its columns in its order. Advice is ours, by the findings that cite the op.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO

from ttnn_mcp.checks.fixes import CODE
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.session.session import Session
from ttnn_mcp.shell.asking import all_findings
from ttnn_mcp.shell.perf_report.lines import CONVS, HOST, SHARDED, Cells, PerfLine, table_of
from ttnn_mcp.shell.questions import QUESTIONS, arguments

COLUMNS = (
    *("ID", "Total %", "Bound", "OP Code", "Device", "Device Time", "Op-to-Op Gap", "Cores", "DRAM", "DRAM %"),
    *("FLOPs", "FLOPs %", "Math Fidelity", "Output Datatype", "Input 0 Datatype", "Input 1 Datatype"),
    *("DRAM Sharded", "Input 0 Memory", "Inner Dim Block Size", "Output Subblock H", "Output Subblock W"),
    *("Global Call Count", "Sub Device ID", "Available Cores", "Op Category", "Bound Analysis", "Advice"),
)
NOTHING = "nan"  # how it writes a text that is missing
SHORT = {"BFLOAT16": "BF16", "BFLOAT8_B": "BFP8", "BFLOAT4_B": "BFP4", "FLOAT32": "FP32"}
CATEGORIES = {  # its names; each also counts with the suffix
    "Compute": "Accumulation AllGatherMatmul ArgMax Binary BinaryNg Conv2d Embeddings FastReduceNC GridSample "
    "GridSampleOperation GroupNorm IntImg LayerNorm MaskedBincount Matmul MinimalMatmulOp MoeGroupedTopk "
    "OffsetCumsum OptimizedConvNew Pool2D PostCombineReduce RMSAllGather Reduce RotaryEmbedding "
    "RotaryEmbeddingLlama SDPAOperation ScaledDotProductAttention ScaledDotProductAttentionDecode SdpaDecode "
    "Softmax SparseMatmul Unary UnifiedRoutedExpertFfn UpSample UpsampleOperation",
    "DM": "CloneOperation Copy Halo InterleavedToSharded InterleavedToShardedPartial Move "
    "PagedUpdateCacheDeviceOperation Reshard ShardedToInterleaved ShardedToInterleavedPartial Where",
    "CCL": "AllBroadcast AllGather AllGatherAsync AllGatherConcat AllReduceAsync AllToAllAsync AllToAllAsyncGeneric "
    "AllToAllCombine AllToAllDispatch AllToAllDispatchMetadata Broadcast Combine DeepseekMoEReduceScatter "
    "Dispatch LlamaReduceScatter RecvAsync RecvDirectAsync ReduceScatter ReduceScatterMinimalAsync "
    "ReduceScatterMinimalDirect ReduceToRootOp SelectiveReduceCombine SendAsync SendDirectAsync SliceReshardAsync "
    "StridedAllGatherAsync StridedReduceScatterAsync",
    "TM": "Concat ConcatenateHeads CreateQKVHeadsDeviceOperation FillPad Fold NLPConcatHeads "
    "NLPConcatHeadsDecodeDeviceOperation NLPCreateHeadsDecodeDeviceOperation "
    "NLPCreateQKVHeadsDecodeDeviceOperation NlpCreateHeads PadDeviceOperation PaddedSlice Permute Repeat Reshape "
    "ReshapeView Slice SliceWrite Split Ternary Tilize TilizeWithValPadding Transpose Typecast Untilize "
    "UntilizeWithUnpadding",
}
CATEGORY_OF = {name: category for category, names in CATEGORIES.items() for name in names.split()}
SUFFIX = "DeviceOperation"
BLOCKS = ("in0_block_w", "out_subblock_h", "out_subblock_w")
EVERYTHING = "iteration=all"


async def perf_report(session: Session, words: Sequence[str], tell: Callable[[str], None]) -> str:
    """The CSV of a run, as tt-perf-report writes it by default; with `iteration=all` as with --ignore-signposts.

    Raises:
        TtnnMcpError: the run cannot be opened, or has no times.
    """
    stated, _named, choice = await arguments(session, QUESTIONS["ops"], words)
    if choice:
        tell(choice)
    run = await session.run(str(stated["run"]))
    if run.performance is None:
        raise QuestionRefused("This format needs a performance report: this run has none.")
    findings = (await all_findings(session, {"run": run.id}))["findings"]
    advice: dict[int, list[str]] = {}
    for finding in findings:
        lines = dict.fromkeys(cell["row"] for cell in finding["evidence"] if isinstance(cell["row"], int))
        for line in lines:
            advice.setdefault(line, []).append(f"{finding['check']}: {finding['fix'].replace(CODE, '')}")
    joined = {line: " • ".join(texts) for line, texts in advice.items()}
    text = perf_report_csv(run.performance, joined, signposts=EVERYTHING not in words)
    if text.count("\n") == 1:
        tell(f"tt-perf-report takes no op between the signposts of this report; {EVERYTHING} takes all.")
    return text


def perf_report_csv(report: Performance, advice: Mapping[int, str], *, signposts: bool = True) -> str:
    """The table with its devices merged.

    Args:
        report: the performance report.
        advice: by line of the CSV.
        signposts: whether only what is behind the last signpost is shown.
    """
    paper = StringIO()
    writer = csv.writer(paper, lineterminator="\n")
    writer.writerow(COLUMNS)
    cells = Cells(report.rows)
    for line in table_of(report, signposts=signposts, merge=True):
        writer.writerow(_row(cells, line, advice.get(line.id, "")))
    return paper.getvalue()


def _row(cells: Cells, line: PerfLine, advice: str) -> list[object]:
    rows, row = cells.rows, line.row
    output, first, second = (
        operands[place].dtype[row] if len(operands) > place else ""
        for operands, place in ((rows.outputs, 0), (rows.inputs, 0), (rows.inputs, 1))
    )
    analysis = "full" if "Matmul" in line.name else "flops_only" if any(c in line.name for c in CONVS) else "none"
    attributes = "" if line.is_signpost else rows.texts("attributes")[row]
    name = f"{line.name} {line.size}".rstrip()
    blocks = [block[1] if (block := re.search(rf"{key}=(\d+)", attributes)) else "" for key in BLOCKS]
    return [
        *(line.id, line.share, line.bound, name, line.device, line.time, line.gap, line.cores),
        *(line.dram, line.dram_percent, line.flops, line.flops_percent),
        _fidelity("" if analysis == "none" else rows.texts("fidelity")[row], output, first, second),
        *(output or NOTHING, first or NOTHING, second or NOTHING, SHARDED in attributes, line.memory),
        *blocks,
        NOTHING if (count := cells.whole("call_count", row)) is None else count,
        rows.texts("sub_device")[row],
        cells.available_cores(row),
        "" if line.is_signpost else _category(line.name),
        *(analysis, advice),
    ]


def _fidelity(fidelity: str, output: str, first: str, second: str) -> str:
    """'HiFi4 BF16 x BF16 => BF16' of a product, 'BF16, BF16 => BF16' of another op."""
    if not (output and first):
        return ""
    short = [SHORT.get(dtype, dtype) for dtype in (first, second) if dtype]
    if not fidelity:
        return f"{', '.join(short)} => {SHORT.get(output, output)}"
    return f"{fidelity} {' x '.join(short)} => {SHORT.get(output, output)}"


def _category(name: str) -> str:
    if HOST in name:
        return "Host"
    op = next(iter(name.split()), "")
    return CATEGORY_OF.get(op) or CATEGORY_OF.get(op.removesuffix(SUFFIX), "Other")

"""Stories about layouts, casts and chains of small ops that one op replaces."""

from __future__ import annotations

from tests.checks.conv_programs import Conv, put_conv
from tests.profiles import DRAM, Program, height_sharded
from tests.stories.matmuls import both_sided, multiply
from tests.stories.story import SHAPE, SPLIT, TIMES, Story, run_op

PARTS = ((512, 4, 270), (512, 4, 270), (1536, 12, 815))  # columns and heads of Q, K and V on one of four chips, us
WRITES = {"output_dtype": "DataType::BFLOAT16"}


def part_of(first: int, columns: int):
    return {"slice_start": f"Shape([0, 0, {first}])", "slice_end": f"Shape([1, 2048, {first + columns}])"}


def heads_of_tiles():
    """One of two windows of 2048 tokens of Qwen3.6's gated delta net."""
    program = Program("blackhole", grid=(11, 10))
    x = run_op(program, "Unary", (program.tensor([1, 2048, 2560]),), program.tensor([1, 2048, 2560]), 40)
    first = 0
    for columns, heads, us in PARTS:
        part = run_op(program, "Slice", (x,), program.tensor([1, 2048, columns]), 10, attributes=part_of(first, columns))  # fmt: skip
        run_op(program, "ReshapeView", (part,), program.tensor([1, 2048, heads, 128]), us)
        first += columns
    return program


def cast_behind_tilize():
    program = Program("blackhole", grid=(11, 10))
    for heads, us in ((4, 95), (4, 95), (12, 285)):
        whole, rows = (program.tensor([heads, tokens, 128], layout="ROW_MAJOR") for tokens in (4096, 2048))
        run_op(program, "Slice", (whole,), rows, us / 2)
        tiles = run_op(program, "Tilize", (rows,), program.tensor(rows.shape), us - 10, attributes=WRITES)
        wide = run_op(program, "Typecast", (tiles,), program.tensor(rows.shape, "FLOAT32"), us)
        run_op(program, "Unary", (wide,), program.tensor(rows.shape, "FLOAT32"), us)
    return program


def heads_by_hand():
    """As PR #49565 left it: untilized, sliced, seen as heads, and each head's rows gathered."""
    program = Program("blackhole", grid=(11, 10))
    x = run_op(program, "Unary", (program.tensor([1, 2048, 2560]),), program.tensor([1, 2048, 2560]), 40)
    rows = run_op(program, "Untilize", (x,), program.tensor(x.shape, layout="ROW_MAJOR"), 90)
    first = 0
    for columns, heads, us in ((512, 4, 70), (512, 4, 70), (1536, 12, 150)):
        part = run_op(program, "Slice", (rows,), program.tensor([1, 2048, columns], layout="ROW_MAJOR"), 40, attributes=part_of(first, columns))  # fmt: skip
        seen = program.tensor([1, 2048, heads, 128], layout="ROW_MAJOR")
        program.call("ttnn.reshape", (part,), (seen,), ())
        run_op(program, "Permute", (seen,), program.tensor([1, heads, 2048, 128], layout="ROW_MAJOR"), us)
        first += columns
    return program


def cast_of_dispatched():
    """What the experts take, as the dispatch wrote it."""
    program = Program("blackhole", grid=(11, 10))
    tokens, rows = (program.tensor([1, 1, count, 7168], layout="ROW_MAJOR") for count in (16_384, 8192))
    run_op(program, "MadeUpOfNoFamily", (tokens,), rows, 900)
    tiles = run_op(program, "Tilize", (rows,), program.tensor(rows.shape), 480, attributes=WRITES)
    narrow = run_op(program, "Typecast", (tiles,), program.tensor(rows.shape, "BFLOAT8_B"), 460)
    multiply(program, 8192, 7168, 2048, 2_400, both_sided(28, 6, grid=(11, 10)), x=narrow, activations="BFLOAT8_B")
    return program


def table_untilized():
    program = Program()
    table = program.tensor([131_072, 3072])  # made by no op
    rows = run_op(program, "Untilize", (table,), program.tensor(table.shape, layout="ROW_MAJOR"), 7_000)
    tokens = program.tensor([1, 32], "UINT32", layout="ROW_MAJOR")
    x = run_op(program, "Embeddings", (tokens, rows), program.tensor([1, 32, 3072]), 20)
    run_op(program, "LayerNorm", (x,), program.tensor([1, 32, 3072]), 30, fidelity="HiFi4")
    return program


def norm_written_out():
    """One of 64 RMSNorms, as the compiler left it."""
    program = Program("blackhole", grid=(11, 10))
    rows, one = [1, 1, 32, 4096], [1, 1, 32, 1]
    x = run_op(program, "Typecast", (program.tensor(rows),), program.tensor(rows, "FLOAT32"), 9)
    square = run_op(program, "BinaryNg", (x, x), program.tensor(rows, "FLOAT32"), 12, attributes={"binary_op_type": "BinaryOpType::MUL"})  # fmt: skip
    total = run_op(program, "Reduce", (square,), program.tensor(one, "FLOAT32"), 25, fidelity="HiFi4")
    mean = run_op(program, "BinaryNg", (total,), program.tensor(one, "FLOAT32"), 6, attributes={"binary_op_type": "BinaryOpType::MUL"})  # fmt: skip
    mean = run_op(program, "BinaryNg", (mean,), program.tensor(one, "FLOAT32"), 6, attributes={"binary_op_type": "BinaryOpType::ADD"})  # fmt: skip
    chain = {"op_chain": "{BasicUnaryWithParam<float>(op_type=UnaryOpType::RSQRT,param={})}"}
    scale = run_op(program, "Unary", (mean,), program.tensor(one, "FLOAT32"), 6, attributes=chain)
    normed = run_op(program, "BinaryNg", (x, scale), program.tensor(rows, "FLOAT32"), 14, attributes={"binary_op_type": "BinaryOpType::MUL"})  # fmt: skip
    narrow = run_op(program, "Typecast", (normed,), program.tensor(rows), 9)
    run_op(program, "BinaryNg", (narrow, program.tensor([1, 1, 1, 4096])), program.tensor(rows), 10, attributes={"binary_op_type": "BinaryOpType::MUL"})  # fmt: skip
    return program


def sum_before_norm():
    """Two layers: each sum is read by the norm alone."""
    program = Program("blackhole", grid=(11, 10))
    shape = [1, 1, 512, 1024]
    for _ in range(2):
        x, y = (multiply(program, 512, 1024, 1024, 20, both_sided(2, 3, grid=(11, 8))) for _ in range(2))
        added = run_op(program, "BinaryNg", (x, y), program.tensor(shape), 8, attributes={"binary_op_type": "BinaryOpType::ADD"})  # fmt: skip
        normed = run_op(program, "LayerNorm", (added, *(program.tensor([1, 1, 1, 1024]) for _ in range(2))), program.tensor(shape), 16, fidelity="HiFi2", attributes={"norm_type": "LayerNormType::LAYERNORM"})  # fmt: skip
        multiply(program, 512, 1024, 4096, 45, both_sided(2, 12, grid=(11, 8)), x=normed)
    return program


def reshapes_between_convs():
    program = Program()
    where = height_sharded(256, 64, (8, 8))
    y = put_conv(program, Conv(block=(8, 6), weights_double=True, act_double=True, kernel_ns=200_000))
    flat = run_op(program, "ShardedToInterleaved", (y,), program.tensor(y.shape, y.dtype, placement=DRAM), 45)
    image = run_op(program, "ReshapeView", (flat,), program.tensor([1, 128, 128, 64], y.dtype), 60)
    flat = run_op(program, "ReshapeView", (image,), program.tensor(y.shape, y.dtype), 60)
    back = run_op(program, "InterleavedToSharded", (flat,), program.tensor(y.shape, y.dtype, placement=where), 40)
    run_op(program, "Unary", (back,), program.tensor(y.shape, y.dtype, placement=where), 20)
    return program


CONVERSIONS = (
    Story(
        "gdn-rows", "tt-metal PR#49565", "gated delta net: heads split by reshapes of tiles, 7.06 ms with the conv in two windows",
        "reshapes of rows, which are views (4.35 ms)", heads_of_tiles, "bound wrong", "right", 1_355, "ROW_MAJOR|row.major",
        made_up=SPLIT,
    ),
    Story(
        "gdn-cast", "tt-metal PR#49565", "gated delta net: tilize, then cast to FLOAT32 (17.87 ms with the rest, two windows)",
        "to_layout with dtype (16.92 ms)", cast_behind_tilize, "other change", "right", 475, r"to_layout\(.*dtype", made_up=SPLIT,
    ),
    Story(
        "gdn-heads", "tt-metal PR#50132", "gated delta net: untilize, slices, permutes for the heads",
        "one op that makes heads (-824 us in two windows)", heads_by_hand, "other change", "other change", 412, "create_qkv_heads", made_up=SPLIT,
        unknown="no op of TTNN 0.81.1 makes heads of which keys and values differ in number; the change was a new op",
    ),
    Story(
        "moe-cast", "tt-metal PR#43842", "experts' input tilized as BFLOAT16, then cast to BFLOAT8_B",
        "to_layout with dtype", cast_of_dispatched, "named", "named", None, r"to_layout\(.*dtype", made_up=f"{SHAPE}, {TIMES}",
    ),
    Story(
        "table-rows", "tt-mlir PR#6276, #3550", "an embedding table of 768 MB in tiles, untilized in every call",
        "the table in ROW_MAJOR", table_untilized, "silent", "named", None, "ROW_MAJOR", made_up=TIMES,
    ),
    Story(
        "rms-parts", "tt-mlir #7590", "64 RMSNorms in nine ops each: 9 t/s", "fused rms_norm (11 t/s)",
        norm_written_out, "other change", "named", None, "rms_norm", made_up=TIMES,
    ),
    Story(
        "residual", "tt-metal #13629, tt-mlir #8046", "a residual sum before a norm", "in the norm (projected: 6 us)",
        sum_before_norm, "other change", "other change", None, "residual_input_tensor", made_up=f"{SHAPE}, {TIMES}",
        unknown="shapes do not tell whether the sum is read again; with a memory report residual-before-norm tells it",
    ),
    Story(
        "vovnet", "tt-metal #27876", "VoVNet: unshard, reshape and reshard after each conv: 102 fps",
        "only where they are needed, and other changes (127 fps)", reshapes_between_convs, "other change", "named", None,
        "stay|leave|drop|without|no ttnn|keep", made_up=f"{SHAPE}, {TIMES}",
    ),
)  # fmt: skip

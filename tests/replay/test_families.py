"""The call behind each kind of device op, by the attributes of its row; and what of a row is not rebuilt."""

import ast
import re
from dataclasses import replace

import pytest

from tests.asking import ask, session
from tests.checks.rows import put
from tests.checks.step3_programs import without
from tests.for_all import for_all
from tests.profiles import (
    L1,
    Program,
    block_sharded,
    header_of,
    height_sharded,
    performance_rows,
    width_sharded,
    write_performance_report,
    write_rows,
)
from tests.replay.rows import (
    CACHE,
    DECODE,
    GATHER,
    GROUPS,
    LEAKY,
    NORM,
    NOT_REBUILT,
    OPS,
    QUERY,
    RELU,
    ROWS,
    SLICE,
    TALL,
    WHOLE,
    X,
    of_users,
    op_of,
    report_of,
)
from ttnn_mcp.errors import QuestionRefused


@pytest.fixture
def called(tmp_path):
    """The calls that are written of rows: of each its call, its reference, its whole script and the answer."""

    async def of(*rows):
        at, report, path = session(tmp_path), report_of(tmp_path / "perf", rows), tmp_path / "script.py"
        for line in range(2, 2 + len(rows)):
            try:
                answer = await ask(at, "replay_op", run=report, op=line, path=str(path), sweep=[])
            except QuestionRefused as refused:
                yield str(refused), None, "", {}
                continue
            text = path.read_text()
            tree = ast.parse(text)
            parts = {
                getattr(one, "name", ""): ast.unparse(one.body[-1]) for one in tree.body if hasattr(one, "body")
            }
            yield parts["call"], parts.get("reference"), text, answer

    return of


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", range(4))
async def test_an_op_is_called_with_what_its_row_prints(called, part):
    ops = OPS[part::4]
    written = [one async for one in called(*(row for row, *_ in ops))]
    for (row, call, reference), (wrote, compared, *_) in zip(ops, written, strict=True):
        assert call in wrote, row
        assert (reference or "") in (compared or ""), row
        assert (reference is None) == (compared is None), row


async def test_what_a_row_does_not_tell_is_said_and_not_made_up(called):
    written = [one async for one in called(*(row for row, _ in NOT_REBUILT))]
    for (row, why), (said, *_) in zip(NOT_REBUILT, written, strict=True):
        assert re.search(f"cannot be replayed from this report: .*({why})", said), (row, said)


ROW, TALLER = (1, 1, 1, 64), ((1, 1, 2, 32), ROWS)
ADD = {"binary_op_type": "BinaryOpType::ADD"}
EXP = "{UnaryWithParam(op_type=UnaryOpType::EXP;param={1})}"
HIGH, SPREAD, IN_FIVE = (1, 1, 512, 64), {"placement": TALL}, {"placement": block_sharded(32, 64, (5, 2))}
WIDE, BY_WIDTH = (1, 1, 32, 512), {"placement": width_sharded(32, 64, 8)}
ONE_USER, PLACE = (1, 1, 8, 64), ((1, 1, 1, 1), WHOLE)


@for_all(
    ("row", "call", "reference"),
    [
        (("BinaryNgDeviceOperation", [X, X], X, {**ADD, "lhs_activations": "{}"}), "x[1], dtype", "x[0] + x[1]"),
        (("BinaryNgDeviceOperation", [X, X], X, {**ADD, "lhs_activations": LEAKY}), "LEAKY_RELU", None),
        (("BinaryNgDeviceOperation", [X, X], X, {**ADD, "rhs_activations": LEAKY}), "LEAKY_RELU", None),
        (("UnaryDeviceOperation", [X], X, {"op_chain": EXP}), "ttnn.UnaryOpType.EXP, 1", None),
        (("LayerNormDeviceOperation", [ROW, ROW], ROW, NORM), "epsilon=1e-05, weight=x[1], memory", "flatten"),
        (("SoftmaxDeviceOperation", [X], X, {"scale": "0.5"}), "mask_softmax(x[0], 0.5, None", "x[0] * 0.5, -1"),
        (("SoftmaxDeviceOperation", [X, X], X, {}), "mask_softmax(x[0], None, x[1]", "x[0] + x[1]"),
        (("SdpaDecodeDeviceOperation", [ONE_USER, CACHE, CACHE, PLACE], ONE_USER, DECODE),
         ".scaled_dot_product_attention_decode(x[0], x[1], x[2], cur_pos_tensor=x[3]", "x[1].repeat"),
        (("ArgMaxDeviceOperation", [X], (1, 1, 1, 64), {}), "ttnn.argmax(x[0], dim=-1, memory", None),
        (("AccumulationDeviceOperation", [X], X, {"dim": "-1", "op": "AccumulationOp::CUMSUM"}), "x[0], -1,", None),
        (("AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 128), {**GATHER, "ring_size": "2"}), "(x[0], 3,", None),
        (("SliceDeviceOperation", [X], (1, 1, 32, 64), {**SLICE, "step": None}), "[1, 1, 32, 64], [1, 1, 1, 1]", "0:32:1"),
    ],
)  # fmt: skip
async def test_a_call_has_what_is_printed_and_a_reference_only_what_torch_has_too(called, row, call, reference):
    ((wrote, compared, *_),) = [one async for one in called(row)]
    assert call in wrote
    assert (reference is None) == (compared is None), compared
    assert (reference or "") in (compared or "")


async def test_pages_are_told_from_positions_by_a_row_for_each_user(called):
    positions, pages = ((1, 1, 1, 4), WHOLE), ((1, 1, 4, 8), WHOLE)
    row = ("SdpaDecodeDeviceOperation", [QUERY, CACHE, CACHE, positions, pages], QUERY, DECODE)
    ((call, _, text, _),) = [one async for one in called(row)]
    assert "page_table_tensor=x[3], cur_pos_tensor=x[4]" in call
    assert text.index('"shape": (4, 8)') < text.index('"shape": (4,)')


async def test_dimensions_are_turned_by_the_letters_of_their_order(called):
    pairs = ("WH", "HC", "CN", "NH", "NW", "CW")
    rows = [("TransposeDeviceOperation", [X], X, {"dim": f"TransposeOpDim::{pair}"}) for pair in pairs]
    rows.append(("PermuteDeviceOperation", [X], X, {"dims": "SmallVector([1; 0; 2])"}))
    *turned, (*_, permuted, _) = [one async for one in called(*rows)]
    for pair, (call, *_) in zip(pairs, turned, strict=True):
        first, second = sorted("NCHW".index(letter) for letter in pair)
        assert f"x[0], {first}, {second}, " in call
    assert '"shape": (1, 64, 64)' in permuted  # of a call that counts three


async def test_the_order_of_a_weight_and_a_bias_is_assumed_of_one_norm(called):
    rms = {**NORM, "norm_type": "LayerNormType::RMSNORM"}
    for x, attributes, operands, assumed in (
        (X, rms, 2, True), (X, rms, 1, False), (X, NORM, 2, False), (ROW, NORM, 2, True), (ROW, NORM, 3, False),
        (ROW, NORM, 1, False),
    ):  # fmt: skip
        row = ("LayerNormDeviceOperation", [x, *[ROW] * operands], x, attributes)
        ((*_, answer),) = [one async for one in called(row)]
        assert ("its operands are the weight and the bias, in this order" in answer["assumed"]) is assumed


@for_all(
    ("row", "why"),
    [
        (("GroupNorm", [X], X, {"eps": "1e-05", "num_groups": "2", "program_config": "GroupNormMultiCoreProgramConfig(inplace=0)"}), "program_config with a grid"),
        (("GroupNorm", [X, *[TALLER] * 3], X, {"eps": "1e-05", "num_groups": "2", "program_config": GROUPS}), "beside the weight"),
        (("ReduceDeviceOperation", [X], X, {"dim": "ReduceOpDim::NONE", "math_op": "ReduceOpMath::SUM"}), "its dim is not rebuilt"),
        (("UnaryDeviceOperation", [], X, {"op_chain": RELU}), "what it read and wrote"),
        (of_users(40), "no report prints its shards"),
        (("MatmulDeviceOperation", [(HIGH, SPREAD), (X, SPREAD)], (HIGH, SPREAD), {}), "INPUT_1 lies in L1_HEIGHT"),
        (("MatmulDeviceOperation", [(WIDE, BY_WIDTH), (1, 1, 512, 512)], (WIDE, BY_WIDTH), {}), "INPUT_0 lies in L1_WIDTH"),
        (("MatmulDeviceOperation", [((1, 1, 64, 256), IN_FIVE), (1, 1, 256, 320)], ((1, 1, 64, 320), IN_FIVE), {}), "INPUT_0 lies in L1_BLOCK"),
        (("UnaryDeviceOperation", [(HIGH, SPREAD)], (HIGH, {"placement": block_sharded(64, 64, (1, 8))}), {"op_chain": RELU}), "INPUT_0 lies in L1_HEIGHT"),
        (("UnaryDeviceOperation", [(HIGH, SPREAD)], (HIGH, {"placement": height_sharded(128, 64, 4)}), {"op_chain": RELU, "output_mem_config": TALL}), "INPUT_0 lies in L1_HEIGHT"),
        (("UnaryDeviceOperation", [(HIGH, SPREAD)], (HIGH, SPREAD), {"op_chain": RELU, "output_mem_config": None}), "INPUT_0 lies in L1_HEIGHT"),
        (("UnaryDeviceOperation", [(X, {"dtype": "FLOAT8"})], X, {"op_chain": RELU}), "INPUT_0 is of the data type"),
        (("PermuteDeviceOperation", [X], X, {}), "prints no dims"),
        (("UnaryDeviceOperation", [(X, {"placement": None})], X, {"op_chain": RELU}), "INPUT_0 does not lie on the device"),
    ],
)  # fmt: skip
async def test_what_a_row_tells_otherwise_is_not_rebuilt(called, row, why):
    ((refused, *_),) = [one async for one in called(row)]
    assert why in refused


async def test_an_operand_whose_place_cannot_be_read_is_not_made(tmp_path):
    program = Program("wormhole_b0")
    put(program, op_of(program, "UnaryDeviceOperation", [X], X, {"op_chain": RELU}))
    rows = [{**row, "INPUT_0_MEMORY": "elsewhere"} for row in performance_rows(program)]
    run = write_rows(tmp_path / "ops_perf_results_made.csv", rows, header_of(rows, "C7"))
    with pytest.raises(QuestionRefused, match="INPUT_0 does not lie on the device"):
        await ask(session(tmp_path), "replay_op", run=str(run), op=2, sweep=[])


async def test_a_place_that_cannot_be_read_is_left_to_the_call(called):
    row = ("UnaryDeviceOperation", [X], X, {"op_chain": RELU, "output_mem_config": "elsewhere"})
    ((call, *_),) = [one async for one in called(row)]
    assert "memory_config" not in call


async def test_without_a_column_of_operands_nothing_is_rebuilt(tmp_path):
    program = Program("wormhole_b0")
    put(program, op_of(program, "UnaryDeviceOperation", [X], X, {"op_chain": RELU}))
    run = without(tmp_path, ("INPUT_",), program)
    with pytest.raises(QuestionRefused, match="what it read and wrote"):
        await ask(session(tmp_path), "replay_op", run=str(run), op=2, sweep=[])


async def test_the_heads_of_each_user_lie_on_a_core_of_his_own(called, tmp_path):
    cores = {
        8: ["0, 0", "7, 0"], 16: ["0, 0", "7, 1"], 4: ["0, 0", "3, 0"], 32: ["0, 0", "7, 3"],
    }  # fmt: skip
    wrote = [one async for one in called(*map(of_users, cores))]
    for places, (_, _, text, answer) in zip(cores.values(), wrote, strict=True):
        assert (
            re.findall(r"CoreCoord\((\d, \d)\)", text[text.index("def operands") : text.index("def call")])
            == places
        )
        assert "TensorMemoryLayout.HEIGHT_SHARDED" in text
        assert "[32, 64], ttnn.ShardOrientation.ROW_MAJOR" in text
        assert "no report prints the shards of INPUT_0: a shard per user, on the first cores" in answer["assumed"]
    program = Program("wormhole_b0", grid=(9, 9))  # which no card has
    put(program, op_of(program, *of_users(8)))
    unknown = write_performance_report(tmp_path / "unknown", program)
    with pytest.raises(QuestionRefused, match="no report prints its shards"):
        await ask(session(tmp_path), "replay_op", run=str(unknown), op=2, sweep=[])


async def test_a_matmul_is_compared_with_its_bias_and_its_function(called):
    config = f"MatmulMultiCoreReuseMultiCast1DProgramConfig(compute_with_storage_grid_size=(x=8;y=8);in0_block_w=2;fused_activation={RELU})"
    config = config.replace("{BasicUnaryWithParam<float; int>(base=", "").replace("param={}))}", "param={})")
    rows = [
        ("MatmulDeviceOperation", [X, X, (1, 1, 1, 64)], X, {"program_config": config}),
        ("MinimalMatmulDeviceOperation", [X, X, (1, 1, 1, 64)], X, {}),
        ("MinimalMatmulDeviceOperation", [X, X], X, {}),
    ]
    (call, reference, _, answer), (minimal, least, *_), (bare, *_) = [one async for one in called(*rows)]
    assert "bias=x[2]" in call
    assert "torch.relu(x[0] @ x[1] + x[2])" in reference
    assert answer["assumed"] == ["made-up values"]
    assert ("bias_tensor=x[2]" in minimal, "bias" in bare) == (True, False)
    assert "x[0] @ x[1] + x[2]" in least


async def test_a_collective_runs_along_the_axis_of_its_row_or_the_second(called):
    for axis, mesh in (("0", [4, 1]), ("1", [1, 4]), (None, [1, 4])):
        row = ("AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 256), {**GATHER, "cluster_axis": axis})
        ((*_, text, _),) = [one async for one in called(row)]
        assert f"'mesh': {mesh}" in text


async def test_an_op_of_one_result_beside_one_of_two_is_called_by_its_own(tmp_path):
    program, path = Program("wormhole_b0"), tmp_path / "s.py"
    put(program, op_of(program, "AllGatherAsyncDeviceOperation", [X], (1, 1, 64, 256), GATHER))
    sorting = op_of(program, "TopKDeviceOperation", [X], (1, 1, 64, 32), {"k": "32", "dim": "3"})
    put(program, replace(sorting, outputs=[*sorting.outputs, program.tensor([1, 1, 64, 32], "UINT16")]))
    run = str(write_performance_report(tmp_path / "perf", program))
    await ask(session(tmp_path), "replay_op", run=run, op=2, path=str(path), sweep=[])
    assert "ttnn.all_gather(\n        x[0],\n        3," in path.read_text()


async def test_l1_is_set_aside_for_ops_that_need_it(called):
    """Of convolutions and pools, whose report does not tell what the model set aside."""
    pool = next(row for row, *_ in OPS if row[0] == "Pool2D")
    written = [one async for one in called(pool, ("UnaryDeviceOperation", [X], X, {"op_chain": RELU}))]
    assert written[1][3]["assumed"] == ["made-up values"]
    assert [re.findall(r"'l1_small_bytes': (\d+)", text) for _, _, text, _ in written] == [["32768"], ["0"]]


async def test_what_is_assumed_of_an_op_is_said(called):
    rows = {str(row[1]): row for row, *_ in OPS if row[0] in ("SdpaDecodeDeviceOperation", "MatmulDeviceOperation")}
    alone, paged, latent, with_bias, in_blocks = [one async for one in called(*rows.values())]
    assert alone[3]["assumed"][0] == "the position is not in a report: 127, the last, which takes longest"
    assert "\"values\": 'all 127'" in alone[2]
    assert "1023, the last" in paged[3]["assumed"][0]
    assert "127, the last" in latent[3]["assumed"][0]
    shards = "no report prints the shards of INPUT_0: they follow from those of the result"
    assert with_bias[3]["assumed"][:2] == [shards, "its bias is one row, which the report prints filled up"]
    assert '"shape": (1, 1, 1, 64)' in with_bias[2]
    assert '[64, 64], ttnn.ShardOrientation.ROW_MAJOR)), "values"' in with_bias[2]
    assert in_blocks[3]["assumed"][0] == shards
    assert in_blocks[2].count('[64, 64], ttnn.ShardOrientation.ROW_MAJOR)), "values"') == 1  # four columns of cores


async def test_a_matmul_on_shards_is_given_no_config_of_ours(tmp_path):
    rows = [row for row, *_ in OPS if row[0] == "MatmulDeviceOperation"]
    run, at = report_of(tmp_path / "perf", rows), session(tmp_path)
    for line, _ in enumerate(rows, 2):
        answer = await ask(at, "replay_op", run=run, op=line, path=str(tmp_path / "s.py"))
        assert "candidates" not in answer


async def test_a_minimal_matmul_of_several_results_is_not_rebuilt(tmp_path):
    program = Program("wormhole_b0")
    split = op_of(program, "MinimalMatmulDeviceOperation", [X, X], (1, 1, 64, 32), {})
    put(program, replace(split, outputs=[*split.outputs, program.tensor([1, 1, 64, 32])]))
    run = str(write_performance_report(tmp_path / "perf", program))
    with pytest.raises(QuestionRefused, match="its result is split"):
        await ask(session(tmp_path), "replay_op", run=run, op=2)


async def test_weights_of_a_minimal_matmul_are_swept(tmp_path):
    run, path = report_of(tmp_path / "perf", [("MinimalMatmulDeviceOperation", [X, X], X, {})]), tmp_path / "s.py"
    await ask(session(tmp_path), "replay_op", run=run, op=2, path=str(path), sweep=["weights_dtype"])
    assert '"dtype": getattr(ttnn, s["weights_dtype"].lower())' in path.read_text()


async def test_an_operand_in_l1_is_made_there(called):
    x = (X, {"placement": L1})
    ((_, _, text, _),) = [one async for one in called(("UnaryDeviceOperation", [x], x, {"op_chain": RELU}))]
    assert '"layout": ttnn.TILE_LAYOUT, "memory": ttnn.L1_MEMORY_CONFIG' in text

"""What a script says of its op: as the row printed it, nothing else, and nothing that a report's text could run."""

import ast
import re
import shlex
from math import inf
from pathlib import Path

import pytest

from tests.analyses.settings.graphs import graph
from tests.analyses.settings.graphs import matmul as matmul_in_a_graph
from tests.analyses.settings.graphs import report as graphs_of
from tests.analyses.settings.test_printed_row import DRAM, EMPTY
from tests.asking import ask, session
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import L1, Program, block_sharded, write_performance_report
from tests.profiles.ops import matmul
from tests.replay.made import CONFIG, linear, report
from tests.replay.rows import OPS, op_of, report_of
from tests.shared_reports import SEGFORMER, shared
from ttnn_mcp.errors import ArgumentsInvalid, QuestionRefused

(DEMO_CSV,) = Path(__file__).parents[2].glob("resources/demo/performance/*/ops_perf_results*.csv")


@pytest.fixture
def written(tmp_path):
    """The text of the script of the only op of a program, and the answer."""

    async def of(program, **asked):
        path = tmp_path / "script.py"
        answer = await ask(
            session(tmp_path), "replay_op", run=report(tmp_path, program), op=3, path=str(path), **asked
        )
        text = path.read_text()
        compile(text, "script", "exec")
        return text, answer

    return of


def call_in(text):
    """The op's call, as one line."""
    tree = ast.parse(text)
    return ast.unparse(next(one for one in tree.body if getattr(one, "name", "") == "call").body[-1])


GELU = "UnaryWithParam(op_type=UnaryOpType::GELU;param={{{}}})"
KERNEL = "WormholeComputeKernelConfig(math_fidelity=HiFi2,math_approx_mode=0,fp32_dest_acc_en=1,packer_l1_acc=1)"


async def test_a_matmul_is_called_with_what_its_row_prints(written):
    text, answer = await written(linear(compute_kernel_config=KERNEL), sweep=["in0_block_w", "math_fidelity"])
    call = call_in(text)
    assert call.startswith(
        "return ttnn.matmul(x[0], x[1], program_config=ttnn.MatmulMultiCoreReuseMultiCastProgramConfig("
    )
    for told in (
        "compute_with_storage_grid_size=ttnn.CoreCoord(8, 8)", "in0_block_w=s['in0_block_w']", "out_block_w=2",
        "transpose_mcast=False", "fuse_batch=True", "math_fidelity=getattr(ttnn.MathFidelity, s['math_fidelity'])",
        "fp32_dest_acc_en=True", "packer_l1_acc=True", "dtype=ttnn.bfloat16", "memory_config=ttnn.DRAM_MEMORY_CONFIG",
    ):  # fmt: skip
        assert told in call, told
    assert "fused_activation" not in call
    assert '{"shape": (1, 1, 256, 512), "dtype": ttnn.bfloat8_b, "layout": ttnn.TILE_LAYOUT' in text
    assert "x[0] @ x[1]" in text
    assert "'settings': {'in0_block_w': 2, 'math_fidelity': 'HiFi2'}" in text
    names = [row[0] for row in answer["candidates"]["rows"]]
    assert {"in0_block_w=1", "in0_block_w=4", "in0_block_w=8", "math_fidelity=LoFi"} <= {*names}
    assert "in0_block_w=4, math_fidelity=LoFi" in names
    assert not {"in0_block_w=2", "math_fidelity=HiFi2"} & {*names}
    for number in ("1", "1.0"):
        text, _ = await written(linear(user_fused_activation=GELU.format(number), config="std::nullopt"), sweep=[])
        assert "ttnn.linear(x[0], x[1], activation='gelu'" in call_in(text)


async def test_blocks_of_the_output_follow_the_blocks_of_a_core(written):
    text, answer = await written(linear(), sweep=["per_core_N", "out_subblock_w"])
    assert "out_block_w=s['per_core_N']" in call_in(text)
    assert "per_core_N=4, out_subblock_w=4" in [row[0] for row in answer["candidates"]["rows"]]


async def test_only_so_many_candidates_and_what_was_left_out_is_counted(written):
    _, answer = await written(linear(), sweep=["in0_block_w", "out_subblock_w"], limit=2)
    assert [row[3] for row in answer["candidates"]["rows"]] == [37_888] * 2
    # values that are illegal beside all others are not tried together: 56 would be
    assert answer["left_out"] == {"more": 5, "illegal": 14}
    _, answer = await written(linear(), sweep=[])
    assert "candidates" not in answer
    turned = linear(config=CONFIG.replace("transpose_mcast=0", "transpose_mcast=1"))  # which is not modelled
    _, answer = await written(turned, sweep=["in0_block_w", "out_subblock_w"])
    assert "candidates" not in answer


async def test_what_an_older_build_would_compute_wrong_is_no_candidate(written):
    """Eight blocks of one row of tiles on 2 x 2 cores; of the build nothing is known."""
    blocks = "in0_block_w=2,out_subblock_h=1,out_subblock_w=4,per_core_M=8,per_core_N=16"
    config = f"MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(x=2,y=2),{blocks})"
    _, answer = await written(linear(config=config), sweep=["per_core_M"])
    assert sorted(row[0] for row in answer["candidates"]["rows"]) == ["per_core_M=2", "per_core_M=4"]
    assert answer["left_out"] == {"wrong_values": 1, "illegal": 1}


async def test_a_matmul_whose_config_ttnn_chose_gets_one_of_ours(written):
    text, answer = await written(linear(config="std::nullopt"), sweep=["in0_block_w", "math_fidelity"])
    assert call_in(text).count("if s['own_config'] else None") == 1
    assert "'own_config': False" in text
    assert "'settings': {'own_config': True, 'in0_block_w': 4}" in text
    assert "'settings': {'math_fidelity': 'LoFi'}" in text  # or a gain of the config would be told of the fidelity
    assert re.search(r"'own_config': True,\s+'in0_block_w': \d+,\s+'math_fidelity': 'LoFi'", text)
    buffers = {row[0]: row[3] for row in answer["candidates"]["rows"]}
    assert len(buffers) == len(answer["candidates"]["rows"])
    assert buffers["in0_block_w=4"] > 0
    empty = "nothing else lies in L1: TTNN chooses the config of a matmul by what is free"
    assert answer["assumed"] == [empty, "made-up values"]
    assert "out_block_h=1, out_block_w=" in call_in(text)
    for half in ("CoreCoord(x=8)", "CoreCoord(y=8)"):
        text, answer = await written(linear(config="std::nullopt", user_core_coord=half), sweep=[])
        assert "core_grid" not in call_in(text)
    text, answer = await written(linear(config="std::nullopt"), sweep=[])
    assert (answer["assumed"], "program_config" in call_in(text)) == ([empty, "made-up values"], False)


@for_all(
    ("said", "why"),
    [
        ({"config": "os.system(1)"}, "program_config"),
        ({"config": CONFIG.replace("in0_block_w=2", "in0_block_w=__import__('os')")}, "program_config"),
        ({"config": CONFIG.replace("fuse_batch=1", "fuse_batch=1,gather_in0=1")}, "gather_in0"),
        ({"global_cb": "GlobalCircularBuffer()"}, "global_cb"),
        ({"user_fused_activation": "UnaryWithParam(op_type=UnaryOpType::EXP;param={})"}, "activation exp"),
        ({"user_fused_activation": "tor<float>(cut off"}, r"activation tor<float>.* is not rebuilt"),
        (
            {"user_fused_activation": GELU.format(0)},
            "activation gelu with its numbers is not rebuilt",
        ),  # not the fast one
        ({"user_fused_activation": GELU.format(1) + "op_type=other"}, "user_fused_activation"),
        (
            {"compute_kernel_config": "WormholeComputeKernelConfig(math_fidelity=HiFi2(),fp32_dest_acc_en=1)"},
            "compute_k",
        ),
    ],
)
async def test_what_is_no_value_of_ttnn_is_refused_by_its_name(tmp_path, said, why):
    with pytest.raises(QuestionRefused, match=f"cannot be replayed.*{why}"):
        await ask(session(tmp_path), "replay_op", run=report(tmp_path, linear(**said)), op=3, sweep=[])


async def test_text_of_a_report_stays_text(tmp_path):
    program = linear()
    at = session(tmp_path)
    odd = write_performance_report(tmp_path / 'x"""; import os #\'', program)
    path = tmp_path / "script.py"
    await ask(at, "replay_op", run=str(odd), op=3, path=str(path))
    compile(path.read_text(), "script", "exec")
    assert "import os #" not in path.read_text()


async def test_shards_that_no_report_prints_are_not_made_up(tmp_path):
    grid = "grid={[(x=0,y=0) - (x=7,y=7)]},orientation=ShardOrientation::ROW_MAJOR"
    result = f"MemoryConfig(memory_layout=TensorMemoryLayout::BLOCK_SHARDED;buffer_type=BufferType::L1;nd_shard_spec=NdShardSpec(shard_shape=Shape([1, 1, 32, 64]),{grid}))"  # fmt: skip
    for name, into, printed in (
        ("none", L1, {}),
        ("nd", block_sharded(32, 64, (8, 8)), {"output_mem_config": result}),
    ):
        program = Program("wormhole_b0")
        x = program.tensor([1, 1, 256, 256], placement=block_sharded(32, 32, (8, 8)))
        w, y = program.weight([1, 1, 256, 512], "BFLOAT8_B"), program.tensor([1, 1, 256, 512], placement=into)
        op = matmul(x, w, y, 20_000, cores=64, program_config=CONFIG)
        op.attributes = {**op.attributes, **printed}
        put(program, op)
        with pytest.raises(
            QuestionRefused, match="INPUT_0 lies in L1_BLOCK_SHARDED and no report prints its shards"
        ):
            await ask(session(tmp_path), "replay_op", run=report(tmp_path / name, program), op=3)


async def test_where_the_output_is_sharded_blocks_are_not_tried_together(written):
    """Its shards follow from them, which no row tells of another block."""
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 256, 256]), program.weight([1, 1, 256, 512], "BFLOAT8_B")
    y = program.tensor([1, 1, 256, 512], placement=block_sharded(32, 64, (8, 8)))
    put(program, matmul(x, w, y, 20_000, program_config=CONFIG))
    for sweep, together in (
        (["in0_block_w", "out_subblock_w"], True),
        (["in0_block_w", "per_core_N"], False),
        (["in0_block_w", "weights_dtype"], False),  # of these two the row prints one
    ):
        _, answer = await written(program, sweep=sweep)
        assert any("," in row[0] for row in answer["candidates"]["rows"]) is together, sweep


async def test_a_setting_that_the_op_does_not_have_is_refused(tmp_path):
    at, run = session(tmp_path), report(tmp_path)
    with pytest.raises(QuestionRefused, match="q_chunk_size cannot be swept for this op"):
        await ask(at, "replay_op", run=run, op=3, sweep=["q_chunk_size"])
    with pytest.raises(QuestionRefused, match="core_grid cannot be swept"):
        await ask(at, "replay_op", run=run, op=3, sweep=["core_grid"])
    with pytest.raises(ArgumentsInvalid, match="'limit' is 0 to 200"):
        await ask(at, "replay_op", run=run, op=3, limit=201)


async def test_a_setting_that_the_row_does_not_print_is_refused(tmp_path):
    """Without a config, and in a config that does not have it."""
    norms = [row for row, *_ in OPS if row[0] == "LayerNormDeviceOperation"]
    rows = [norms[0], norms[-1]]
    of_ttnn = linear(config="std::nullopt", compute_kernel_config="WormholeComputeKernelConfig(math_approx_mode=0)")
    spread, x = Program("wormhole_b0"), {"placement": block_sharded(32, 64, (8, 8))}
    put(
        spread,
        op_of(spread, "MatmulDeviceOperation", [(1, 1, 256, 256), (1, 1, 256, 512)], ((1, 1, 256, 512), x), {}),
    )
    run, less = report_of(tmp_path / "perf", rows), "WormholeComputeKernelConfig(math_approx_mode=0)"
    of_less = report(tmp_path / "less", linear(compute_kernel_config=less))
    for at, line, *sweep, name in (
        (run, 2, "block_w"),
        (run, 3, "block_w"),
        (of_less, 3, "math_fidelity"),
        (of_less, 3, "fp32_dest_acc_en"),
        (report(tmp_path / "of_ttnn", of_ttnn), 3, "in0_block_w", "math_fidelity"),
        (report(tmp_path / "spread", spread), 3, "in0_block_w"),
    ):
        with pytest.raises(QuestionRefused, match=f"does not print {name}, so that it can be changed"):
            await ask(session(tmp_path), "replay_op", run=at, op=line, sweep=[*sweep, name])


async def test_a_flag_of_the_kernel_is_swept_as_one(written):
    text, _ = await written(linear(compute_kernel_config=KERNEL), sweep=["fp32_dest_acc_en"])
    assert "fp32_dest_acc_en=s['fp32_dest_acc_en']" in call_in(text)
    assert "'settings': {'fp32_dest_acc_en': True}" in text


async def test_what_else_lay_in_l1_is_a_tensor_unless_a_call_places_more(tmp_path, monkeypatch):
    """A matmul and a convolution of the demo, whose memory report is linked; on a mesh the L1 of one chip tells little."""
    for op, mesh, free, is_assumed in (
        (75, None, r"\d+", True),
        (64, None, "None", False),
        (75, [1, 4], "None", False),
    ):
        monkeypatch.setattr("ttnn_mcp.replay.rebuilt._mesh", lambda _, of=mesh: of)
        path = tmp_path / f"{op}.py"
        answer = await ask(session(tmp_path), "replay_op", run="demo", op=op, path=str(path), sweep=[])
        assert ("what else lay in L1 is one tensor, of that size" in answer["assumed"]) is is_assumed
        assert re.search(f"'free_bytes': {free},", path.read_text())


async def test_what_makes_no_difference_or_costs_accuracy_is_no_candidate_by_itself(tmp_path):
    at, path = session(tmp_path), str(tmp_path / "s.py")
    names = [row[0] for row in (await ask(at, "replay_op", run="demo", op=16, path=path))["candidates"]["rows"]]
    assert "enable_act_double_buffer=True" in names
    assert "enable_weights_double_buffer=True" not in names
    assert not [name for name in names if "weights_dtype" in name or "math_fidelity" in name]
    with pytest.raises(QuestionRefused, match="Unary has no setting judged here"):
        await ask(at, "replay_op", run="demo", op=50, sweep=["in0_block_w"])


async def test_a_file_of_another_kind_is_left_alone(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("print()\n")
    with pytest.raises(QuestionRefused, match="is no script of ours"):
        await ask(session(tmp_path), "replay_op", run=report(tmp_path), op=3, path=str(path))
    assert path.read_text() == "print()\n"


async def test_without_a_path_the_script_lies_in_the_state_folder(tmp_path):
    state = tmp_path / ("a state of mine " * 6)
    answer = await ask(session(state), "replay_op", run=report(tmp_path), op=3)
    assert answer["file"] == str(state / "state" / "replays" / "replay_3_matmul.py")
    assert shlex.split(answer["run_with"].partition("; then ")[0]) == ["python", answer["file"]]
    assert answer["assumed"] == ["made-up values"]


async def test_the_demo_is_rebuilt_but_for_what_the_page_names(tmp_path):
    """One op of each kind of the demo: the families and their words."""
    at = session(tmp_path)
    wanted = {
        64: "ttnn.conv2d(", 46: "ttnn.to_memory_config(", 50: "ttnn.unary_chain(x[0], [ttnn.UnaryWithParam(",
        75: "ttnn.matmul(", 78: "ttnn.layer_norm(", 73: "ttnn.untilize(", 72: "ttnn.tilize(", 61: "ttnn.concat([x[0], x[1]], 3",
        68: "ttnn.add(", 42: "ttnn.tilize_with_val_padding(", 81: "ttnn.untilize_with_unpadding(",
    }  # fmt: skip
    for op, words in wanted.items():
        path = tmp_path / f"{op}.py"
        await ask(at, "replay_op", run="demo", op=op, path=str(path), sweep=[])
        text = path.read_text()
        compile(text, "script", "exec")
        assert words in text.replace("(\n        ", "(").replace(",\n        ", ", "), op


async def test_a_convolution_is_spread_on_the_cores_of_its_profile(tmp_path):
    path = tmp_path / "conv.py"
    told = {"run": "demo", "op": 64, "path": str(path)}
    for sweep, same in (([], "True"), (["shard_layout"], "s[\"shard_layout\"] == 'HEIGHT'")):
        await ask(session(tmp_path), "replay_op", **told, sweep=sweep)
        assert (
            "core_grid=ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(" in path.read_text()
        )
        assert f"override_sharding_config={same}" in path.read_text()


async def test_a_convolution_whose_input_has_more_cores_is_spread_as_its_input(tmp_path):
    """TTNN 0.81.1 then makes the very program: 549,592 B of buffers at line 221 of DeepLab, 732,760 B on the output's."""
    lines = DEMO_CSV.read_text().splitlines()
    grids = re.findall(r"core_range_set_=\{\[[^\]]*\]\}", lines[63])
    lines[63] = lines[63].replace(grids[0], "core_range_set_={[(x=0;y=0) - (x=9;y=7)]}")
    (tmp_path / "ops_perf_results.csv").write_text("\n".join(lines))
    path = tmp_path / "conv.py"
    asked = {"run": str(tmp_path), "op": 64, "path": str(path), "sweep": []}
    await ask(session(tmp_path), "replay_op", **asked)
    wide = "core_grid=ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(9, 7))})"
    assert (len(grids), wide in path.read_text()) == (1, True)


async def test_where_another_build_ran_another_conv_that_is_said(tmp_path):
    """What real TTNN 0.81.1 showed: other buffers than the model of the row has."""
    report, words = (
        str(shared(SEGFORMER)),
        ("its build filled 3 channels up to 16, today's fills 8", "may fold such"),
    )
    for op, said in ((784, (True, False)), (797, (False, True)), (1034, (False, False)), (64, (False, False))):
        run = "demo" if op == 64 else report
        answer = await ask(session(tmp_path), "replay_op", run=run, op=op, path=str(tmp_path / "s.py"), sweep=[])
        assert tuple(any(one in text for text in answer["assumed"]) for one in words) == said, op


async def test_settings_go_together_only_where_their_judge_reads_them(tmp_path):
    """The arguments of a call print them too, beside the attributes of its op."""
    memory = Path(__file__).parents[2] / "resources" / "demo" / "memory"
    answer = await ask(session(tmp_path), "replay_op", run=str(memory), op=8, path=str(tmp_path / "s.py"))
    names = [row[0] for row in answer["candidates"]["rows"]]
    assert "act_block_h_override=64" in names
    assert not [name for name in names if ", " in name]


async def test_a_combination_that_no_law_sees_has_no_time_to_expect(tmp_path):
    """As of now, it would not be worse than anything measured, and the sweep would end before it."""
    program = Program("blackhole")
    x, w, y = (program.tensor([1, 1, 2048, 2048]) for _ in range(3))
    config = CONFIG.replace("per_core_M=1", "per_core_M=8").replace("per_core_N=2", "per_core_N=8")
    put(program, matmul(x, w, y, 160_000, program_config=config.replace("block_h=1", "block_h=8").replace("block_w=2", "block_w=8")))  # fmt: skip
    asked = {"run": report(tmp_path, program), "op": 3, "limit": 200, "path": str(tmp_path / "s.py")}
    rows = (await ask(session(tmp_path), "replay_op", sweep=["out_subblock_h", "out_subblock_w"], **asked))[
        "candidates"
    ]
    assert {row[0].count(",") for row in rows["rows"]} == {0, 1}
    assert {row[1] for row in rows["rows"]} == {None}
    one = Program("wormhole_b0")
    x, w, y = (
        one.tensor([1, 1, 32, 4096]),
        one.weight([1, 1, 4096, 4096], "BFLOAT8_B"),
        one.tensor([1, 1, 32, 4096]),
    )
    flat = CONFIG.replace("MultiCastProgram", "MultiCast1DProgram").replace("in0_block_w=2", "in0_block_w=8")
    put(one, matmul(x, w, y, 90_000, program_config=flat.replace("transpose_mcast=0", "mcast_in0=1")))
    asked["run"] = report(tmp_path / "1d", one)
    told = await ask(session(tmp_path), "replay_op", sweep=["in0_block_w", "out_subblock_w"], **asked)
    times = [row[1] or inf for row in told["candidates"]["rows"]]
    assert times == sorted(times)
    assert [row[1] is not None for row in told["candidates"]["rows"] if "," in row[0]].count(True) > 1


async def test_a_matmul_that_gets_no_config_of_ours_keeps_the_choice_of_ttnn(written, tmp_path):
    """None is suggested where both operands are batched, nor where the first lies in shards."""
    program = Program("wormhole_b0")
    put(program, op_of(program, "MatmulDeviceOperation", [(1, 2, 64, 64)] * 2, (1, 2, 64, 64), {}))
    text, answer = await written(program)
    assert ("candidates" in answer, "program_config" in call_in(text)) == (False, False)
    shards = "grid={[(x=0,y=0) - (x=7,y=7)]},shape={32, 2048},orientation=ShardOrientation::ROW_MAJOR"
    tall = DRAM.replace("INTERLEAVED", "HEIGHT_SHARDED").replace("DRAM", "L1")
    tall = tall.replace("std::nullopt", f"ShardSpec({shards})")
    sharded = matmul_in_a_graph().replace(DRAM, tall, 1)
    memory = graphs_of(tmp_path / "memory", ("ttnn.matmul", sharded, {}), arch="wormhole_b0")
    with pytest.raises(QuestionRefused, match="its row does not print in0_block_w"):
        await ask(session(tmp_path), "replay_op", run=memory, op=1, sweep=["in0_block_w"])


async def test_of_a_config_that_ttnn_chooses_no_buffers_are_told(tmp_path):
    """Of ours they are known: but that is another program. A law tells the time of both."""
    program, asked = Program("wormhole_b0"), {"op": 3, "limit": 200, "path": str(tmp_path / "s.py")}
    x, y = (program.tensor([1, 1, 32, 4096]) for _ in range(2))
    put(
        program,
        matmul(x, program.weight([1, 1, 4096, 4096], "BFLOAT8_B"), y, 103_000, program_config="std::nullopt"),
    )
    asked["run"] = report(tmp_path, program)
    for sweep in (["math_fidelity", "fp32_dest_acc_en"], ["in0_block_w", "fp32_dest_acc_en"]):
        rows = (await ask(session(tmp_path), "replay_op", sweep=sweep, **asked))["candidates"]["rows"]
        assert {row[3] for row in rows if "in0_block_w" not in row[0]} == {None}
        assert all(row[3] for row in rows if "in0_block_w" in row[0])
    few = {name: value for name, value in asked.items() if name != "limit"}
    told = await ask(session(tmp_path), "replay_op", sweep=sweep, **few)
    assert len(told["candidates"]["rows"]) == 12 < len(rows)


async def test_a_graph_tells_the_call_by_its_arguments_too(tmp_path):
    """What it prints without a name: a number, the function and the grid of a matmul."""
    side = (1, 1, 64, 64)
    scaled = graph(
        "BinaryNgDeviceOperation",
        f"operation_attributes_t(BinaryOpType::MUL, {EMPTY}<variant>, {DRAM}, ",
        [side],
        side,
    )
    fused = matmul_in_a_graph().replace(
        ", 0, std::nullopt, std::nullopt,", ", 0, <xy_pair>, <BasicUnaryWithParam>,"
    )
    nothing = graph("ttnn::view", "", [side], side)
    memory = graphs_of(
        tmp_path / "memory",
        ("ttnn.multiply_", scaled, {"1": "0.5"}),
        ("ttnn.linear", fused, {"core_grid": "ttnn.CoreGrid(x=8, y=4)", "activation": "gelu"}),
        ("ttnn.rsub", scaled, {"1": "0.5"}),
        ("ttnn.multiply", scaled, {"1": "x()"}),
        ("ttnn.view", nothing, {}),
        arch="wormhole_b0",
    )
    at, path = session(tmp_path), tmp_path / "s.py"
    wanted = {1: "ttnn.multiply(x[0], 0.5, ", 2: "ttnn.linear(x[0], x[1], activation='gelu', core_grid="}
    for op, words in wanted.items():
        await ask(at, "replay_op", run=memory, op=op, path=str(path))
        assert call_in(path.read_text()).startswith(f"return {words}"), op
    assert "core_grid=None if s['own_config'] else ttnn.CoreGrid(x=8, y=4)" in call_in(path.read_text())
    await ask(at, "replay_op", run=memory, op=2, path=str(path), sweep=[])
    assert "core_grid=ttnn.CoreGrid(x=8, y=4)" in call_in(path.read_text())
    for op, words in {3: "prints no scalar", 4: "prints no scalar", 5: "shows no device op"}.items():
        with pytest.raises(QuestionRefused, match=words):
            await ask(at, "replay_op", run=memory, op=op)


async def test_a_memory_report_alone_tells_what_an_op_was_called_with_or_that_it_does_not(tmp_path):
    at, path = session(tmp_path), tmp_path / "s.py"
    memory = str(Path(__file__).parents[2] / "resources" / "demo" / "memory")
    wanted = {
        4: "ttnn.subtract(x[0], x[1], dtype=ttnn.bfloat16, memory_config=ttnn.DRAM_MEMORY_CONFIG)",
        11: "ttnn.to_memory_config(x[0], ttnn.DRAM_MEMORY_CONFIG)",
        22: "ttnn.concat([x[0], x[1]], 3, memory_config=ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED",
        37: "ttnn.tilize(x[0], dtype=ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG)",
        39: "ttnn.untilize(x[0], memory_config=ttnn.L1_MEMORY_CONFIG)",
    }
    for op, words in wanted.items():
        await ask(at, "replay_op", run=memory, op=op, path=str(path))
        assert call_in(path.read_text()).startswith(f"return {words}"), op
    lacking = {
        9: "shows not all that Unary was called with: its row does",
        3: "shows no device op",
        45: "launched 2 such ops",
    }
    for op, why in lacking.items():
        with pytest.raises(QuestionRefused, match=why):
            await ask(at, "replay_op", run=memory, op=op)

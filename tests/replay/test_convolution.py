"""The call behind a convolution or a pool: the demo's convolution as it is printed, and with other words in its row."""

import ast
import re
from pathlib import Path

import pytest

from tests.asking import ask, session
from tests.profiles import height_sharded
from tests.replay.rows import RELU, ROWS, report_of
from ttnn_mcp.errors import QuestionRefused

(DEMO_CSV,) = Path(__file__).parents[2].glob("resources/demo/performance/*/ops_perf_results*.csv")
CONV = 64  # its line: 3 x 3 over an image of 64 x 64 with 192 channels


@pytest.fixture
def written(tmp_path):
    """The call of the convolution with other words in its row, by name, and the answer."""

    async def of(changes, sweep=()):
        lines, path = DEMO_CSV.read_text().splitlines(), tmp_path / "conv.py"
        for old, new in changes.items():
            assert old in lines[CONV - 1], old
            lines[CONV - 1] = lines[CONV - 1].replace(old, new)
        (tmp_path / "ops_perf_results.csv").write_text("\n".join(lines))
        asked = {"run": str(tmp_path), "op": CONV, "path": str(path), "sweep": [*sweep]}
        answer = await ask(session(tmp_path), "replay_op", **asked)
        parts = {getattr(one, "name", ""): one for one in ast.parse(path.read_text()).body}
        made = {name: parts[name].body[-1].value for name in ("operands", "call", "reference")}
        named = {one.arg: ast.unparse(one.value) for one in made["call"].keywords}
        image, *others = [
            {key.value: ast.unparse(value) for key, value in zip(one.keys, one.values, strict=True)}
            for one in made["operands"].elts
        ]
        return named, (image, *others), ast.unparse(made["reference"]), answer

    return of


CORES = "ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))})"
PLAIN = {
    "input_tensor": "x[0]", "weight_tensor": "x[1]", "bias_tensor": "x[2]", "device": "device", "in_channels": "192",
    "out_channels": "256", "batch_size": "1", "input_height": "64", "input_width": "64", "kernel_size": "(3, 3)",
    "stride": "(1, 1)", "padding": "(1, 1, 1, 1)", "dilation": "(1, 1)", "groups": "1", "dtype": "ttnn.bfloat16",
    "conv_config": "ttnn.Conv2dConfig(act_block_h_override=32, shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED, "
    "weights_dtype=ttnn.bfloat16, enable_act_double_buffer=False, enable_weights_double_buffer=False, "
    f"full_inner_dim=False, config_tensors_in_dram=False, core_grid={CORES}, override_sharding_config=True)",
    "compute_config": "ttnn.init_device_compute_kernel_config(device.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, "
    "math_approx_mode=True, fp32_dest_acc_en=False, packer_l1_acc=False, dst_full_sync_en=False)",
    "slice_config": "ttnn.Conv2dL1FullSliceConfig",
}  # fmt: skip
OTHER = {
    "padding=((1; 1); (1; 1))": "padding=((1; 2); (3; 4))",
    "stride_hw=(1;1)": "stride_hw=(2;1)",
    "dilation_hw=(1;1)": "dilation_hw=(1;2)",
    "window_hw=(3;3)": "window_hw=(3;5)",
    "input_hw=(64;64)": "input_hw=(32;64)",
    "batch_size=1": "batch_size=2",
    "'groups': '1'": "'groups': '2'",
    "'has_bias': 'true'": "'has_bias': 'false'",
    "'untilize_out': 'false'": "'untilize_out': 'true'",
    "'activation': 'std::nullopt'": f"'activation': '{RELU}'",
    "act_block_h_ntiles=1": "act_block_h_ntiles=2",
    "'output_channels': '256'; ": "",
    "'enable_act_double_buffer': 'false'": "'enable_act_double_buffer': 'true'",
}


async def test_a_convolution_is_called_with_what_its_row_prints(written):
    named, (image, weights, bias), reference, answer = await written({})
    assert named == PLAIN
    assert (image["shape"], image["dtype"], image["layout"], image["memory"]) == (
        "(1, 1, 4096, 192)", "ttnn.bfloat16", "ttnn.ROW_MAJOR_LAYOUT", "ttnn.DRAM_MEMORY_CONFIG",
    )  # fmt: skip
    assert [(one["shape"], one["dtype"], one["memory"]) for one in (weights, bias)] == [
        ("(256, 192, 3, 3)", "ttnn.float32", "None"),
        ("(1, 1, 1, 256)", "ttnn.float32", "None"),
    ]
    assert reference == (
        "torch.nn.functional.conv2d(torch.nn.functional.pad(x[0].reshape(1, 64, 64, 192).permute(0, 3, 1, 2), "
        "[1, 1, 1, 1]), x[1], x[2].flatten(), [1, 1], 0, [1, 1], 1).permute(0, 2, 3, 1).reshape(1, 1, -1, 256)"
    )
    moved = "its image comes from DRAM, so halo and moves before it may differ; the conv is the op measured"
    assert answer["assumed"] == [moved, "made-up values"]


async def test_each_word_of_a_convolution_goes_to_its_own_argument(written):
    named, (image, weights), reference, _ = await written(OTHER)
    changed = {
        "batch_size": "2", "input_height": "32", "kernel_size": "(3, 5)", "stride": "(2, 1)", "groups": "2",
        "padding": "(1, 2, 3, 4)", "dilation": "(1, 2)",
    }  # fmt: skip
    assert {name: named[name] for name in changed} == changed
    assert "bias_tensor" not in named
    relu = "activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU), output_layout=ttnn.ROW_MAJOR_LAYOUT"
    for words in ("act_block_h_override=0", "enable_act_double_buffer=True", relu):
        assert words in named["conv_config"]
    assert (image["shape"], weights["shape"]) == ("(1, 1, 4096, 192)", "(256, 96, 3, 5)")
    assert reference.startswith(
        "torch.relu(torch.nn.functional.conv2d(torch.nn.functional.pad(x[0].reshape(2, 32, 64, 192).permute(0, 3, 1, 2), "
        "[3, 4, 1, 2]), x[1], None, [2, 1], 0, [1, 2], 2)."
    )


async def test_a_row_of_today_prints_the_padding_of_each_side_and_an_older_one_of_two(written):
    older = {"padding=((1; 1); (1; 1)); output_padding = (0; 0);": "pad_hw=(1;2);"}
    named, *_ = await written({**older, "'full_inner_dim': 'false'; ": ""})
    assert (named["padding"], "full_inner_dim" in named["conv_config"]) == ("(1, 1, 2, 2)", False)
    named, _, reference, _ = await written({next(iter(older)): ""})
    assert (named["padding"], "functional.pad" in reference) == ("(0, 0, 0, 0)", False)


async def test_an_image_in_a_block_float_comes_in_tiles(written):
    lines = DEMO_CSV.read_text().splitlines()
    cells = re.search(r"ROW_MAJOR,BFLOAT16,DEV_0_L1_HEIGHT_SHARDED", lines[CONV - 1])
    assert cells is not None
    _, (image, *_), *_ = await written({cells[0]: "TILE,BFLOAT8_B,DEV_0_L1_HEIGHT_SHARDED"})
    assert (image["dtype"], image["layout"]) == ("ttnn.bfloat8_b", "ttnn.TILE_LAYOUT")


async def test_a_convolution_whose_shards_are_not_printed_is_spread_as_ttnn_does(written):
    shard = "ShardSpec(grid={[(x=0;y=0) - (x=7;y=7)]};shape={64; 256};orientation=ShardOrientation::ROW_MAJOR)"
    for less in ("std::nullopt", shard.replace("{[(x=0;y=0) - (x=7;y=7)]}", "{}")):
        named, *_ = await written({shard: less})
        assert named["conv_config"] == re.sub(r", core_grid=.*\)", ")", PLAIN["conv_config"])


async def test_what_is_swept_of_a_convolution_becomes_an_argument(tmp_path, written):
    sweep = ["act_block_h_override", "shard_layout", "weights_dtype", "enable_act_double_buffer"]
    named, *_ = await written({}, sweep)
    for words in (
        "act_block_h_override=s['act_block_h_override']",
        "shard_layout=getattr(ttnn.TensorMemoryLayout, s['shard_layout'] + '_SHARDED')",
        "weights_dtype=getattr(ttnn, s['weights_dtype'].lower())",
        "enable_act_double_buffer=s['enable_act_double_buffer']",
        "override_sharding_config=s['shard_layout'] == 'HEIGHT'",
    ):
        assert words in named["conv_config"]
    await written({}, sweep[1:3])
    assert (
        "'settings': {'shard_layout': 'HEIGHT', 'weights_dtype': 'BFLOAT16'}" in (tmp_path / "conv.py").read_text()
    )


async def test_where_a_build_of_today_runs_another_conv_that_is_assumed(written):
    filled = {"{1; 64; 64; 192}": "{1; 64; 64; 190}"}  # of 192 that the row has; 190 are filled up to 192 today too
    fold = {"stride_hw=(1;1)": "stride_hw=(3;3)", "padding=((1; 1); (1; 1)); output_padding = (0; 0);": ""}
    for changes, words in (
        (
            {"{1; 64; 64; 192}": "{1; 64; 64; 184}"},
            "its build filled 184 channels up to 192, today's fills 184: less",
        ),
        (filled, ""),
        (fold, "TTNN of today may fold such a window"),
        ({"{1; 64; 64; 192}": "{1; 64; 64; 184}", "HEIGHT_SHARDED": "BLOCK_SHARDED"}, ""),
        ({"stride_hw=(1;1)": "stride_hw=(3;3)"}, ""),
        ({**fold, "window_hw=(3;3)": "window_hw=(1;1)", "stride_hw=(1;1)": "stride_hw=(1;1)"}, ""),
    ):
        *_, answer = await written(changes)
        builds = [one for one in answer["assumed"] if "today" in one]
        assert (words in builds[0] and len(builds) == 1) if words else not builds, (changes, builds)


async def test_a_convolution_whose_row_does_not_tell_its_image_is_refused(written):
    place = "memory_layout=TensorMemoryLayout::HEIGHT_SHARDED;buffer_type=BufferType::L1"
    for changes, why in (
        ({"is_transpose=false": "is_transpose=true"}, "it is a transposed one"),
        ({"{1; 64; 64; 192}": "{64; 64; 192}"}, "does not print the image"),
        ({"input_hw=(64;64); ": ""}, "does not print the image"),
        ({place: place.replace("HEIGHT_SHARDED", "INTERLEAVED")}, "does not print the image"),
        ({place: "elsewhere"}, "does not print the image"),
        ({"act_block_h_ntiles=1;": ""}, "does not print the image"),
        ({"TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED": ",,"}, "does not print the image"),
    ):
        with pytest.raises(QuestionRefused, match=why):
            await written(changes)


async def test_a_pool_rounds_up_where_its_result_has_more_rows(tmp_path):
    """Twice over 9 x 17 with 3 more rows, 4 more columns and gaps of 2 across: 5 x 7 windows, and a sixth row begun."""
    window = (
        "SlidingWindowConfig(batch_size=2; input_hw=(9;17); window_hw=(3;2); stride_hw=(2;3); "
        "padding=((1; 2); (2; 2)); dilation_hw=(1;2))"
    )
    words = {"pool_type_": "Pool2DType::MAX_POOL2D", "sliding_window_config_": window}
    spread = {**ROWS, "placement": height_sharded(32, 64, 8)}
    pools = [("Pool2D", [((1, 1, 306, 64), ROWS)], ((1, 1, rows, 64), spread), words) for rows in (70, 84)]
    run, path = report_of(tmp_path / "perf", pools), tmp_path / "pool.py"
    for line, rounds in ((2, False), (3, True)):
        answer = await ask(session(tmp_path), "replay_op", run=run, op=line, path=str(path), sweep=[])
        text = "".join(path.read_text().split())
        assert f"x[0],2,9,17,64,[3,2],[2,3],[1,2,2,2],[1,2],ceil_mode={rounds}," in text
        assert '"shape":(1,1,306,64)' in text
        assert "the pool is the op measured" in answer["assumed"][0]
    code, image, result, _ = pools[0]
    odd = [
        (code, image, result, {"pool_type_": words["pool_type_"]}),
        (code, image, result, {**words, "pool_type_": "Pool2DType::MIN_POOL2D"}),
        (code, image, result, {**words, "output_mem_config": "elsewhere"}),
        (code, image, ((1, 1, 70, 64), ROWS), words),
        (code, image, result, {**words, "return_indices_": "true"}),
    ]
    run = report_of(tmp_path / "odd", odd)
    for line, why in enumerate((*["image, the window and the shards"] * 4, "return_indices is true"), 2):
        with pytest.raises(QuestionRefused, match=why):
            await ask(session(tmp_path), "replay_op", run=run, op=line, sweep=[])

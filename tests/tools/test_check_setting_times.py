"""check_setting: the kernel time to expect of a value, by the laws of time."""

from __future__ import annotations

import pytest

from tests.asking import ask, reader, session
from tests.checks.rows import put
from tests.for_all import for_all
from tests.profiles import DRAM, Program, write_performance_report
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul
from tests.shared_reports import DEEPLAB, DEEPSEEK, shared
from ttnn_mcp.analyses.laws.catalogue import LAWS, expected
from ttnn_mcp.analyses.laws.described import described
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.chip import chip_of
from ttnn_mcp.run.performance import Performance

BLOCKS = (
    "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8,y=8),in0_block_w=2,"
    "out_subblock_h=1,out_subblock_w=4,out_block_h=8,out_block_w=8,per_core_M=8,per_core_N=8,transpose_mcast=0,"
    "fused_activation=std::nullopt,fuse_batch=1)"
)
PREFILL = "attention, prefill"


def attention(kernel_ns, q_chunk=512, k_chunk=128, kv="BFLOAT8_B"):
    """As measured on a P150: 32 heads over 8, 4096 tokens, 64 cores."""
    program = Program("blackhole", grid=(8, 8))
    q, out = (program.tensor([1, 32, 4096, 128], "BFLOAT8_B") for _ in range(2))
    k, v = (program.tensor([1, 8, 4096, 128], kv) for _ in range(2))
    config = (
        f"SDPAProgramConfig(compute_with_storage_grid_size=(x=8,y=8),q_chunk_size={q_chunk},k_chunk_size={k_chunk})"
    )
    said = {"program_config": config, "is_causal": False}
    op = DeviceOp(
        "ScaledDotProductAttention", (q, k, v), (out,), kernel_ns, fidelity="HiFi2", cores=64, attributes=said
    )
    put(program, op)
    return program


def product(kernel_ns, config=BLOCKS, m=2048):
    program = Program("blackhole")
    x, w = program.tensor([1, 1, m, 2048]), program.weight([1, 1, 2048, 2048])
    y = program.tensor([1, 1, m, 2048], placement=DRAM)
    put(program, matmul(x, w, y, kernel_ns, program_config=config, cores=64))
    return program


@pytest.fixture
def report(tmp_path):
    """A report of one op, that took as long as its law expects, times `share`."""

    def of(make, share=1.0, **how):
        probe = write_performance_report(tmp_path / "probe", make(100_000, **how))
        performance = Performance(read_performance_csv(probe))
        now = expected(described(performance.ops, 0, chip_of(performance, None)))
        assert now is not None
        return write_performance_report(tmp_path / "report", make(int(now.us * share * 1e3), **how)), now.us * share

    return of


@pytest.fixture
def asked(tmp_path):
    at = session(tmp_path)

    async def of(path, setting, value=None):
        return await ask(at, "check_setting", run=str(path), op=3, setting=setting, value=value)

    return of


async def test_each_legal_choice_has_a_time_to_expect_with_its_interval_and_its_law(report, asked):
    path, now = report(attention)
    said = await asked(path, "q_chunk_size")
    assert said["law"] == PREFILL
    assert said["now_us"] == pytest.approx(now, abs=0.01)
    running = [one for one in said["choices"] if one["verdict"] == "fits"]
    told = [one for one in running if "expected_us" in one]
    assert len(told) > 4
    assert all(one["low_us"] <= one["expected_us"] <= one["high_us"] for one in told)
    unmarked = [one["expected_us"] for one in told if "mark" not in one]
    assert unmarked == sorted(unmarked)
    by_value = {one["value"]: one for one in told}
    assert by_value[512]["low_us"] == by_value[512]["high_us"] == said["now_us"]
    assert by_value[64]["low_us"] > by_value[512]["expected_us"]


async def test_a_value_that_is_asked_for_is_told_as_it_is_listed(report, asked):
    path, _ = report(attention)
    listed = next(one for one in (await asked(path, "q_chunk_size"))["choices"] if one["value"] == 64)
    said = await asked(path, "q_chunk_size", 64)
    assert said["predicted"] == {name: listed[name] for name in ("expected_us", "low_us", "high_us")}
    assert said["law"] == PREFILL
    assert f"slower: {listed['expected_us']:.1f} us expected" in said["expected"]


async def test_the_recommended_one_is_faster_beyond_what_the_law_errs(report, asked):
    path, now = report(attention, q_chunk=64)
    said = await asked(path, "q_chunk_size")
    best = next(one for one in said["choices"] if one.get("mark") == "largest that fits, recommended")
    assert best["high_us"] < now
    assert best["expected_us"] == min(one["expected_us"] for one in said["choices"] if "expected_us" in one)
    assert f"{best['value']}: faster: {best['expected_us']:.1f} us expected" in said["expected"]


async def test_today_s_is_recommended_where_no_other_is_expected_to_be_faster(report, asked):
    path, _ = report(product)
    said = await asked(path, "per_core_M")
    assert said["choices"][0]["mark"] == "now, recommended"
    assert "no other is expected to be faster than 8" in said["expected"]


async def test_no_difference_is_an_answer(report, asked):
    path, _ = report(product)
    said = await asked(path, "weights_dtype", "BFLOAT8_B")  # it waits for its arithmetic
    assert "no difference to be expected" in said["expected"]


async def test_what_costs_accuracy_is_marked_so_and_never_recommended(report, asked):
    path, _ = report(product, m=4096)
    said = await asked(path, "math_fidelity")
    assert [one.get("mark") for one in said["choices"][:3]] == ["now", "fastest, costs accuracy", None]
    assert said["choices"][1]["value"] == "LoFi"
    assert said["expected"].endswith("if the PCC allows it")


@for_all("setting", ["out_subblock_w", "in0_block_w"])
async def test_a_law_says_nothing_of_a_setting_that_it_does_not_see(report, asked, setting):
    path, _ = report(product)
    said = await asked(path, setting)
    assert "law" not in said
    assert "no law of time tells: a trial" in said["expected"]


async def test_an_op_that_its_law_does_not_fit_is_not_predicted_and_the_answer_says_so(report, asked):
    path, now = report(attention, share=3.0)
    said = await asked(path, "q_chunk_size")
    assert f"it took {now:.1f} us where its law expects" in said["expected"]
    assert "law" not in said
    assert all("expected_us" not in one for one in said["choices"] if one["value"] != 512)


async def test_a_matmul_left_to_ttnn_is_told_with_the_config_that_we_suggest(asked, tmp_path):
    """A K block that the law of 2D programs does not see is told as the suggestion has it, and no other."""
    report = write_performance_report(tmp_path, product(300_000, config=None, m=512))
    said = await asked(report, "in0_block_w")
    told = [one for one in said["choices"] if "expected_us" in one]
    assert said["law"] == next(law.name for law in LAWS if law.name.endswith("2D"))
    assert len(told) == 1
    assert told[0]["high_us"] < 300.0
    assert "recommended" in told[0]["mark"]


# --- real reports


async def test_chunks_of_ring_attention_are_read_though_its_program_is_not_modelled(asked, tmp_path):
    at = session(tmp_path)
    for setting in ("q_chunk_size", "k_chunk_size"):
        said = await ask(at, "check_setting", run=str(shared(DEEPSEEK)), op=178, setting=setting)
        assert (said["now"], said["verdict"]) == (160, "cannot_tell")


async def test_a_real_matmul_left_to_ttnn_could_take_half(tmp_path):
    """DeepLab's line 171 takes 107.9 us on interleaved operands; others of its shape run at a third of that."""
    said = await ask(reader(tmp_path), "check_setting", run=str(shared(DEEPLAB)), op=171, setting="per_core_M")
    best = next(one for one in said["choices"] if one.get("mark") == "recommended")
    assert best["high_us"] < 60 < said["now_us"] == pytest.approx(107.9, abs=0.1)


MEASURED = {"8x6": 19.27, "4x6": 22.5, "8x3": 29.68, "2x6": 36.54, "8x2": 39.7, "8x1": 68.64}  # n150, measurements/


async def test_grids_of_a_norm_are_ordered_as_they_were_measured(tmp_path, asked):
    """576x1024 in DRAM took 32.26 us; the law was fitted to these, so tests/generate leaves each out in turn."""
    program = Program("wormhole_b0", grid=(8, 8))
    x, y = (program.tensor([1, 1, 576, 1024]) for _ in range(2))
    put(program, DeviceOp("LayerNormDeviceOperation", (x,), (y,), 32_260, fidelity="HiFi4", cores=18))
    path = write_performance_report(tmp_path / "norm", program)
    said = await asked(path, "core_grid")
    best = said["choices"][0]
    assert (best["value"], best["mark"], said["law"]) == ("8x6", "recommended", "norm, sharded")
    assert said["expected"].startswith("24 of 24 legal values fit; 8x6: faster: 19.1 us expected (16.3 to 27.0)")
    for grid, us in MEASURED.items():
        told = (await asked(path, "core_grid", grid))["predicted"]
        assert told["low_us"] <= us <= told["high_us"], grid
    assert "slower" in (await asked(path, "core_grid", "8x1"))["expected"]

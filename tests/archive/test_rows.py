"""What is kept of a run: the same work has the same signature anywhere, and nothing but shapes and settings is kept."""

import json

import pytest

from tests.archive.reports import OPS, WARM, report, small_model
from tests.doubtful_rows import KERNEL, scaled
from tests.for_all import for_all
from tests.profiles import header_of, performance_rows, write_performance_report, write_rows
from tests.shared_reports import CLIP, DEEPLAB, shared
from ttnn_mcp.archive.rows import Provenance, hashes, op_name, op_settings, recorded_at, rows_of
from ttnn_mcp.archive.schema import OPS as OP_COLUMNS
from ttnn_mcp.archive.schema import RUNS, names
from ttnn_mcp.run.kept_report import performance_of
from ttnn_mcp.run.run import Run

HASHES = [-5426141060434712860, 2345265092671692558]
BLOCKS = "MatmulMultiCoreReuseProgramConfig(in0_block_w={};per_core_M=1;fused_activation=std::nullopt)"


def rows(path, **how):
    return rows_of(Run("0" * 8, "x", performance_of(path), None), **how)


def cell(**attributes):
    return "{" + "; ".join(f"'{key}': '{value}'" for key, value in attributes.items()) + "}"


def test_a_run_has_a_row_per_op_with_its_time_and_whether_it_is_in_the_window(tmp_path):
    kept = rows(report(tmp_path, day=3))
    assert tuple(kept.run) == names(RUNS)
    assert tuple(kept.ops.columns) == names(OP_COLUMNS)
    assert kept.run["ops"] == len(kept.ops) == OPS * len(WARM)
    assert kept.ops["in_window"].tolist() == [False] * OPS * 2 + [True] * OPS
    assert kept.run["window_ops"] == OPS
    assert kept.ops["kernel_us"].tolist()[-OPS:] == [5.0, 50.0, 20.0]
    assert kept.run["kernel_us"] == 75.0
    assert 75.0 <= kept.run["window_us"] < 750
    assert kept.ops["line"].tolist() == list(range(2, 2 + len(kept.ops)))
    assert (kept.run["arch"], kept.run["devices"], kept.run["warm"]) == ("wormhole_b0", 1, True)
    assert kept.run["clock_mhz"] == pytest.approx(1000, rel=0.01)
    assert kept.run["doubts"] is None
    short = performance_rows(small_model(), WARM)
    scaled(0.1, KERNEL)(short)
    doubts = rows(write_rows(tmp_path / "short.csv", short, header_of(short, "C7"))).run["doubts"]
    assert doubts == "kernels_below_their_cores, gaps_at_odds"


def test_the_same_work_has_the_same_signature_in_another_run_but_not_on_another_chip(tmp_path):
    here = rows(report(tmp_path / "a", us=50)).ops["signature"].tolist()
    assert rows(report(tmp_path / "b", us=70)).ops["signature"].tolist() == here
    assert not {*rows(report(tmp_path / "c", arch="blackhole")).ops["signature"]} & {*here}
    assert len({*here}) == OPS


def test_a_signature_never_changes(tmp_path):
    """It is stored for years: a change of it would part old runs from new ones."""
    assert hashes(["", "wormhole_b0\nMatmul"]).tolist() == HASHES
    first = rows(report(tmp_path / "a")).ops["signature"].tolist()
    assert rows(report(tmp_path / "b", day=9)).ops["signature"].tolist() == first


def test_what_may_be_tuned_is_apart_from_what_is_computed():
    parts = op_settings(cell(transpose_a="true", dim="3", program_config=BLOCKS.format(8), buffer_address="4096"))
    assert json.loads(parts.work) == {"dim": "3", "transpose_a": "true"}
    assert json.loads(parts.tuned) == {
        "program_config": "MatmulMultiCoreReuseProgramConfig(in0_block_w=8;per_core_M=1)"
    }


@for_all(
    ("older", "newer"),
    [
        (cell(transpose_a="1"), cell(transpose_a="true")),
        (cell(transpose_a="0", dim="3"), cell(dim="3")),
        (cell(op_type="UnaryOpType::RELU"), cell(op_type="RELU")),
        (cell(scalar="std::nullopt"), cell()),
    ],
)
def test_builds_that_print_the_same_attributes_otherwise_agree(older, newer):
    assert op_settings(older) == op_settings(newer)


def test_only_the_shards_of_a_memory_config_are_a_setting():
    interleaved = "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED;buffer_type=BufferType::DRAM;shard_spec=std::nullopt)"
    assert op_settings(cell(output_mem_config=interleaved)).tuned == ""
    sharded = interleaved.replace("std::nullopt", "ShardSpec(grid={[(x=0;y=0) - (x=7;y=7)]};shape={64; 4096})")
    assert json.loads(op_settings(cell(output_mem_config=sharded)).tuned) == {
        "output_mem_config": "ShardSpec(grid={[(x=0;y=0) - (x=7;y=7)]};shape={64; 4096})"
    }


@for_all("value", ["/home/ada/kernels/reader.cpp", "C:\\Users\\ada"])
def test_a_value_that_could_hold_a_path_is_not_kept(value):
    parts = op_settings(cell(reader=value, dim="3"))
    assert json.loads(parts.work) == {"dim": "3"}
    assert "ada" not in parts.tuned


def test_an_op_code_cannot_smuggle_a_path(tmp_path):
    program = small_model()
    program.op("/home/ada/secret.py", [program.tensor([1, 1, 32, 32])], kernel_ns=1_000)
    kept = rows(write_performance_report(tmp_path, program, WARM))
    assert "/" not in "".join(kept.ops["op_code"].astype(str))
    assert op_name("///") == "unnamed"


def test_neither_folders_nor_source_lines_are_kept(tmp_path):
    folder = tmp_path / "home" / "grace" / "secret_project"
    kept = rows(report(folder))
    written = json.dumps(kept.run) + kept.ops.to_csv()
    assert kept.run["name"] == "ops_perf_results_2026_01_01_00_00_00.csv"
    assert not any(word in written for word in ("secret_project", "grace", str(tmp_path), ".py"))


@for_all(
    ("name", "modified", "at"),
    [("report.csv", 1234.9, 1234), ("ops_perf_results_2026_13_99_00_00_00.csv", 77.0, 77)],
)
def test_without_a_time_in_its_name_a_report_was_recorded_when_it_was_written(name, modified, at):
    assert recorded_at(name, modified) == at


def test_the_time_in_a_name_survives_copying():
    day = recorded_at("ops_perf_results_2026_01_02_00_00_00.csv", 0) - recorded_at(
        "ops_perf_results_2026_01_01_00_00_00.csv", 0
    )
    assert day == 24 * 3600


def test_what_a_person_says_is_kept(tmp_path):
    kept = rows(report(tmp_path), provenance=Provenance("resnet50", "0.66.0", "d80d9482a4"))
    assert (kept.run["label"], kept.run["build"], kept.run["commit"]) == ("resnet50", "0.66.0", "d80d9482a4")


@for_all(("name", "ops", "kinds"), [(CLIP, 1872, 22), (DEEPLAB, 387, 201)])
def test_real_reports_are_kept_row_by_row(name, ops, kinds):
    kept = rows(shared(name))
    assert len(kept.ops) == ops
    assert kept.ops["signature"].nunique() == kinds
    assert kept.ops["kernel_us"].sum() > 0
    assert not kept.ops["settings"].dropna().str.contains("/").any()


def test_the_longest_name_of_a_real_op_is_kept_and_no_novel():
    assert op_name("a" * 100) == "a" * 100
    assert len(op_name("a" * 1000)) == 120


def test_what_an_op_has_no_operand_for_is_not_told(tmp_path):
    embedding, unary, binary = rows(report(tmp_path)).ops["operands"].astype(str).tolist()[:OPS]
    assert [text.count(" * ") for text in (embedding, unary, binary)] == [0, 0, 1]
    assert all(text.count(" -> ") == 1 for text in (embedding, unary, binary))


def test_a_text_that_is_empty_is_null(tmp_path):
    kept = rows(report(tmp_path))
    assert kept.ops["settings"].isna().all()
    assert "" not in kept.ops["fidelity"].cat.categories

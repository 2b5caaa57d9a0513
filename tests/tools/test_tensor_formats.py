"""tensor_formats: kernel time by data type, fidelity and layout, and candidates with bounds."""

from __future__ import annotations

import json

import pytest

from tests.asking import call, session
from tests.checks.asking import case_of_reports, real_case
from tests.checks.programs import (
    NARROW,
    WIDE,
    cast,
    conv,
    decode,
    linear,
    prefill,
    relu,
    reshape,
    scaled,
    to_rows,
    to_tiles,
)
from tests.checks.rows import case_of, pass_time, put
from tests.checks.step3_programs import rewritten
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_performance_report
from tests.profiles.model import DeviceOp
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER
from ttnn_mcp.tools.tensor_formats import TOOL, Arguments, tensor_formats


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def rows(table: dict[str, list]) -> list[dict[str, object]]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


async def test_weights_and_fidelity_are_listed_by_kernel_time(tmp_path, program):
    decode(program)
    prefill(program)
    conv(program)
    csv = write_performance_report(tmp_path, program)
    said = await call(TOOL, session(tmp_path), {"run": str(csv)})
    assert [(one["dtype"], one["op_code"], one["kernel_us"]) for one in rows(said["weights"])] == [
        (NARROW, "Matmul", 4000),
        (WIDE, "Matmul", 300),
        (NARROW, "Conv2d", 20),
    ]
    assert rows(said["weights"])[1]["megabytes"] == pytest.approx(4096 * 4096 * 2 / 1e6, abs=0.01)
    narrow = rows(said["weights"])[1]["as_bfloat8_b_megabytes"]
    assert narrow == pytest.approx(4096 * 4096 * 1088 / 1024 / 1e6, abs=0.01)
    assert [(one["fidelity"], one["in0"], one["in1"]) for one in rows(said["fidelity"])] == [
        ("HiFi4", WIDE, NARROW),
        ("HiFi2", WIDE, WIDE),
        ("HiFi4", WIDE, NARROW),
    ]
    assert said["window"]["iteration"] == 2


def test_every_op_is_in_one_line_of_activations_and_of_layouts(tmp_path, program):
    relu(program, to_tiles(program, program.tensor([1, 1, 64, 64], layout="ROW_MAJOR")), NARROW)
    decode(program)
    scaled(program)
    at = case_of(tmp_path, program)
    said = tensor_formats(at, Arguments()).spoken()
    for name in ("activations", "layouts"):
        assert sum(one["ops"] for one in rows(said[name])) == len(at)
        assert sum(one["share"] for one in rows(said[name])) == pytest.approx(1, abs=0.001)


def test_many_kinds_fold_into_a_last_line_and_no_time_is_lost(tmp_path, program):
    for number in range(9):
        fidelity, weights = ("LoFi", "HiFi2", "HiFi4")[number % 3], WIDE if number % 2 else NARROW
        linear(program, 32, 64, 64, 10_000 * (number + 1), fidelity=fidelity, weights=weights)
    decode(program, activations=NARROW)
    at = case_of(tmp_path, program)
    said = tensor_formats(at, Arguments()).spoken()
    lines = rows(said["fidelity"])
    assert len(lines) == 5
    assert [one["fidelity"] == "(other)" for one in lines] == [False] * 4 + [True]
    assert sum(one["kernel_us"] for one in lines) == pytest.approx(at.total_ns / 1e3)
    assert sum(one["ops"] for one in lines) == 10


def test_conversions_hold_tilize_untilize_and_typecast(tmp_path, program):
    x = to_tiles(program, program.tensor([1, 1, 512, 512], layout="ROW_MAJOR"))
    relu(program, cast(program, x, NARROW))
    said = rows(tensor_formats(case_of(tmp_path, program), Arguments()).spoken()["conversions"])
    assert [(one["op_code"], one["in"], one["out"]) for one in said] == [
        ("Tilize", WIDE, WIDE),
        ("Typecast", WIDE, NARROW),
    ]


def test_padding_names_the_shape_and_its_waste(tmp_path, program):
    x, y = program.tensor([1, 384, 1280, 3]), program.tensor([1, 384, 1280, 3])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,), 1_000_000))
    (line,) = rows(tensor_formats(case_of(tmp_path, program), Arguments()).spoken()["padding"])
    assert line["shapes"] == "384x1280x3[32] -> 384x1280x3[32]"
    assert line["waste"] == pytest.approx(1 - 3 / 32, abs=0.001)


@for_all(
    ("shape", "waste"), [([1, 16, 30, 512], 1 / 16), ([1, 8, 92, 512], None)], ids=["1 of 16 tiles", "1 of 24"]
)
def test_padding_below_a_twentieth_is_no_line(tmp_path, program, shape, waste):
    x, y = program.tensor(shape), program.tensor(shape)
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,), 1_000_000))
    lines = rows(tensor_formats(case_of(tmp_path, program), Arguments()).spoken()["padding"])
    assert [one["waste"] for one in lines] == ([] if waste is None else [pytest.approx(waste, abs=0.001)])


def test_nor_is_that_of_a_matmul_which_waits_for_its_weights(tmp_path, program):
    x, y, weights = (
        program.tensor([1, 16, 30, 512]),
        program.tensor([1, 16, 30, 32]),
        program.weight([1, 1, 512, 32]),
    )
    put(program, DeviceOp("MatmulDeviceOperation", (x, weights), (y,), 1_000_000))
    assert rows(tensor_formats(case_of(tmp_path, program), Arguments()).spoken()["padding"]) == []


def test_long_shapes_are_cut_and_ops_without_time_have_their_waste(tmp_path, program):
    x, y, z = (program.tensor([1, 384, 1280, 3]) for _ in range(3))
    for _ in range(2):
        put(program, DeviceOp("BinaryNgDeviceOperation", (x, y), (z,), 0))
    pass_time(program, 1000)
    (line,) = rows(tensor_formats(case_of(tmp_path, program), Arguments()).spoken()["padding"])
    assert len(line["shapes"]) == 44
    assert line["waste"] == pytest.approx(1 - 3 / 32, abs=0.001)


def test_bytes_of_weights_are_summed_and_waste_is_averaged(tmp_path, program):
    for tiles in (1, 2):
        linear(program, 32 * tiles, 4096, 4096, 300_000, weights=WIDE)
        x, y = program.tensor([1, 384, 1280, 3]), program.tensor([1, 384, 1280, 3])
        put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,), 1_000_000))
    answer = tensor_formats(case_of(tmp_path, program), Arguments()).spoken()
    assert rows(answer["weights"])[0]["megabytes"] == pytest.approx(2 * 4096 * 4096 * 2 / 1e6, abs=0.01)
    assert rows(answer["padding"])[0]["waste"] == pytest.approx(1 - 3 / 32, abs=0.001)


@for_all(("dtype", "size"), [("FP8_E4M3", 4096 * 4096 / 1e6), ("NOVEL", None)])
async def test_weights_have_the_size_of_their_type_and_none_of_an_unknown_one(tmp_path, program, dtype, size):
    linear(program, 32, 4096, 4096, 300_000, weights=NARROW)
    csv = write_performance_report(tmp_path, program)
    csv.write_text(csv.read_text().replace(NARROW, dtype))
    [weights] = rows((await call(TOOL, session(tmp_path), {"run": str(csv)}))["weights"])
    told = weights["megabytes"], weights["as_bfloat8_b_megabytes"]
    assert told == (None, None) if size is None else told == pytest.approx((size, size), abs=0.01)


def test_padding_of_an_old_report_is_unknown_and_said_so(tmp_path, program):
    x, y = program.tensor([1, 384, 1280, 3]), program.tensor([1, 384, 1280, 3])
    put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,), 1_000_000))
    said = tensor_formats(case_of(tmp_path, program, generation="C2"), Arguments()).spoken()
    assert said["padding"]["rows"] == []
    assert "padding not known" in said["caveat"]


def test_a_candidate_names_its_check_and_an_op_to_look_up(tmp_path, program):
    decode(program)
    at = case_of(tmp_path, program)
    by_check = {one["check"]: one for one in rows(tensor_formats(at, Arguments()).spoken()["candidates"])}
    assert {*by_check} == {"wide-weights", "formats-untried"}
    candidate = by_check["wide-weights"]
    assert candidate["heaviest_op"] == at.line(0)
    assert 0 < candidate["at_most_us"] < 300


def test_candidates_of_both_steps_are_ranked_by_what_they_save(tmp_path, program):
    """A weight in BFLOAT16, and a round trip of layouts that takes longer."""
    decode(program)
    x = program.tensor([1, 1, 2048, 2048])
    y = program.op("UntilizeDeviceOperation", [x], kernel_ns=400_000, layout="ROW_MAJOR")
    program.op("TilizeDeviceOperation", [y], kernel_ns=400_000, layout="TILE")
    said = rows(tensor_formats(case_of(tmp_path, program), Arguments()).spoken()["candidates"])
    saved = [row["at_most_us"] for row in said]
    of_weights, of_layouts = {"wide-weights", "formats-untried"}, {"tilize-round-trip", "layout-conversion-share"}
    assert {row["check"] for row in said} == of_weights | of_layouts
    assert saved == sorted(saved, reverse=True)


def test_a_run_with_nothing_to_say_still_answers(tmp_path, program):
    pass_time(program, 1000)
    said = tensor_formats(case_of(tmp_path, program), Arguments()).spoken()
    assert said["weights"]["rows"] == []
    assert said["candidates"]["rows"] == []


@for_all("name", [CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER])
def test_a_default_answer_fits_4_kb(name):
    assert len(json.dumps(tensor_formats(real_case(name), Arguments()).spoken(), separators=(",", ":"))) <= 4000


def test_an_answer_about_every_kind_of_op_fits_4_kb(tmp_path, program):
    for number, dtype in enumerate((WIDE, NARROW, "FLOAT32", "BFLOAT4_B") * 2):
        for fidelity in ("LoFi", "HiFi2", "HiFi4"):
            linear(program, 32, 4096, 4096, 300_000, weights=dtype, activations=WIDE, fidelity=fidelity)
            prefill(program, weights=dtype, fidelity=fidelity, output=NARROW)
        x = to_tiles(program, program.tensor([1, 384 + number, 1280, 3], layout="ROW_MAJOR"), 900_000)
        rows_again = to_rows(program, relu(program, x), 900_000)
        relu(program, to_tiles(program, rows_again, 900_000), "FLOAT32")
        cast(program, cast(program, x, dtype, 500_000), WIDE, 500_000)
        scaled(program, kernel_ns=700_000)
        reshape(program, [1, 1, 640_000 + number, 7], [1, 1, 7, 640_000 + number], layout="ROW_MAJOR")
    said = tensor_formats(case_of(tmp_path, program), Arguments()).spoken()
    assert len(said["candidates"]["rows"]) == 6
    assert len(json.dumps(said, separators=(",", ":"))) <= 4000


def test_segformer_is_all_lofi():
    lines = rows(tensor_formats(real_case(SEGFORMER), Arguments()).spoken()["fidelity"])
    assert {one["fidelity"] for one in lines} == {"LoFi"}
    by_op = {name: sum(one["ops"] for one in lines if one["op_code"] == name) for name in ("Conv2d", "Matmul")}
    assert by_op == {"Conv2d": 18, "Matmul": 64}


async def test_signposts_choose_the_window(tmp_path, program):
    decode(program)
    passes = [Iteration(signposts=("warmup", "done")), Iteration(signposts=("measured", "over"))]
    csv = write_performance_report(tmp_path, program, passes)
    said = await call(TOOL, session(tmp_path), {"run": str(csv), "start_signpost": "measured"})
    assert said["window"]["kind"] == "signposts"
    assert rows(said["weights"])[0]["ops"] == 1


def test_the_description_is_short():
    assert len(TOOL.description) <= 250


def test_of_a_chip_whose_formats_are_not_known_no_narrower_weights_are_told(tmp_path, program):
    decode(program)
    for arch, known in (("wormhole_b0", True), ("later_chip", False)):
        at = case_of_reports(rewritten(tmp_path, program, DEVICE_ARCH=arch), None)
        told = [row["as_bfloat8_b_megabytes"] for row in rows(tensor_formats(at, Arguments()).spoken()["weights"])]
        assert [one is not None for one in told] == [known] * len(told)

"""check_setting on a memory report alone: legality and L1, and no word of time where no law tells."""

from __future__ import annotations

import pytest

from tests.analyses.settings.graphs import TWO_D, report
from tests.analyses.settings.graphs import matmul as matmul_graph
from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import Program, write_run
from tests.profiles.ops import matmul
from tests.shared_reports import shared
from ttnn_mcp.errors import QuestionRefused

pytestmark = pytest.mark.usefixtures("opened_once")

REPORTS = "../real/reports/{}"  # mock devices of TTNN 0.81.1


@pytest.fixture
def asked(tmp_path):
    at = session(tmp_path)

    async def of(name, op, setting, value=None):
        return await ask(
            at, "check_setting", run=str(shared(REPORTS.format(name))), op=op, setting=setting, value=value
        )

    return of


async def test_a_made_graph_is_told_its_rules_and_the_time_of_a_law(tmp_path):
    path = str(report(tmp_path / "memory", ("ttnn.linear", matmul_graph(), {"program_config": TWO_D})))

    async def told(setting, value=None):
        return await ask(session(tmp_path), "check_setting", run=path, op=1, setting=setting, value=value)

    said = await told("math_fidelity", "LoFi")
    assert (said["now"], said["verdict"], said["law"]) == ("HiFi2", "legal", "matmul of many rows, 2D")
    assert said["predicted"]["low_us"] < said["predicted"]["expected_us"] < said["predicted"]["high_us"]
    assert "now_us" not in said
    listed = await told("in0_block_w")
    assert (listed["now"], listed["verdict"], listed["expected"]) == (2, "cannot_tell", "not known")
    assert listed["why"] == "MatmulMultiCoreReuseMultiCastProgramConfig is not modelled"


@for_all(
    ("name", "op", "setting", "value", "own"),
    [
        ("resnet50_stages", 4, "act_block_h_override", 1568, 514_624),
        ("resnet50_stages", 42, "act_block_h_override", 96, 232_000),
        ("resnet50_stages", 69, "act_block_h_override", 192, 159_296),
        ("warm_passes", 5, "q_chunk_size", 32, 63_488),
        ("cb_clash", 6, "in0_block_w", 32, 2_334_048 - 105_824),  # by the words of TTNN's own error
    ],
)
async def test_buffers_of_today_s_value_are_those_that_the_graph_shows(asked, name, op, setting, value, own):  # noqa: PLR0917 - a case per row
    said = await asked(name, op, setting, value)
    assert (said["now"], said["legal"]) == (value, True)
    assert sum(size for key, size in said["buffers"].items() if key not in ("TENSORS", "ALLOCATED")) == own
    assert said["verdict"] == ("too_large" if name == "cb_clash" else "fits")


async def test_a_clash_is_told_with_the_values_that_would_fit(asked):
    said = await asked("cb_clash", 6, "in0_block_w")
    marks = {one["mark"]: one for one in said["choices"] if "mark" in one}
    assert marks["now"]["verdict"] == "too_large"
    assert marks["largest that fits"]["value"] == 4
    assert "instead" in await asked("cb_clash", 6, "in0_block_w", 32)


async def test_values_of_a_conv_whose_l1_is_not_modelled_are_not_told_not_to_fit(asked):
    listed = await asked("mobilenet", 45, "shard_layout")
    assert listed["expected"].startswith("0 of 3 legal values fit, 3 cannot be told; ")
    assert (await asked("mobilenet", 45, "act_block_h_override", 32))["expected"] == "no change"


async def test_nothing_is_said_of_time(asked):
    listed = await asked("cb_clash", 6, "in0_block_w")
    assert listed["expected"] == "3 of 7 legal values fit; times unknown: no device times"
    assert not {"now_us", "law"} & {*listed}
    assert not any("expected_us" in one for one in listed["choices"])
    one = await asked("cb_clash", 6, "in0_block_w", 4)
    assert one["expected"] == "16 steps along K, 2 now; times unknown: no device times"
    fidelity = await asked("cb_clash", 6, "math_fidelity", "HiFi4")
    assert fidelity["expected"].endswith("times unknown: no device times")


async def test_rules_are_named_as_on_a_performance_report(asked):
    said = await asked("cb_clash", 6, "in0_block_w", 5)
    assert (said["verdict"], said["legal"]) == ("illegal", False)
    assert "in0_block_w divides the 64 tiles of K" in said["why"]


async def test_an_operation_without_such_an_op_and_one_that_is_not_there_are_refused(asked):
    with pytest.raises(QuestionRefused, match="No operation 999 in this memory report"):
        await asked("cb_clash", 999, "in0_block_w")
    with pytest.raises(QuestionRefused, match="shows no conv, matmul, attention or norm"):
        await asked("cb_clash", 1, "in0_block_w")


async def test_a_conv_of_one_point_is_a_matmul_whose_config_no_graph_prints(asked):
    with pytest.raises(QuestionRefused, match="set the config of its matmul itself"):
        await asked("resnet50_stages", 8, "in0_block_w")


async def test_graphs_that_print_no_attributes_are_refused_with_what_would_do(tmp_path):
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 1024, 2048]), program.weight([1, 1, 2048, 2048])
    y = program.tensor([1, 1, 1024, 2048])
    program.call("ttnn.linear", (x, w), (y,), (matmul(x, w, y, 200_000),))
    memory = str(write_run(tmp_path, program).memory)
    with pytest.raises(QuestionRefused, match=r"does not print all of this op .*before TTNN 0\.81 no attributes"):
        await ask(session(tmp_path), "check_setting", run=memory, op=1, setting="math_fidelity", value="LoFi")

"""One value per op: what findings set of one op is merged in the plan's order, and no fix undoes another one."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import pytest

from generate.real_findings import REPORTS
from tests.checks.asking import case_of_reports, real_case
from tests.checks.conv_programs import put_conv, with_conv
from tests.checks.made_checks import saves
from tests.checks.rows import ONE_PASS, case_of
from tests.for_all import for_all
from tests.profiles import Program
from tests.shared_reports import CLIP, DEEPLAB, OFT, SEGFORMER, SHARED, shared
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.check import Problem, Words
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.checks.levers import ACCUMULATION, CONV_CONFIG, KERNEL_CONFIG
from ttnn_mcp.checks.op_config import present, sets_program
from ttnn_mcp.checks.shared.compute_configs import sets_compute
from ttnn_mcp.checks.shared.conv_ops import grown, with_doubles
from ttnn_mcp.tools.parts.plan_tables import settings_table

FIELDS = (
    *("math_fidelity", "math_approx_mode", "fp32_dest_acc_en", "packer_l1_acc", "throttle_level"),
    *("act_block_h_override", "enable_act_double_buffer", "enable_weights_double_buffer"),
    *("override_sharding_config", "shard_layout", "transpose_shards", "reshard_if_not_optimal"),
)
FIELD = re.compile(rf"\b({'|'.join(FIELDS)})=([\w.]+)")
OTHERWISE = ("instead of", "not with the configs")  # caveats of alternatives


def fields(text):
    """Of the configs in a fix: what each sets."""
    return dict(FIELD.findall(text))


def wants(name, sets, lever=KERNEL_CONFIG, part=0.1, rows=(0,), **how):
    """A check that sets something of its ops; with a part of 0 it is a trial."""
    base = saves(name, part, rows=list(rows))

    def look(facts):
        for problem in base.look(facts):
            assert isinstance(problem, Problem)
            yield replace(problem, sets=sets, tell=lambda ops: _words(name, ops, sets))

    return replace(base, look=look, lever=lever, slot=how.pop("slot", ""), **how)


def _words(name, ops, sets):
    config = ops.with_only(sets)
    text = config.conv_text if config.conv_fields else config.compute_text
    return Words(claim=name, assumption="made", fix=text, evidence=ops.facts.cite(0))


def fixes(case, *checks):
    return {finding.check: finding.fix for finding in diagnose(case, checks).findings}


@pytest.fixture
def case(tmp_path):
    return case_of(tmp_path, with_conv(layout="BLOCK", channel_cores=8), ONE_PASS)


FASTER = wants("faster", sets_compute(math_fidelity="LoFi"), part=0.3)
PACKER = wants("packer", sets_compute(packer_l1_acc="True"), part=0.0)
NARROW = wants("narrow", sets_compute(fp32_dest_acc_en="True"), part=0.0, costs_accuracy=True)


def test_a_trial_keeps_what_edits_and_trials_before_it_set(case):
    told = {name: fields(fix) for name, fix in fixes(case, NARROW, PACKER, FASTER).items()}
    changed = ("math_fidelity", "packer_l1_acc", "fp32_dest_acc_en")
    assert [told["faster"][name] for name in changed] == ["ttnn.MathFidelity.LoFi", "False", "False"]
    assert [told["packer"][name] for name in changed] == ["ttnn.MathFidelity.LoFi", "True", "False"]
    assert [told["narrow"][name] for name in changed] == ["ttnn.MathFidelity.LoFi", "True", "True"]


def test_edits_that_save_time_print_the_value_of_all_of_them_once(case):
    unthrottled = wants("unthrottled", sets_compute(throttle_level="ttnn.ThrottleLevel.NO_THROTTLE"), part=0.2)
    told = fixes(case, unthrottled, FASTER)
    assert fields(told["faster"])["math_fidelity"] == "ttnn.MathFidelity.LoFi"
    assert "throttle_level=ttnn.ThrottleLevel.NO_THROTTLE" in told["faster"]
    assert told["unthrottled"] == "throttle_level: in the config of faster, one value for both"


def test_of_two_that_set_the_same_the_second_is_an_alternative(case):
    other = wants("other", sets_compute(math_fidelity="HiFi3"), part=0.2, slot="passes")
    first = replace(FASTER, slot="passes")
    findings = {one.check: one for one in diagnose(case, [other, first]).findings}
    assert fields(findings["other"].fix)["math_fidelity"] == "ttnn.MathFidelity.HiFi3"
    assert findings["other"].caveat == "instead of compute-config, not with it"


def test_a_fix_is_written_for_an_op_where_it_holds(tmp_path):
    program = Program("wormhole_b0")
    put_conv(program, kernel_ns=200_000)
    put_conv(program, kernel_ns=100_000, per_core=(4, 2))
    case = case_of(tmp_path, program, ONE_PASS)
    first = wants("first", sets_compute(math_fidelity="LoFi"), part=0.5, slot="passes")
    both = wants("both", sets_compute(math_fidelity="HiFi3"), part=0.2, rows=(0, 1), slot="passes")
    findings = {one.check: one for one in diagnose(case, [first, both]).findings}
    assert fields(findings["both"].fix)["math_fidelity"] == "ttnn.MathFidelity.HiFi3"
    assert f"line {case.line(1)}" in findings["both"].fix


@for_all(("above", "together"), [(1, False), (0, True)])
def test_blocks_and_double_buffers_of_a_conv_fit_together_to_the_byte(tmp_path, above, together):
    """Each fits alone; beside the larger block the second block of weights fits with the last byte only."""
    how = {"layout": "BLOCK", "channel_cores": 8, "per_core": (8, 2), "block": (2, 6), "allocated": 0}
    bare = case_of(tmp_path / "bare", with_conv(**how), ONE_PASS)
    whole = with_doubles(grown(present(bare, 0)))
    assert whole.conv_fields == {
        "act_block_h_override": "256",
        "enable_act_double_buffer": "True",
        "enable_weights_double_buffer": "True",
    }
    how["allocated"] = bare.l1_limit.safe_bytes - whole.l1_bytes + above
    case = case_of(tmp_path / "full", with_conv(**how), ONE_PASS)
    checks = (
        wants("block", grown, CONV_CONFIG, part=0.3),
        wants("double", with_doubles, CONV_CONFIG, part=0.2),
    )
    told = {finding.check: finding for finding in diagnose(case, checks).findings}
    assert fields(told["block"].fix)["act_block_h_override"] == "256"
    assert ("enable_weights_double_buffer" in told["block"].fix) is together
    assert ("not with the configs" in (told["double"].caveat or "")) is not together


def test_a_program_keeps_the_compute_config_that_the_plan_has(case):
    base = saves("program", 0.2, rows=[0])
    words = Words("program", "made", "f(compute_kernel_config=<as now>)", evidence=case.cite(0))

    def look(facts):
        yield from (replace(problem, tell=lambda _: words) for problem in base.look(facts))

    program = replace(base, look=look)
    assert "math_fidelity=ttnn.MathFidelity.LoFi" in fixes(case, program, FASTER)["program"]
    assert fixes(case, program)["program"] == "f(compute_kernel_config=<as now>)"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", REPORTS)
def test_on_real_reports_no_fix_undoes_another(name):
    """Per op and field one value for all that saves time; a trial changes only what no other has set."""
    for chosen in ("last", "all"):
        assert_one_value(real_case(name, chosen))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", range(4))
def test_in_shorter_real_reports_neither(part):
    shared("backtest")
    reports = sorted([*SHARED.glob("backtest/*.csv"), *SHARED.glob("layers/*.csv")])
    assert len(reports) > 30
    assert sum(assert_one_value(case_of_reports(path)) for path in reports[part::4]) > 1


def assert_one_value(case):
    """How many findings set fields."""
    told = [
        finding
        for finding in diagnose(case, CATALOGUE).findings
        if fields(finding.fix) and not (finding.caveat or "").endswith("not with it")
    ]
    told = [finding for finding in told if not any(words in (finding.caveat or "") for words in OTHERWISE)]
    set_of = defaultdict(dict)
    rows = {case.line(row): row for row in range(len(case))}
    for finding in told:
        named = re.search(r"# line (\d+)", finding.fix)
        line = int(named[1]) if named else finding.evidence[0].row
        now = present(case, rows[line]).compute.fields
        for name, value in fields(finding.fix).items():
            assert set_of[line].get(name) in (None, value), f"{finding.check} undoes {name} of line {line}"
            if value != now.get(name):
                set_of[line][name] = value
    return len(told)


def _fixes_of(case, *checks):
    return {finding.check: finding.fix for finding in diagnose(case, CATALOGUE).findings if finding.check in checks}


def test_one_compute_config_for_line_376_of_oft():
    told = _fixes_of(real_case(OFT), "fidelity-above-operands", "packer-accumulation-off")
    trial = fields(told["packer-accumulation-off"])
    assert fields(told["fidelity-above-operands"])["math_fidelity"] == "ttnn.MathFidelity.HiFi2"
    assert (trial["math_fidelity"], trial["packer_l1_acc"]) == ("ttnn.MathFidelity.HiFi2", "True")


def test_one_conv_config_for_line_289_of_deeplab():
    told = _fixes_of(real_case(DEEPLAB), "act-block-h-below-maximum", "conv-cores-idle")
    assert "core_grid" in told["act-block-h-below-maximum"]
    assert fields(told["act-block-h-below-maximum"])["act_block_h_override"] == "192"
    assert "config_tensors_in_dram=True" in told["act-block-h-below-maximum"]
    assert told["conv-cores-idle"] == (
        "override_sharding_config, shard_layout, core_grid, transpose_shards, act_block_h_override: in the config of "
        "act-block-h-below-maximum, one value for both"
    )


def test_one_conv_config_for_line_1085_of_segformer():
    told = _fixes_of(real_case(SEGFORMER), "conv-double-buffer-off")["conv-double-buffer-off"]
    assert {"act_block_h_override": "128", "enable_weights_double_buffer": "True"}.items() <= fields(told).items()


def test_the_settings_of_an_edit_are_told_per_value_with_their_lines():
    case = real_case(DEEPLAB)
    diagnosis = diagnose(case, CATALOGUE)
    edit = diagnosis.plan.ranked[0].edit
    rows = settings_table(case, diagnosis.configs, [edit]).rows
    assert 0 < len(rows) <= 4
    assert rows[0][:3] == (
        "conv-config",
        "32000x512 * 4608x256 -> 2048x256 and 2 shapes more",
        "289, 277, 271, 283, 227, 221 and 4 more",
    )
    assert len({row[3] for row in rows}) == len(rows)


def test_each_shape_of_the_encoders_matmuls_gets_the_config_that_fits_it():
    """A block of three tiles fits 160 tiles of N, and leaves 50 of 64 cores idle on 40: those get blocks of one."""
    case = real_case(CLIP)
    diagnosis = diagnose(case, CATALOGUE)
    edit = next(each.edit for each in diagnosis.plan.ranked if each.edit.name == "matmul-config")
    rows = settings_table(case, diagnosis.configs, [edit]).rows
    blocks = {row[1].rpartition("x")[2]: re.findall(r"per_core_N=(\d+)", row[3]) for row in rows if "1D" in row[3]}
    assert blocks == {"5120": ["3"], "1280": ["1"]}
    finding = next(one for one in diagnosis.findings if one.check == "minimal-matmul-on-few-rows")
    assert finding.fix.endswith("; other shapes differ: details=matmul-config")


def test_edits_that_set_no_config_have_no_settings():
    case = real_case(CLIP)
    diagnosis = diagnose(case, CATALOGUE)
    fused = next(edit for edit in diagnosis.plan.edits if edit.name == "attention-block")
    assert settings_table(case, diagnosis.configs, [fused]) is None


def test_an_edit_that_sets_nothing_has_no_settings(case):
    diagnosis = diagnose(case, [saves("some", 0.2, rows=[0]), FASTER])
    settings = {
        each.edit.lever: settings_table(case, diagnosis.configs, [each.edit]) for each in diagnosis.plan.ranked
    }
    assert settings.pop(KERNEL_CONFIG) is not None
    assert [*settings.values()] == [None]


def _convs(tmp_path, count, **how):
    """Convs of other shapes, the heaviest first."""
    program = Program("wormhole_b0")
    for number in range(count):
        put_conv(program, kernel_ns=100_000 * (count - number), per_core=(2 * (count - number), 2), **how)
    return case_of(tmp_path, program, ONE_PASS)


def test_the_four_heaviest_values_of_an_edit_are_told_with_all_ops_that_get_them(tmp_path):
    """Op 0 gets none, ops 1 to 5 one each, op 6 that of op 1: the fifth value is left out."""
    case = _convs(tmp_path, 7)

    def levels(config):
        return config.computing(throttle_level=f"L{(config.row - 1) % 5}") if config.row else None

    diagnosis = diagnose(case, [wants("levels", levels, rows=range(7))])
    groups = diagnosis.configs.groups(diagnosis.plan.ranked[0].edit)
    assert [re.findall(r"throttle_level=(\w+)", group.value) for group in groups] == [
        ["L0"],
        ["L1"],
        ["L2"],
        ["L3"],
    ]
    assert [[rows.tolist() for rows in group.rows] for group in groups] == [[[1], [6]], [[2]], [[3]], [[4]]]


def test_the_settings_of_an_edit_name_only_what_it_has_a_part_in(case):
    """Its passes are overruled by the edit above, which sets them too: only the block is its own."""
    above = wants("above", sets_compute(math_fidelity="LoFi"), part=0.5, slot="passes")
    block = wants("block", grown, CONV_CONFIG, part=0.2)
    passes = wants("passes", sets_compute(math_fidelity="HiFi3"), CONV_CONFIG, part=0.1, slot="passes")
    diagnosis = diagnose(case, [above, block, passes])
    values = {
        each.edit.name: [group.value for group in diagnosis.configs.groups(each.edit)]
        for each in diagnosis.plan.ranked
    }
    assert [value.partition("=")[0] for value in values["compute-config"]] == ["compute_config"]
    assert [value.partition("(")[0] for value in values["conv-config"]] == ["ttnn.Conv2dConfig"]
    assert "compute_config" not in values["conv-config"][0]


def test_a_value_names_the_other_edits_that_it_holds(case):
    """Who does not make those leaves their fields as they are."""
    passes = wants("passes", sets_compute(math_fidelity="LoFi"), part=0.5, costs_accuracy=True)
    packed = wants("packed", sets_compute(packer_l1_acc="True"), ACCUMULATION, part=0.2)
    block = wants("block", grown, CONV_CONFIG, part=0.1)
    diagnosis = diagnose(case, [passes, packed, block])
    said = {one.check: one.caveat for one in diagnosis.findings}
    assert said["passes"] == "the value holds accumulation too"
    assert said["packed"] == "the value holds compute-config (may cost accuracy) too"
    assert said["block"] is None
    table = settings_table(case, diagnosis.configs, diagnosis.plan.edits)
    assert {row[0]: row[4] for row in table.rows} == {
        "compute-config": "accumulation",
        "accumulation": "compute-config (may cost accuracy)",
        "conv-config": "",
    }
    alone = diagnose(case, [passes])
    assert settings_table(case, alone.configs, alone.plan.edits).columns == ("edit", "shapes", "lines", "sets")


def test_all_that_findings_want_of_one_conv_config_is_one_value():
    """Blocks and buffers, the activation of the op behind it, the Move before it, the format of its weights."""
    told = {one.check: one for one in diagnose(real_case(SEGFORMER), CATALOGUE).findings}
    whole, narrower = told["conv-double-buffer-off"].fix, told["wide-weights"].fix
    for field in ("act_block_h_override=128", "activation=ttnn.UnaryWithParam", "reallocate_halo_output=False"):
        assert field in whole
    assert "without the op of its activation behind it" in whole
    assert "weights_dtype=ttnn.bfloat8_b" in narrower
    assert "enable_weights_double_buffer=True" in narrower
    assert "holds conv-config too" in told["wide-weights"].caveat


@for_all(("program", "differ"), [("P{row}()", True), ("P()", False)])
def test_a_fix_says_that_other_shapes_get_another_program(tmp_path, program, differ):
    some = wants("some", sets_program(lambda _, row: program.format(row=row)), part=0.2, rows=(0, 1))
    assert (
        fixes(_convs(tmp_path, 2), some)["some"].endswith("; other shapes differ: details=compute-config") == differ
    )


def test_a_fix_without_a_program_says_nothing_of_programs_of_other_shapes(tmp_path):
    case = _convs(tmp_path, 2)
    some = wants("some", sets_program(lambda _, row: "P()" if row else ""), part=0.2, rows=(0, 1))
    assert "other shapes differ" not in fixes(case, some)["some"]


def test_edits_that_save_time_share_one_conv_config_whatever_they_change(tmp_path):
    how = {"layout": "BLOCK", "channel_cores": 8, "per_core": (8, 2), "block": (2, 6), "allocated": 0}
    case = case_of(tmp_path, with_conv(**how), ONE_PASS)
    told = fixes(case, wants("block", grown, CONV_CONFIG, part=0.3), wants("double", with_doubles, part=0.2))
    assert "enable_weights_double_buffer=True" in told["block"]


def test_a_fix_that_tells_one_of_its_configs_has_the_whole_of_that_one(case):
    both = wants("both", lambda config: grown(config.computing(packer_l1_acc="True")), CONV_CONFIG, part=0.2)
    words = Words("both", "made", present(case, 0).computing(packer_l1_acc="True").compute_text, ())

    def look(facts):
        yield from (replace(problem, tell=lambda _: words) for problem in both.look(facts))

    told = fields(fixes(case, FASTER, replace(both, look=look))["both"])
    assert (told["math_fidelity"], told["packer_l1_acc"]) == ("ttnn.MathFidelity.LoFi", "True")


def test_a_value_names_no_edit_that_is_overruled_by_the_same(case):
    first, other = (
        wants(name, sets_compute(math_fidelity="LoFi"), lever, part, slot="passes")
        for name, lever, part in (("first", KERNEL_CONFIG, 0.5), ("other", CONV_CONFIG, 0.2))
    )
    assert {one.check: one.caveat for one in diagnose(case, [first, other]).findings}["first"] is None


def test_what_does_not_fit_l1_is_not_set_even_where_it_does_not_look_at_l1(tmp_path):
    case = case_of(tmp_path, with_conv(layout="BLOCK", channel_cores=8, allocated=1_300_000), ONE_PASS)

    def full(config):
        return replace(config, conv=replace(config.conv, allocated_bytes=2_000_000, block_h=4))

    finding = diagnose(case, [wants("full", full, CONV_CONFIG, part=0.2)]).findings[0]
    assert finding.caveat.startswith("not with the configs of the edits above: no room in L1")


def test_an_op_between_those_that_an_edit_sets_keeps_its_config(tmp_path):
    faster = wants("faster", sets_compute(math_fidelity="LoFi"), part=0.5, rows=(0, 2))
    packer = wants("packer", sets_compute(packer_l1_acc="True"), part=0.2, rows=(1,))
    case = _convs(tmp_path, 3)
    assert fixes(case, faster, packer)["packer"] == fixes(case, packer)["packer"]


def test_a_fix_written_for_another_op_names_its_line_once(tmp_path):
    case = _convs(tmp_path, 3)
    first = wants("first", grown, CONV_CONFIG, part=0.5, slot="block")
    both = wants("both", grown, CONV_CONFIG, part=0.2, rows=(0, 1), slot="block")
    told = fixes(case, first, both)["both"]
    assert told.startswith("`ttnn.Conv2dConfig(act_block_h_override=128)`")
    assert told.count("# line") == 1
    assert f"# line {case.line(1)}" in told

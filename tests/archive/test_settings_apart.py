"""What differs between two settings, and whether a fix asks for it."""

import json

from tests.checks.matmul_programs import config
from tests.for_all import for_all
from ttnn_mcp.archive.settings_apart import Apart, Setup, apart, has_value, is_advised, is_spelt_out, written

KERNEL = "WormholeComputeKernelConfig(math_fidelity=HiFi2;math_approx_mode=1;fp32_dest_acc_en={};packer_l1_acc=1)"


def setup(block=2, *, fp32=0, fidelity="HiFi2", **more):
    attributes = {"program_config": config(block), "compute_kernel_config": KERNEL.format(fp32), **more}
    return Setup(json.dumps(attributes), fidelity)


def test_only_what_differs_is_named_with_the_value_of_the_other():
    assert apart(setup(2), setup(8)) == (Apart("in0_block_w", "program_config", "8"),)
    assert apart(setup(), setup()) == ()
    assert apart(setup(), setup(fidelity="LoFi")) == (Apart("math_fidelity", "math_fidelity", "LoFi"),)


def test_a_grid_is_one_setting():
    grid = setup().settings.replace("(x=8,y=8)", "(x=4,y=8)")
    (difference,) = apart(setup(), Setup(grid, "HiFi2"))
    assert difference == Apart("compute_with_storage_grid_size", "program_config", "4x8")


def test_what_one_side_lacks_is_unset():
    (difference,) = apart(setup(core_coord="x"), setup())
    assert (difference.name, difference.value) == ("core_coord", "unset")


def test_settings_that_were_cut_off_are_not_compared():
    assert apart(setup(), Setup(setup(8).settings[:60], "HiFi2")) == ()


def test_equal_names_in_two_attributes_are_told_apart():
    differences = apart(
        setup(a_config="A(x1=1;z=2)", b_config="B(x1=1;z=3)"), setup(a_config="A(x1=1;z=9)", b_config="B(x1=1;z=3)")
    )
    assert [each.name for each in differences] == ["a_config.z"]


def test_many_differences_are_counted():
    differences = tuple(Apart(f"s{number}", "program_config", "1") for number in range(5))
    assert written(differences) == "s0=1, s1=1, s2=1 and 2 more"


BLOCK = (Apart("in0_block_w", "program_config", "8"),)
FP32 = (Apart("fp32_dest_acc_en", "compute_kernel_config", "0"),)
LOFI = (Apart("math_fidelity", "math_fidelity", "LoFi"),)


@for_all(
    ("differences", "fix", "advised", "spelt_out"),
    [
        (BLOCK, "program_config as now with in0_block_w=8 (try half)", True, True),
        (BLOCK, "program_config as now with in0_block_w=4", True, False),
        (BLOCK, "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(per_core_M=4)", True, False),
        (BLOCK, "w = ttnn.from_torch(torch_w, dtype=ttnn.bfloat8_b)", False, False),
        (FP32, "WormholeComputeKernelConfig(fp32_dest_acc_en=False, packer_l1_acc=True)", True, True),
        (FP32, "compute_kernel_config with fp32_dest_acc_en=True", False, False),
        (FP32, "compute_kernel_config as now", False, False),
        (LOFI, "math_fidelity=ttnn.MathFidelity.LoFi, math_approx_mode=True", True, True),
        (LOFI, "math_fidelity=ttnn.MathFidelity.HiFi2", False, False),
        (LOFI, "LoFi, after a PCC", True, True),
        ((*BLOCK, *LOFI), "program_config as now with in0_block_w=8", False, False),
        ((), "program_config", False, False),
    ],
)
def test_a_fix_asks_for_all_that_differs_or_for_none_of_it(differences, fix, advised, spelt_out):
    assert (is_advised(differences, fix), is_spelt_out(differences, fix)) == (advised, spelt_out)


@for_all(("printed", "value", "same"), [("8", 8, True), ("1", True, True), ("8x7", "8x7", True), ("8", 4, False)])
def test_a_value_is_the_same_however_it_is_written(printed, value, same):
    assert has_value(Apart("x", "y", printed), value) is same


@for_all(
    ("settings", "names"),
    [
        ('{"a_config":"A(outer=B(inner=1;same=0);same=0)"}', ["inner"]),
        ('{"a_config":"A(outer=B(middle=C(inner=1;same=0)))"}', ["inner"]),
        ('{"a_config":"A(outer=B(middle=C(grid=D(inner=1;same=0))))"}', ["grid"]),
    ],
    ids=["two deep", "three deep", "deeper than any program config"],
)
def test_a_setting_is_named_three_structs_deep(settings, names):
    differences = apart(Setup(settings, None), Setup(settings.replace("inner=1", "inner=2"), None))
    assert [each.name for each in differences] == names


def test_what_prints_no_fields_is_one_value():
    assert apart(Setup('{"x":"Mode()"}', None), Setup('{"x":"Fast()"}', None)) == (Apart("x", "x", "Fast()"),)


def test_a_fidelity_that_several_configs_print_is_one_setting():
    ours = setup(qk_compute_config=KERNEL.format(0))
    theirs = Setup(ours.settings.replace("HiFi2", "LoFi"), "LoFi")
    assert apart(ours, theirs) == (Apart("math_fidelity", "math_fidelity", "LoFi"),)


@for_all("cut", [True, False])
def test_whichever_side_was_cut_off_nothing_is_compared(cut):
    sides = Setup(setup(8).settings[:60], "HiFi2"), setup(2)
    assert apart(*(sides if cut else sides[::-1])) == ()


def test_a_long_value_is_cut_in_a_sentence():
    value = "MatmulMultiCoreReuseMultiCast1DProgramConfig"
    assert written((Apart("kind", "program_config", value),)) == "kind=MatmulMultiCoreReuseMultiCast1DP"


def test_another_value_than_the_fix_spells_is_not_spelt_out_because_the_fidelity_is():
    fix = "math_fidelity=HiFi2 as LoFi lost accuracy"
    assert not is_spelt_out(LOFI, fix)
    assert not is_spelt_out((Apart("cores", "core_grid", "LoFi"),), "LoFi, after a PCC")

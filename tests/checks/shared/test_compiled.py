"""Who cannot write the TTNN call is told the compiler's option, everybody else the call."""

from __future__ import annotations

from tests.checks.asking import asker
from tests.checks.step3_programs import norm
from tests.for_all import for_all
from tests.profiles import CSV_GENERATIONS, Program
from ttnn_mcp.checks.shared.compiled import compute_config_of_compiler


@for_all("generation", CSV_GENERATIONS)
def test_only_a_front_end_has_an_option(tmp_path, generation):
    program = Program("wormhole_b0")
    norm(program)
    norm(program, 2048)
    fix = asker("norm-on-few-cores", tmp_path).ask(program, generation=generation).claim.fix
    if generation == "tt-torch":
        option = 'torch_xla.set_custom_compile_options({"optimization_level": "2"})'
        assert fix == f"{option}: the compiler then shards norms"
    else:
        assert "LayerNormShardedMultiCoreProgramConfig" in fix


def test_an_option_that_the_compiler_does_not_have_is_not_made_up():
    assert '{"math_fidelity": "hifi2"}' in compute_config_of_compiler("math_fidelity=HiFi2")
    without = compute_config_of_compiler("packer_l1_acc=True")
    assert without.endswith("tt-xla has no option for its packer_l1_acc")
    assert "set_custom_compile_options" not in without

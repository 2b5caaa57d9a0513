"""Who cannot write the TTNN call is told the compiler's option, everybody else the call."""

from __future__ import annotations

import pytest

from tests.checks.asking import asker
from tests.checks.step3_programs import norm
from tests.profiles import CSV_GENERATIONS, Program


@pytest.mark.parametrize("generation", CSV_GENERATIONS)
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

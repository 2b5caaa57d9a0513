"""A model of L1 without a capture of real TTNN that proves it does not pass."""

from tests.real.l1_captures import captures
from ttnn_mcp.analyses.from_graph.models import MODELS

# device ops of other versions and chips are modelled by a function that an op of 0.81.1 proves
PROVEN = {MODELS[capture.launch.name] for capture in captures() if capture.launch.name in MODELS}


def test_every_model_has_a_capture_that_proves_it():
    unproven = sorted(name for name, model in MODELS.items() if model not in PROVEN)
    assert unproven == [], (
        "add a call to a FILE.py of tests/real/proofs that runs the op, then "
        "`.venv/bin/python -m tests.real.rig proofs --only FILE --call FUNCTION` (the name that the call has in ttnn)"
    )

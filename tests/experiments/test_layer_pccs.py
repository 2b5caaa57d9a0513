"""What the script for accuracy wrote, read back."""

import json

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import QuestionRefused, ReportMissing
from ttnn_mcp.experiments.exchange import Drift, read_drift

LAYERS = [
    {"layer": 1, "alone": 1.0, "accumulated": 0.999},
    {"layer": 2, "alone": None, "accumulated": None},
    {"layer": 3, "alone": 1.0, "accumulated": 0.9},
]
WRITTEN = {"format": "ttnn-mcp accuracy", "version": 1, "ops": [], "layers": LAYERS, "first_drifting_layer": 3}


def test_layers_without_a_figure_are_left_out(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(WRITTEN))
    assert read_drift(tmp_path / "a.json") == Drift(((1, 0.999), (3, 0.9)), 3)


@for_all(
    "changes",
    [
        {"format": "other"},
        {"version": 2},
        {"layers": [{"layer": 1, "accumulated": 1.1}]},
        {"layers": [{"layer": -1, "accumulated": 1.0}]},
        {"layers": [{"layer": 1, "accumulated": 1.0}] * 10_001},
        {"first_drifting_layer": "3"},
    ],
)
def test_what_the_script_did_not_write_is_refused(tmp_path, changes):
    (tmp_path / "a.json").write_text(json.dumps({**WRITTEN, **changes}))
    with pytest.raises(QuestionRefused, match="is not what the script"):
        read_drift(tmp_path / "a.json")


def test_where_nothing_was_compared_it_is_said_and_not_stored(tmp_path):
    why = "no kernel runs on a mock device: " + "what it computes agrees with nothing" * 3
    (tmp_path / "a.json").write_text(json.dumps({**WRITTEN, "layers": LAYERS[1:2], "why": why}))
    with pytest.raises(QuestionRefused, match=rf"a\.json holds no PCC: {why}\. Leave out"):
        read_drift(tmp_path / "a.json")
    (tmp_path / "a.json").write_text(json.dumps({**WRITTEN, "layers": LAYERS[1:2], "why": "x" * 300}))
    with pytest.raises(QuestionRefused) as said:
        read_drift(tmp_path / "a.json")
    assert 190 < str(said.value).count("x") <= 200


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(ReportMissing, match="cannot be read"):
        read_drift(tmp_path / "none.json")


def test_as_many_layers_and_bytes_as_a_script_writes_are_read(tmp_path):
    """10,000 layers, and 20 MB."""
    path, most = tmp_path / "a.json", 20_000_000
    document = json.dumps({**WRITTEN, "layers": [{"layer": 1, "accumulated": 1.0}] * 10_000})
    path.write_text(document.rjust(most))
    assert len(read_drift(path).pccs) == 10_000
    path.write_text(document.rjust(most + 1))
    with pytest.raises(QuestionRefused, match="is not what the script"):
        read_drift(path)

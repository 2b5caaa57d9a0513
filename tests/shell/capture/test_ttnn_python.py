"""Which Python has the user's TTNN."""

import sys

import pytest

from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.shell.capture.ttnn_python import stated_python, ttnn_python


@pytest.fixture
def pythons(tmp_path, monkeypatch):
    """Programs called like this; nothing names them yet."""
    monkeypatch.delenv("TTNN_MCP_TTNN", raising=False)
    monkeypatch.delenv("TT_METAL_HOME", raising=False)

    def program(name):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o755)
        return str(path)

    return program


def test_each_place_goes_before_the_next(pythons, tmp_path, monkeypatch):
    assert (stated_python(None), ttnn_python(None)) == (None, sys.executable)
    monkeypatch.setenv("TT_METAL_HOME", str(tmp_path / "metal"))
    assert ttnn_python(None) == sys.executable
    of_metal = pythons("metal/python_env/bin/python")
    assert (stated_python(None), ttnn_python(None)) == (None, of_metal)
    by_variable = pythons("variable")
    monkeypatch.setenv("TTNN_MCP_TTNN", by_variable)
    assert stated_python(None) == ttnn_python(None) == by_variable
    asked = pythons("asked")
    assert stated_python(asked) == ttnn_python(asked) == asked


def test_a_name_that_starts_nothing_is_refused_by_what_named_it(tmp_path, monkeypatch, pythons):
    with pytest.raises(ArgumentsInvalid, match="--ttnn names '"):
        stated_python(str(tmp_path / "none"))
    monkeypatch.setenv("TTNN_MCP_TTNN", str(tmp_path / "none"))
    with pytest.raises(ArgumentsInvalid, match="TTNN_MCP_TTNN names"):
        ttnn_python(None)

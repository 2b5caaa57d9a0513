"""Which Python has the user's TTNN."""

import sys
from pathlib import Path

import pytest

from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.replay import interpreters
from ttnn_mcp.replay.interpreters import Interpreter, interpreter, ttnn_python


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
    assert ttnn_python(None) == (sys.executable, False)
    monkeypatch.setenv("TT_METAL_HOME", str(tmp_path / "metal"))
    assert ttnn_python(None) == (sys.executable, False)
    of_metal = pythons("metal/python_env/bin/python")
    assert ttnn_python(None) == (of_metal, False)
    by_variable = pythons("variable")
    monkeypatch.setenv("TTNN_MCP_TTNN", by_variable)
    assert ttnn_python(None) == (by_variable, True)
    asked = pythons("asked")
    assert ttnn_python(asked) == (asked, True)


def test_a_name_that_starts_nothing_is_refused_by_what_named_it(tmp_path, monkeypatch, pythons):
    with pytest.raises(ArgumentsInvalid, match="--ttnn names '"):
        ttnn_python(str(tmp_path / "none"))
    monkeypatch.setenv("TTNN_MCP_TTNN", str(tmp_path / "none"))
    with pytest.raises(ArgumentsInvalid, match="TTNN_MCP_TTNN names"):
        ttnn_python(None)


def test_a_python_is_found_by_name_variable_and_place(tmp_path, monkeypatch):
    monkeypatch.delenv("TT_METAL_HOME", raising=False)
    monkeypatch.delenv(interpreters.VARIABLE, raising=False)
    told = {str(tmp_path / "a"): "1", str(tmp_path / "b"): "2", str(tmp_path / "python_env/bin/python"): "3"}
    monkeypatch.setattr(
        interpreters, "probed", lambda path, how: Interpreter(path, how, told.get(str(path)), mock=True)
    )
    assert interpreter(None).told == f"no TTNN in {sys.executable} (the own one)"
    monkeypatch.setenv("TT_METAL_HOME", str(tmp_path))
    assert interpreter(None).version == "3"
    of_metal = told.pop(str(tmp_path / "python_env/bin/python"))
    told[sys.executable] = "4"
    assert (of_metal, interpreter(None).version) == ("3", "4")
    monkeypatch.setenv(interpreters.VARIABLE, str(tmp_path / "b"))
    assert interpreter(None).origin == "$TTNN_MCP_TTNN"
    assert interpreter(tmp_path / "a").told == f"TTNN 1 in {tmp_path / 'a'} (--ttnn)"


def test_a_python_without_ttnn_or_none_at_all_has_no_version(tmp_path):
    interpreters.probed.cache_clear()
    assert interpreters.probed(Path(sys.executable), "x").version is None
    assert interpreters.probed(tmp_path / "none", "x").version is None


def test_a_python_tells_where_its_ttnn_lies_and_whether_that_knows_mock_devices(tmp_path, monkeypatch):
    """Without an import: this package would break it."""
    monkeypatch.delenv("TT_METAL_HOME", raising=False)
    package, here = tmp_path / "ttnn", str(tmp_path)
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit")

    def asked(*words):
        one = interpreters.looked_at(sys.executable, *words, folder=here) or {}
        return one.get("ttnn"), one.get("mock")

    assert asked() == (str(package), False)
    for text, mock in (("other", False), (interpreters.MOCK, True)):
        (package / "_ttmetal.so").write_text(text)
        assert asked(interpreters.LIBRARIES) == (str(package), mock)

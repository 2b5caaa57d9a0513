"""What the tests of the archive share: an archive has all the time it wants, also on a busy machine."""

import pytest


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    monkeypatch.setattr("ttnn_mcp.archive.patience.PATIENCE_S", 60.0)

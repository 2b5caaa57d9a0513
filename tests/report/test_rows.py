"""Which ops a page shows: all, or those of the critical device where all are too many."""

from types import SimpleNamespace

import pytest

from ttnn_mcp.report import rows


@pytest.mark.parametrize(("count", "device"), [(50_000, None), (50_001, 3)])
def test_a_page_shows_fifty_thousand_ops_at_most(monkeypatch, count, device):
    """As resources/report.md tells."""
    asked = []
    monkeypatch.setattr(
        rows.list_ops,
        "list_ops",
        lambda _, arguments: asked.append(arguments) or SimpleNamespace(spoken=dict),
    )
    rows.ops_of(SimpleNamespace(scope=SimpleNamespace(ops=range(count), critical_device=3)))
    assert [(each.limit, each.device, each.sort) for each in asked] == [(50_000, device, "order")]

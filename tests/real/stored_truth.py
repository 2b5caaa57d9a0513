"""Memory reports that TTNN itself wrote, and what TTNN's own figures say of each: beside some checkouts only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

REAL = Path(__file__).resolve().parents[3] / "shared" / "real"
ROOTS = (REAL, REAL / "generations")


def report_names() -> list[str]:
    """All reports with a stored truth; one name that skips where there are none."""
    names = [truth.stem for root in ROOTS for truth in sorted((root / "truth").glob("*.json"))]
    return names or ["no real reports beside this checkout"]


def folder_of(name: str) -> Path:
    """The report's folder, or the reason why this test is skipped."""
    for root in ROOTS:
        if (root / "reports" / name / "db.sqlite").exists():
            return root / "reports" / name
    pytest.skip(f"{name}: no real report of that name beside this checkout")


def truth_of(name: str) -> dict[str, Any]:
    """What TTNN's graphs and allocators came to."""
    folder = folder_of(name)
    return json.loads((folder.parent.parent / "truth" / f"{name}.json").read_text())

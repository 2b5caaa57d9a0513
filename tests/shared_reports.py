"""Real profiles, published by others, that lie beside the checkout on some machines. Tests that need them skip without."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
ABSENT = "the real reports are not beside this checkout (../shared)"

CLIP = "perf/wh_clip_encoder_2.csv"
DEEPLAB = "perf/bh_p100_dlv3.csv"
OFT = "perf/ops_perf_results_2025_09_18_11_39_20.csv"
DEEPSEEK = "perf/bh_8xp150_deepseek_v3_d_p.csv"
SEGFORMER = "perf/ops_perf_results_2025_02_16_18_11_10.csv"
LINKED = "memory/v3_3_perf/2026_09_01_12_00_00/ops_perf_results_2026_09_01_12_00_00.csv"
MEMORY = ("memory/g2025", "memory/v2", "memory/v2_1", "memory/v3_3")
asked: list[str] = []  # by the test that runs: tests/conftest.py looks whether it is in the group


def shared(name: str) -> Path:
    """The real report, or the reason why this test is skipped."""
    asked.append(name)
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"real report {name} is not beside this checkout" if SHARED.is_dir() else ABSENT)
    return path

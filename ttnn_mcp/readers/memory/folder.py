"""What lies beside a memory report's database: its name and settings, and the chips it ran on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import cast

from ttnn_mcp.hardware import canonical_architecture
from ttnn_mcp.readers.regular_file import text_of
from ttnn_mcp.records import dataclass

_LARGEST_BYTES = 4_000_000  # a Galaxy's descriptor is well below; anything larger is something else
_SECTION = re.compile(r"^(\w+):", re.MULTILINE)
_ENTRY = re.compile(r"\d+:\s*([A-Za-z]\w*)")


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """What the neighbours of `db.sqlite` say; None and () where they are missing or odd.

    Attributes:
        arch: a key of hardware.ARCHITECTURES, where all chips are of one.
        boards: distinct board names in chip order ('n300', 'p150'); tells p100 from p150.
    """

    report_name: str | None
    arch: str | None
    boards: tuple[str, ...]


def read_folder(folder: Path, rank: int = 0) -> FolderFacts:
    """Read `config.json` and `cluster_descriptor.yaml`, or the rank's own (`..._2_of_4...` is rank 1)."""
    descriptor = _text(folder, "cluster_descriptor", "yaml", rank)
    archs = {canonical_architecture(name) for name in _entries(descriptor, "arch")} - {None}
    return FolderFacts(
        report_name=_report_name(_text(folder, "config", "json", rank)),
        arch=archs.pop() if len(archs) == 1 else None,
        boards=tuple(dict.fromkeys(_entries(descriptor, "chip_to_boardtype"))),
    )


def report_name(folder: Path) -> str | None:
    """The name in `config.json`; folders of 2024 and 2025 are called after a hash of it."""
    return _report_name(_text(folder, "config", "json", 0))


def _report_name(text: str) -> str | None:
    try:
        config: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    name = cast("dict[str, object]", config).get("report_name") if isinstance(config, dict) else None
    return name if isinstance(name, str) and name else None


def _entries(descriptor: str, section: str) -> list[str]:
    """`0: wormhole_b0` lines of a section; a line parse, because that is all we need of YAML."""
    starts = {match.group(1): match.end() for match in _SECTION.finditer(descriptor)}
    if section not in starts:
        return []
    following = _SECTION.search(descriptor, starts[section])
    return _ENTRY.findall(descriptor, starts[section], following.start() if following else len(descriptor))


def _text(folder: Path, stem: str, suffix: str, rank: int) -> str:
    """The file's text; '' where there is none, or it is no plain text of sensible size."""
    try:
        own = sorted(folder.glob(f"{stem}_{rank + 1}_of_*.{suffix}"))
        for path in (*own, folder / f"{stem}.{suffix}"):
            if path.is_file() and path.stat().st_size <= _LARGEST_BYTES:
                return text_of(path, _LARGEST_BYTES)
    except OSError:
        pass
    return ""

"""Puts empty libraries where torch expects CUDA's, so that its wheel is imported without four gigabytes of them.

The package index has torch for Linux with CUDA only. The loader asks for every library that torch was linked against,
and for every versioned name in them; none is called without a GPU. Needs gcc and readelf.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CUDA = re.compile(r"(lib)?(cu|nccl|nv)\w*")
NO_DEVICE = 100  # cudaErrorNoDevice: what every stand-in answers


class Wanted:
    """What libraries need from others: their names, and the symbols by version."""

    def __init__(self) -> None:
        self.libraries: set[str] = set()
        self.versions_of: defaultdict[str, set[str]] = defaultdict(set)
        self.symbols_of: defaultdict[str, set[str]] = defaultdict(set)  # by version; "" has those without one
        self.defined: set[str] = set()

    def add(self, library: Path) -> None:
        """Read one library with readelf."""
        text = subprocess.run(
            ["readelf", "-dVW", "--dyn-syms", str(library)], check=True, capture_output=True, text=True
        ).stdout
        self.libraries.update(name for name in re.findall(r"\(NEEDED\).*\[(.+)\]", text) if CUDA.match(name))
        for file, entries in re.findall(r"File: (\S+)\s+Cnt: \d+\n((?:.*Name: .*\n)*)", text):
            self.versions_of[file].update(re.findall(r"Name: (\S+)", entries))
        rows = re.findall(r"^ *\d+: \w+ +\w+ +\w+ +\w+ +\w+ +(\w+) +([\w.]+)(?:@+([\w.]+))?", text, re.MULTILINE)
        for section, symbol, version in rows:
            (self.symbols_of[version] if section == "UND" else self.defined).add(symbol)

    def unversioned(self) -> set[str]:
        """Names of CUDA that any library may hold."""
        known = {symbol for version, names in self.symbols_of.items() if version for symbol in names}
        return {name for name in self.symbols_of[""] - self.defined - known if CUDA.match(name)}


def write(folder: Path) -> None:
    """Write a stand-in beside torch's own libraries for each that is missing."""
    wanted = Wanted()
    for library in sorted(folder.glob("*.so*")):
        if not CUDA.match(library.name):
            wanted.add(library)
    loose = wanted.unversioned()
    for name in sorted(wanted.libraries):
        versions = {version: wanted.symbols_of[version] for version in sorted(wanted.versions_of[name])}
        _build(folder / name, {version: names for version, names in versions.items() if names}, loose)
        loose = set()  # the loader searches all libraries: one of them is enough


def _build(library: Path, versions: dict[str, set[str]], loose: set[str]) -> None:
    names = sorted(loose.union(*versions.values()))
    code = "".join(f"int {name}(void) {{ return {NO_DEVICE}; }}\n" for name in names)
    script = library.with_suffix(".map")
    script.write_text(
        "".join(
            f"{version} {{ {' '.join(f'{name};' for name in sorted(names))} }};\n"
            for version, names in versions.items()
        )
    )
    options = [f"-Wl,--version-script,{script}"] if versions else []
    command = ["gcc", "-w", "-shared", f"-Wl,-soname,{library.name}", *options, "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=code, check=True, text=True)
    script.unlink()

"""Puts a stand-in where TTNN expects its RISC-V compiler: kernels never run on mock devices, but they are "compiled".

Every kernel becomes the same few instructions that do nothing. Firmware is part of the wheel for some configurations
only; for others one that was built for the same chip and processor takes its place.
"""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = ("g++", "gcc", "ld", "ar", "objcopy", "objdump")
PREFIXES = ("riscv-tt-elf-", "riscv32-tt-elf-")
SECTIONS = ("", ".text", ".symtab", ".strtab", ".rela.text", ".shstrtab")


def nothing() -> bytes:
    """A 32-bit RISC-V executable that does nothing, with the sections that TTNN's loader looks for."""
    code = struct.pack("<I", 0x00000013) * 256  # addi x0, x0, 0
    names = b"".join(name.encode() + b"\0" for name in SECTIONS)
    at, base = 0x60, 0x6000  # in the file and in memory; the loader moves it
    symbols = at + len(code)
    strings = symbols + 16  # one empty symbol
    names_at = strings + 4
    headers = (names_at + len(names) + 3) & ~3
    rows = (  # type, flags, address, offset, size, link, info, alignment, entry size
        (0, 0, 0, 0, 0, 0, 0, 0, 0),
        (1, 6, base, at, len(code), 0, 0, 16, 0),
        (2, 0, 0, symbols, 16, 3, 1, 4, 16),
        (3, 0, 0, strings, 4, 0, 0, 1, 0),
        (4, 0x40, 0, names_at, 0, 2, 1, 4, 12),
        (3, 0, 0, names_at, len(names), 0, 0, 1, 0),
    )
    offsets = [names.index(name.encode() + b"\0") for name in SECTIONS[1:]]
    table = b"".join(struct.pack("<10I", offset, *row) for offset, row in zip([0, *offsets], rows, strict=True))
    head = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIIIIIHHHHHH", 2, 243, 1, base, 52, headers, 0, 52, 32, 1, 40, len(rows), len(rows) - 1)
    segment = struct.pack("<8I", 1, at, base, base, len(code), len(code), 5, 16)
    body = ((head + segment).ljust(at, b"\0") + code + bytes(20) + names).ljust(headers, b"\0")
    return body + table


def write(package: Path) -> None:
    """Put it into the installed package."""
    folder = package / "runtime" / "sfpi" / "compiler" / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    (package / "runtime" / "sfpi" / "include").mkdir(exist_ok=True)
    (folder / "nothing.elf").write_bytes(nothing())
    said = dict(
        line.split("=", 1)
        for line in (package / "tt_metal" / "sfpi-version").read_text().splitlines()
        if "=" in line and not line.startswith("#")
    )
    version = "{sfpi_version}[{sfpi_build}]".format(**{name: text.strip("'\"") for name, text in said.items()})
    program = folder / "stand-in"
    program.write_text(
        PROGRAM.format(python=sys.executable, version=version, firmware=package / "tt_metal" / "pre-compiled")
    )
    program.chmod(0o755)
    for tool in (prefix + tool for prefix in PREFIXES for tool in TOOLS):
        (folder / tool).unlink(missing_ok=True)
        (folder / tool).symlink_to(program.name)


PROGRAM = """#!{python} -ISs
import os, shutil, sys

words = sys.argv[1:]
if "--version" in words or "-dumpversion" in words:
    print("riscv-tt-elf-g++ (tenstorrent/sfpi:{version}) 15.1.0")
    sys.exit()
named = words[words.index("-o") + 1] if "-o" in words else words[-1]
out = os.path.abspath(named)
here = os.path.dirname(os.path.abspath(__file__))


def firmware():
    parts = out.split(os.sep)
    blackhole = "blackhole" in " ".join([out, *words]).lower()
    for build in sorted(os.listdir("{firmware}")):
        folder = os.path.join("{firmware}", build)
        kinds = set(os.listdir(folder)) if os.path.isdir(folder) else set()
        if ("active_erisc" in kinds) != blackhole:
            continue
        for kind in sorted(kinds & set(parts)) or ["brisc"]:
            elf = os.path.join(folder, kind, kind + ("_weakened.elf" if "weakened" in out else ".elf"))
            if os.path.exists(elf):
                return elf


if ".elf" not in out:
    open(out, "w").close()
elif "kernels" + os.sep in out:
    shutil.copyfile(os.path.join(here, "nothing.elf"), out)
elif found := firmware():
    shutil.copyfile(found, out)
if "-o" in words:  # what it was made of, for a build that looks; none of it ever changes
    stem = out.rsplit(".", 1)[0]
    base = os.path.basename(out)
    short = base.split(".")[0] + "." + base.rsplit(".", 1)[-1]
    names = (named, base, short, os.path.join(os.path.dirname(named), short))
    with open(stem + ".d", "w") as file:
        file.writelines(name + ": /etc/hostname\\n" for name in names)
"""

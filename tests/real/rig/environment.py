"""Sets up an environment of its own in which real TTNN runs on mock devices.

python -m tests.real.rig.environment        makes .real beside the project, once
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
FOLDER = ROOT / ".real"
PINS = HERE / "requirements.txt"
VERSIONS = ("3.10", "3.12")  # the wheel of TTNN is built for these
UNUSED = ("include", "test", "lib/libtorch_cuda_linalg.so")  # of torch: 0.3 GB that nothing here loads


def interpreter() -> Path:
    """A CPython that the wheel is built for."""
    names = [sys.executable, *(f"python{version}" for version in VERSIONS)]
    homes = sorted(
        path for version in VERSIONS for path in Path.home().glob(f".pyenv/versions/{version}.*/bin/python")
    )
    for candidate in [*names, *map(str, homes)]:
        asked = "import sys; print('%d.%d' % sys.version_info[:2], sys.implementation.name, sys.executable)"
        command = [candidate, "-c", asked]
        if shutil.which(candidate) is None:
            continue
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split(maxsplit=2)
        if len(told) == 3 and told[0] in VERSIONS and told[1] == "cpython":
            return Path(told[2].strip())
    raise SystemExit("make real needs CPython 3.10 or 3.12, which TTNN's wheel is built for: install one of them")


def stamp() -> str:
    """What the environment was made from; another one is made when this changes."""
    files = [PINS, Path(__file__), HERE / "cuda_stand_ins.py", HERE / "compiler_stand_in.py"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def ready() -> Path:
    """The environment's Python, set up if that has not been done."""
    python = FOLDER / "bin" / "python"
    made = FOLDER / "made-from"
    if made.is_file() and made.read_text() == stamp():
        return python
    missing = [tool for tool in ("gcc", "readelf") if shutil.which(tool) is None]
    if missing:
        raise SystemExit(f"make real needs {' and '.join(missing)}: install them (gcc, binutils)")
    base = interpreter()
    sys.stderr.write(f"setting up real TTNN in {FOLDER.name}, once: 0.7 GB to load, 1.8 GB on the disk\n")
    shutil.rmtree(FOLDER, ignore_errors=True)
    subprocess.run([base, "-m", "venv", FOLDER], check=True)
    install = ["-m", "pip", "install", "-qq", "--disable-pip-version-check", "--require-hashes", "--no-deps"]
    subprocess.run([python, *install, "-r", PINS], check=True)
    subprocess.run([python, "-m", "tests.real.rig.environment", "finish"], check=True, cwd=ROOT)
    made.write_text(stamp())
    return python


def finish() -> None:
    """Within the new environment: stand-ins for what the wheels expect and a mock device never uses."""
    import sysconfig

    from tests.real.rig import compiler_stand_in, cuda_stand_ins

    site = Path(sysconfig.get_paths()["purelib"])
    cuda_stand_ins.write(site / "torch" / "lib")
    compiler_stand_in.write(site / "ttnn")
    for name in UNUSED:
        path = site / "torch" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


if __name__ == "__main__":
    finish() if sys.argv[1:] == ["finish"] else sys.stdout.write(f"{ready()}\n")

"""Write constraints.txt: every package we use, pinned with hashes, for every Python we support.

    python -m generate.pins        needs uv on the PATH

One file, three parts with a dividing line before each but the first: what it takes to run (with the extra `archive`),
to test, and to check (with the extra `picture`). So a container holds no test tools, and a newcomer's first command
does not wait for linters.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINS = ROOT / "constraints.txt"
HEAD = "# Written by `make pins`; used by the Makefile with --require-hashes. To run:\n"
ONE_NUMPY = (
    "numpy<2.5\n"  # 2.5 leaves Python 3.11 behind, and pyright's verdict should not depend on the interpreter
)
TEST = "# --- test: beyond the above\n"
CHECK = "# --- check: the linters, beyond the above\n"
ADDRESS = re.compile(r"-{2}(extra-)?index-url|-{2}find-links|https?://|file://|^/")


def compiled(groups, known):
    """Blocks of pins by name and version, for the project and these groups; what is `known` keeps its version."""
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before.txt"
        before.write_text("".join([ONE_NUMPY, *known.values()]))
        command = [
            "uv",
            "pip",
            "compile",
            "pyproject.toml",
            "--universal",
            "--generate-hashes",
            "--python-version=3.10",
        ]
        command += ["--no-header", "--no-annotate", "--quiet", "--constraints", str(before)]
        command += ["--extra=archive", *(f"--group={group}" for group in groups)]
        text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {block.split()[0]: block for block in re.findall(r"^\S[^\n]*\n(?:[ \t][^\n]*\n)*", text, re.MULTILINE)}


def parts(to_run, to_test, everything):
    """The file. A later part may widen the marker of an earlier pin: the block is its."""
    first = [block for pin, block in everything.items() if pin in to_run]
    second = [block for pin, block in everything.items() if pin in to_test - to_run]
    third = [block for pin, block in everything.items() if pin not in to_test]
    return "".join([HEAD, *first, TEST, *second, CHECK, *third])


def main():
    to_run = compiled([], {})
    to_test = compiled(["test"], to_run)
    everything = compiled(["test", "check"], to_test)
    others = (to_run.keys() - to_test.keys()) | (to_test.keys() - everything.keys())
    if others:
        sys.exit(f"the tests or the linters want other versions: {sorted(others)}")
    text = parts(to_run.keys(), to_test.keys(), everything)
    leaks = [line for line in text.splitlines() if ADDRESS.search(line)]
    if leaks:
        sys.exit(f"an address would be written: {leaks[:3]}")
    PINS.write_text(text)


if __name__ == "__main__":
    main()

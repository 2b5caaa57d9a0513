"""Write constraints.txt: every package we use, pinned with hashes, for every Python we support.

    python -m generate.pins        needs uv on the PATH

One file, two parts: what it takes to run and to test, then, behind a dividing line, what it takes to check. So a
newcomer's first command does not wait for linters.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINS = ROOT / "constraints.txt"
HEAD = "# Written by `make pins`; used by the Makefile with --require-hashes. To run and to test:\n"
ONE_NUMPY = (
    "numpy<2.5\n"  # 2.5 leaves Python 3.11 behind, and pyright's verdict should not depend on the interpreter
)
DIVIDE = "# --- check: the linters, beyond the above\n"
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
        command += [f"--group={group}" for group in groups]
        text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {block.split()[0]: block for block in re.findall(r"^\S[^\n]*\n(?:[ \t][^\n]*\n)*", text, re.MULTILINE)}


def main():
    to_test = compiled(["test"], {})
    everything = compiled(["test", "check"], to_test)
    if not to_test.keys() <= everything.keys():
        sys.exit(f"the linters want other versions than the tests: {sorted(to_test.keys() - everything.keys())}")
    first = [block for pin, block in everything.items() if pin in to_test]  # a linter may widen a marker: take its
    beyond = [block for pin, block in everything.items() if pin not in to_test]
    text = "".join([HEAD, *first, DIVIDE, *beyond])
    leaks = [line for line in text.splitlines() if ADDRESS.search(line)]
    if leaks:
        sys.exit(f"an address would be written: {leaks[:3]}")
    PINS.write_text(text)


if __name__ == "__main__":
    main()

"""Print our dependencies at their lower bounds, and the test tools: `make lowest` installs them.

    python generate/lowest.py pyproject.toml

Only the standard library is used: this runs before anything is installed.
"""

import re
import sys
from pathlib import Path

REQUIREMENT = re.compile(
    r'^ {4}"(([A-Za-z0-9_.-]+)>=([0-9.]+)[^"]*)",', re.MULTILINE
)  # tomllib is new in Python 3.11


def lowest(text):
    """Lines for pip: what the package needs at its lower bounds, what its tests need."""
    needed, tests = text.split("\ndependencies = ["), text.split("\ntest = [")
    lines = [f"{name}=={bound}" for _, name, bound in REQUIREMENT.findall(needed[1].split("\n]")[0])]
    return lines + [requirement for requirement, _, _ in REQUIREMENT.findall(tests[1].split("\n]")[0])]


if __name__ == "__main__":
    print("\n".join(lowest(Path(sys.argv[1]).read_text(encoding="utf-8"))))

"""What laying out a new check and a new tool have in common: files that must not exist yet, lines in lists."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[1]
BLANK = "FILL" + " IN"  # what the author has to replace; a house test finds what is left of it


def refuse(sentence: str) -> NoReturn:
    sys.exit(sentence)


def write(path: Path, text: str) -> None:
    """A new file; its folder becomes a package where it is one of Python's."""
    if path.exists():
        refuse(f"{path.relative_to(ROOT)} exists already: choose another name.")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".py" and not (path.parent / "__init__.py").exists():
        (path.parent / "__init__.py").touch()
    path.write_text(text, encoding="utf-8")


def imported(source: str, package: str, name: str) -> str:
    """The source with `name` in its `from package import (...)`, in the order of the alphabet."""

    def longer(match: re.Match[str]) -> str:
        names = sorted({*match.group(1).split(), f"{name},"})
        return f"from {package} import (\n" + "".join(f"    {each}\n" for each in names) + ")"

    changed, times = re.subn(rf"from {re.escape(package)} import \(\n(.*?)\)", longer, source, flags=re.DOTALL)
    if times != 1:
        refuse(f"No `from {package} import (` to add {name} to.")
    return changed


def after_last(text: str, pattern: str, line: str) -> str:
    """The text with `line` behind the last match of `pattern`."""
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    if not matches:
        refuse(f"No place for `{line}`.")
    end = matches[-1].end()
    return f"{text[:end]}{line}\n{text[end:]}"


def left_to_do(*places: Path) -> str:
    """One line: what the author does next."""
    files = " ".join(path.relative_to(ROOT).as_posix() for path in places)
    then = "`make fix`, `make test`, `make check` and `make lines CHANGED=1`"
    return f"Left to do: fill in what `grep -n '{BLANK}' {files}` shows, then {then}."

"""The commands that a capture runs, and the command that a person should try next."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.shell.terminal import own_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.shell.capture.build import Build
    from ttnn_mcp.shell.capture.failures import Fault
    from ttnn_mcp.shell.capture.target import UserCommand

RECORDED = Path(__file__).with_name("recorded.py")
QUIETLY = "--no-web-server"  # 0.81: else a server for a browser outlives the run


def under_tracy(target: UserCommand, build: Build, options: Sequence[str], status_file: Path) -> list[str]:
    """The command under Tracy; the status of the user's command lands in the file.

    Tracy joins the words to one line for a shell, and goes on whatever that line ends with. So the words are quoted
    for that shell, and the line tells how the command ended.

    Raises:
        ArgumentsInvalid: this tt-metal's Tracy has no such option.
    """
    unknown = [option for option in options if option.partition("=")[0] not in build.options]
    if unknown:
        raise ArgumentsInvalid(f"Tracy of this tt-metal has no option {shown(unknown[0])}: leave it out.")
    quiet = [QUIETLY] if QUIETLY in build.options else []
    start = [target.python, "-m", "tracy", "-r", "-p", *quiet, *options]
    if not build.joins:
        return [*start, *target.words]
    ending = f"; status=$?; echo $status > {shlex.quote(str(status_file))}; exit $status"
    return [*start, *map(shlex.quote, target.words), ending]


def recording(target: UserCommand, folder: Path) -> list[str]:
    """The command while TTNN records its memory."""
    return [target.python, str(RECORDED), str(folder), *target.words]


def again(failure: Fault, build: Build, options: Sequence[str], memory: bool, command: Sequence[str]) -> str:
    """The next command after a failure: the same, with the options that this Tracy has and without what disturbs."""
    changed = {option.partition("=")[0] for option in failure.tracy}
    tracy = [option for option in options if option.partition("=")[0] not in changed]
    tracy += [option for option in failure.tracy if option.partition("=")[0] in build.options]
    words = [*(["--memory"] if memory else []), *(f"--tracy={option}" for option in tracy), "--", *command]
    unset = [word for name in failure.without if name in os.environ for word in ("-u", name)]
    start = f"{shlex.join(['env', *unset])} " if unset else ""
    return f"{start}{own_name()} profile {shlex.join(words)}"

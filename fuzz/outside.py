"""What a server process is seen to do from outside: its answers, its time, its memory, its open files."""

from __future__ import annotations

import json
import os
from pathlib import Path

from fuzz import doors, verdict
from fuzz.verdict import Flaw
from fuzz.worker import TICKS

PNG = "iVBORw0KGgo"  # how the eight bytes that begin each PNG begin in base64
PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


def judged(tool, answer):
    """Status and flaws of one JSON-RPC answer to tools/call."""
    if "error" in answer:
        said = str(answer["error"].get("message", ""))
        return "refusal", verdict.sentence_flaws(tool, said)
    result = answer.get("result", {})
    first, *others = result.get("content", ()) or ({},)
    if first.get("type") != "text" or len(others) > 1 or not all(map(_is_png, others)):
        return "failure", [Flaw("content", tool, ", ".join(str(block.get("type")) for block in (first, *others)))]
    text = first.get("text", "")
    if result.get("isError"):
        return "refusal", verdict.sentence_flaws(tool, text)
    if tool in doors.pages():
        found = verdict.page_flaws(tool, text)
        return "answer", [*found, Flaw("two answers", tool)] if "structuredContent" in result else found
    found = verdict.flaws(tool, text)
    if not found and json.loads(text) != result.get("structuredContent"):
        found = [Flaw("two answers", tool, "text and structured content differ")]
    return "answer", found


def _is_png(block):
    """The picture that an answer may carry, where matplotlib is there."""
    return block.get("type") == "image" and str(block.get("data")).startswith(PNG)


def processor_seconds(pid):
    """CPU seconds of a process so far."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / TICKS


def memory_kb(pid):
    """Memory that the process holds now."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE_KB
    except (OSError, IndexError):
        return 0


def open_files(pid):
    """How many files it has open."""
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0

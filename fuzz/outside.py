"""What a server process is seen to do from outside: its answers, its time, its memory, its open files."""

from __future__ import annotations

import json
import os
from pathlib import Path

from fuzz import doors, verdict
from fuzz.verdict import Flaw
from fuzz.worker import TICKS

PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


def judged(tool, answer):
    """Status and flaws of one JSON-RPC answer to tools/call."""
    if "error" in answer:
        said = str(answer["error"].get("message", ""))
        return "refusal", verdict.sentence_flaws(tool, said)
    result = answer.get("result", {})
    texts = [block.get("text", "") for block in result.get("content", ())]
    if len(texts) != 1:
        return "failure", [Flaw("content", tool, f"{len(texts)} blocks")]
    if result.get("isError"):
        return "refusal", verdict.sentence_flaws(tool, texts[0])
    if tool in doors.pages():
        found = verdict.page_flaws(tool, texts[0])
        return "answer", [*found, Flaw("two answers", tool)] if "structuredContent" in result else found
    found = verdict.flaws(tool, texts[0])
    if not found and json.loads(texts[0]) != result.get("structuredContent"):
        found = [Flaw("two answers", tool, "text and structured content differ")]
    return "answer", found


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

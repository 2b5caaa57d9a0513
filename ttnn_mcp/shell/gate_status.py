"""The exit status of a command that failed: of the gate, 1 is a judged regression and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

FAILED = 1
CANNOT_JUDGE = 2
SKIP = 125  # `git bisect run` skips a commit that ends so
USAGE = 2  # as argparse reports a word that it does not know
_BISECT = "--bisect"
_SHORTEST = len("--bi")  # argparse takes it for --bisect; --b could be --baseline


def status_of_failure(command: str | None, words: Sequence[str]) -> int:
    """For a refusal, a bug, or an answer that cannot be written; `words` are those of the command line."""
    if command != "gate":
        return FAILED
    return SKIP if _bisects(words) else CANNOT_JUDGE


def status_of_usage(words: Sequence[str]) -> int:
    """For words that the parser refuses, maybe before it knows the command."""
    return SKIP if "gate" in words and _bisects(words) else USAGE


def _bisects(words: Sequence[str]) -> bool:
    return any(len(word) >= _SHORTEST and _BISECT.startswith(word) for word in words)

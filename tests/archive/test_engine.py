"""What an archive's engine says in our words, what it leaves to others, and what it is shown of a place."""

import pytest

from tests.for_all import for_all
from ttnn_mcp.archive.engine import failing_as_ours
from ttnn_mcp.errors import ArchiveUnusable


class BotoCoreError(Exception):
    """As the client of an object store raises it."""


BotoCoreError.__module__ = "botocore.exceptions"


def raised(failed):
    with failing_as_ours("read", "/shared/archive"):
        raise failed


@for_all(
    ("failed", "said"),
    [
        (
            PermissionError(13, "Permission denied"),
            r"^The archive /shared/archive cannot be read \(Permission denied\)\.",
        ),
        (OSError("a text of ours to nobody"), r"^The archive /shared/archive cannot be read\. Check"),
        (BotoCoreError("s3cret"), r"^The archive /shared/archive cannot be read\. Check"),
        (MemoryError(), "^Memory ran short at the archive /shared/archive"),
        (ImportError("no", name="duckdb"), r"needs the package duckdb.*ttnn-mcp\[archive\]"),
        (ArchiveUnusable("as it was."), r"^as it was\.$"),
    ],
)
def test_what_a_place_raises_is_told_in_our_words(failed, said):
    with pytest.raises(ArchiveUnusable, match=said):
        raised(failed)


def test_a_bug_of_ours_is_not_told_as_a_fault_of_the_archive():
    with pytest.raises(ValueError, match="mine"):
        raised(ValueError("mine"))

"""The words of a signpost's name, and what they say: that something begins, that it ends.

A model's authors write `layer_0_start`, `Layer0Start`, `layer 0: start` or `LAYER-0-START`; all hold the same words.
"""

from __future__ import annotations

import re

# tt-metal's demos write 'start', 'stop', 'step_3_start', 'step_3_end'; a real report has 'TTBasicBlock forward
# started', '... finished', 'OFT block ended'. The other forms are those of the same words and of begin and done.
BEGINS = frozenset(("start", "starts", "started", "begin", "begins", "began"))
ENDS = frozenset(
    ("end", "ends", "ended", "stop", "stops", "stopped", "done", "finish", "finishes", "finished", "finishing")
)
NUMBER = "#"
# Between two words without a sign: layerStart, TTBlock (TT, Block), layer0, 0start.
_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)")
_WORD = re.compile(r"[^\W_]+")


def words_of(name: str) -> list[str]:
    """The words and numbers of a name in lower case: `layer`, `0`, `start` of `layer_0_start` and of `Layer0Start`."""
    return [word.lower() for word in _WORD.findall(_SEAM.sub(" ", name))]


def begins(name: str) -> bool:
    """Whether a name says that something begins."""
    return _edge(name) in BEGINS


def ends(name: str) -> bool:
    """Whether a name says that something ends."""
    return _edge(name) in ENDS


def stem_of(name: str) -> str:
    """The words without those that say begin or end, `#` for a number: what the marks of equal parts share."""
    words = [word for word in words_of(name) if word not in BEGINS | ENDS]
    return " ".join(NUMBER if word.isdigit() else word for word in words)


def _edge(name: str) -> str:
    """The last word that says begin or end: `end_to_end_start` begins something."""
    return next((word for word in reversed(words_of(name)) if word in BEGINS | ENDS), "")

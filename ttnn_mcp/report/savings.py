"""A saving in words: what to expect and what that rests on, and the bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def saving_words(saving: Mapping[str, Any], spoken: Callable[[float], str]) -> str:
    """'expected 164 us (150 to 176 in 8 of 10; law: ...), at most 206 us'; `spoken` tells microseconds.

    A least saving of nothing says nothing and is left out.
    """
    least, most = saving.get("at_least"), f"at most {spoken(saving['at_most'])}"
    bounds = f"at least {spoken(least)}, {most}" if least else most
    if saving.get("expected") is None:
        return f"{bounds} (a trial: how much is not known)" if saving["at_most"] else bounds
    low, high = map(spoken, saving["interval"])
    likely = "" if low == high else f"{low} to {high} in 8 of 10; "
    return f"expected {spoken(saving['expected'])} ({likely}{saving['basis']}), {bounds}"

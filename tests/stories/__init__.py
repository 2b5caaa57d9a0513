"""Stories that no check was written for: the hold-out of the back-test, made from public figures."""

from __future__ import annotations

from tests.stories.attention import ATTENTION
from tests.stories.conversions import CONVERSIONS
from tests.stories.decoding import DECODING
from tests.stories.layouts import LAYOUTS
from tests.stories.matmuls import MATMULS
from tests.stories.spread import SPREAD
from tests.stories.systems import SYSTEMS

STORIES = (*ATTENTION, *MATMULS, *LAYOUTS, *SYSTEMS, *DECODING, *CONVERSIONS, *SPREAD)
__all__ = ["STORIES"]

"""Stories that no check was written for: the hold-out of the back-test, made from public figures."""

from __future__ import annotations

from tests.stories.attention import ATTENTION
from tests.stories.blackholes import BLACKHOLES
from tests.stories.conversions import CONVERSIONS
from tests.stories.decoding import DECODING
from tests.stories.layouts import LAYOUTS
from tests.stories.matmuls import MATMULS
from tests.stories.ports import PORTS
from tests.stories.serving import SERVING
from tests.stories.speech import SPEECH
from tests.stories.spread import SPREAD
from tests.stories.systems import SYSTEMS
from tests.stories.vision import VISION

EARLIER = (*ATTENTION, *MATMULS, *LAYOUTS, *SYSTEMS)
FURTHER = (*DECODING, *CONVERSIONS, *SPREAD)  # first shown to checks that the earlier ones had mended
THIRD = (*PORTS, *SERVING)  # first shown to checks that both others had mended
FOURTH = (*VISION, *SPEECH, *BLACKHOLES)  # first shown to checks that all of them had mended
STORIES = (*EARLIER, *FURTHER, *THIRD, *FOURTH)
__all__ = ["EARLIER", "FOURTH", "FURTHER", "STORIES", "THIRD"]

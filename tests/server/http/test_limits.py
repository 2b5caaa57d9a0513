"""The limits that the page for labs promises are those of the server."""

import re

from tests.for_all import for_all
from tests.house.tree import ROOT
from ttnn_mcp.server.http import arrivals, serving, shares, streams, turns

PAGE = " ".join((ROOT / "resources" / "lab-server.md").read_text(encoding="utf-8").split())


@for_all(
    ("module", "name", "promise"),
    [
        (turns, "AT_ONCE", r"answered at the same time \| (\d+) \|"),
        (turns, "WAITING", r"more of them that wait \| (\d+);"),
        (turns, "ARRIVAL_S", r"must arrive within (\d+) s"),
        (serving, "SESSIONS", r"sessions that are open \| ([\d,]+);"),
        (shares, "SESSIONS_OF_CLIENT", r"of them one client's \| (\d+);"),
        (serving, "DRAIN_S", r"SIGTERM lets .* finish, for at most (\d+) seconds"),
        (streams, "LOOKED_AT_EVERY_S", r"a stream that was opened with it ends within (\d+) seconds"),
    ],
)
def test_a_limit_is_the_promised_one(module, name, promise):
    assert getattr(module, name) == float(re.search(promise, PAGE).group(1).replace(",", ""))


def test_a_request_may_be_as_long_as_promised():
    assert int(re.search(r"request \| (\d+) MiB", PAGE).group(1)) << 20 == arrivals.MOST_BYTES


def test_a_session_ends_after_the_promised_hour_of_silence():
    assert "one ends after an hour of silence" in PAGE
    assert shares.IDLE_S == serving.IDLE_S == 60 * 60

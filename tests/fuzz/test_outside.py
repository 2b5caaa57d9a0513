"""What the fuzz takes for an answer of a server."""

from fuzz.outside import judged
from tests.for_all import for_all

REFUSAL = {"type": "text", "text": "There is no run 'x'. Call list_runs."}
PICTURE = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAA"}


@for_all("content", [[REFUSAL], [REFUSAL, PICTURE]])
def test_one_text_and_at_most_one_picture_behind_it_are_an_answer(content):
    assert judged("time_budget", {"result": {"isError": True, "content": content}}) == ("refusal", [])


@for_all(
    ("content", "blocks"),
    [
        ([], "None"),
        ([PICTURE], "image"),
        ([REFUSAL, REFUSAL], "text, text"),
        ([REFUSAL, PICTURE, PICTURE], "text, image, image"),
        ([REFUSAL, PICTURE | {"data": "R0lGOD"}], "text, image"),
    ],
)
def test_other_contents_are_failures(content, blocks):
    status, [flaw] = judged("time_budget", {"result": {"content": content}})
    assert (status, flaw.kind, flaw.detail) == ("failure", "content", blocks)

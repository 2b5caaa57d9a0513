"""The words of signposts, however their authors join them."""

from tests.for_all import for_all
from ttnn_mcp.run.signpost_words import BEGINS, ENDS, begins, ends, stem_of, words_of


@for_all(
    "name",
    [
        *("layer_0_start", "layer 0 start", "layer-0-start", "layer.0.start", "layer/0: start", "layer[0].start"),
        *("Layer0Start", "LAYER_0_START", "layer0start"),
    ],
)
def test_names_are_joined_in_many_ways(name):
    assert words_of(name) == ["layer", "0", "start"]
    assert (begins(name), ends(name), stem_of(name)) == (True, False, "layer #")


@for_all(
    ("name", "words"),
    [
        ("TTBasicBlock", ["tt", "basic", "block"]),
        ("MLPEnd", ["mlp", "end"]),
        ("block12Done", ["block", "12", "done"]),
        ("décodeurFin", ["décodeur", "fin"]),
        ("__", []),
        ("", []),
    ],
)
def test_capitals_and_numbers_part_words(name, words):
    assert words_of(name) == words


@for_all(
    ("name", "begin", "end"),
    [
        ("layer_0_end", False, True),
        ("TTBasicBlock forward started", True, False),
        ("OFT block ended", False, True),
        ("end of layer 3", False, True),
        ("end_to_end_start", True, False),
        ("start of the end", False, True),
        ("layer 3", False, False),
        ("weekend", False, False),
        ("restart", False, False),
        ("appended", False, False),
    ],
)
def test_the_last_word_that_tells_an_edge_decides(name, begin, end):
    assert (begins(name), ends(name)) == (begin, end)


@for_all("begin", ["start", "starts", "started", "begin", "begins", "began"])
def test_words_that_begin(begin):
    assert begins(f"block_{begin}")
    assert stem_of(f"block_{begin}_7") == "block #"


@for_all(
    "end",
    ["end", "ends", "ended", "stop", "stops", "stopped", "done", "finish", "finishes", "finished", "finishing"],
)
def test_words_that_end(end):
    assert ends(f"{end}Block")
    assert stem_of(f"block_{end}") == "block"


def test_no_word_does_both():
    assert not BEGINS & ENDS

"""Text of a profile in a comment: GitHub makes no mention, link or emoji of it."""

from tests.for_all import for_all
from ttnn_mcp.shell.markdown import text

GAP = "\u200b"


@for_all(
    ("written", "shown"),
    [
        ("ask @octocat", f"ask \\@{GAP}octocat"),
        ("see #12", f"see \\#{GAP}12"),
        ("owner/name#7", f"owner/name\\#{GAP}7"),
        ("GH-5 gh-6", f"GH-{GAP}5 gh-{GAP}6"),
        (":smile: :+1:", f":{GAP}smile: :{GAP}+1:"),
        ("https://a.b", f"https{GAP}://a.b"),
        ("$x$ $ 5", f"\\${GAP}x\\$ \\$ 5"),
        ("@_team", f"\\@{GAP}\\_team"),
        ("www.a.b", f"www{GAP}.a.b"),
        ("me@a.b", f"me\\@{GAP}a.b"),
        (
            "0123456789abcdef0123456789abcdef01234567",
            GAP.join(("012345", "6789ab", "cdef01", "234567", "89abcd", "ef0123", "4567", "")),
        ),
    ],
)
def test_what_would_become_a_link_has_an_unseen_gap(written, shown):
    assert text(written) == shown


@for_all(
    "plain", ["1073741824 B", "run deadbeef", "ttnn::matmul", "1:2", "weights (BFLOAT8_B)", "a - b", "in0_block_w"]
)
def test_other_text_stays_as_it_is(plain):
    assert text(plain) == plain


def test_marks_of_markdown_are_shown():
    assert text("__init__ a__b x_") == "\\_\\_init\\_\\_ a\\_\\_b x\\_"
    assert text("a|b *c* [d](e) <f> `g`") == "a\\|b \\*c\\* \\[d\\](e) \\<f\\> \\`g\\`"

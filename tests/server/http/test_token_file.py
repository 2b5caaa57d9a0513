"""Tokens: what a file of them may look like, and that a change of it counts at once."""

import asyncio
import os
from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.server.http import token_file
from ttnn_mcp.server.http.token_file import LEAST_CHARACTERS, MOST_BYTES, TokenFile

ADA, BOB = "a" * LEAST_CHARACTERS, "b" * LEAST_CHARACTERS


@pytest.fixture
def written(tmp_path):
    """Write a token file that only its owner may read."""

    def write(text):
        path = tmp_path / "tokens"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(0o600)
        return path

    return write


async def test_each_token_is_known_by_its_name_and_nothing_else_is(written):
    tokens = TokenFile(written(f"# our lab\nada {ADA}\n\n  bob\t{BOB}  \n"))
    assert [(await tokens.verify_token(text)).client_id for text in (ADA, BOB)] == ["ada", "bob"]
    for unknown in ("", "ada", ADA[:-1], ADA + "a", ADA.upper(), f"ada {ADA}", "\udcff"):
        assert await tokens.verify_token(unknown) is None


def test_one_person_may_have_several_tokens(written):
    tokens = TokenFile(written(f"ada {ADA}\nada {BOB}\n"))
    assert tokens.owner(ADA) == tokens.owner(BOB) == "ada"


@for_all(
    ("text", "says"),
    [
        ("", "holds no token"),
        ("# nobody yet\n", "holds no token"),
        ("ada\n", "Line 1 .* is no 'NAME TOKEN'"),
        (f"ada {ADA}\nbob {BOB} x\n", "Line 2 .* is no 'NAME TOKEN'"),
        (f"ada {'ä' * LEAST_CHARACTERS}\n", "in ASCII"),
        (f"ada {ADA[:-1]}\n", "fewer than 20 characters"),
        (f"ada {ADA}\nbob {ADA}\n", "Line 2 .* repeats a token"),
        (b"\xff\xfe" * 10, "is no 'NAME TOKEN'"),
        ("#" * (MOST_BYTES + 1), "more than"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_line(written, text, says):
    with pytest.raises(ArgumentsInvalid, match=says):
        TokenFile(written(text))


@for_all("mode", [0o640, 0o604, 0o620])
def test_a_file_that_others_may_touch_is_refused(written, mode):
    path = written(f"ada {ADA}\n")
    path.chmod(mode)
    with pytest.raises(ArgumentsInvalid, match="chmod 600"):
        TokenFile(path)


def test_where_files_have_no_such_modes_they_are_not_looked_at(written, monkeypatch):
    path = written(f"ada {ADA}\n")
    path.chmod(0o666)  # of every file on Windows
    monkeypatch.setattr(token_file, "os", SimpleNamespace(name="nt", fstat=os.fstat))
    assert TokenFile(path).owner(ADA) == "ada"


def test_a_file_that_is_missing_or_no_file_is_refused(tmp_path):
    with pytest.raises(ArgumentsInvalid, match="No such file"):
        TokenFile(tmp_path / "none")
    with pytest.raises(ArgumentsInvalid, match="not a regular file"):
        TokenFile(tmp_path)


async def test_a_pipe_is_refused_and_nobody_waits_for_its_tokens(tmp_path):
    pipe = tmp_path / "tokens"
    os.mkfifo(pipe, 0o600)
    with pytest.raises(ArgumentsInvalid, match="not a regular file"):
        await asyncio.wait_for(asyncio.to_thread(TokenFile, pipe), 10)


def test_ten_thousand_people_fit_in_a_file(written):
    """Each with a name of 55 characters and a token of `secrets.token_urlsafe`, which has 43."""
    tokens = TokenFile(written("\n".join(f"{number:0>55} {number:A>43}" for number in range(10_000))))
    assert tokens.owner("A" * 42 + "7") == "0" * 54 + "7"


def test_who_is_taken_out_is_refused_and_who_comes_is_let_in_without_a_restart(written):
    path = written(f"ada {ADA}\n")
    tokens = TokenFile(path)
    assert (tokens.owner(ADA), tokens.owner(BOB)) == ("ada", None)
    written(f"bob {BOB}\n")
    assert (tokens.owner(ADA), tokens.owner(BOB)) == (None, "bob")


def test_while_the_file_is_gone_or_broken_nobody_is_let_in(written, caplog):
    path = written(f"ada {ADA}\n")
    tokens = TokenFile(path)
    path.unlink()
    assert tokens.owner(ADA) is None
    assert tokens.owner(ADA) is None
    assert caplog.text.count("nobody is let in") == 1  # said once, not for each request
    written("ada\n")
    assert tokens.owner(ADA) is None
    written(f"ada {ADA}\n")
    assert tokens.owner(ADA) == "ada"
    path.chmod(0o644)
    assert tokens.owner(ADA) is None

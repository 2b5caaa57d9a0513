"""Tokens of those who may ask over HTTP: one `NAME TOKEN` per line of a file, which may change while we serve."""

from __future__ import annotations

import logging
import os
import stat
from hashlib import sha256
from pathlib import Path

from mcp.server.auth.provider import AccessToken

from ttnn_mcp.errors import ArgumentsInvalid, shown_path
from ttnn_mcp.readers.regular_file import opened

logger = logging.getLogger(__name__)

LEAST_CHARACTERS = 20  # of a token: 120 bits in base64; OAuth asks for 128 (RFC 6749, section 10.10)
MOST_BYTES = 1_000_000  # of the file
NEW_TOKEN = "python3 -c 'import secrets; print(secrets.token_urlsafe())'"  # noqa: S105 - a command, not a token


class TokenFile:
    """The tokens of a file. It is read again when it changes: whoever was taken out is refused from then on.

    Only digests are held, and a token is found by its digest: how long that takes tells nothing about a token.
    """

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            ArgumentsInvalid: it cannot be used.
        """
        self._path = path
        self._stamp = _stamp(path)
        self._names = _read(path)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who sends this token; None if nobody may. The SDK calls it for every request."""
        name = self.owner(token)
        return None if name is None else AccessToken(token="", client_id=name, scopes=[])

    def owner(self, token: str) -> str | None:
        """The name beside a token; None if it is in the file no longer, or never was."""
        stamp = _stamp(self._path)
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._names = _read(self._path)
            except ArgumentsInvalid as unusable:
                self._names = {}
                logger.warning("%s Until then nobody is let in.", unusable)
        return self._names.get(_digest(token))


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino, state.st_mode


def _read(path: Path) -> dict[bytes, str]:
    """Names by the digests of their tokens.

    Raises:
        ArgumentsInvalid: the file is missing, open to others, or a line is no name with a token.
    """
    written = shown_path(path)
    try:
        with opened(path) as file:
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise ArgumentsInvalid(f"Others may read or write the token file {written}: chmod 600 it.")
            content = file.read(MOST_BYTES + 1)
    except OSError as failed:
        raise ArgumentsInvalid(f"The token file {written} cannot be read: {failed.strerror}.") from None
    if len(content) > MOST_BYTES:
        raise ArgumentsInvalid(f"The token file {written} has more than {MOST_BYTES} bytes.")
    names: dict[bytes, str] = {}
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            _add(names, line.split(), f"Line {number} of the token file {written}")
    if not names:
        raise ArgumentsInvalid(
            f"The token file {written} holds no token. Write one 'NAME TOKEN' per line; {NEW_TOKEN} makes one."
        )
    return names


def _add(names: dict[bytes, str], words: list[str], place: str) -> None:
    if len(words) != 2 or not words[1].isascii():
        raise ArgumentsInvalid(f"{place} is no 'NAME TOKEN': two words, the token in ASCII.")
    name, token = words
    if len(token) < LEAST_CHARACTERS:
        raise ArgumentsInvalid(
            f"{place}: the token has fewer than {LEAST_CHARACTERS} characters. {NEW_TOKEN} makes a good one."
        )
    if _digest(token) in names:
        raise ArgumentsInvalid(f"{place} repeats a token: each person needs one of their own.")
    names[_digest(token)] = name

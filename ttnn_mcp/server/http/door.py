"""Where HTTP is served, and who may ask: the options of `serve --http`, checked together.

Nothing heavy is imported here: the command line is read with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.records import dataclass

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Door:
    """Where HTTP is served, and who may ask.

    Attributes:
        host: the address to listen on, without brackets.
        port: 0 takes any free one.
        tokens: the file of the tokens, one of which every request must carry; None asks for none.
        hosts: names under which a proxy serves us, beside our own address.
        origins: web pages that may ask, as `scheme://host[:port]`.
    """

    host: str
    port: int
    tokens: Path | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the address."""
        from ipaddress import ip_address  # noqa: PLC0415

        return self.host == "localhost" or ip_address(self.host).is_loopback

    @property
    def shown_host(self) -> str:
        """The host as it stands in an address."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def allowed_hosts(self) -> list[str]:
        """The Host headers that are answered; an empty list answers all of them.

        A web page elsewhere can point its own name at our address (DNS rebinding). Its Host header gives it away, and
        so does the missing token. So every Host is answered only where tokens are asked for and we listen on all
        addresses, whose names we cannot know.
        """
        if self.tokens and not self.hosts and self.host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
            return []
        names = dict.fromkeys((*LOOPBACK, self.shown_host, *self.hosts))
        return [form for name in names for form in (name, f"{name}:*")]

    @property
    def allowed_origins(self) -> list[str]:
        """The Origin headers that are answered where one is sent; web browsers send it."""
        own = [f"http://{name}:*" for name in (*LOOPBACK, self.shown_host)]
        return [*dict.fromkeys((*own, *self.origins))]


def door(address: str, tokens: Path | None = None, hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> Door:
    """The door that the command line asks for.

    Args:
        address: HOST:PORT; an empty host is 127.0.0.1.
        tokens: the file of the tokens.
        hosts: names of --allow-host.
        origins: web pages of --allow-origin.

    Raises:
        ArgumentsInvalid: something is malformed, or others could reach a server without a token.
    """
    from ipaddress import ip_address  # noqa: PLC0415

    host, _, port = address.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not (port.isascii() and port.isdigit()) or int(port[:6]) > 65535:
        raise ArgumentsInvalid(f"--http wants HOST:PORT, such as 127.0.0.1:8765, not '{shown(address)}'.")
    try:
        ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise ArgumentsInvalid(
            f"--http wants an address of this machine, such as 127.0.0.1 or 0.0.0.0, not '{shown(host)}'. "
            "A name for it goes to --allow-host."
        ) from None
    asked = Door(host, int(port), tokens, tuple(map(_host, hosts)), tuple(map(_origin, origins)))
    if not (asked.local or tokens or hosts):
        raise ArgumentsInvalid(
            f"Others can reach '{shown(host)}', so --http needs --token-file there, or a proxy that decides who may "
            "ask (--allow-host NAME). Alone, serve on 127.0.0.1 and forward the port with ssh -L."
        )
    return asked


def _host(name: str) -> str:
    parts = urlsplit(f"//{name}")
    if not parts.hostname or parts.netloc != name or parts.username is not None or any(map(str.isspace, name)):
        raise ArgumentsInvalid(f"--allow-host wants a name such as lab.example.org, not '{shown(name)}'.")
    return name


def _origin(written: str) -> str:
    parts = urlsplit(written)
    if parts.scheme not in ("http", "https") or f"{parts.scheme}://{parts.netloc}" != written or not parts.hostname:
        raise ArgumentsInvalid(f"--allow-origin wants https://HOST or https://HOST:PORT, not '{shown(written)}'.")
    return written

"""The door: nobody beyond this machine gets in without a token or a proxy."""

from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.server.http.door import Door, door

TOKENS = Path("tokens")


@for_all(
    ("address", "host", "port"),
    [
        ("127.0.0.1:8765", "127.0.0.1", 8765),
        (":0", "127.0.0.1", 0),
        ("localhost:80", "localhost", 80),
        ("[::1]:65535", "::1", 65535),
        ("127.8.0.1:1", "127.8.0.1", 1),
    ],
)
def test_this_machine_needs_no_token(address, host, port):
    asked = door(address)
    assert (asked.host, asked.port, asked.local) == (host, port, True)


@for_all("address", ["0.0.0.0:80", "[::]:80", "10.0.0.7:80", "192.168.1.1:80", "[fe80::1]:80"])
def test_other_machines_need_a_token_or_a_proxy(address):
    with pytest.raises(ArgumentsInvalid, match=r"--token-file .*--allow-host"):
        door(address)
    with pytest.raises(ArgumentsInvalid, match="--token-file"):
        door(address, origins=["https://lab.example.org"])
    assert not door(address, TOKENS).local
    assert not door(address, hosts=["lab.example.org"]).local


@for_all("address", ["", "127.0.0.1", "127.0.0.1:", "127.0.0.1:-1", "127.0.0.1:65536", ":٣"])
def test_an_address_has_a_port(address):
    with pytest.raises(ArgumentsInvalid, match="HOST:PORT"):
        door(address)


@for_all("address", ["lab.example.org:80", "1.2.3:80", "host name:80", "*:80"])
def test_a_host_is_an_address_of_this_machine(address):
    with pytest.raises(ArgumentsInvalid, match="an address of this machine"):
        door(address)


@for_all("name", ["", "https://lab", "lab/mcp", "a b", "user@lab"])
def test_a_proxys_name_is_a_host(name):
    with pytest.raises(ArgumentsInvalid, match="--allow-host"):
        door(":0", hosts=[name])


@for_all("origin", ["", "lab.example.org", "https://lab/", "ftp://lab", "https://", "null", "*"])
def test_a_web_page_is_an_origin(origin):
    with pytest.raises(ArgumentsInvalid, match="--allow-origin"):
        door(":0", origins=[origin])


@for_all("everywhere", ["0.0.0.0", "::"])  # noqa: S104 - nothing is bound
def test_every_name_is_answered_only_to_those_who_show_a_token(everywhere):
    assert Door(everywhere, 80, TOKENS).allowed_hosts == []
    assert Door(everywhere, 80).allowed_hosts  # `door` makes none such: a page of another name could ask it


def test_the_names_that_are_answered():
    assert door(":0").allowed_hosts == [
        form for name in ("127.0.0.1", "localhost", "[::1]") for form in (name, f"{name}:*")
    ]
    proxied = door("10.0.0.7:80", hosts=["lab.example.org"])
    assert {"10.0.0.7", "lab.example.org", "lab.example.org:*"} <= set(proxied.allowed_hosts)
    assert door("0.0.0.0:80", TOKENS).allowed_hosts == []  # whichever name this machine has: the token decides
    assert door("0.0.0.0:80", TOKENS, ["lab"]).allowed_hosts
    assert door("10.0.0.7:80", TOKENS).allowed_hosts
    assert "https://lab" in door(":0", origins=["https://lab"]).allowed_origins

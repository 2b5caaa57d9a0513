"""Several clients with tokens at one server over HTTP: each has its own names and its own log of experiments."""

from __future__ import annotations

import json

from fuzz import doors
from fuzz.outside import judged
from fuzz.verdict import Flaw
from tests.pairs import Model, write

CLIENTS = {
    "ada": "ada-token-0123456789abcdef",
    "bob": "bob-token-0123456789abcdef",
    "eve": "eve-token-0123456789abcdef",
}
NAMES = ("main", "base", "x")


def run(sitting):
    """Calls of clients in turn until the time is up; what each has named and recorded is known here."""
    home, root = sitting.folder / "home", sitting.folder / "root"
    for place in (home, root):
        place.mkdir()
    runs = [write(root / f"run{at}", Model(layers=1, up_ns=up)) for at, up in enumerate((90_000, 60_000, 75_000))]
    tokens = home / "tokens"
    tokens.write_text("".join(f"{name} {token}\n" for name, token in CLIENTS.items()), encoding="utf-8")
    tokens.chmod(0o600)
    server = doors.Http(home, root, home / "state", "--token-file", str(tokens))
    named = {client: {} for client in CLIENTS}
    try:
        for number in sitting.numbers():
            asked(sitting, server, sitting.random(number), runs, named)
    except doors.Gone as gone:
        sitting.count("failure", [Flaw("server gone", "clients", str(gone))], "clients")
    finally:
        server.close()


def asked(sitting, server, rng, runs, named):
    """One call of one client, and whether the answer is about that client's own."""
    client, name, place = rng.choice(list(CLIENTS)), rng.choice(NAMES), rng.choice(runs)
    mine, kind = named[client], rng.randrange(4)
    if rng.random() < 0.02:
        wrong = server.request(
            "tools/call", {"name": "list_runs", "arguments": {}}, "list_runs", token=f"{CLIENTS[client]}x"
        )
        sitting.count(
            "refusal", [] if wrong[0] == 401 else [Flaw("no token", "clients", str(wrong)[:200])], "list_runs"
        )
    if kind == 0:
        tool, arguments = (
            "open_run",
            {"run": place, "name": name, **({"move_name": True} if name in mine or place in mine.values() else {})},
        )
    elif kind == 1:
        tool, arguments = "open_run", {"run": name}
    elif kind == 2:
        tool, arguments = (
            "experiments",
            {
                "action": "record",
                "change": f"{client} {rng.random()}",
                "pcc": 0.9995,
                "baseline": runs[0],
                "candidate": runs[1],
            },
        )
    else:
        tool, arguments = "experiments", {"action": "list"}
    status, body = server.request("tools/call", {"name": tool, "arguments": arguments}, tool, token=CLIENTS[client])
    answer = json.loads(body)
    outcome, flaws = judged(tool, answer)
    text = body
    if status != 200:
        flaws.append(Flaw("HTTP status", tool, str(status)))
    if kind == 0 and outcome == "answer":
        for old in [each for each, run in mine.items() if run == place or each == name]:
            del mine[old]  # a run has one name
        mine[name] = place
    elif kind == 1 and (name in mine) != (outcome == "answer"):
        flaws.append(Flaw("another's name", tool, f"{client} {name}: {text[:150]}"))
    others = [other for other in CLIENTS if other != client and f'"{other} ' in text.replace("\\", "")]
    if others:
        flaws.append(Flaw("another's log", tool, f"{client} reads of {others[0]}"))
    sitting.count(outcome, flaws, tool)

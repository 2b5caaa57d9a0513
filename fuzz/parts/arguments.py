"""Arguments by schema, a third of them junk, and lines that are no protocol, over stdio to a real server."""

from __future__ import annotations

import contextlib
import json
import re

from fuzz import doors, values
from fuzz.outside import judged, memory_kb, processor_seconds
from fuzz.verdict import Flaw
from fuzz.worker import CPU_SECONDS, GROWTH_KB

JUNK_SHARE = 0.3
RAW_SHARE = 0.03
RESTART_AFTER = 3000  # calls to one server
KEPT = 5  # calls before a failure that are kept with it
JUNK = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**400, 1.5, -0.0, 1e308, "", " ", "x", "0", "1", "true", "null", "nan",
    [], {}, [[]], [None], {"a": 1}, ["x"] * 1000, "/", "~", "~nosuchuser/x", "..", "./", "\x00", "a\x00b", "x" * 300, "x" * 60_000,
    "/dev/null", "/dev/zero", "/proc/self/mem", "/proc/1/root", "file:///etc/passwd", "C:\\x", "\ud800", "\u202e", "\x1b[2J",
    "demo", "DEMO", " demo", "demo/", "last", "all", "%s%s", "'; DROP TABLE runs; --",
)  # fmt: skip
LINES = (
    b"", b"{}", b"[]", b"null", b"5", b'"x"', b"{", b"\x00", b"\xff\xfe", b"[" * 20_000, b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"1.0","id":1}',
    b'{"jsonrpc":"2.0","id":1e999,"method":"tools/call"}', b'{"jsonrpc":"2.0","id":null,"method":"x"}',
    b'{"jsonrpc":"2.0","id":{},"method":5,"params":[]}', b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"list_ops"}}',
    b'{"jsonrpc":"2.0","id":"q","method":"' + b"m" * 100_000 + b'"}', b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800","arguments":{"\\u0000":1}}}',
)  # fmt: skip


def run(sitting):
    """Calls until the time is up; a server that ends or hangs is a failure, and there is a new one."""
    folder = sitting.folder
    runs = made_runs(folder / "runs")
    schemas = doors.tools()
    server = None
    last = []
    for number in sitting.numbers():
        if server is None or number % RESTART_AFTER == 0:
            if server is not None:
                server.close()
            home = folder / f"home-{number}"
            home.mkdir()
            server = doors.Stdio(home, "--root", str(folder / "runs"))
        rng = sitting.random(number)
        if rng.random() < RAW_SHARE:
            line = rng.choice(LINES)
            with contextlib.suppress(doors.Gone):
                server.raw(line)
            last.append(repr(line[:200]))
            sitting.tally["raw lines"] += 1
        tool, arguments = call_of(rng, schemas, runs)
        last = [*last[-KEPT:], (tool, arguments)]
        alive = asked(sitting, server, tool, arguments, last)
        if not alive:
            server.close()
            server = None
    if server is not None:
        server.close()


def made_runs(folder):
    """A few runs to ask about: their paths."""
    from fuzz.sources import sources

    csvs, databases, pairs = sources(folder.parent / "sources", shared=False)
    paths = []
    for source in (csvs[-1], csvs[2], databases[-2], databases[5], pairs[0]):
        place = folder / source.name
        place.mkdir(parents=True)
        source.write(place)
        paths.append(str(place))
    return paths


def call_of(rng, schemas, runs):
    """A tool and arguments that its schema takes; three in ten have junk in them."""
    tool = rng.choice(list(schemas))
    properties = schemas[tool][0].get("properties", {})
    required = schemas[tool][0].get("required", ())
    arguments = {}
    for name, schema in properties.items():
        if name in required or rng.random() < 0.45:
            arguments[name] = value_of(rng, name, schema, runs)
    if rng.random() < JUNK_SHARE:
        match rng.randrange(5):
            case 0:
                arguments[rng.choice(("limitt", "Run", "", "\x00", "run ", "__class__"))] = rng.choice(JUNK)
            case 1 if arguments:
                del arguments[rng.choice(list(arguments))]
            case _:
                arguments[rng.choice(list(properties) or ["run"])] = rng.choice(JUNK)
    return tool, arguments


def value_of(rng, name, schema, runs):
    """A value that the schema takes; texts are of the kind that the argument's name asks for."""
    schema = rng.choice(schema.get("anyOf", [schema]))
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "integer":
        least, most = schema.get("minimum", -2), schema.get("maximum", 120)
        return rng.choice((rng.randint(least, most), rng.randint(least, most), rng.randint(-(2**65), 2**65)))
    if kind == "array":
        return [value_of(rng, name, schema.get("items", {}), runs) for _ in range(rng.choice((0, 1, 2, 7)))]
    plain = {"number": (0, 0.5, 1, 1e-9, 1e300, rng.random()), "boolean": (True, False), "object": ({},)}
    return rng.choice(plain[kind]) if kind in plain else _text(rng, name, runs)


def _text(rng, name, runs):
    if name in ("run", "baseline", "candidate", "performance", "memory", "repeats", "path"):
        return rng.choice((*runs * 3, "demo", "demo", rng.choice(runs) + "/x", values.odd(rng)[:5000]))
    if name == "sql":
        return rng.choice(("SELECT 1", "SELECT * FROM ops", "SELECT * FROM tensors", values.odd(rng)[:9000]))
    usual = ("start", "stop", "matmul", "MatmulDeviceOperation", "10 ms", "SKILL", "1-7e05de60")
    return rng.choice((values.odd(rng)[:3000], *usual))


def asked(sitting, server, tool, arguments, last):
    """Make the call and count what came of it; False where the server is of no further use."""
    before, held = processor_seconds(server.pid), memory_kb(server.pid)

    def keep(place):
        (place / "calls.json").write_text(json.dumps(last, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
        return f"the last call of {place / 'calls.json'}, over stdio"

    try:
        if not _is_text(
            arguments
        ):  # JSON forbids half a surrogate pair: no server need answer, and ours must live on
            server.raw(
                json.dumps({"jsonrpc": "2.0", "id": "half", "method": "tools/call", "params": arguments}).encode()
            )
            sitting.tally["raw lines"] += 1
            tool, arguments = "list_runs", {}
        answer = server.call(tool, arguments)
    except doors.Gone as gone:
        sitting.count("failure", [Flaw("server gone", tool, f"{gone} {ascii(arguments)[:200]}")], tool, keep=keep)
        server.abort()
        return False
    status, found = judged(tool, answer)
    if found and any(flaw.kind == "unforeseen" for flaw in found):
        found = [Flaw("unforeseen", _raised(server.said()), ascii(arguments)[:300])]
    took = processor_seconds(server.pid) - before
    if took > CPU_SECONDS:
        found = [*found, Flaw("slow", tool, f"{took:.1f} s CPU")]
    if memory_kb(server.pid) - held > GROWTH_KB:
        found = [*found, Flaw("memory", tool, "1 GB more")]
    sitting.count(status, found, tool, keep=keep)
    return True


def _is_text(arguments):
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _raised(said):
    """Place and class of the last traceback in the server's stderr."""
    frames = re.findall(r'File "[^"]*?/ttnn_mcp/([^"]+)", line \d+, in (\w+|<\w+>)', said)
    error = re.findall(r"^(\w+(?:\.\w+)*)(?:: |$)", said, re.MULTILINE)
    place = [f"{path}:{name}" for path, name in frames if not path.startswith(("server/", "tools/answering"))]
    return f"{place[-1] if place else 'no traceback'} {error[-1] if error else ''}".strip()

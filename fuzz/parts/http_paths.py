"""Ways out of the served folder, tried over HTTP: nothing from outside may be told, not even a name.

Outside lies a report whose texts, folder and file names carry marks. An answer that holds a mark which the question did
not hold has told something. `/proc` gives further ways: the root, the working directory and open files of the server.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from urllib.parse import quote

from fuzz import doors
from fuzz.apart import apart
from fuzz.outside import judged, memory_kb, processor_seconds
from fuzz.verdict import Flaw, sentence_flaws
from fuzz.worker import CPU_SECONDS, GROWTH_KB
from tests.profiles import write_memory_report, write_performance_report
from tests.programs import block

MARK = "kept7apart"
HIDDEN = re.compile(MARK + r"\w*")
RUN_TOOLS = (
    "list_ops",
    "op_detail",
    "memory_summary",
    "query_run",
    "optimization_check",
    "sharding_summary",
    "tensor_formats",
    "device_balance",
)
READ = "ops_perf_results_1.csv"


def run(sitting):
    """Attempts until the time is up."""
    inside, outside = lay_out(sitting.folder)
    home = sitting.folder / "home"
    home.mkdir()
    state = sitting.folder / "state"
    ids = opened_elsewhere(sitting.folder, state, outside)
    server = doors.Http(home, inside, state)
    try:
        for number in sitting.numbers():
            rng = sitting.random(number)
            place = way(rng, inside, outside, server.pid, ids)
            if not attempt(sitting, server, rng, place):
                server.abort()
                server = doors.Http(home, inside, state)
    finally:
        server.close()


def lay_out(folder):
    """A served folder with good reports and links that lead out of it, and the folder beside it."""
    inside, outside = folder / "served", folder / f"{MARK}folder"
    for place, mark in (
        (inside / "good", ""),
        (outside / f"{MARK}run", MARK),
        (outside / f"{MARK}second", f"{MARK}op"),
    ):
        program = block()
        if mark:
            for op in program.device_ops:
                object.__setattr__(op, "op_code", f"{mark}{op.op_code}")
        csv = write_performance_report(place / "made", program)
        csv.replace(place / READ)
        write_memory_report(place, program, name=f"{mark}report")
    (outside / f"{MARK}experiments.json").write_text(json.dumps({"format": f"{MARK}x"}), encoding="utf-8")
    hidden = outside / f"{MARK}run"
    links = {
        "link-folder": outside, "link-run": hidden, "link-up": Path(".."), "link-root": Path("/"), "link-proc": Path("/proc/self/root"),
        "link-loop": Path("link-loop"), "link-there": Path("nowhere"),
    }  # fmt: skip
    unlisted = inside / "tensors"  # discovery passes it by; else every call would walk the whole machine
    unlisted.mkdir()
    for name, target in links.items():
        (inside / name if target == hidden or name == "link-loop" else unlisted / name).symlink_to(target)
    for name, source in (("csv", READ), ("db", "db.sqlite")):
        place = inside / f"linked-{name}"
        place.mkdir()
        (place / source).symlink_to(hidden / source)
    mixed = inside / "mixed"
    mixed.mkdir()
    (mixed / READ).write_bytes((inside / "good" / READ).read_bytes())
    (mixed / "db.sqlite").symlink_to(hidden / "db.sqlite")
    (mixed / "config.json").symlink_to(hidden / "config.json")
    return inside, outside


def opened_elsewhere(folder, state, outside):
    """Ids of outside runs that another session of the same user has opened: they stand in the shared state."""

    async def opening():
        at = doors.session([folder / "none"], state)
        texts = [
            await doors.ask(at, "open_run", {"run": str(outside / f"{MARK}{run}"), "name": f"{MARK}{name}"})
            for run, name in (("run", "name"), ("second", "other"))
        ]
        return [json.loads(text)["id"] for text in texts]

    return apart(opening)


def way(rng, inside, outside, pid, ids):
    """A path that leads out, one that seems to, or one that stays; written in one of many ways."""
    hidden = outside / f"{MARK}run"
    ends = ("", f"/{READ}", "/db.sqlite", "/config.json", "/nosuch")
    up = "/".join([".."] * rng.choice((1, 2, 3, 12)))
    path = rng.choice(
        (
            *(f"{inside}/{link}" for link in ("tensors/link-folder", "link-run", "tensors/link-proc", "link-loop", "tensors/link-there", "linked-csv", "linked-db", "mixed")),
            f"{inside}/tensors/link-folder/{MARK}run", f"{inside}/tensors/link-up/../{outside.name}/{MARK}run", f"{inside}/tensors/link-root{hidden}",
            f"{inside}/tensors/link-proc{hidden}", str(hidden), str(outside), f"{inside}/../{outside.name}/{MARK}run", f"{inside}/{up}{hidden}",
            f"{inside}/good/../../{outside.name}/{MARK}run", f"{up}{hidden}", f"/proc/self/root{hidden}", f"/proc/{pid}/root{hidden}",
            f"/proc/self/cwd/{up}{hidden}", f"/proc/{pid}/cwd", f"/proc/self/fd/{rng.randrange(20)}", "/proc/self/environ", "/proc/self/maps",
            f"/proc/thread-self/root{hidden}", f"/dev/fd/{rng.randrange(12)}", "/etc", "/etc/passwd", "/root", "/", "~", "~root", "~/..", f"~{hidden}",
            f"file://{hidden}", f"{inside}/good/{READ}/../../../{outside.name}/{MARK}run", f"{inside}/good", f"{inside}", "demo", "demo/../..",
            f"demo{hidden}", *ids, f"{MARK}name", f"{inside}\x00{hidden}", f"{hidden}\x00{inside}", f"{inside}/good:{hidden}", f"\\\\{hidden}",
        )
    ) + rng.choice(ends)  # fmt: skip
    return disguised(rng, path)


def disguised(rng, path):
    """The same path in other letters: doubled slashes, dots, encodings, spaces, case."""
    if rng.random() < 0.25:
        return path
    return rng.choice(
        (
            path.replace("/", "//"),
            path.replace("/", "/./"),
            quote(path, safe=""),
            quote(path),
            quote(quote(path, safe=""), safe=""),
            path.replace("..", "%2e%2e"),
            path.replace("/", "\uff0f"),
            path.replace("..", "\u2025"),
            f" {path} ",
            path + "/.",
            path.replace("/", "\\"),
            os.path.relpath(path) if "\x00" not in path else path,
        )
    )


def attempt(sitting, server, rng, place):
    """One question that names the path; False where the server is of no further use."""
    kind = rng.randrange(12)
    before, held = processor_seconds(server.pid), memory_kb(server.pid)
    try:
        if kind == 0:
            tool, asked = (
                "resource",
                {
                    "uri": f"ttnn://runs/{rng.choice((quote(place, safe=''), place))}{rng.choice(('', '/ops/3', '/ops/x', '/../..'))}"
                },
            )
            status, body = server.request("resources/read", asked, asked["uri"].encode("ascii", "replace").decode())
        elif kind == 1:
            tool, asked = "prompt", {"name": "optimize", "arguments": {"run": place}}
            status, body = server.request("prompts/get", asked, "optimize")
        elif kind == 2:
            reference = {"type": "ref/resource", "uri": "ttnn://runs/{run}/ops/{op}"}
            tool = "completion"
            asked = {
                "ref": reference,
                "argument": {"name": "op", "value": ""},
                "context": {"arguments": {"run": place}},
            }
            status, body = server.request("completion/complete", asked)
        else:
            tool, asked = question(rng, place)
            status, body = server.request("tools/call", {"name": tool, "arguments": asked}, tool)
    except (doors.Gone, UnicodeError) as gone:
        if isinstance(gone, UnicodeError):
            return True
        sitting.count("failure", [Flaw("server gone", tool, f"{gone} {ascii(asked)[:300]}")], tool)
        return False
    flaws = told(tool, asked, status, body)
    if processor_seconds(server.pid) - before > CPU_SECONDS:
        flaws.append(Flaw("slow", tool, ascii(asked)[:200]))
    if memory_kb(server.pid) - held > GROWTH_KB:
        flaws.append(Flaw("memory", tool, ascii(asked)[:200]))

    def keep(folder):
        about = {"tool": tool, "arguments": asked, "status": status, "answer": body[:5000]}
        (folder / "attempt.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        return f"{tool} {ascii(asked)[:200]} over HTTP ({folder / 'attempt.json'})"

    refused = '"isError":true' in body or '"error"' in body[:60]
    sitting.count("refusal" if refused else "answer", flaws, tool, keep=keep)
    return True


def question(rng, place):
    """A tool that takes a path, and its arguments."""
    more = {
        "op_detail": {"op": 3},
        "query_run": {"sql": rng.choice(("SELECT op_code FROM ops", "SELECT name FROM operations"))},
    }
    tool = rng.choice(RUN_TOOLS)
    record = {"action": "record", "change": "x", "baseline": place, "candidate": "demo"}
    return rng.choice(
        (
            ("open_run", {"performance": place}),
            ("open_run", {"memory": place}),
            ("open_run", {"run": place, **({"name": "x"} if rng.random() < 0.3 else {})}),
            ("compare_runs", {"baseline": place, "candidate": "demo"}),
            ("compare_runs", {"baseline": "demo", "candidate": "demo", "repeats": [place]}),
            ("experiments", {"action": rng.choice(("import", "export")), "path": place}),
            rng.choice(
                (("list_runs", {}), ("experiments", {"action": "list", "baseline": place}), ("experiments", record))
            ),
            (tool, {"run": place, **more.get(tool, {})}),
            (tool, {"run": place, **more.get(tool, {})}),
        )
    )


def told(tool, asked, status, body):
    """What the answer told that it should not have."""
    flaws = []
    question = json.dumps(asked, ensure_ascii=False)
    known = set(HIDDEN.findall(question))
    leaked = {word for word in HIDDEN.findall(body) if not any(word in one or one in word for one in known)}
    own = {
        word
        for word in HIDDEN.findall(body)
        if word.startswith(f"{MARK}op") or word.endswith(("Operation", "report"))
    }
    if leaked or own:
        flaws.append(Flaw("told from outside", tool, ", ".join(sorted(leaked | own))[:200]))
    if "root:x:0" in body or "HOME=" in body:
        flaws.append(Flaw("told from outside", tool, "a file of the system"))
    if status >= 500:
        flaws.append(Flaw("HTTP status", tool, str(status)))
    try:
        answer = json.loads(body)
    except ValueError:
        return [*flaws, Flaw("not JSON", tool, body[:200])] if status == 200 else flaws
    if tool in doors.tools() and status == 200:
        flaws += judged(tool, answer)[1]
    elif "error" in answer:
        flaws += sentence_flaws(tool, str(answer["error"].get("message", "")))
    return flaws

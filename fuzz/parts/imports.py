"""Exports of experiments with something wrong in them, imported; then the log must still be told, added to and exported."""

from __future__ import annotations

import json

from fuzz import doors, values
from fuzz.apart import apart
from fuzz.cases import Case
from fuzz.questions import PLACE
from tests.pairs import Model, write

NAME = "experiments.json"
NUMBERS = (
    0,
    -1,
    1,
    2**31,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**70,
    10**400,
    0.5,
    -0.5,
    1e308,
    5e-324,
    True,
    None,
    "1",
    "",
    [],
    {},
)
RAW = ("NaN", "Infinity", "-Infinity", "1e999", "0x10", "01", '"\\ud800"', '"\\u0000"', "9" * 5000, "[" * 3000)
PATHS = ("", "/", ".", "..", "~", "~nosuchuser/x", "\x00", "a\x00b", "/dev/null", "/dev/full", "/proc/self/mem", "/proc/1/root", "/proc/self/fd/0",
         "x" * 300, "/" + "x/" * 3000, "\ud800", "nosuch.json", PLACE, f"{PLACE}/nosuch.json", f"{PLACE}/{NAME}/x", "//", "\u202e")  # fmt: skip
AFTER = (
    ("experiments", {"action": "list"}),
    (
        "experiments",
        {"action": "record", "change": "after the import", "baseline": "demo", "candidate": "demo", "pcc": 0.999},
    ),
    ("experiments", {"action": "list", "baseline": "demo"}),
    ("experiments", {"action": "target", "target": "10 ms", "baseline": "demo"}),
    ("experiments", {"action": "list"}),
    ("experiments", {"action": "record", "change": "and one more", "candidate": "demo"}),
)


def run(sitting):
    """Documents until the time is up."""
    document = exported(sitting.folder)
    for number in sitting.numbers():
        rng = sitting.random(number)
        if rng.random() < 0.07:
            text = json.dumps(document)
            path = rng.choice(PATHS)
            action = (
                rng.choice(("import", "import", "export")) if PLACE in path or not path.strip("./~") else "import"
            )
            first = ("experiments", {"action": action if path != PLACE else "import", "path": path})
        else:
            text = damaged_document(rng, document)
            first = ("experiments", {"action": "import", "path": f"{PLACE}/{NAME}"})
        again = (first,) if rng.random() < 0.2 else ()
        case = Case({NAME: text.encode("utf-8", "surrogatepass")}, (first, *again, *AFTER), searched=False)
        sitting.judge(case, number)


def exported(folder):
    """What an export of a short loop holds: a keep, a revert, a target."""
    runs = [write(folder / f"run{at}", Model(layers=1, up_ns=up)) for at, up in enumerate((90_000, 60_000, 99_000))]
    out = folder / "exported.json"

    async def loop():
        at = doors.session([folder], folder / "loop")
        for candidate, change in ((runs[1], "wider"), (runs[2], "narrower")):
            arguments = {
                "action": "record",
                "change": change,
                "step": 1,
                "pcc": 0.9995,
                "note": "n",
                "hypothesis": "h",
            }
            await doors.ask(at, "experiments", {**arguments, "baseline": runs[0], "candidate": candidate})
        await doors.ask(at, "experiments", {"action": "target", "target": "1 ms"})
        await doors.ask(at, "experiments", {"action": "export", "path": str(out)})

    apart(loop)
    return json.loads(out.read_text(encoding="utf-8"))


def damaged_document(rng, document):
    """The document with one to four things changed, as text."""
    document = json.loads(json.dumps(document))
    marks = {}
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        places = list(_places(document))
        if places:
            _change(rng, *rng.choice(places), marks)
    text = json.dumps(document, ensure_ascii=rng.random() < 0.5, indent=1)
    for mark, raw in marks.items():
        text = text.replace(mark, raw)
    return values.damaged(rng, text) if rng.random() < 0.08 else text


def _change(rng, holder, key, marks):
    """One thing at `key`; `marks` stand for what json cannot write."""
    kind = rng.choice(("lose", "raw", "double", "text", "number", "number", "odd"))
    if kind == "lose":
        del holder[key]
    elif kind == "raw":
        holder[key] = f"raw-{len(marks)}"
        marks[json.dumps(holder[key])] = rng.choice(RAW)
    elif kind == "double" and isinstance(holder, dict):
        holder[rng.choice(("new", key.upper(), ""))] = holder[key]
    elif kind == "double":
        holder.extend([holder[key]] * rng.choice((1, 50)))
    elif kind == "text" and isinstance(holder[key], str):
        holder[key] = values.damaged(rng, holder[key])
    else:
        holder[key] = rng.choice(NUMBERS) if kind == "number" else values.odd(rng)


def _places(value):
    """Every (holder, key) in the document."""
    pairs = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    for key, inside in pairs:
        yield value, key
        yield from _places(inside)

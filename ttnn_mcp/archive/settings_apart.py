"""What differs between the settings of two ops that do the same work, by the names that people set."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from ttnn_mcp.readers.printed.nesting import parse_struct

DEEPEST = 3  # structs in structs: a program config holds grids and lists, no more
SHOWN = 3  # settings named in a sentence
VALUE_CHARS = 32
FIDELITY = "math_fidelity"  # a column of its own, in the archive and in the report
WEIGHTS = "weights_dtype"
OF_RESULTS = {FIDELITY, WEIGHTS, "compute_kernel_config"}  # attributes that change what comes out
KIND = "ProgramConfig"  # the classes of program configs end so
_FLAGS = {"1": "true", "0": "false"}


class Setup(NamedTuple):
    """How one op was set up, as the archive keeps it.

    Attributes:
        settings: JSON of the attributes that can be tuned; None without any.
        fidelity: the math fidelity; None for data movement.
    """

    settings: str | None
    fidelity: str | None


class Apart(NamedTuple):
    """A setting in which two ops differ.

    Attributes:
        name: the setting.
        attribute: the attribute that it is part of.
        value: its value on the other side; `unset` where that side has none.
    """

    name: str
    attribute: str
    value: str


def apart(ours: Setup, theirs: Setup) -> tuple[Apart, ...]:
    """The settings that differ, with the values of `theirs`; none where a text was cut off and nobody can tell."""
    here, others = named(ours), named(theirs)
    names = [name for name in {**others, **here} if here.get(name, ("", ""))[1] != others.get(name, ("", ""))[1]]
    if not here or not others:  # a setup has at least a fidelity, unless its text was cut off
        return ()
    return tuple(Apart(name, {**here, **others}[name][0], others.get(name, ("", "unset"))[1]) for name in names)


def named(setup: Setup) -> dict[str, tuple[str, str]]:
    """(attribute, value) of each setting by its name; empty where the text was cut off."""
    try:
        printed: dict[str, str] = json.loads(setup.settings) if setup.settings else {}
    except ValueError:
        return {}
    places = [
        place
        for attribute, text in printed.items()
        for place in _flat((attribute,), text, DEEPEST)
        if place[0][-1] != FIDELITY  # printed in compute_kernel_config too; the column is there for every op
    ]
    ends = [path[-1] for path, _ in places]
    settings = {path[-1] if ends.count(path[-1]) == 1 else ".".join(path): (path[0], text) for path, text in places}
    return {**settings, FIDELITY: (FIDELITY, setup.fidelity or "")}


def _flat(path: tuple[str, ...], text: str, depth: int) -> list[tuple[tuple[str, ...], str]]:
    struct = parse_struct(text) if depth else None
    if struct is None or not struct.fields:
        return [(path, text.strip())]
    if set(struct.fields) == {"x", "y"}:
        return [(path, f"{struct.fields['x']}x{struct.fields['y']}")]
    kind = [(path, struct.name)] if struct.name else []
    return kind + [place for key, value in struct.fields.items() for place in _flat((*path, key), value, depth - 1)]


def written(differences: tuple[Apart, ...]) -> str:
    """`in0_block_w=8, out_subblock_w=4`; of many, the first."""
    parts = [f"{each.name}={each.value[:VALUE_CHARS]}" for each in differences]
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return ", ".join(parts[:SHOWN]) + more


def is_advised(differences: tuple[Apart, ...], fix: str) -> bool:
    """Whether a fix asks to change all of these, by name or by the attribute they are part of.

    What changes results (fidelity, accumulation) must have the very value that the fix asks for.
    """
    return bool(differences) and all(
        is_written(each, fix) if each.attribute in OF_RESULTS else _is_named(each, fix) for each in differences
    )


def is_spelt_out(differences: tuple[Apart, ...], fix: str) -> bool:
    """Whether a fix asks for all of these with just these values."""
    return bool(differences) and all(is_written(each, fix) for each in differences)


def is_written(difference: Apart, fix: str) -> bool:
    """Whether a fix writes the setting with this value."""
    value = re.search(rf"\b{re.escape(difference.name)}\s*=\s*(\S+)", fix)
    if value is None and difference.name in (FIDELITY, WEIGHTS):
        return re.search(rf"\b{re.escape(difference.value)}\b", fix, re.IGNORECASE) is not None
    return value is not None and has_value(difference, value.group(1))


def _is_named(difference: Apart, fix: str) -> bool:
    words = {difference.name, difference.attribute, *([KIND] if difference.attribute == "program_config" else [])}
    return re.search(rf"\b\w*({'|'.join(map(re.escape, sorted(words)))})\b", fix) is not None


def has_value(difference: Apart, value: object) -> bool:
    """Whether the other side's value is `value`, as a report, a fix or a person writes it."""
    return _plain(difference.value) == _plain(str(value))


def _plain(value: str) -> str:
    word = re.sub(r"[^\w.]+$", "", value.strip()).rpartition(".")[2].lower()
    return _FLAGS.get(word, word)

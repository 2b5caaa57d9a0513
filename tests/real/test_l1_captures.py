"""The models of L1 against what real TTNN allocated, program by program: `l1_captures.json`."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields
from itertools import groupby

from tests.for_all import for_all
from tests.real.l1_captures import COLUMNS, FILE, captures, spec_of, text_of
from tests.real.rig.proven_programs import stored, told_apart
from ttnn_mcp.analyses.from_graph.models import MODELS, TtnnModels
from ttnn_mcp.analyses.from_graph.program import Machine

BOUND = 9000  # bytes that the most of a program may be above one case of it: four tiles of FLOAT32 and some words
BY_OP = {
    name: tuple(some) for name, some in groupby(captures(), key=lambda capture: capture.launch.name)
}  # they are stored in order


def modelled(capture):
    """What the model of a captured program tells."""
    return TtnnModels(capture.machine, {1: capture.asked}).footprint(capture.launch, 1, capture.rooms)


UNTOLD = {  # captured programs of which the models tell nothing: what a graph prints does not settle them
    ("HaloDeviceOperation", "UntilizeWithHaloProgramFactory"): 14,
    ("ReduceDeviceOperation", "ReduceMultiCoreHProgramFactory"): 12,
    ("Fold", "MultiCoreDRAMFold"): 1,
}
BOUNDED = {("PermuteDeviceOperation", "MultiCoreTiledGeneric"): 3}


@for_all("name", BY_OP)
def test_a_model_tells_what_ttnn_allocated_or_nothing(name):
    told = [(capture, modelled(capture)) for capture in BY_OP[name]]
    known = [(capture, footprint) for capture, footprint in told if footprint is not None]
    wrong = [
        f"{footprint.total} bytes {footprint.buffers}, TTNN {capture.buffers}: {capture.launch}"
        for capture, footprint in known
        if not capture.total <= footprint.total <= capture.total + (0 if footprint.exact else BOUND)
    ]
    assert wrong == []
    assert known or name not in MODELS


def test_of_all_other_programs_the_bytes_are_told_exactly():
    told = [(capture.launch.name, capture.launch.factory, modelled(capture)) for capture in captures()]
    assert Counter((name, factory) for name, factory, footprint in told if footprint is None) == UNTOLD
    bounded = [(name, factory) for name, factory, footprint in told if footprint and not footprint.exact]
    assert Counter(bounded) == BOUNDED


def test_the_buffers_of_a_program_are_named_and_none_is_empty():
    named = [footprint for capture in captures() if (footprint := modelled(capture)) is not None]
    assert all(name.isupper() and size > 0 for footprint in named for name, size in footprint.buffers)
    alike = sum(
        sorted(size for _, size in footprint.buffers) == sorted(filter(None, capture.buffers))
        for capture in captures()
        if (footprint := modelled(capture)) is not None
    )
    assert alike > len(named) / 2  # the others are several of TTNN's buffers under one name


def test_a_tensor_is_told_in_one_line():
    specs = {spec for capture in captures() for spec in (*capture.launch.inputs, *capture.launch.outputs)}
    assert len(specs) > 100
    assert all(spec_of(text_of(spec)) == spec for spec in specs)


def test_the_file_is_as_the_rig_writes_it():
    """Each program once, in order: so that a new capture changes what differs and nothing else."""
    told = json.loads(FILE.read_text("utf-8"))
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in told["programs"]]
    for row in rows:
        row["attributes"] = dict(told["attributes"])[row["attributes"]]
    names = [field.name for field in fields(Machine)]
    chips = {name: dict(zip(names, chip, strict=True)) for name, *chip in told["chips"]}
    assert told_apart(rows) == rows
    assert stored(chips, rows) == FILE.read_text("utf-8")

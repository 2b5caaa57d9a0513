"""Ops written by hand, and the arithmetic that is counted for them."""

import csv
import re

import numpy as np

from tests.profiles import Iteration, Program, write_performance_report
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.roofline.flops import flops_of
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance


def table(folder, *ops, without="", blank=""):
    """(code, input shapes, output shapes, attributes) per op; columns `without`, and cells `blank` in the first row."""
    program = Program()
    for code, inputs, outputs, *attributes in ops:
        sides = [tuple(program.tensor(shape) for shape in shapes) for shapes in (inputs, outputs)]
        op = DeviceOp(f"{code}DeviceOperation", *sides, attributes=attributes[0] if attributes else {})
        program.call("ttnn.made_up", *sides, (op,))
    path = write_performance_report(folder / f"report{len(list(folder.glob('*')))}", program, [Iteration()])
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if not (without and re.search(without, name))]
    for name in names:
        if blank and re.search(blank, name):
            rows[0][name] = ""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return Performance(read_performance_csv(path)).ops


def counted(ops):
    """(useful, performed, why) per op; None where it is not known."""
    why = Reasons(len(ops))
    columns = [[None if np.isnan(value) else value for value in side.tolist()] for side in flops_of(ops, why)]
    texts = why.texts()
    return [(*pair, texts[row]) for row, pair in enumerate(zip(*columns, strict=True))]

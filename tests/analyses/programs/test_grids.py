"""Grids: the rectangle behind a number of cores."""

from dataclasses import replace

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.grids import most_cores_dividing, rectangle, worker_grid
from ttnn_mcp.run.chip import Chip

CHIP = Chip("blackhole", 1.35, 110, 110, 512, 435, ())


@for_all(
    ("arch", "cores", "grid"),
    [
        ("blackhole", 110, (11, 10)),
        ("blackhole", 130, (13, 10)),
        ("wormhole_b0", 56, (8, 7)),
        ("wormhole_b0", 63, (7, 9)),
        ("wormhole_b0", 70, (7, 10)),
        ("wormhole_b0", 110, None),
        ("blackhole", None, None),
        (None, 64, None),
    ],
)
def test_the_grid_is_that_of_a_card_with_so_many_cores(arch, cores, grid):
    assert worker_grid(replace(CHIP, arch=arch, worker_cores=cores)) == grid


@for_all(
    ("cores", "within", "grid"),
    [(64, (8, 8), (8, 8)), (12, (8, 8), (6, 2)), (7, (8, 8), (7, 1)), (11, (8, 8), None), (16, (8, 1), None)],
)
def test_the_widest_rectangle(cores, within, grid):
    assert rectangle(cores, within) == grid


@for_all(
    ("parts", "grid"),
    [
        (128, (8, 8)),
        (40, (8, 5)),
        (22, (2, 1)),  # 22 and 11 cores are no rectangle of 8 columns
        (13, (1, 1)),
    ],
)
def test_the_most_cores_that_divide_the_tiles_evenly(parts, grid):
    assert most_cores_dividing(parts, (8, 8)) == grid

"""The least any op takes: its program must start and drain on all cores."""

LAUNCH_FLOOR_NS = 2_000.0  # the shortest ops of real warm reports take 2 to 5 us
